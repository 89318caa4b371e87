// The generated pairs that benchmarks run on: what each is, making it once, opening it. Used by the harness and by
// bench/.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../engine/engine";
import { fileProblem, ReconError } from "../errors";
import type { GenerateSpec } from "../generated/abi";
import { openPair, type OpenedPair, type PairOptions } from "../ledger/ledger";
import { noSideRules } from "../rules/rules";
import { OutputFile } from "../report/output-file";

/** Choices of `recon generate`. No key occurs twice on a side: the baselines know nothing of groups. */
type Choices = Omit<GenerateSpec, "internal_fd" | "external_fd" | "truth_fd" | "threads">;

const seed = 20260302;
const perMille = (rows: number) => Math.round(rows / 1000);

/** Each pair for a number of rows a side. */
export const pairs = {
  nominal: (rows: number): Choices => ({ rows, seed, order: "same", breaks: Math.min(5, rows) }),
  uuid: (rows: number): Choices => ({ rows, seed, order: "same", ids: "uuid", breaks: Math.min(5, rows) }),
  shuffled: (rows: number): Choices => ({
    rows,
    seed,
    order: "shuffled",
    breaks: perMille(rows),
    missing: perMille(rows),
  }),
  disjoint: (rows: number): Choices => ({ rows, seed, order: "disjoint" }),
  /** Every price is spelled differently on the two sides, but for the rows that are breaks. */
  respelled: (rows: number): Choices => ({
    rows,
    seed,
    order: "shuffled",
    breaks: perMille(rows),
    missing: perMille(rows),
    benign: rows - 2 * perMille(rows),
  }),
  /** 30 columns in about 300 bytes. */
  wide: (rows: number): Choices => ({
    rows,
    seed,
    order: "shuffled",
    breaks: perMille(rows),
    missing: perMille(rows),
    extra_columns: 23,
  }),
  quoted: (rows: number): Choices => ({ rows, seed, order: "same", breaks: Math.min(5, rows), quoted_percent: 100 }),
  /** Every row is written differently and equal. */
  benign: (rows: number): Choices => ({ rows, seed, order: "same", benign: rows }),
  /** The external side is a FIX log. */
  fix: (rows: number): Choices => ({
    rows,
    seed,
    order: "shuffled",
    format: "fix",
    breaks: perMille(rows),
    missing: perMille(rows),
  }),
} as const;

export type PairName = keyof typeof pairs;

/** The columns of a pair of CSV files, the key first. */
export function columnsOf(name: PairName): string[] {
  const { extra_columns = 0 } = pairs[name](1);
  return [...named, ...Array.from({ length: extra_columns }, (_, i) => `extra${i + 1}`)];
}
const named = ["trade_id", "symbol", "side", "quantity", "price", "currency", "trade_date"] as const;

export interface Pair {
  folder: string;
  internal: string;
  external: string;
}

/** The pair in a folder of its own under `base`, made unless it is there already, from the same choices. */
export async function makePair(
  engine: Engine,
  base: string,
  name: PairName,
  rows: number,
  threads: number,
  signal?: AbortSignal,
): Promise<Pair> {
  const folder = join(base, `${name}-${rows}`);
  const choices = pairs[name](rows);
  const external = choices.format === "fix" ? "external.fix.log" : "external.csv";
  const pair = { folder, internal: join(folder, "internal.csv"), external: join(folder, external) };
  const made = JSON.stringify(choices);
  const recordPath = join(folder, "choices.json");
  if (read(recordPath) === made) return pair;

  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw fileProblem(folder, "create the folder", error);
  }
  using files = new DisposableStack();
  const create = async (path: string) => files.use(await OutputFile.create(path, 0o600));
  const outputs = [
    await create(pair.internal),
    await create(pair.external),
    await create(join(folder, "truth.jsonl")),
  ] as const;
  const [internal_fd, external_fd, truth_fd] = outputs.map(({ fd }) => fd) as [number, number, number];
  const spec = { ...choices, internal_fd, external_fd, truth_fd, threads };
  const result = await engine.run({ generate: spec }, { signal });
  if (result.outcome === "failed") throw new ReconError(result.errors);
  for (const file of outputs) file.sync();
  for (const file of outputs) file.publish();
  // Comes last: a pair that was cut short has no record.
  await Bun.write(recordPath, made);
  return pair;
}

/** A pair ready for the engine: its key, and every other column compared. The caller disposes it. */
export function openGenerated(engine: Engine, { internal, external }: Pair): Promise<OpenedPair> {
  const side = {
    delimiter: null,
    quote: '"'.charCodeAt(0),
    header: "auto",
    columns: null,
    encoding: null,
    trim: false,
    foldCase: false,
    format: "csv",
    csvOptions: [],
    fix: { checks: "fail", multileg: "legs" },
    rules: noSideRules,
  } as const;
  const options: PairOptions = {
    internal: { ...side, side: "internal", path: internal },
    external: { ...side, side: "external", path: external },
    key: [{ internal: "trade_id", external: "trade_id" }],
    compare: null,
    ignore: [],
    named: [],
  };
  return openPair(options, { engine, signal: new AbortController().signal, tempDirectory: null, threads: 2 });
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
