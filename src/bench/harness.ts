// `recon bench`: makes the pairs, runs every scenario the same way and compares what is found before anything is said
// about time. Used by cli/bench.ts; the document is what scripts and bench/ read.
import { statSync } from "node:fs";
import type { Counts } from "./baseline";
import { describeMachine, type Machine } from "./machine";
import { makePair, type Pair, type PairName } from "./pairs";
import {
  bestWay,
  comparisons,
  referenceCounts,
  scenarios,
  type Bench,
  type Sample,
  type Scenario,
  type ScenarioId,
} from "./scenarios";
import { ratio, timing, type Ratio } from "./statistics";
import { problem } from "../errors";

export interface BenchOptions extends Bench {
  ids: readonly ScenarioId[];
  rows: number;
  reps: number;
  folder: string;
  /** Called before each step that takes time. */
  say(text: string): void;
}

export interface BenchDocument {
  machine: Machine;
  version: string;
  commit: string;
  rows: number;
  reps: number;
  scenarios: ScenarioResult[];
  ratios: (Ratio & { of: ScenarioId; to: ScenarioId })[];
}

export interface ScenarioResult {
  id: ScenarioId;
  /** Of both sides, as the program counted them; null for the floor, which counts none. */
  records: number | null;
  threads: number;
  plan: string | null;
  medianMs: number;
  bestMs: number;
  worstMs: number;
  samplesMs: number[];
  /** Of both files, at the median. */
  bytesPerSecond: number;
  /** Null where the program looks for none. */
  breaks: number | null;
}

/** Throws a ReconError where programs disagree about a pair: there is nothing to time then. */
export async function runBench(options: BenchOptions): Promise<Omit<BenchDocument, "version" | "commit">> {
  const pairs = new Map<PairName, KnownPair>();
  const results: ScenarioResult[] = [];
  for (const id of options.ids) {
    const scenario: Scenario = scenarios[id];
    const pair = pairs.get(scenario.pair) ?? (await knownPair(scenario.pair, options));
    pairs.set(scenario.pair, pair);
    results.push(await measure(id, scenario, pair, options));
  }
  const { rows, reps } = options;
  return { machine: describeMachine(), rows, reps, scenarios: results, ratios: ratiosOf(results) };
}

/** A pair with its size and, once somebody needed them, the counts that are right for it. */
interface KnownPair extends Pair {
  bytes: number;
  counts?: Counts;
}

async function knownPair(name: PairName, { engine, folder, rows, threads, say }: BenchOptions): Promise<KnownPair> {
  say(`ledgers: ${name}`);
  const pair = await makePair(engine, folder, name, rows, threads);
  return { ...pair, bytes: statSync(pair.internal).size + statSync(pair.external).size };
}

async function measure(
  id: ScenarioId,
  scenario: Scenario,
  pair: KnownPair,
  { reps, say, ...bench }: BenchOptions,
): Promise<ScenarioResult> {
  const ways = scenario.ways.map((): Sample[] => []);
  say(id);
  for (let i = 0; i <= reps; i++) {
    for (const [way, run] of scenario.ways.entries()) {
      const sample = await run(bench, pair);
      if (sample.counts) verify(id, sample.counts, pair);
      if (i > 0) ways[way]!.push(sample);
    }
  }
  const samples = bestWay(ways);
  const { records, counts, plan } = samples[0]!;
  const { median_ms, best_ms, worst_ms, samples_ms } = timing(samples.map(({ elapsed_ms }) => elapsed_ms));
  return {
    id,
    records,
    threads: scenario.threads === "one" ? 1 : bench.threads,
    plan,
    medianMs: median_ms,
    bestMs: best_ms,
    worstMs: worst_ms,
    samplesMs: samples_ms,
    bytesPerSecond: Math.round(pair.bytes / (median_ms / 1000)),
    breaks: counts && counts.mismatch + counts.missing_external + counts.missing_internal,
  };
}

function verify(id: ScenarioId, counts: Counts, pair: KnownPair): void {
  pair.counts ??= id.startsWith("baseline-c") ? counts : referenceCounts(pair);
  if (Bun.deepEquals(counts, pair.counts)) return;
  const message = `${id} finds ${JSON.stringify(counts)}, Baseline C ${JSON.stringify(pair.counts)}`;
  throw problem("bench_counts", message, { path: pair.folder });
}

function ratiosOf(results: readonly ScenarioResult[]): BenchDocument["ratios"] {
  const timings = new Map(results.map(({ id, samplesMs }) => [id, timing(samplesMs)]));
  return comparisons.flatMap(([of, to]) => {
    const [one, other] = [timings.get(of), timings.get(to)];
    return one && other ? [{ of, to, ...ratio(one, other) }] : [];
  });
}
