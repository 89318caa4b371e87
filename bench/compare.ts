// `bun run bench:compare A B [--rows N] [--reps N] [--threads N] [SCENARIO…]`: builds two commits in worktrees and runs
// their executables in turn on the same ledgers. Builds are kept in data/bench/builds.
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, run } from "../scripts/processes";
import { describeMachine, machineText } from "../src/bench/machine";
import { makePair, pairs, type Pair, type PairName } from "../src/bench/pairs";
import { median } from "../src/bench/statistics";
import { count } from "../src/cli/value-kinds";
import { Engine } from "../src/engine/engine";
import { usableCores } from "../src/engine/machine";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: "string", default: "10000000" },
    reps: { type: "string", default: "15" },
    threads: { type: "string", default: String(usableCores()) },
  },
});
const [a, b, ...names] = positionals;
if (a === undefined || b === undefined) throw new Error("bench:compare takes two commits");
const unknown = names.find((name) => !Object.hasOwn(pairs, name));
if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}: ${Object.keys(pairs).join(", ")}`);
const scenarios = names.length > 0 ? (names as PairName[]) : (["nominal", "shuffled"] as const);
const [rows, reps, threads] = [values.rows, values.reps, values.threads].map(count(1)) as [number, number, number];

const executables = [await built(a), await built(b)] as const;
console.log(`${machineText(describeMachine())}\n${rows} rows a side, ${threads} threads, ${reps} pairs of runs\n`);
for (const scenario of scenarios) {
  const pair = await makePair(Engine.load(), join(root, "data/bench"), scenario, rows, threads);
  const answers = executables.map((recon) => once(recon, pair).breaks);
  if (answers[0] !== answers[1]) throw new Error(`${scenario}: ${a} finds ${answers[0]}, ${b} ${answers[1]}`);
  const samples = Array.from({ length: reps }, (_, i) => pairedRun(pair, i % 2 === 1));
  const ratios = samples.map(([one, other]) => one / other).sort((x, y) => x - y);
  const [mine, theirs] = [0, 1].map((side) => median(samples.map((sample) => sample[side]!)).toFixed(1));
  const [low, middle, high] = [quantile(ratios, 0.25), median(ratios), quantile(ratios, 0.75)].map((x) => x.toFixed(3));
  const range = `${ratios[0]!.toFixed(3)} to ${ratios.at(-1)!.toFixed(3)}`;
  console.log(`${scenario}: ${a} ${mine} ms, ${b} ${theirs} ms`);
  console.log(`  ${a} takes ${middle} times as long as ${b}; half of the pairs ${low} to ${high}, all ${range}`);
}

/** Milliseconds of both; who goes first alternates, because the second finds warmer caches. */
function pairedRun(pair: Pair, swapped: boolean): [number, number] {
  const order = swapped ? ([1, 0] as const) : ([0, 1] as const);
  const elapsed_ms: [number, number] = [0, 0];
  for (const side of order) elapsed_ms[side] = once(executables[side], pair).elapsed_ms;
  return elapsed_ms;
}

function once(recon: string, { internal, external }: Pair): { elapsed_ms: number; breaks: string } {
  const command = [recon, internal, external, "--key", "trade_id", "--json", "--threads", String(threads)];
  const started_ms = performance.now();
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  const elapsed_ms = performance.now() - started_ms;
  if (exitCode > 1 || exitCode === null) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  return { elapsed_ms, breaks: JSON.stringify(JSON.parse(stdout.toString()).breaks) };
}

/** The executable of a commit, built unless that was done before. */
async function built(name: string): Promise<string> {
  const commit = git("rev-parse", "--verify", `${name}^{commit}`);
  const folder = join(root, "data/bench/builds", commit);
  const recon = join(folder, "recon");
  if (existsSync(recon)) return recon;
  const worktree = join(folder, "tree");
  mkdirSync(folder, { recursive: true });
  git("worktree", "add", "--force", "--detach", worktree, commit);
  try {
    symlinkSync(join(root, "node_modules"), join(worktree, "node_modules"));
    await run(`build of ${name}`, [process.execPath, join(worktree, "scripts/build.ts")]);
    copyFileSync(join(worktree, "recon"), recon);
  } finally {
    git("worktree", "remove", "--force", worktree);
  }
  return recon;
}

function git(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.round((sorted.length - 1) * part)]!;
}
