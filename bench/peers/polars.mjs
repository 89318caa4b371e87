// Polars' full join of two ledgers, timed: `bun polars.mjs INTERNAL EXTERNAL` with POLARS_MAX_THREADS. Started by
// run.ts, one process a run. All columns are text, as for DuckDB.
import pl from "nodejs-polars";

const [internal, external] = process.argv.slice(2);
const compared = ["symbol", "side", "quantity", "price", "currency", "trade_date"];
const read = (path) => pl.scanCSV(path, { inferSchemaLength: 0 });
const isMissing = (column) => column.isNull().cast(pl.UInt32).sum();
const differs = compared.map((name) => pl.col(name).neq(pl.col(`${name}_external`))).reduce((a, b) => a.or(b));

const started_ms = performance.now();
const joined = read(internal).join(read(external), { on: "trade_id", how: "full", suffix: "_external" });
const result = await joined
  .select(
    differs.fillNull(false).cast(pl.UInt32).sum().alias("mismatch"),
    isMissing(pl.col("trade_id_external")).alias("missing_external"),
    isMissing(pl.col("trade_id")).alias("missing_internal"),
  )
  .collect();
const elapsed_ms = performance.now() - started_ms;
console.log(JSON.stringify({ elapsed_ms, counts: result.toRecords()[0] }));
