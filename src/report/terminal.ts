// The summary for people: verdict first, read in five seconds. Used by cli/run.ts and cli/explain.ts.
import { isatty } from "node:tty";
import type { FixResult, Hint, SideCounts, ValueType } from "../generated/abi";
import type { OpenLedger } from "../ledger/ledger";
import { inputName } from "../ledger/source";
import { bytesText, counted, grouped, rateText, secondsText } from "./numbers";
import { countedBreaks, type Break, type BrokenColumn, type Place, type Report } from "./report";
import { safe, safeValue } from "./terminal-safe";

export type Paint = (style: keyof typeof styles, text: string) => string;

const styles = { good: 32, bad: 31, strong: 1, faint: 2 };

/** Colours for a descriptor that is a terminal, unless the environment says no. */
export function paintFor(fd: number): Paint {
  const { NO_COLOR, TERM } = process.env;
  if (!isatty(fd) || NO_COLOR || TERM === "dumb") return (_, text) => text;
  return (style, text) => `\x1b[${styles[style]}m${text}\x1b[0m`;
}

export function terminalReport(report: Report, paint: Paint): string {
  const { pair, result } = report;
  const sections = [
    [verdict(report, paint)],
    ledgers(pair.internal, result.internal, pair.external, result.external),
    breakCounts(report, paint),
    columnCounts(report),
    controlTotals(report, paint),
    shownBreaks(report, paint),
    result.hints.map((hint) => `hint: ${hintText(hint)}`),
    [...whereTheRestIs(report), paint("faint", speed(report))],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function verdict({ exitCode, total, result }: Report, paint: Paint): string {
  const { rows } = result.internal;
  if (total === 0 && exitCode === 0)
    return paint("good", `RECONCILED  ${counted(rows, "row")} on both sides, no break`);
  if (total === 0) return paint("bad", "BREAKS  no break, but control totals differ");
  if (exitCode === 0) return paint("good", `RECONCILED  ${counted(total, "break")}, within --max-breaks`);
  return paint("bad", `BREAKS  ${counted(total, "break")}`);
}

function ledgers(
  internal: OpenLedger,
  internalCounts: SideCounts,
  external: OpenLedger,
  externalCounts: SideCounts,
): string[] {
  return table(
    [ledgerRow("internal", internal, internalCounts), ledgerRow("external", external, externalCounts)],
    [false, false, true, true, false],
  );
}

function ledgerRow(side: string, ledger: OpenLedger, counts: SideCounts): string[] {
  const [first = ""] = ledger.paths;
  const more = ledger.paths.length > 1 ? ` and ${counted(ledger.paths.length - 1, "file")} more` : "";
  const ignored = counts.ignored + ledger.ignored;
  const filtered = counts.filtered + ledger.filtered;
  return [
    side,
    safeValue(inputName(first), 80) + more,
    counted(counts.rows, "row"),
    bytesText(ledger.bytes),
    [
      ...(ledger.fix === null
        ? [`csv, ${delimiterText(ledger.delimiter)}, ${ledger.header ? "header" : "no header"}`]
        : fixText(ledger.fix)),
      ...(ignored > 0 ? [`${counted(ignored, "line")} ignored`] : []),
      ...(filtered > 0 ? [`${counted(filtered, "row")} filtered`] : []),
      ...(ledger.group === null ? [] : ["rows folded"]),
    ].join(", "),
  ];
}

/** What is behind the executions of a log, as far as there is any of it. */
function fixText(fix: FixResult): string[] {
  const { repeats, busts, corrections, warnings } = fix;
  const counts = [
    [repeats, "repeat"],
    [busts, "bust"],
    [corrections, "correction"],
    [warnings, "warning"],
  ] as const;
  return [
    `fix, ${counted(fix.messages, "message")}`,
    ...counts.filter(([count]) => count > 0).map(([count, what]) => counted(count, what)),
  ];
}

export function delimiterText(delimiter: number): string {
  return delimiter === 9 ? "tab" : `"${safe(String.fromCharCode(delimiter))}"`;
}

function breakCounts(report: Report, paint: Paint): string[] {
  const breaks = countedBreaks(report);
  const rows = [["matched", grouped(report.result.matched)], ...breaks.map(([type, n]) => [type, grouped(n)])];
  return table(rows, [false, true]).map((line, i) => {
    const count = breaks[i - 1]?.[1];
    return i === 0 ? line : paint(count === 0 ? "faint" : "bad", line);
  });
}

function columnCounts({ pair, result }: Report): string[] {
  if (pair.compare.length === 0) return ["no columns compared, only keys"];
  const hasTolerances = pair.compare.some(({ tolerance, tolerance_by }) => tolerance || tolerance_by);
  const rows = pair.compare.map(({ name, type }, i) => {
    const column = result.columns[i]!;
    const sum = column.numeric > 0 ? grouped(column.sum_of_differences) : "";
    const tolerated = [grouped(column.tolerated), column.tolerated > 0 ? grouped(column.tolerated_sum) : ""];
    const isAverage = type === "ratio";
    return [
      safeValue(name, 40),
      grouped(column.mismatches),
      isAverage ? "" : sum,
      grouped(column.equal_by_value),
      ...(hasTolerances ? (isAverage ? [tolerated[0]!, ""] : tolerated) : []),
    ];
  });
  const titles = ["column", "mismatches", "sum of differences", "equal by value only"];
  if (hasTolerances) titles.push("tolerated", "sum of tolerated");
  return table(
    [titles, ...rows],
    titles.map((_, i) => i > 0),
  );
}

function controlTotals({ pair, result }: Report, paint: Paint): string[] {
  if (result.controls.length === 0) return [];
  const hasBy = pair.controls.some(({ by }) => by);
  const rows = result.controls.map(({ column, by, internal, external, difference }) => [
    safeValue(column, 40),
    ...(hasBy ? [by === null ? "" : by === "" ? "(empty)" : safeValue(by ?? "", 40)] : []),
    ...[internal, external, difference].map(grouped),
  ]);
  const titles = ["control total", ...(hasBy ? ["by"] : []), "internal", "external", "difference"];
  const isText = titles.map((_, i) => i === 0 || (hasBy && i === 1));
  return table(
    [titles, ...rows],
    isText.map((text) => !text),
  ).map((line, i) => (i > 0 && result.controls[i - 1]!.difference !== "0" ? paint("bad", line) : line));
}

function shownBreaks({ result, total }: Report, paint: Paint): string[] {
  if (result.shown.length === 0) return [];
  const all = result.shown.length === total;
  const title = all ? counted(total, "break") : `first ${grouped(result.shown.length)} of ${counted(total, "break")}`;
  return [`${title}:`, ...result.shown.flatMap((text) => breakLines(JSON.parse(text) as Break, paint))];
}

/** One break: what, which key and where on the first line, then the columns that differ, or the values of a lone row. */
export function breakLines({ type, key, internal, external, columns, reason }: Break, paint: Paint): string[] {
  const parts = Object.entries(key).map(([name, value]) => `${safeValue(name, 40)}=${safeValue(value)}`);
  const places = [internal, external].flatMap((place) => (place ? [placeText(place)] : []));
  const head = [paint("strong", type), parts.join(", "), paint("faint", places.join(" "))].filter(
    (text) => text !== "",
  );
  const paired = internal !== null && external !== null;
  return [
    `  ${head.join("  ")}`,
    ...(reason ? [`      ${safe(reason.message)}`] : []),
    ...(paired ? pairLines(columns) : loneRowLines(columns)),
  ];
}

function placeText({ path, line, members = [] }: Place): string {
  const place = `${safeValue(path, 80)}:${line}`;
  return members.length > 1 ? `${place} and ${counted(members.length - 1, "row")} more` : place;
}

/** Which rule decided about two values (recon explain), in the words of the column's type. */
function decision({ columnType = "auto", how, tolerance, internal, external }: BrokenColumn): string {
  switch (how) {
    case undefined:
      return "";
    case "equal_bytes":
      return internal === external ? "the same bytes" : "the same value";
    case "equal_by_value":
      return `the same ${nouns[columnType]}${internal === external ? "" : ", written differently"}`;
    case "within_tolerance":
      return `within the tolerance of ${toleranceText(columnType, tolerance!)}`;
    default:
      if (tolerance !== undefined) return `beyond the tolerance of ${toleranceText(columnType, tolerance)}`;
      return columnType === "auto" ? "neither the same bytes nor the same number" : `not the same ${nouns[columnType]}`;
  }
}

const nouns: Record<ValueType, string> = {
  auto: "number",
  text: "text",
  decimal: "number",
  timestamp: "instant",
  date: "day",
  ratio: "average",
};

const units: Partial<Record<ValueType, string>> = { timestamp: " s", date: " d" };

function toleranceText(type: ValueType, { amount, unit, max, bound }: NonNullable<BrokenColumn["tolerance"]>): string {
  if (unit === "absolute") return `${amount}${units[type] ?? ""}`;
  const share = `${amount}${unit === "bps" ? "bps" : "%"}${max === undefined ? "" : ` max ${max}`}`;
  return bound === undefined ? share : `${share}, here ${bound}`;
}

/** `read as BUY and BUY by map`: which rules made what is compared of what the files have. */
function readAs(column: BrokenColumn): string {
  const { internal, external, internalValue = internal, externalValue = external } = column;
  const rules = [...new Set([...(column.internalRules ?? []), ...(column.externalRules ?? [])])];
  if (rules.length === 0) return "";
  const names = `by ${rules.map((rule) => safe(rule)).join(", ")}`;
  if (internalValue === internal && externalValue === external) return names;
  return `read as ${shownValue(internalValue)} and ${shownValue(externalValue)} ${names}`;
}

function pairLines(columns: Break["columns"]): string[] {
  const rows = Object.entries(columns).map(([name, column]) => [
    safeValue(name, 40),
    `${shownValue(column.internal)} ${signs[column.how ?? "differs"]} ${shownValue(column.external)}`,
    column.difference && `difference ${column.difference}`,
    decision(column),
    readAs(column),
  ]);
  return table(rows, [false, false, false, false, false], "      ");
}

const signs = { equal_bytes: "=", equal_by_value: "=", within_tolerance: "≈", differs: "→" };

function loneRowLines(columns: Break["columns"]): string[] {
  const values = Object.entries(columns).map(
    ([name, { internal, external }]) => `${safeValue(name, 40)}=${shownValue(internal ?? external)}`,
  );
  return values.length === 0 ? [] : [`      ${values.join("  ")}`];
}

function shownValue(value: string | null): string {
  return value === null ? "" : value === "" ? "(empty)" : safeValue(value);
}

const keyHints: Record<string, string> = {
  trim: "blanks around keys",
  "fold-case": "upper and lower case in keys",
  "leading-zeros": "leading zeros in keys",
};

/** A near miss of keys, or a factor or offset that most mismatches of a column share. */
function hintText({ code, rows, option, column, value }: Hint): string {
  if (column !== null) {
    const share = `${counted(rows, "mismatched pair")} in ${safeValue(column, 40)}`;
    return `${share} ${rows === 1 ? "has" : "have"} the ${safe(code)} ${safeValue(value ?? "")} from internal to external`;
  }
  const joined = `${counted(rows, "internal row")} would find a partner but for ${keyHints[code] ?? safe(code)}`;
  return option === null ? joined : `${joined}: ${option}`;
}

function whereTheRestIs({ breaksPath, rejectsPath, result, total }: Report): string[] {
  const lines = breaksPath === null ? [] : [`all breaks: ${breaksPath === "-" ? "standard output" : safe(breaksPath)}`];
  if (rejectsPath !== null) lines.push(`rejected rows: ${safe(rejectsPath)}`);
  if (breaksPath === null && result.shown.length < total)
    lines.push("all breaks: run again with --breaks FILE.csv or FILE.jsonl");
  return lines;
}

function speed({ result, elapsed_ms }: Report): string {
  const rows = result.internal.rows + result.external.rows;
  const threads = counted(result.threads, "thread");
  const plan = `${result.plan} plan${result.plan_reason === "" ? "" : ` (${safe(result.plan_reason)})`}`;
  return `${counted(rows, "row")} in ${secondsText(elapsed_ms)}, ${rateText(rows, elapsed_ms, "rows")}, ${plan}, ${threads}`;
}

/** Columns padded to one width; `right` says which are aligned to the right. */
export function table(rows: readonly (readonly string[])[], right: readonly boolean[], indent = "  "): string[] {
  const widths = right.map((_, i) => Math.max(0, ...rows.map((row) => Bun.stringWidth(row[i] ?? ""))));
  return rows.map((row) => {
    const cells = row.map((cell, i) => {
      const padding = " ".repeat(widths[i]! - Bun.stringWidth(cell));
      return right[i] ? padding + cell : cell + padding;
    });
    return (indent + cells.join("  ")).trimEnd();
  });
}
