// The harness's document as rows of text: the terminal table and the one in the README are made of the same cells.
// Used by cli/bench.ts and scripts/benchmarks.ts.
import type { BenchDocument } from "./harness";
import { machineText } from "./machine";
import { scenarios } from "./scenarios";
import type { Ratio } from "./statistics";
import { bytesText, grouped } from "../report/numbers";

export type Cells = readonly string[];

export const timeHead: Cells = ["scenario", "", "records", "threads", "plan", "median", "best", "worst", "throughput"];
export const ratioHead: Cells = ["ratio of medians", "", "worst/best range"];

export function timeRows({ scenarios: results }: BenchDocument): Cells[] {
  return results.map(({ id, records, threads, plan, medianMs, bestMs, worstMs, bytesPerSecond }) => [
    id,
    scenarios[id].title,
    records === null ? "" : grouped(records),
    String(threads),
    plan ?? "",
    ...[medianMs, bestMs, worstMs].map(milliseconds),
    `${bytesText(bytesPerSecond)}/s`,
  ]);
}

export function ratioRows({ ratios }: { ratios: readonly (Ratio & { of: string; to: string })[] }): Cells[] {
  return ratios.map(({ of, to, median, low, high }) => [
    `${of} / ${to}`,
    times(median),
    `${times(low)} to ${times(high)}`,
  ]);
}

/** What the numbers were measured on, with what. */
export function circumstances({ machine, version, commit, rows, reps }: BenchDocument): string[] {
  return [
    machineText(machine),
    `recon ${version} ${commit}, ${grouped(rows)} rows a side, ${reps} runs after a warm-up, page cache warm`,
    "Baselines run on one thread, built by Zig's clang with libc++; all programs found the same breaks.",
  ];
}

export function terminalTable(document: BenchDocument): string {
  return [
    aligned([timeHead, ...timeRows(document)], 2),
    ...(document.ratios.length > 0 ? [aligned([ratioHead, ...ratioRows(document)], 1)] : []),
    circumstances(document).join("\n"),
  ]
    .map((text) => `${text}\n`)
    .join("\n");
}

function milliseconds(value: number): string {
  return `${value < 99.95 ? value.toFixed(1) : grouped(value.toFixed(0))} ms`;
}

function times(value: number): string {
  return `${value < 9.995 ? value.toFixed(2) : value.toFixed(1)}×`;
}

/** Columns from `right` on are flush right. */
export function aligned(rows: readonly Cells[], right: number): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column < right ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
