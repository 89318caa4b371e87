// `bun run bench`: times ./recon on generated ledgers, warm. Data is kept in data/bench; ROWS=n and REPS=n change size
// and number of runs. Every run must find the breaks that were put in, else there is nothing to time.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { measure } from "mitata";
import { build } from "../scripts/build";
import { root } from "../scripts/processes";

const rows = Number(process.env.ROWS ?? 1_000_000);
const repetitions = Number(process.env.REPS ?? 5);
const recon = join(root, "recon");

interface Scenario {
  name: string;
  generate: string[];
  run: string[];
}

const breaks = ["--breaks", "5"];
const scenarios: Scenario[] = [
  { name: "same-1t", generate: breaks, run: ["--threads", "1"] },
  { name: "same", generate: breaks, run: [] },
  { name: "shuffled-1t", generate: [...breaks, "--order", "shuffled"], run: ["--threads", "1"] },
  { name: "shuffled", generate: [...breaks, "--order", "shuffled"], run: [] },
  { name: "disjoint", generate: ["--order", "disjoint"], run: [] },
];

await build();
console.log(`${rows} rows a side, ${repetitions} runs after a warm-up, seconds`);
for (const scenario of scenarios) {
  const folder = join(root, "data/bench", `${scenario.name.replace(/-1t$/, "")}-${rows}`);
  if (!existsSync(join(folder, "truth.jsonl")))
    runRecon("generate", folder, "--rows", String(rows), ...scenario.generate);
  const expected = (await Bun.file(join(folder, "truth.jsonl")).text()).split("\n").length - 1;
  const command = [join(folder, "internal.csv"), join(folder, "external.csv"), "--key", "trade_id", "--json"];
  const run = () => {
    const { breaks } = JSON.parse(runRecon(...command, ...scenario.run));
    if (breaks.total !== expected) throw new Error(`${scenario.name}: ${breaks.total} breaks, not ${expected}`);
  };
  // Without a least time, mitata runs once to warm up and then exactly as often as it is told.
  const { samples } = await measure(run, { min_samples: repetitions, min_cpu_time: 0 });
  const seconds = samples.map((ns) => ns / 1e9).sort((a, b) => a - b);
  const [best, median, worst] = [seconds[0]!, seconds[Math.floor(seconds.length / 2)]!, seconds.at(-1)!];
  const rate = `${((2 * rows) / median / 1e6).toFixed(1)} M rows/s`;
  console.log(
    `${scenario.name.padEnd(12)} median ${median.toFixed(3)} best ${best.toFixed(3)} worst ${worst.toFixed(3)}  ${rate}`,
  );
}

/** Runs ./recon and returns what it prints. */
function runRecon(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([recon, ...args]);
  if (exitCode > 1) throw new Error(`recon ${args.join(" ")}: exit status ${exitCode}: ${stderr}`);
  return stdout.toString();
}
