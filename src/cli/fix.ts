// recon fix: what one FIX log comes to, and what is wrong with it, without a second ledger.
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { ledgerContext } from "./ledger-options";
import type { FixResult } from "../generated/abi";
import { readFix } from "../fix/fix-ledger";
import { openFiles } from "../ledger/ledger";
import { expandPath, inputName } from "../ledger/source";
import { fixCounts } from "../report/json";
import { bytesText, counted, grouped } from "../report/numbers";
import { writeOut } from "../report/standard-output";
import { paintFor, table, type Paint } from "../report/terminal";
import { safe, safeValue } from "../report/terminal-safe";

/** Findings of the terminal form; --json lists more. */
const shown_max = 20;

export async function execute({ operands, values }: Invocation): Promise<number> {
  if (operands.length === 0) throw usage("recon fix takes one or more FIX logs", "recon fix FILE…");
  using interruption = new Interruption();
  const context = ledgerContext(values, interruption.signal);
  using opened = new DisposableStack();
  const files = await openFiles({ encoding: null }, operands.flatMap(expandPath), context);
  for (const file of files) opened.use(file);
  const specs = files.map(({ spec }) => spec);
  const { fixChecks: checks, fixMultileg: multileg } = values;
  const result = await readFix({ files: specs, checks, multileg, audit: true }, context);
  for (const { source } of files) source.verifyUnchanged();
  // What was let pass by --fix-checks warn was asked for.
  const exitCode = result.finding_count > result.warnings ? 1 : 0;
  const paths = specs.map(({ path }) => path);
  if (values.json) await writeOut(document(paths, result, exitCode));
  else if (!values.quiet) await writeOut(text(paths, result, exitCode, paintFor(1)));
  if (!values.quiet) for (const { message } of result.notes) console.error(`recon: note: ${safe(message)}`);
  return exitCode;
}

function document(files: string[], result: FixResult, exitCode: number): string {
  const { messages, warnings, skippedBytes, ...lifecycle } = fixCounts(result);
  const byType = Object.fromEntries(result.by_type.map(({ type, count }) => [type, count]));
  const findings = result.findings.map(({ code, path, line, message }) => ({ code, path, line, message }));
  const all = {
    schemaVersion: 1,
    status: exitCode === 0 ? "clean" : "findings",
    exitCode,
    files,
    messages: { total: messages, byType },
    ...lifecycle,
    rejected: result.rejected,
    gaps: result.gaps,
    cumQtyMismatches: result.cum_qty_mismatches,
    avgPxMismatches: result.avg_px_mismatches,
    warnings,
    skippedBytes,
    findings,
    findingCount: result.finding_count,
    notes: result.notes,
    errors: [],
  };
  return `${JSON.stringify(all, null, 2)}\n`;
}

function text(paths: string[], result: FixResult, exitCode: number, paint: Paint): string {
  const more = paths.length > 1 ? ` and ${counted(paths.length - 1, "file")} more` : "";
  const verdict =
    exitCode === 0 ? paint("good", "CLEAN") : paint("bad", `FINDINGS  ${counted(result.finding_count, "finding")}`);
  const types = result.by_type.map(({ type, count }) => `${safeValue(type, 8)} ${grouped(count)}`).join(", ");
  const rows: [string, number, string?][] = [
    ["messages", result.messages, types === "" ? "" : `by type: ${types}`],
    ["executions", result.executions, "after busts and corrections"],
    ["repeats", result.repeats, "dropped"],
    ["busts", result.busts],
    ["corrections", result.corrections],
    ["orphans", result.orphans],
    ["conflicts", result.conflicts],
    ["rejected", result.rejected],
    ["gaps", result.gaps],
    ["CumQty mismatches", result.cum_qty_mismatches],
    ["AvgPx mismatches", result.avg_px_mismatches],
    ["warnings", result.warnings],
  ];
  const shown = result.findings.slice(0, shown_max);
  const rest = result.finding_count - shown.length;
  return [
    `${verdict}  ${safeValue(inputName(paths[0]!), 80)}${more}, ${bytesText(result.bytes)}, ${bytesText(result.skipped_bytes)} between messages`,
    "",
    ...table(
      rows.map(([what, count, remark = ""]) => [what, grouped(count), remark]),
      [false, true, false],
    ),
    ...(shown.length > 0 ? ["", `${counted(result.finding_count, "finding")}:`] : []),
    ...shown.map(({ code, path, line, message }) => `  ${code}  ${safe(inputName(path))}:${line}  ${safe(message)}`),
    ...(rest > 0 ? [`  and ${grouped(rest)} more; --json lists up to 1,000`] : []),
    "",
  ].join("\n");
}
