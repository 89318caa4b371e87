// `npm run peers`, `bun bench/peers/run.ts [SCENARIO…]`: ./recon and other programs on the same generated ledgers, in
// turn. Their answers are compared first; a peer that finds something else ends everything with exit status 2.
// The peers come from npm into this folder when first needed: they are too large for every clone to carry.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { peers, recon, type Job, type PeerName, type Program } from "./programs";
import { scenarios, type Scenario, type ScenarioName } from "./scenarios";
import { build } from "../../scripts/build";
import { root, run } from "../../scripts/processes";
import type { Counts } from "../../src/bench/baseline";
import { describeMachine, machineText } from "../../src/bench/machine";
import { columnsOf, makePair, type Pair, type PairName } from "../../src/bench/pairs";
import { ratio, timing, type Ratio, type Timing } from "../../src/bench/statistics";
import { count } from "../../src/cli/value-kinds";
import { Engine } from "../../src/engine/engine";
import { usableCores } from "../../src/engine/machine";

const usage = `bun bench/peers/run.ts [SCENARIO…] [--peers duckdb,polars] [--rows N] [--reps N] [--threads N] [--json]
    [--recon FILE]           measure this executable; without it ./recon is built first
    [--recon-options=TEXT]   more options for recon, such as --recon-options="--plan hash"
scenarios (all by default):
${Object.entries(scenarios)
  .map(([name, { about }]) => `    ${name.padEnd(16)} ${about}`)
  .join("\n")}
`;

interface Measured extends Timing {
  peakRssBytes: number;
}

const { values, positionals } = parse();
const rows = number("rows", values.rows, 1);
const reps = number("reps", values.reps, 1);
const threads = values.threads === undefined ? usableCores() : number("threads", values.threads, 1);
const names = positionals.map(named(scenarios, "scenario"));
const everywhere = values.peers.split(",").map(named(peers, "peer"));

const executable = values.recon ?? join(root, "recon");
if (values.recon === undefined) await build();
if (!existsSync(join(import.meta.dir, "node_modules"))) {
  await run("peers", [process.execPath, "install", "--cwd", import.meta.dir, "--frozen-lockfile", "--ignore-scripts"]);
}

const machine = describeMachine();
const results: object[] = [];
if (!values.json) console.log(`${machineText(machine)}\n${rows} rows a side, ${threads} threads, ${reps} runs each\n`);
for (const name of names.length > 0 ? names : (Object.keys(scenarios) as ScenarioName[])) {
  const scenario: Scenario = scenarios[name];
  results.push(await measureScenario(name, scenario, await jobOf(scenario)));
}
if (values.json) console.log(JSON.stringify({ machine, rows, threads, reps, scenarios: results }, null, 2));

async function jobOf({ pair: name, rows: own, compared, options = [], writesBreaks, prepare }: Scenario): Promise<Job> {
  const pair = await made(name, own);
  const columns = columnsOf(name);
  const more = values["recon-options"].split(" ").filter((word) => word !== "");
  return {
    pair: (await prepare?.(pair)) ?? pair,
    columns,
    compared: compared ?? columns.slice(1),
    threads,
    options: [...options, ...more],
    writesBreaks: writesBreaks ?? false,
  };
}

function made(name: PairName, own = rows): Promise<Pair> {
  return makePair(Engine.load(), join(root, "data/bench"), name, own, threads);
}

/** Runs recon and the peers in turn, so that whatever slows the machine down slows them all. */
async function measureScenario(name: string, scenario: Scenario, job: Job): Promise<object> {
  const programs = await programsOf(scenario);
  const samples = new Map([...programs.keys()].map((program) => [program, { elapsed_ms: [] as number[], peak: 0 }]));
  let expected: Counts | null = null;
  // The first round is the warm-up.
  for (let i = 0; i <= reps; i++) {
    for (const [title, program] of programs) {
      const { elapsed_ms, peakRssBytes, counts } = once(program, job);
      expected ??= counts;
      if (counts !== null && !Bun.deepEquals(counts, expected)) {
        fail(`${name}: ${title} finds ${JSON.stringify(counts)}, recon ${JSON.stringify(expected)}`);
      }
      if (i === 0) continue;
      const sample = samples.get(title)!;
      sample.elapsed_ms.push(elapsed_ms);
      sample.peak = Math.max(sample.peak, peakRssBytes);
    }
  }
  const measured = new Map<string, Measured>();
  for (const [title, { elapsed_ms, peak }] of samples) {
    measured.set(title, { ...timing(elapsed_ms), peakRssBytes: peak });
  }
  const ratios = [...measured.keys()]
    .filter((title) => title !== "recon")
    .map((title) => (title === onPair(scenario.against) ? ["recon", title] : [title, "recon"]) as [string, string])
    .map(([of, to]) => ({ of, to, ...ratio(measured.get(of)!, measured.get(to)!) }));
  if (!values.json) show(name, scenario, expected, programs, measured, ratios);
  const timed = Object.fromEntries(
    [...measured].map(([title, m]) => [title, { timed: programs.get(title)!.timed, ...m }]),
  );
  const { about, rows: own = rows } = scenario;
  return { scenario: name, about, rows: own, counts: expected, programs: timed, ratios };
}

/** recon first: the others are held to what it finds. */
async function programsOf({ peers: own = [], levels, against }: Scenario): Promise<Map<string, Program>> {
  const others: readonly PeerName[] = levels ? [] : [...everywhere, ...own];
  const programs = new Map<string, Program>([["recon", recon(executable)]]);
  if (against) programs.set(onPair(against), on(await made(against), recon(executable)));
  for (const level of levels ?? []) programs.set(`recon ${level}`, recon(executable, level));
  for (const name of others) programs.set(name, peers[name]);
  return programs;
}

function onPair(name: PairName | undefined): string {
  return `recon on ${name}`;
}

/** The program on a pair of its own, whatever the scenario's is. */
function on(pair: Pair, program: Program): Program {
  return { ...program, command: (job) => program.command({ ...job, pair }) };
}

function once(program: Program, job: Job): { elapsed_ms: number; peakRssBytes: number; counts: Counts | null } {
  const command = program.command(job);
  const started_ms = performance.now();
  const { exitCode, stdout, stderr, resourceUsage } = Bun.spawnSync(command, {
    env: { ...process.env, ...program.environment?.(job) },
    stderr: "pipe",
  });
  const whole_ms = performance.now() - started_ms;
  if (exitCode > 1 || exitCode === null) fail(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  const { elapsed_ms = whole_ms, counts } = program.read(stdout.toString());
  return { elapsed_ms, peakRssBytes: resourceUsage.maxRSS, counts };
}

function show(
  name: string,
  { about }: Scenario,
  counts: Counts | null,
  programs: Map<string, Program>,
  measured: Map<string, Measured>,
  ratios: (Ratio & { of: string; to: string })[],
): void {
  console.log(`${name}: ${about}\n  ${JSON.stringify(counts)}`);
  const ms = (value: number) => `${value.toFixed(value < 100 ? 1 : 0)} ms`.padStart(10);
  for (const [title, { median_ms, best_ms, worst_ms, peakRssBytes }] of measured) {
    const memory = `${(peakRssBytes / 1e6).toFixed(0)} MB`.padStart(9);
    const times = `median${ms(median_ms)}  best${ms(best_ms)}  worst${ms(worst_ms)}`;
    console.log(`  ${title.padEnd(14)} ${times}  peak RSS${memory}  (${programs.get(title)!.timed})`);
  }
  for (const { of, to, median, low, high } of ratios) {
    console.log(`  ${of} takes ${median.toFixed(2)} times as long as ${to} (${low.toFixed(2)} to ${high.toFixed(2)})`);
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
