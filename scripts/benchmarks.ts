// Writes the benchmark tables of README.md and docs/benchmarks.md from the newest recorded runs (bench/results): what stands
// between `<!-- benchmarks KIND: written by scripts/benchmarks.ts -->` and `<!-- /benchmarks -->`. Run by
// `bun scripts/benchmarks.ts`, after `bun run bench:record`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes";
import {
  latest,
  type Documents,
  type Kind,
  type PartsDocument,
  type PeersDocument,
  type Recorded,
  type ScalingDocument,
} from "../bench/results";
import { bulkHead, bulkRows, fixCircumstances, parserHead, parserRows } from "../src/bench/fix-table";
import { machineText } from "../src/bench/machine";
import { circumstances, ratioHead, ratioRows, timeHead, timeRows, type Cells } from "../src/bench/table";
import { bytesText, grouped } from "../src/report/numbers";

const opening = /<!-- benchmarks (\w+): written by scripts\/benchmarks\.ts -->/g;
const closing = "<!-- /benchmarks -->";

/** The text between the marks, by kind. */
const sections: { [K in Kind]: (run: Recorded<K>) => string[] } = {
  harness: ({ document }) => [
    markdown(timeHead, timeRows(document), 2),
    markdown(ratioHead, ratioRows(document), 1),
    circumstances(document).join(" · "),
  ],
  fix: ({ document }) => [
    markdown(parserHead, parserRows(document), 3),
    markdown(bulkHead, bulkRows(document), 1),
    markdown(ratioHead, ratioRows(document), 1),
    fixCircumstances(document).join(" · "),
  ],
  peers: ({ document, commit }) => peersSections(document, commit),
  scaling: ({ document, commit }) => scalingSections(document, commit),
  parts: ({ document, commit }) => partsSections(document, commit),
};

/** `text` with every block written anew; one of a kind that was never recorded stays empty. */
export function withBenchmarks(text: string): string {
  let written = "";
  let from = 0;
  for (const { 0: mark, 1: kind, index } of text.matchAll(opening)) {
    const end = text.indexOf(closing, index);
    if (end < 0) throw new Error(`no ${closing} behind ${mark}`);
    written += `${text.slice(from, index)}${mark}\n\n${section(kind!)}`;
    from = end;
  }
  return written + text.slice(from);
}

function section(kind: string): string {
  if (!isKind(kind)) throw new Error(`there are no benchmarks called ${kind}: ${Object.keys(sections).join(", ")}`);
  return newest(kind)
    .map((paragraph) => `${paragraph}\n\n`)
    .join("");
}

function newest<K extends Kind>(kind: K): string[] {
  const run = latest(kind);
  return run ? sections[kind](run) : [];
}

function isKind(name: string): name is keyof Documents {
  return Object.hasOwn(sections, name);
}

function peersSections(document: PeersDocument, commit: string): string[] {
  const { machine, threads, reps, scenarios } = document;
  return [
    markdown(["ledgers", "rows a side", "program", "median", "best", "worst", "peak RSS"], peerRows(document), 3),
    markdown(["ledgers", "ratio of medians", "", "worst/best range"], peerRatios(document), 2),
    scenarios.map(({ scenario, about }) => `- \`${scenario}\`: ${about}.`).join("\n"),
    `${machineText(machine)} · ${threads} threads, ${reps} runs in turn after a warm-up, commit ${commit} · ` +
      "recon is timed as a whole process and its peak includes the mapped ledgers; DuckDB and Polars are timed without start-up",
  ];
}

function peerRows({ scenarios }: PeersDocument): Cells[] {
  return scenarios.flatMap(({ scenario, rows, programs }) =>
    Object.entries(programs).map(([name, { median_ms, best_ms, worst_ms, peakRssBytes }]) => [
      scenario,
      grouped(rows),
      name,
      ...[median_ms, best_ms, worst_ms].map((ms) => `${ms < 100 ? ms.toFixed(1) : grouped(ms.toFixed(0))} ms`),
      bytesText(peakRssBytes),
    ]),
  );
}

function peerRatios({ scenarios }: PeersDocument): Cells[] {
  return scenarios.flatMap(({ scenario, ratios }) => ratioRows({ ratios }).map((cells): Cells => [scenario, ...cells]));
}

function scalingSections({ machine, threads, reps, plan, sizes, spread }: ScalingDocument, commit: string): string[] {
  const phases = Object.keys(sizes[0]?.phasesNsPerRow ?? {});
  return [
    markdown(
      ["rows a side", "ns a row", "best", "worst", ...phases],
      sizes.map(({ rows, nsPerRow, bestNsPerRow, worstNsPerRow, phasesNsPerRow }) => [
        grouped(rows),
        ...[nsPerRow, bestNsPerRow, worstNsPerRow].map((ns) => ns.toFixed(1)),
        ...phases.map((phase) => phasesNsPerRow[phase]?.toFixed(1) ?? ""),
      ]),
      0,
    ),
    `The dearest row costs ${spread.toFixed(2)} times the cheapest. ${machineText(machine)} · ${plan} plan, shuffled, ` +
      `${threads} threads, ${reps} runs in turn after a warm-up, commit ${commit}`,
  ];
}

function partsSections({ machine, rows, parts }: PartsDocument, commit: string): string[] {
  const levels = Object.keys(parts[0]?.nsPerRow ?? {});
  return [
    markdown(
      ["ns a row, one thread", ...levels],
      parts.map(({ name, nsPerRow }) => [name, ...levels.map((level) => nsPerRow[level]?.toFixed(1) ?? "")]),
      1,
    ),
    `${machineText(machine)} · ${grouped(rows)} rows a side, commit ${commit}`,
  ];
}

/** Columns from `right` on are flush right. */
function markdown(head: Cells, rows: readonly Cells[], right: number): string {
  const line = (cells: Cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i < right ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

if (import.meta.main) {
  for (const name of ["README.md", "docs/benchmarks.md"]) {
    const path = join(root, name);
    await Bun.write(path, withBenchmarks(readFileSync(path, "utf8")));
  }
}
