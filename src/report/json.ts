// The `--json` document of a finished reconciliation. Scripts depend on every name in it. Used by cli/run.ts.
import type { ColumnCounts, FixResult, SideCounts } from "../generated/abi";
import type { OpenLedger } from "../ledger/ledger";
import { countedBreaks, type Report } from "./report";

export function jsonReport(report: Report): string {
  const { pair, result, notes, exitCode, elapsed_ms, total } = report;
  const document = {
    schemaVersion: 1,
    status: exitCode === 0 ? "reconciled" : "breaks",
    exitCode,
    internal: side(pair.internal, result.internal),
    external: side(pair.external, result.external),
    matched: result.matched,
    breaks: { total, ...Object.fromEntries(countedBreaks(report)) },
    columns: Object.fromEntries(
      pair.compare.map(({ name, type }, i) => [name, columnDocument(result.columns[i]!, type === "ratio")]),
    ),
    controls: result.controls,
    hints: result.hints,
    notes,
    plan: result.plan,
    threads: result.threads,
    elapsedMs: Math.round(elapsed_ms),
    phases: {
      ...Object.fromEntries(result.phases.map(({ name, ns }) => [name, Math.round(ns / 1000) / 1000])),
      // Here because it may differ between two runs of one result, as the times do.
      planReason: result.plan_reason,
    },
    errors: [],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Averages are compared exactly, but their differences have no exact sum in decimals. */
function columnDocument(column: ColumnCounts, isAverage: boolean) {
  const { mismatches, sum_of_differences, equal_by_value, tolerated, tolerated_sum } = column;
  return {
    mismatches,
    ...(isAverage ? {} : { sumOfDifferences: sum_of_differences }),
    equalByValue: equal_by_value,
    tolerated,
    ...(isAverage ? {} : { sumOfTolerated: tolerated_sum }),
  };
}

function side(ledger: OpenLedger, counts: SideCounts) {
  return {
    paths: ledger.paths,
    format: ledger.format,
    bytes: ledger.bytes,
    rows: counts.rows,
    matched: counts.matched,
    mismatch: counts.mismatch,
    missing: counts.missing,
    duplicate: counts.duplicate,
    missing_key: counts.missing_key,
    rejected: counts.rejected,
    ignored: counts.ignored + ledger.ignored,
    filtered: counts.filtered + ledger.filtered,
    distinctKeys: counts.distinct_keys,
    ...dialect(ledger),
    ...(ledger.fix === null ? {} : { fix: fixCounts(ledger.fix) }),
  };
}

/** What a FIX log came to. */
export function fixCounts(result: FixResult) {
  const { messages, executions, repeats, busts, corrections, orphans, conflicts, warnings, skipped_bytes } = result;
  const counts = { messages, executions, repeats, busts, corrections, orphans, conflicts, warnings };
  return { ...counts, skippedBytes: skipped_bytes };
}

/** How a ledger was read. */
export function dialect({ format, header, delimiter, columns }: OpenLedger) {
  if (format === "fix") return { columns };
  return { header, delimiter: String.fromCharCode(delimiter), columns };
}
