// DuckDB's full outer join of two ledgers, timed: `bun duckdb.mjs JSON`, with internal, external, threads, the columns of the
// files, those compared, and a file for the breaks or null. Started by run.ts, one process a run. The columns are named and
// all text, which is the fastest way for DuckDB: no sniffing, no conversion.
import { DuckDBInstance } from "@duckdb/node-api";

const { internal, external, threads, columns, compared, breaks } = JSON.parse(process.argv[2]);
const key = columns[0];
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
const schema = columns.map((name) => `'${name}': 'VARCHAR'`).join(", ");
const read = (path) =>
  `read_csv(${quoted(path)}, auto_detect = false, header = true, delim = ',', quote = '"', columns = {${schema}})`;
const differs = compared.map((name) => `i.${name} IS DISTINCT FROM e.${name}`).join(" OR ");
const joined = `${read(internal)} i FULL OUTER JOIN ${read(external)} e ON i.${key} = e.${key}`;

const instance = await DuckDBInstance.create(":memory:", {
  threads: String(threads),
  preserve_insertion_order: "false",
});
const connection = await instance.connect();
const started_ms = performance.now();
const rows = breaks === null ? await countBreaks() : await writeBreaks();
const elapsed_ms = performance.now() - started_ms;
const counts = breaks === null ? rows : await countWritten();
console.log(JSON.stringify({ elapsed_ms, counts }));

async function countBreaks() {
  const [row] = await query(`
    SELECT count(*) FILTER (WHERE i.${key} = e.${key} AND (${differs})) AS mismatch,
           count(*) FILTER (WHERE e.${key} IS NULL) AS missing_external,
           count(*) FILTER (WHERE i.${key} IS NULL) AS missing_internal
    FROM ${joined}`);
  return Object.fromEntries(Object.entries(row).map(([name, count]) => [name, Number(count)]));
}

/** One line a break: its type and its key, which is what recon's CSV has of rows without a partner, but for their lines. */
async function writeBreaks() {
  return query(`
    COPY (SELECT CASE WHEN e.${key} IS NULL THEN 'missing_external' WHEN i.${key} IS NULL THEN 'missing_internal'
                      ELSE 'mismatch' END AS type, coalesce(i.${key}, e.${key}) AS key
          FROM ${joined}
          WHERE i.${key} IS NULL OR e.${key} IS NULL OR ${differs}) TO ${quoted(breaks)} (FORMAT csv, HEADER)`);
}

async function countWritten() {
  const counts = { mismatch: 0, missing_external: 0, missing_internal: 0 };
  const written = await query(`SELECT type, count(*) AS n FROM read_csv_auto(${quoted(breaks)}) GROUP BY type`);
  for (const { type, n } of written) counts[type] = Number(n);
  return counts;
}

async function query(sql) {
  return (await connection.runAndReadAll(sql)).getRowObjectsJS();
}
