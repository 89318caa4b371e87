// The scenarios of `recon bench`: what each one runs, and on which pair. Used by harness.ts.
import { runBaseline, type BaselineKind, type Counts } from "./baseline";
import { openGenerated, type Pair, type PairName } from "./pairs";
import { median } from "./statistics";
import type { Engine } from "../engine/engine";
import { memoryBudget, temporaryFolder } from "../engine/machine";
import { problem, ReconError } from "../errors";
import type { ColumnSpec, PhaseTime, Plan } from "../generated/abi";

/** What a scenario runs with. */
export interface Bench {
  engine: Engine;
  /** All threads; some scenarios use one. */
  threads: number;
}

/** One run. `records` are those of both sides, null where the program counts none; without `counts` there is no verdict. */
export interface Sample {
  elapsed_ms: number;
  records: number | null;
  counts: Counts | null;
  /** The engine's plan, or how the floor was read. */
  plan: string | null;
  /** Of the engine alone: its phases, by its own clock. */
  phases?: PhaseTime[];
}

export interface Scenario {
  title: string;
  pair: PairName;
  threads: "one" | "all";
  /** Runs that together are one timed run; the one with the least median is taken, the others are dropped. */
  ways: readonly ((bench: Bench, pair: Pair) => Sample | Promise<Sample>)[];
}

export const scenarios = {
  "baseline-a": baseline("Baseline A: ifstream, first field", "firstField", "nominal"),
  "baseline-b": baseline("Baseline B: ifstream, all fields as strings", "allFields", "nominal"),
  "baseline-c": baseline("Baseline C: ifstream, unordered_map, full", "reconcile", "nominal"),
  nominal: engine("Engine, same order", "nominal", "all"),
  "nominal-1t": engine("Engine, same order", "nominal", "one"),
  "nominal-hash": engine("Engine, same order, hash plan forced", "nominal", "all", { plan: "hash" }),
  "nominal-process": {
    title: "recon as a process, same order",
    pair: "nominal",
    threads: "all",
    ways: [wholeProcess],
  },
  "baseline-c-shuffled": baseline("Baseline C, shuffled", "reconcile", "shuffled"),
  shuffled: engine("Engine, shuffled", "shuffled", "all"),
  "shuffled-1t": engine("Engine, shuffled", "shuffled", "one"),
  typed: engine("Engine, shuffled, price and quantity typed", "shuffled", "all", { rules: declared }),
  respelled: engine("Engine, the same, every price respelled", "respelled", "all", { rules: declared }),
  disjoint: engine("Engine, no key in common", "disjoint", "all"),
  floor: {
    title: "Memory floor: the same bytes, read once",
    pair: "nominal",
    threads: "all",
    ways: [floor("readMapped", "mapped"), floor("readMappedAhead", "mapped ahead"), floor("readCopied", "pread")],
  },
} satisfies Record<string, Scenario>;

export type ScenarioId = keyof typeof scenarios;

/** Whose times are set against whose. */
export const comparisons: readonly (readonly [of: ScenarioId, to: ScenarioId])[] = [
  ["baseline-a", "nominal"],
  ["baseline-b", "nominal"],
  ["baseline-c", "nominal"],
  ["baseline-c", "nominal-1t"],
  ["nominal-1t", "nominal"],
  ["nominal-hash", "nominal"],
  ["baseline-c-shuffled", "shuffled"],
  ["baseline-c-shuffled", "shuffled-1t"],
  ["shuffled-1t", "shuffled"],
  ["typed", "shuffled"],
  ["respelled", "shuffled"],
  ["nominal", "floor"],
  ["nominal-process", "floor"],
  ["shuffled", "floor"],
  ["disjoint", "floor"],
];

/** The counts that every program must find on a pair. */
export function referenceCounts({ internal, external }: Pair): Counts {
  return countsOf(runBaseline("reconcile", internal, external, 1));
}

/** The way of a scenario whose runs took the least time. */
export function bestWay(ways: readonly Sample[][]): Sample[] {
  const medians = ways.map((samples) => median(samples.map(({ elapsed_ms }) => elapsed_ms)));
  return ways[medians.indexOf(Math.min(...medians))]!;
}

function baseline(title: string, kind: BaselineKind, pair: PairName): Scenario {
  const way = (_: Bench, { internal, external }: Pair): Sample => {
    const result = runBaseline(kind, internal, external, 1);
    const counts = kind === "reconcile" ? countsOf(result) : null;
    return { elapsed_ms: result.elapsed_ns / 1e6, records: result.records, counts, plan: null };
  };
  return { title, pair, threads: "one", ways: [way] };
}

function floor(kind: BaselineKind, plan: string) {
  return ({ threads }: Bench, { internal, external }: Pair): Sample => {
    const { elapsed_ns } = runBaseline(kind, internal, external, threads);
    return { elapsed_ms: elapsed_ns / 1e6, records: null, counts: null, plan };
  };
}

/** What is particular about a run of the engine. */
interface EngineChoices {
  plan?: Plan;
  threads?: number;
  /** What is declared about the compared columns. */
  rules?: (columns: ColumnSpec[]) => ColumnSpec[];
}

/** The engine's job alone, from start to result; opening the pair and looking at its headers are not part of it. */
export async function runEngine(bench: Bench, pair: Pair, choices: EngineChoices): Promise<Sample> {
  const { plan = "auto", threads = bench.threads, rules = (columns) => columns } = choices;
  using opened = await openGenerated(bench.engine, pair);
  const spec = {
    internal: opened.internal.spec,
    external: opened.external.spec,
    key: opened.key,
    compare: rules(opened.compare),
    limit: 0,
    threads,
    memory_bytes: memoryBudget(),
    plan,
    temp_directory: temporaryFolder(undefined),
  };
  const started_ms = performance.now();
  const result = await bench.engine.run({ run: spec });
  const elapsed_ms = performance.now() - started_ms;
  if (result.outcome === "failed") throw new ReconError(result.errors, result.error_count);
  const records = result.internal.rows + result.external.rows;
  return { elapsed_ms, records, counts: countsOf(result.breaks), plan: result.plan, phases: result.phases };
}

function engine(title: string, pair: PairName, threads: "one" | "all", choices: EngineChoices = {}): Scenario {
  const own = threads === "one" ? { ...choices, threads: 1 } : choices;
  return { title, pair, threads, ways: [(bench, files) => runEngine(bench, files, own)] };
}

/** Price and quantity as decimals with a tolerance below any difference that the generator makes. */
function declared(columns: ColumnSpec[]): ColumnSpec[] {
  const amounts: Record<string, string> = { price: "0.005", quantity: "0.5" };
  return columns.map((column) => {
    const amount = amounts[column.name];
    return amount === undefined ? column : { ...column, type: "decimal", tolerance: { amount } };
  });
}

/** This very program on the pair: start, header and column detection, engine, report. */
function wholeProcess({ threads }: Bench, { internal, external }: Pair): Sample {
  const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  const command = [...program, internal, external, "--key", "trade_id", "--json", "--threads", String(threads)];
  const started_ms = performance.now();
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  const elapsed_ms = performance.now() - started_ms;
  if (exitCode !== 0 && exitCode !== 1) throw problem("bench", `recon ended with ${exitCode}: ${stderr.toString()}`);
  const document = JSON.parse(stdout.toString());
  const records = document.internal.rows + document.external.rows;
  return { elapsed_ms, records, counts: countsOf(document.breaks), plan: document.plan };
}

function countsOf({ mismatch, missing_external, missing_internal }: Counts): Counts {
  return { mismatch, missing_external, missing_internal };
}
