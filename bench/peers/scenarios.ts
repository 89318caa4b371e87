// The scenarios of bench/peers/run.ts: on which ledgers, who takes part, and what each program does there.
import { existsSync, renameSync, statSync } from "node:fs";
import type { PeerName } from "./programs";
import type { Pair, PairName } from "../../src/bench/pairs";

export interface Scenario {
  pair: PairName;
  about: string;
  /** Instead of `--rows`. */
  rows?: number;
  /** Every column but the key without it. */
  compared?: readonly string[];
  /** Who takes part beside those of `--peers`. */
  peers?: readonly PeerName[];
  /** recon again, held to a lower CPU level. */
  levels?: readonly string[];
  /** recon on this pair too: what the difference between the ledgers costs. */
  against?: PairName;
  options?: readonly string[];
  writesBreaks?: true;
  /** Makes the files that are read out of the generated ones. */
  prepare?(pair: Pair): Promise<Pair>;
}

const lower = process.arch === "x64" ? ["v3", "v2"] : [];

export const scenarios = {
  nominal: { pair: "nominal", about: "same order, sorted ids, 5 breaks", peers: ["comm"] },
  uuid: { pair: "uuid", about: "same order, random ids of 36 characters, 5 breaks" },
  shuffled: { pair: "shuffled", about: "random order, 0.1 % missing on each side, 0.1 % changed" },
  memory: {
    pair: "shuffled",
    about: "the same, recon limited to --memory 256MiB and DuckDB not limited",
    options: ["--memory", "256MiB"],
  },
  disjoint: {
    pair: "disjoint",
    about:
      "no key in common; recon writes every break in the order of the files, with line numbers, to a file, duckdb only " +
      "counts them, duckdb-breaks writes them as well",
    peers: ["duckdb-breaks"],
    writesBreaks: true,
  },
  quoted: { pair: "quoted", about: "as nominal, every field quoted", against: "nominal" },
  wide: {
    pair: "wide",
    about: "as shuffled, 30 columns in 300 bytes, two of them compared",
    compared: ["quantity", "price"],
  },
  gzip: {
    pair: "nominal",
    about: "as nominal, both files gzip'ed; gzip -dc only unpacks them",
    peers: ["gunzip", "gunzip-in-turn"],
    prepare: compress,
  },
  small: { pair: "shuffled", about: "1,000 rows: what a run costs whatever its size", rows: 1000 },
  "levels-nominal": { pair: "nominal", about: "as nominal, by CPU level", levels: lower },
  "levels-shuffled": { pair: "shuffled", about: "as shuffled, by CPU level", levels: lower },
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

/** Both files as gzip -6 makes them, kept beside the plain ones. */
async function compress(pair: Pair): Promise<Pair> {
  const [internal, external] = await Promise.all([pair.internal, pair.external].map(compressFile));
  return { ...pair, internal: internal!, external: external! };
}

async function compressFile(path: string): Promise<string> {
  const compressed = `${path}.gz`;
  if (existsSync(compressed) && statSync(compressed).mtimeMs >= statSync(path).mtimeMs) return compressed;
  const partial = `${compressed}.part`;
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", `gzip -6 -c "$1" > "$2"`, "sh", path, partial]);
  if (exitCode !== 0) throw new Error(`gzip ${path}: ${stderr.toString()}`);
  renameSync(partial, compressed);
  return compressed;
}
