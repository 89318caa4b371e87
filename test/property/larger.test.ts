// Ledgers of thousands of rows, too large for the oracle: every way to run must give the bytes of the plainest one.
// SEED=n repeats a run of the test.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { argumentsOf, cpuLevels, environmentOf, randomWay, type Way } from "./judge";
import { plainOptions, Random, type LedgerPair } from "./ledgers";

const recon = requireExecutable();
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const waysPerPair = 8;
const plainest: Way = {
  level: "v2",
  threads: 1,
  chunkBytes: null,
  hashBits: null,
  plan: "hash",
  memory: null,
  format: "jsonl",
  transport: "plain",
  rejectsFile: true,
};

for (const [i, kind] of ["sorted", "aligned", "shuffled", "repeated keys", "nearly sorted"].entries()) {
  test(`${kind}, SEED=${seed}`, async () => {
    using scratch = scratchFolder();
    const random = new Random(seed + i);
    const pair = largerPair(random, kind);
    for (const file of [...pair.internal, ...pair.external]) writeFileSync(join(scratch.path, file.path), file.bytes);
    const expected = await outputs(scratch.path, pair, plainest);
    for (let round = 0; round < waysPerPair; round++) {
      const random_ = randomWay(random, random.pick(cpuLevels()));
      const hashBits = random.pick([12, 20, null]);
      const way: Way = { ...random_, hashBits, format: "jsonl", transport: "plain", rejectsFile: true };
      const got = await outputs(scratch.path, pair, way);
      const differ = Object.keys(expected).filter(
        (name) => !Bun.deepEquals(Reflect.get(got, name), Reflect.get(expected, name)),
      );
      expect({ differ, args: argumentsOf(pair, way).join(" "), environment: environmentOf(way) }).toMatchObject({
        differ: [],
      });
    }
  }, 60_000);
}

async function outputs(cwd: string, pair: LedgerPair, way: Way) {
  const done = await runCommand([recon, ...argumentsOf(pair, way)], { cwd, env: environmentOf(way) });
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 1 });
  const { elapsedMs, phases, threads, plan, ...counts } = JSON.parse(Buffer.from(done.stdout).toString("utf8"));
  return {
    ...counts,
    breaksFile: readFileSync(join(cwd, "breaks.jsonl")),
    rejects: readFileSync(join(cwd, "rejects.csv")),
  };
}

function largerPair(random: Random, kind: string): LedgerPair {
  const rows = 4000 + random.below(6000);
  const keys = kind === "repeated keys" ? rows >> 2 : rows;
  const mine = Array.from({ length: rows }, (_, n) => ({
    key: kind === "repeated keys" ? random.below(keys) : n,
    value: random.below(300),
  }));
  if (kind === "aligned") mine.splice(0, mine.length, ...random.shuffle(mine));
  const theirs = mine
    .filter(() => !random.chance(0.02))
    .map((row) => (random.chance(0.05) ? { ...row, value: random.below(300) } : row));
  const quoting = random.pick([0, 0.02, 0.5]);
  const file = (ordered: typeof mine) =>
    Buffer.from(`id,px,note\n${ordered.map((row) => line(random, row, quoting)).join("")}`);
  const ordered =
    kind === "sorted" || kind === "aligned"
      ? theirs
      : kind === "nearly sorted"
        ? nearly(random, theirs)
        : random.shuffle(theirs);
  return {
    internal: [{ path: "internal.csv", bytes: file(mine) }],
    external: [{ path: "external.csv", bytes: file(ordered) }],
    options: { ...plainOptions, reject: true, unique: random.chance(0.3) },
  };
}

/** A few rows out of place: a plan that relies on order must notice. */
function nearly<Row>(random: Random, rows: Row[]): Row[] {
  const result = [...rows];
  for (let i = 0; i < 3; i++)
    result.splice(random.below(result.length), 0, ...result.splice(random.below(result.length), 1));
  return result;
}

function line(random: Random, row: { key: number; value: number }, quoting: number): string {
  const price = `${row.value}.${random.pick(["5", "50", "500"])}`;
  const note = random.chance(quoting) ? '"a ""quoted"",\r\nnote"' : 'plain 5" note';
  const bad = random.chance(0.002) ? random.pick([",more", ",", "\n"]) : "";
  const end = random.pick(["\n", "\n", "\r\n"]);
  const key = `T${String(row.key).padStart(7, "0")}`;
  return `${random.chance(quoting) ? `"${key}"` : key},${price},${note}${bad}${end}${random.chance(0.001) ? "\n" : ""}`;
}
