// Exact decimals against a big-number library: verdicts, differences and sums for every kind of tolerance, over random values and
// values exactly at a bound. SEED=n repeats a run, ROUNDS=n changes how many rows are tried.
import { expect, test } from "bun:test";
import { join } from "node:path";
import BigNumber from "bignumber.js";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { Random } from "./ledgers";

const recon = requireExecutable();
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rows = Number(process.env.ROUNDS ?? 4000);
BigNumber.config({ EXPONENTIAL_AT: 1e9, RANGE: 1e9 });

/** The greatest difference that is still equal. */
type Bound = (larger: BigNumber) => BigNumber;
const columns: Record<string, { tolerance: string | null; bound: Bound }> = {
  none: { tolerance: null, bound: () => new BigNumber(0) },
  amount: { tolerance: "0.01", bound: () => new BigNumber("0.01") },
  bps: { tolerance: "5bps", bound: (larger) => larger.times("0.0005") },
  percent: { tolerance: "0.1%", bound: (larger) => larger.times("0.001") },
  capped: { tolerance: "5bps max 1.00", bound: (larger) => BigNumber.min(larger.times("0.0005"), 1) },
};

test(`${rows} rows of decimals, SEED=${seed}`, async () => {
  using scratch = scratchFolder();
  const random = new Random(seed);
  const names = Object.keys(columns);
  const pairs = Array.from({ length: rows }, () => names.map((name) => randomPair(random, columns[name]!.bound)));
  const write = (file: string, side: 0 | 1) => {
    const lines = pairs.map((row, i) => [`T${i}`, ...row.map((pair) => pair[side])].join(","));
    return Bun.write(join(scratch.path, file), `${["id", ...names].join(",")}\n${lines.join("\n")}\n`);
  };
  await Promise.all([write("internal.csv", 0), write("external.csv", 1)]);
  const args = names.flatMap((name) => {
    const { tolerance } = columns[name]!;
    return tolerance === null ? ["--type", `${name}=decimal`] : ["--tolerance", `${name}=${tolerance}`];
  });
  const { stdout, stderr } = await runCommand(
    [recon, "internal.csv", "external.csv", ...args, "--json", "--breaks", "breaks.jsonl"],
    { cwd: scratch.path },
  );
  expect(stderr).toBe("");
  const text = await Bun.file(join(scratch.path, "breaks.jsonl")).text();
  const found = new Map<string, string>();
  for (const line of text.split("\n").filter(Boolean)) {
    const { key, columns: broken } = JSON.parse(line);
    for (const [name, { difference }] of Object.entries<{ difference: string }>(broken))
      found.set(`${key.id} ${name}`, difference);
  }
  const expected = new Map<string, string>();
  const sums = new Map(names.map((name) => [name, new BigNumber(0)]));
  let tolerated = 0;
  pairs.forEach((row, i) =>
    row.forEach(([internal, external], column) => {
      const name = names[column]!;
      const [left, right] = [new BigNumber(internal), new BigNumber(external)];
      const difference = right.minus(left);
      const within = difference.abs().lte(columns[name]!.bound(BigNumber.max(left.abs(), right.abs())));
      tolerated += within && !difference.isZero() ? 1 : 0;
      if (within) return;
      expected.set(`T${i} ${name}`, difference.toFixed());
      sums.set(name, sums.get(name)!.plus(difference));
    }),
  );
  expect(new Map([...found].toSorted())).toEqual(new Map([...expected].toSorted()));
  const document = JSON.parse(Buffer.from(stdout).toString());
  for (const name of names) {
    expect([name, document.columns[name].sumOfDifferences]).toEqual([name, sums.get(name)!.plus(0).toFixed()]);
  }
  console.error(`decimals: SEED=${seed}, ${expected.size} broken, ${tolerated} within a tolerance`);
  if (rows >= 1000) expect(Math.min(expected.size, tolerated)).toBeGreaterThan(rows / 4);
});

/** Two spellings: of one value, of values at a bound or a digit beside it, or of any two. */
function randomPair(random: Random, bound: Bound): [string, string] {
  const left = randomValue(random);
  if (random.chance(0.2)) return [spelled(random, left), spelled(random, randomValue(random))];
  if (random.chance(0.2)) return [spelled(random, left), spelled(random, left)];
  // The left one is the larger: then the bound is exact.
  const apart = bound(left.abs()).times(random.pick([1, 1, -1]));
  const unit = new BigNumber(`1e-${left.decimalPlaces()! + 8}`).times(random.pick([-1, 0, 0, 1]));
  const right = left.isNegative() ? left.plus(apart.abs()) : left.minus(apart.abs());
  return [spelled(random, left), spelled(random, right.plus(unit))];
}

function randomValue(random: Random): BigNumber {
  const digits = (count: number) => Array.from({ length: count }, () => String(random.below(10))).join("");
  const integer = digits(random.pick([1, 2, 5, 18, 19, 40]));
  const fraction = digits(random.pick([0, 2, 4, 18, 40]));
  const exponent = random.chance(0.05) ? random.pick([-300, -20, 20, 300]) : 0;
  return new BigNumber(`${random.pick(["", "-"])}${integer}.${fraction}0e${exponent}`);
}

function spelled(random: Random, value: BigNumber): string {
  const plain = value.toFixed();
  switch (random.below(6)) {
    case 0:
      return value.toExponential();
    case 1:
      return plain.includes(".") ? `${plain}00` : `${plain}.0`;
    case 2:
      return plain.startsWith("-") ? `-00${plain.slice(1)}` : `+${plain}`;
    case 3:
      return value.isZero() ? "-0.000" : plain;
    default:
      return plain;
  }
}
