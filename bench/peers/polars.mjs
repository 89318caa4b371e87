// Polars' full join of two ledgers, timed: `bun polars.mjs JSON` with POLARS_MAX_THREADS; JSON as for duckdb.mjs. Started by
// run.ts, one process a run. All columns are text, as for DuckDB.
import pl from "nodejs-polars";

const { internal, external, columns, compared } = JSON.parse(process.argv[2]);
const key = columns[0];
const read = (path) => pl.scanCSV(path, { inferSchemaLength: 0 });
const isMissing = (column) => column.isNull().cast(pl.UInt32).sum();
const differs = compared.map((name) => pl.col(name).neq(pl.col(`${name}_external`))).reduce((a, b) => a.or(b));

const started_ms = performance.now();
const joined = read(internal).join(read(external), { on: key, how: "full", suffix: "_external" });
const result = await joined
  .select(
    differs.fillNull(false).cast(pl.UInt32).sum().alias("mismatch"),
    isMissing(pl.col(`${key}_external`)).alias("missing_external"),
    isMissing(pl.col(key)).alias("missing_internal"),
  )
  .collect();
const elapsed_ms = performance.now() - started_ms;
console.log(JSON.stringify({ elapsed_ms, counts: result.toRecords()[0] }));
