// Recorded runs: bench/results/MACHINE.jsonl, one line a run. Written by record.ts, read by scripts/benchmarks.ts.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/processes";
import type { Counts } from "../src/bench/baseline";
import type { FixBenchDocument } from "../src/bench/fix";
import type { BenchDocument } from "../src/bench/harness";
import type { Machine } from "../src/bench/machine";
import type { Ratio, Timing } from "../src/bench/statistics";

const folder = join(root, "bench/results");

/** What `bun bench/peers/run.ts --json` prints. */
export interface PeersDocument {
  machine: Machine;
  rows: number;
  threads: number;
  reps: number;
  scenarios: {
    scenario: string;
    about: string;
    rows: number;
    counts: Counts | null;
    programs: Record<string, Timing & { timed: string; peakRssBytes: number }>;
    ratios: (Ratio & { of: string; to: string })[];
  }[];
}

/** What `bun bench/scaling.ts --json` prints. */
export interface ScalingDocument {
  machine: Machine;
  threads: number;
  reps: number;
  plan: string;
  sizes: {
    rows: number;
    nsPerRow: number;
    bestNsPerRow: number;
    worstNsPerRow: number;
    phasesNsPerRow: Record<string, number>;
  }[];
  /** The dearest row over the cheapest. */
  spread: number;
}

/** What `bun bench/run.ts --json` prints: the median cost of a row, by part of the engine and CPU level. */
export interface PartsDocument {
  machine: Machine;
  rows: number;
  parts: { name: string; nsPerRow: Record<string, number> }[];
}

export interface Documents {
  harness: BenchDocument;
  peers: PeersDocument;
  scaling: ScalingDocument;
  parts: PartsDocument;
  fix: FixBenchDocument;
}

export type Kind = keyof Documents;

export interface Recorded<K extends Kind = Kind> {
  kind: K;
  /** ISO 8601. */
  recorded: string;
  /** With a plus where the tree had changes. */
  commit: string;
  document: Documents[K];
}

/** Returns the path of the file that now has one line more. */
export function append(run: Recorded): string {
  const { cpu, cores } = run.document.machine;
  const machine = `${cpu} ${cores} cores`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${machine}.jsonl`);
  appendFileSync(path, `${JSON.stringify(run)}\n`);
  return path;
}

/** The newest run of a kind on any machine. */
export function latest<K extends Kind>(kind: K): Recorded<K> | undefined {
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))
    .map((line) => JSON.parse(line) as Recorded)
    .filter((run): run is Recorded<K> => run.kind === kind)
    .sort((a, b) => a.recorded.localeCompare(b.recorded))
    .at(-1);
}
