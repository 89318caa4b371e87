// `bun run bench [--json] [--no-build]`: what each part of the engine costs, in nanoseconds a row on one thread, at every CPU
// level of this machine: scan, hash, table, decimal and split alone, timed inside the engine (zig/bench.zig), then jobs that
// do little else than one thing, timed by mitata. ROWS=n changes the size (it should fit no cache). For whole
// reconciliations there is `recon bench`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { measure } from "mitata";
import type { PartsDocument } from "./results";
import { build } from "../scripts/build";
import { root } from "../scripts/processes";
import { describeMachine } from "../src/bench/machine";
import { makePair, openGenerated, type PairName } from "../src/bench/pairs";
import { median } from "../src/bench/statistics";
import { Engine } from "../src/engine/engine";
import { memoryBudget } from "../src/engine/machine";
import { problem, ReconError } from "../src/errors";
import type { BenchPart, RunSpec } from "../src/generated/abi";
import type { OpenedPair } from "../src/ledger/ledger";

const ledgerRows = Number(process.env.ROWS ?? 500_000);
const folder = join(root, "data/bench");

interface Part {
  name: string;
  pair: PairName;
  /** How many ledgers of the pair the job goes over. */
  sides: 1 | 2;
  spec(pair: OpenedPair): Pick<RunSpec, "internal" | "key" | "compare"> & Partial<RunSpec>;
}

const both = ({ internal, external, key }: OpenedPair) => ({ internal: internal.spec, external: external.spec, key });
const oneSide = ({ internal, key }: OpenedPair) => ({ internal: internal.spec, key, compare: [] });
const keysOnly = (pair: OpenedPair) => ({ ...both(pair), compare: [] });
const allColumns = (pair: OpenedPair) => ({ ...both(pair), compare: pair.compare });
const priceOnly = (pair: OpenedPair) => ({
  ...both(pair),
  compare: pair.compare.filter(({ name }) => name === "price"),
});

const parts: Part[] = [
  { name: "one ledger: scan, hash, count keys", pair: "nominal", sides: 1, spec: oneSide },
  { name: "the same, every field quoted", pair: "quoted", sides: 1, spec: oneSide },
  { name: "merge, keys only", pair: "nominal", sides: 2, spec: keysOnly },
  { name: "merge, all columns of equal bytes", pair: "nominal", sides: 2, spec: allColumns },
  { name: "merge, decimals written differently", pair: "benign", sides: 2, spec: priceOnly },
  { name: "same order, unsorted keys", pair: "uuid", sides: 2, spec: allColumns },
  { name: "hash table, keys only", pair: "shuffled", sides: 2, spec: keysOnly },
  { name: "hash table, all columns", pair: "shuffled", sides: 2, spec: allColumns },
];

/** Parts of the engine that can be timed alone. */
const kernels = ["scan", "hash", "table", "decimal", "split"] as const satisfies BenchPart[];
const kernel_rounds = 11;

if (process.argv.includes("--parts")) {
  const engine = Engine.load();
  console.log(JSON.stringify({ ...(await measureKernels(engine)), ...(await measureParts(engine)) }));
} else {
  if (!process.argv.includes("--no-build")) await build();
  mkdirSync(folder, { recursive: true });
  report(new Map(["v2", "v3", "v4", "arm64"].flatMap((level) => atLevel(level))));
}

function report(byLevel: Map<string, Record<string, number>>): void {
  const names = [...kernels, ...parts.map(({ name }) => name)];
  const measured = names.map((name) => ({
    name,
    nsPerRow: Object.fromEntries([...byLevel].map(([level, ns]) => [level, ns[name]!])),
  }));
  if (process.argv.includes("--json")) {
    const document: PartsDocument = { machine: describeMachine(), rows: ledgerRows, parts: measured };
    console.log(JSON.stringify(document, null, 2));
    return;
  }
  console.log(`\n${ledgerRows} rows a side, one thread, median ns a row`);
  console.table(Object.fromEntries(measured.map(({ name, nsPerRow }) => [name, nsPerRow])));
}

/** The level is chosen once in a process, so each has its own. Empty where this machine does not have it. */
function atLevel(level: string): [string, Record<string, number>][] {
  const command = [process.execPath, import.meta.path, "--parts"];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { ...process.env, RECON_CPU: level } });
  if (exitCode === 0) return [[level, JSON.parse(stdout.toString())]];
  if (stderr.toString().includes("RECON_CPU")) return [];
  throw new Error(stderr.toString());
}

async function measureKernels(engine: Engine): Promise<Record<string, number>> {
  using opened = await openGenerated(engine, await makePair(engine, folder, "nominal", ledgerRows, 1));
  const [file] = opened.internal.spec.files;
  const nanoseconds: Record<string, number> = {};
  for (const part of kernels) {
    const result = await engine.run({ bench: { part, file: file!, rounds: kernel_rounds, pin: true } });
    if (result.outcome !== "done") throw new ReconError(result.errors);
    nanoseconds[part] = Math.round((median(result.samples_ns) / result.group) * 10) / 10;
  }
  return nanoseconds;
}

async function measureParts(engine: Engine): Promise<Record<string, number>> {
  const nanoseconds: Record<string, number> = {};
  for (const { name, pair, sides, spec } of parts) {
    using opened = await openGenerated(engine, await makePair(engine, folder, pair, ledgerRows, 1));
    const run = { threads: 1, memory_bytes: memoryBudget(), limit: 0, ...spec(opened) };
    const { p50 } = await measure(async () => {
      const result = await engine.run({ run });
      if (result.outcome !== "done") throw new ReconError(result.errors);
    });
    if (p50 === undefined) throw problem("bench", `${name} was not measured`);
    nanoseconds[name] = Math.round((p50 / (sides * ledgerRows)) * 10) / 10;
  }
  return nanoseconds;
}
