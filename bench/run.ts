// `bun run bench`: what each part of the engine costs, in nanoseconds a row on one thread, at every CPU level of this
// machine. Each part is a job that does little else. ROWS=n changes the size (it should fit no cache). For whole
// reconciliations there is `recon bench`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { measure } from "mitata";
import { build } from "../scripts/build";
import { root } from "../scripts/processes";
import { makePair, openGenerated, type PairName } from "../src/bench/pairs";
import { Engine } from "../src/engine/engine";
import { memoryBudget } from "../src/engine/machine";
import { problem, ReconError } from "../src/errors";
import type { RunSpec } from "../src/generated/abi";
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

if (process.argv.includes("--parts")) {
  console.log(JSON.stringify(await measureParts()));
} else {
  await build();
  mkdirSync(folder, { recursive: true });
  const byLevel = new Map(["v2", "v3", "v4", "arm64"].flatMap((level) => atLevel(level)));
  console.log(`\n${ledgerRows} rows a side, one thread, median ns a row`);
  console.table(
    Object.fromEntries(
      parts.map(({ name }) => [name, Object.fromEntries([...byLevel].map(([level, ns]) => [level, ns[name]]))]),
    ),
  );
}

/** The level is chosen once in a process, so each has its own. Empty where this machine does not have it. */
function atLevel(level: string): [string, Record<string, number>][] {
  const command = [process.execPath, import.meta.path, "--parts"];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { ...process.env, RECON_CPU: level } });
  if (exitCode === 0) return [[level, JSON.parse(stdout.toString())]];
  if (stderr.toString().includes("RECON_CPU")) return [];
  throw new Error(stderr.toString());
}

async function measureParts(): Promise<Record<string, number>> {
  const engine = Engine.load();
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
