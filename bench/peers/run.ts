// `npm run peers`, `bun bench/peers/run.ts [SCENARIO…]`: ./recon and other programs on the same generated ledgers, in
// turn. Their answers are compared first; a peer that finds something else ends everything with exit status 2.
// The peers come from npm into this folder when first needed: they are too large for every clone to carry.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build";
import { root, run } from "../../scripts/processes";
import type { Counts } from "../../src/bench/baseline";
import { describeMachine, machineText } from "../../src/bench/machine";
import { makePair, pairs, type Pair, type PairName } from "../../src/bench/pairs";
import { ratio, timing, type Ratio, type Timing } from "../../src/bench/statistics";
import { count } from "../../src/cli/value-kinds";
import { Engine } from "../../src/engine/engine";
import { usableCores } from "../../src/engine/machine";

// Decimals that are equal and written differently are mismatches for a comparison of texts.
const { benign: _, ...comparable } = pairs;

const usage = `bun bench/peers/run.ts [SCENARIO…] [--peers duckdb,polars,comm] [--rows N] [--reps N] [--threads N] [--json]
    [--recon FILE]           measure this executable; without it ./recon is built first
    [--recon-options=TEXT]   more options for recon, such as --recon-options="--memory 256MiB"
scenarios: ${Object.keys(comparable).join(", ")} (default: shuffled)
`;

/** What one run of a program says. A program that does not time itself is timed from start to end. */
interface Answer {
  elapsed_ms?: number;
  counts: Counts;
}

interface Program {
  /** What is timed. */
  timed: string;
  /** Where it can take part; everywhere without this. */
  scenarios?: readonly PairName[];
  command(pair: Pair): string[];
  environment?: Record<string, string>;
  read(output: string): Answer;
}

interface Measured extends Timing {
  peakRssBytes: number;
}

const { values, positionals } = parse();
const rows = number("rows", values.rows, 1);
const reps = number("reps", values.reps, 1);
const threads = values.threads === undefined ? usableCores() : number("threads", values.threads, 1);
const scenarios = (positionals.length > 0 ? positionals : ["shuffled"]).map(named(comparable, "scenario"));

const self = (script: string) => [process.execPath, join(import.meta.dir, script)];
const peers = {
  duckdb: {
    timed: "the query alone, without start-up",
    command: ({ internal, external }) => [...self("duckdb.mjs"), internal, external, String(threads)],
    read: JSON.parse,
  },
  polars: {
    timed: "the query alone, without start-up",
    command: ({ internal, external }) => [...self("polars.mjs"), internal, external],
    environment: { POLARS_MAX_THREADS: String(threads) },
    read: JSON.parse,
  },
  comm: {
    timed: "the whole process, one thread",
    // Only files in the same order of their bytes can be compared line by line.
    scenarios: ["nominal"],
    command: ({ internal, external }) => ["comm", "-3", "--nocheck-order", internal, external],
    environment: { LC_ALL: "C" },
    read: (output) => ({ counts: countLines(output) }),
  },
} satisfies Record<string, Program>;
const chosen = values.peers.split(",").map(named(peers, "peer"));

const executable = values.recon ?? join(root, "recon");
if (values.recon === undefined) await build();
if (!existsSync(join(import.meta.dir, "node_modules"))) {
  await run("peers", [process.execPath, "install", "--cwd", import.meta.dir, "--frozen-lockfile", "--ignore-scripts"]);
}

const machine = describeMachine();
const results: object[] = [];
if (!values.json) console.log(`${machineText(machine)}\n${rows} rows a side, ${threads} threads, ${reps} runs each\n`);
for (const scenario of scenarios) {
  const pair = await makePair(Engine.load(), join(root, "data/bench"), scenario, rows, threads);
  results.push(measureScenario(scenario, pair));
}
if (values.json) console.log(JSON.stringify({ machine, rows, threads, reps, scenarios: results }, null, 2));

/** Runs recon and the peers in turn, so that whatever slows the machine down slows them all. */
function measureScenario(scenario: PairName, pair: Pair): object {
  const programs = new Map<string, Program>([["recon", recon(scenario)]]);
  for (const name of chosen) {
    const peer: Program = peers[name];
    if (peer.scenarios?.includes(scenario) ?? true) programs.set(name, peer);
  }
  const samples = new Map([...programs.keys()].map((name) => [name, { elapsed_ms: [] as number[], peak: 0 }]));
  let expected: Counts | undefined;
  // The first round is the warm-up.
  for (let i = 0; i <= reps; i++) {
    for (const [name, program] of programs) {
      const { elapsed_ms, peakRssBytes, counts } = once(program, pair);
      expected ??= counts;
      if (!Bun.deepEquals(counts, expected)) {
        fail(`${scenario}: ${name} finds ${JSON.stringify(counts)}, recon ${JSON.stringify(expected)}`);
      }
      if (i === 0) continue;
      const sample = samples.get(name)!;
      sample.elapsed_ms.push(elapsed_ms);
      sample.peak = Math.max(sample.peak, peakRssBytes);
    }
  }
  const measured = new Map<string, Measured>();
  for (const [name, { elapsed_ms, peak }] of samples) {
    measured.set(name, { ...timing(elapsed_ms), peakRssBytes: peak });
  }
  const ratios = chosen
    .filter((name) => measured.has(name))
    .map((name) => ({ of: name, to: "recon", ...ratio(measured.get(name)!, measured.get("recon")!) }));
  if (!values.json) show(scenario, expected, programs, measured, ratios);
  const timed = Object.fromEntries(
    [...measured].map(([name, m]) => [name, { timed: programs.get(name)!.timed, ...m }]),
  );
  return { scenario, counts: expected, programs: timed, ratios };
}

function recon(scenario: PairName): Program {
  return {
    timed: "the whole process, start-up included",
    command: ({ folder, internal, external }) => [
      executable,
      ...[internal, external, "--key", "trade_id", "--json", "--threads", String(threads)],
      ...values["recon-options"].split(" ").filter((word) => word !== ""),
      // Where every row is a break, writing them is part of the job.
      ...(scenario === "disjoint" ? ["--breaks", join(folder, "breaks.csv")] : []),
    ],
    read: (output) => {
      const { mismatch, missing_external, missing_internal } = JSON.parse(output).breaks;
      return { counts: { mismatch, missing_external, missing_internal } };
    },
  };
}

function once(program: Program, pair: Pair): { elapsed_ms: number; peakRssBytes: number; counts: Counts } {
  const command = program.command(pair);
  const started_ms = performance.now();
  const { exitCode, stdout, stderr, resourceUsage } = Bun.spawnSync(command, {
    env: { ...process.env, ...program.environment },
    stderr: "pipe",
  });
  const whole_ms = performance.now() - started_ms;
  if (exitCode > 1 || exitCode === null) fail(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  const { elapsed_ms = whole_ms, counts } = program.read(stdout.toString());
  return { elapsed_ms, peakRssBytes: resourceUsage.maxRSS, counts };
}

/** Lines of `comm -3`: those of the external file are indented. A key on both sides is a mismatch. */
function countLines(output: string): Counts {
  const keys = { internal: new Set<string>(), external: new Set<string>() };
  for (const line of output.split("\n").filter((text) => text !== "")) {
    const side = line.startsWith("\t") ? keys.external : keys.internal;
    side.add(line.trimStart().split(",")[0]!);
  }
  const mismatch = keys.internal.intersection(keys.external).size;
  return {
    mismatch,
    missing_external: keys.internal.size - mismatch,
    missing_internal: keys.external.size - mismatch,
  };
}

function show(
  scenario: PairName,
  counts: Counts | undefined,
  programs: Map<string, Program>,
  measured: Map<string, Measured>,
  ratios: (Ratio & { of: string })[],
): void {
  console.log(`${scenario}: ${JSON.stringify(counts)}`);
  const ms = (value: number) => `${value.toFixed(0)} ms`.padStart(10);
  for (const [name, { median_ms, best_ms, worst_ms, peakRssBytes }] of measured) {
    const memory = `${(peakRssBytes / 1e6).toFixed(0)} MB`.padStart(9);
    const times = `median${ms(median_ms)}  best${ms(best_ms)}  worst${ms(worst_ms)}`;
    console.log(`  ${name.padEnd(8)} ${times}  peak RSS${memory}  (${programs.get(name)!.timed})`);
  }
  for (const { of, median, low, high } of ratios) {
    console.log(`  ${of} takes ${median.toFixed(2)} times as long as recon (${low.toFixed(2)} to ${high.toFixed(2)})`);
  }
  console.log("  peak RSS of recon includes the mapped ledgers\n");
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        peers: { type: "string", default: "duckdb" },
        rows: { type: "string", default: "10000000" },
        reps: { type: "string", default: "5" },
        threads: { type: "string" },
        recon: { type: "string" },
        "recon-options": { type: "string", default: "" },
        json: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function number(name: string, text: string, least: number): number {
  try {
    return count(least)(text);
  } catch (error) {
    return fail(`--${name} takes ${(error as Error).message}`);
  }
}

function named<T extends object>(table: T, what: string): (name: string) => keyof T & string {
  return (name) => (Object.hasOwn(table, name) ? (name as keyof T & string) : fail(`there is no ${what} ${name}`));
}

function fail(message: string): never {
  console.error(`peers: ${message}\n${usage}`);
  process.exit(2);
}
