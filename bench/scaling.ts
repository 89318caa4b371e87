// `bun run bench:scaling`: what a row costs the hash plan by the size of the ledgers and by phase, in nanoseconds a row (of
// both sides), sizes in turn. The times are the engine's own, on shuffled ledgers: from its first phase to the end of its last.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../scripts/build";
import { root } from "../scripts/processes";
import { describeMachine, machineText } from "../src/bench/machine";
import { makePair } from "../src/bench/pairs";
import { referenceCounts, runEngine } from "../src/bench/scenarios";
import { median } from "../src/bench/statistics";
import { count } from "../src/cli/value-kinds";
import { Engine } from "../src/engine/engine";
import { usableCores } from "../src/engine/machine";
import type { PhaseTime } from "../src/generated/abi";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "100000,1000000,10000000,50000000" },
    reps: { type: "string", default: "5" },
    threads: { type: "string", default: String(usableCores()) },
    json: { type: "boolean", default: false },
    "no-build": { type: "boolean", default: false },
  },
});
const sizes = values.rows.split(",").map(count(1));
const [reps, threads] = [values.reps, values.threads].map(count(1)) as [number, number];

if (!values["no-build"]) await build();
const bench = { engine: Engine.load(), threads };
const measured = [];
for (const rows of sizes) {
  const pair = await makePair(bench.engine, join(root, "data/bench"), "shuffled", rows, threads);
  measured.push({ rows, pair, counts: referenceCounts(pair), samples: [] as PhaseTime[][] });
}
// The first round is the warm-up.
for (let i = 0; i <= reps; i++) {
  for (const { rows, pair, counts, samples } of measured) {
    const sample = await runEngine(bench, pair, { plan: "hash" });
    if (!Bun.deepEquals(sample.counts, counts)) {
      throw new Error(
        `${rows} rows: the engine finds ${JSON.stringify(sample.counts)}, Baseline C ${JSON.stringify(counts)}`,
      );
    }
    if (i > 0) samples.push(sample.phases!);
  }
}

const results = measured.map(({ rows, samples }) => {
  const perRow = (ns: number) => Math.round((ns * 10) / (2 * rows)) / 10;
  const wholes = samples.map((phases) => perRow(phases.reduce((sum, { ns }) => sum + ns, 0)));
  const phases = samples[0]!.map(({ name }, i) => [name, perRow(median(samples.map((sample) => sample[i]!.ns)))]);
  return {
    rows,
    nsPerRow: median(wholes),
    bestNsPerRow: Math.min(...wholes),
    worstNsPerRow: Math.max(...wholes),
    phasesNsPerRow: Object.fromEntries(phases) as Record<string, number>,
  };
});
const costs = results.map(({ nsPerRow }) => nsPerRow);
const spread = Math.max(...costs) / Math.min(...costs);
const machine = describeMachine();
if (values.json) {
  console.log(JSON.stringify({ machine, threads, reps, plan: "hash", sizes: results, spread }, null, 2));
} else {
  console.log(`${machineText(machine)}\nhash plan, shuffled, ${threads} threads, ${reps} runs each after a warm-up\n`);
  console.table(
    Object.fromEntries(results.map(({ rows, phasesNsPerRow, ...whole }) => [rows, { ...whole, ...phasesNsPerRow }])),
  );
  console.log(`the dearest row costs ${spread.toFixed(2)} times the cheapest`);
}
