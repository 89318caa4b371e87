// DuckDB's full outer join of two ledgers, timed: `bun duckdb.mjs INTERNAL EXTERNAL THREADS`. Started by run.ts, one
// process a run. The columns are named and all text, which is the fastest way for DuckDB: no sniffing, no conversion.
import { DuckDBInstance } from "@duckdb/node-api";

const [internal, external, threads] = process.argv.slice(2);
const compared = ["symbol", "side", "quantity", "price", "currency", "trade_date"];
const columns = ["trade_id", ...compared].map((name) => `'${name}': 'VARCHAR'`).join(", ");
const read = (path) =>
  `read_csv('${path.replaceAll("'", "''")}', auto_detect = false, header = true, delim = ',', quote = '"', columns = {${columns}})`;
const differs = compared.map((name) => `i.${name} IS DISTINCT FROM e.${name}`).join(" OR ");

const instance = await DuckDBInstance.create(":memory:", { threads, preserve_insertion_order: "false" });
const connection = await instance.connect();
const started_ms = performance.now();
const reader = await connection.runAndReadAll(`
  SELECT count(*) FILTER (WHERE i.trade_id = e.trade_id AND (${differs})) AS mismatch,
         count(*) FILTER (WHERE e.trade_id IS NULL) AS missing_external,
         count(*) FILTER (WHERE i.trade_id IS NULL) AS missing_internal
  FROM ${read(internal)} i FULL OUTER JOIN ${read(external)} e ON i.trade_id = e.trade_id`);
const elapsed_ms = performance.now() - started_ms;
const counts = Object.entries(reader.getRowObjectsJS()[0]).map(([name, count]) => [name, Number(count)]);
console.log(JSON.stringify({ elapsed_ms, counts: Object.fromEntries(counts) }));
