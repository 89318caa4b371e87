// Writes the benchmark tables of README.md and docs/benchmarks.md from the newest recorded runs (bench/results), between
// the two marks. Run by `bun scripts/benchmarks.ts`, after `bun run bench:record`.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes";
import { latest, type PeersDocument, type Recorded } from "../bench/results";
import { machineText } from "../src/bench/machine";
import { circumstances, ratioHead, ratioRows, timeHead, timeRows, type Cells } from "../src/bench/table";
import { bytesText, grouped } from "../src/report/numbers";

const begin = "<!-- benchmarks: written by scripts/benchmarks.ts -->";
const end = "<!-- /benchmarks -->";

/** Both tables, with what they were measured on. */
export function benchmarkBlock(): string {
  const harness = latest("harness");
  const peers = latest("peers");
  return [
    ...(harness
      ? [
          markdown(timeHead, timeRows(harness.document), 2),
          markdown(ratioHead, ratioRows(harness.document), 1),
          circumstances(harness.document).join(" · "),
        ]
      : []),
    ...(peers ? peersSections(peers) : []),
  ].join("\n\n");
}

function peersSections({ document, commit }: Recorded<"peers">): string[] {
  const { machine, rows, threads, reps } = document;
  return [
    markdown(["ledgers", "program", "median", "best", "worst", "peak RSS", "times recon"], peerRows(document), 2),
    `${machineText(machine)} · ${grouped(rows)} rows a side, ${threads} threads, ${reps} runs in turn after a warm-up, commit ${commit} · ` +
      "recon is timed as a whole process and its peak includes the mapped ledgers; DuckDB and Polars are timed without start-up",
  ];
}

function peerRows({ scenarios }: PeersDocument): Cells[] {
  return scenarios.flatMap(({ scenario, programs, ratios }) =>
    Object.entries(programs).map(([name, { median_ms, best_ms, worst_ms, peakRssBytes }]) => {
      const ratio = ratios.find(({ of }) => of === name);
      return [
        scenario,
        name,
        ...[median_ms, best_ms, worst_ms].map((ms) => `${grouped(ms.toFixed(0))} ms`),
        bytesText(peakRssBytes),
        ratio ? `${ratio.median.toFixed(1)} (${ratio.low.toFixed(1)} to ${ratio.high.toFixed(1)})` : "",
      ];
    }),
  );
}

/** Columns from `right` on are flush right. */
function markdown(head: Cells, rows: readonly Cells[], right: number): string {
  const line = (cells: Cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i < right ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

if (import.meta.main) {
  for (const name of ["README.md", "docs/benchmarks.md"]) {
    const path = join(root, name);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from)
      console.error(`${name}: no place for the tables: put these lines there\n${begin}\n${end}`);
    else await Bun.write(path, `${text.slice(0, from + begin.length)}\n\n${benchmarkBlock()}\n\n${text.slice(to)}`);
  }
}
