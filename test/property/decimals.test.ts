// Exact decimals against a big-number library: verdicts, differences and sums for every kind of tolerance, over random values and
// values exactly at a bound, of one sign and of two. SEED=n repeats a run, ROUNDS=n changes how many rows are tried.
import { expect, test } from "bun:test";
import { join } from "node:path";
import BigNumber from "bignumber.js";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { Random } from "./ledgers";

const recon = requireExecutable();
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rows = Number(process.env.ROUNDS ?? 4000);
BigNumber.config({ EXPONENTIAL_AT: 1e9, RANGE: 1e9 });

type Pair = [internal: BigNumber, external: BigNumber];

interface Column {
  rules: string;
  /** The greatest difference that is still equal, by the larger magnitude of both and the currency of the row. */
  bound: (larger: BigNumber, currency: string) => BigNumber;
  /** Two values of different signs exactly at the bound; null where the row has none. */
  turned?: (random: Random, currency: string) => Pair | null;
  /** The files have magnitudes, and `side` tells their signs. */
  isUnsigned?: boolean;
}

const amounts: Record<string, string> = { USD: "0.01", JPY: "1", EUR: "0.5" };
const currencies = [...Object.keys(amounts), "BTC"];

const columns: Record<string, Column> = {
  none: { rules: 'type = "decimal"', bound: () => new BigNumber(0) },
  amount: fixed("0.01"),
  bps: { rules: 'tolerance = "5bps"', bound: (larger) => larger.times("0.0005") },
  percent: { rules: 'tolerance = "0.1%"', bound: (larger) => larger.times("0.001") },
  capped: { rules: 'tolerance = "5bps max 1.00"', bound: (larger) => BigNumber.min(larger.times("0.0005"), 1) },
  wide: { rules: 'tolerance = "150%"', bound: (larger) => larger.times("1.5"), turned: aboutHalf },
  by: {
    rules: 'tolerance = "0.5"\ntolerance_by = { column = "currency", USD = "0.01", JPY = "1", BTC = "5bps" }',
    bound: (larger, currency) => (currency in amounts ? new BigNumber(amounts[currency]!) : larger.times("0.0005")),
    turned: (random, currency) => (currency in amounts ? acrossZero(random, amounts[currency]!) : null),
  },
  unsigned: {
    ...fixed("0.01"),
    rules: 'tolerance = "0.01"\nsigned_by = { column = "side", negative = ["SELL"], positive = ["BUY"] }',
    isUnsigned: true,
  },
};
const names = Object.keys(columns);

function fixed(amount: string): Column {
  return {
    rules: `tolerance = "${amount}"`,
    bound: () => new BigNumber(amount),
    turned: (random) => acrossZero(random, amount),
  };
}

function acrossZero(random: Random, apart: string): Pair {
  const left = new BigNumber(apart).times(`0.${digits(random, random.pick([1, 3, 20]))}`);
  const pair: Pair = [left, left.minus(apart)];
  return random.chance(0.5) ? pair : [pair[1], pair[0]];
}

/** A value and half of it with the other sign are one and a half times the larger apart. */
function aboutHalf(random: Random): Pair {
  const value = randomValue(random);
  return random.chance(0.5) ? [value, value.times("-0.5")] : [value.times("-0.5"), value];
}

interface Row {
  currency: string;
  /** By column, in the order of `names`. */
  pairs: Pair[];
}

test(`${rows} rows of decimals, SEED=${seed}`, async () => {
  using scratch = scratchFolder();
  const random = new Random(seed);
  const table = Array.from({ length: rows }, () => randomRow(random));
  await Promise.all([
    Bun.write(join(scratch.path, "internal.csv"), fileOf(random, table, 0)),
    Bun.write(join(scratch.path, "external.csv"), fileOf(random, table, 1)),
    Bun.write(
      join(scratch.path, "recon.toml"),
      `ignore = ["currency", "side"]\n${names.map((name) => `[columns.${name}]\n${columns[name]!.rules}\n`).join("")}`,
    ),
  ]);
  const { stdout, stderr } = await runCommand(
    [recon, "internal.csv", "external.csv", "--config", "recon.toml", "--json", "--breaks", "breaks.jsonl"],
    { cwd: scratch.path },
  );
  expect(stderr).toBe("");
  const { broken, sums, tolerated, turned } = expectedOf(table);
  expect(differencesIn(await Bun.file(join(scratch.path, "breaks.jsonl")).text())).toEqual(broken);
  const document = JSON.parse(Buffer.from(stdout).toString());
  for (const name of names)
    expect([name, document.columns[name].sumOfDifferences]).toEqual([name, sums[name]!.plus(0).toFixed()]);
  console.error(
    `decimals: SEED=${seed}, ${broken.size} broken, ${tolerated} within a tolerance, ${turned} of two signs at a bound`,
  );
  if (rows >= 1000) expect(Math.min(broken.size, tolerated, turned)).toBeGreaterThan(rows / 4);
}, 60_000);

/** Differences by row and column. */
function differencesIn(breaks: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of breaks.split("\n").filter(Boolean)) {
    const { key, columns: broken } = JSON.parse(line);
    for (const [name, { difference }] of Object.entries<{ difference: string }>(broken))
      found.set(`${key.id} ${name}`, difference);
  }
  return new Map([...found].toSorted());
}

function expectedOf(table: Row[]) {
  const broken = new Map<string, string>();
  const sums = Object.fromEntries(names.map((name) => [name, new BigNumber(0)]));
  let tolerated = 0;
  let turned = 0;
  table.forEach(({ currency, pairs }, i) =>
    pairs.forEach(([left, right], place) => {
      const name = names[place]!;
      const difference = right.minus(left);
      const bound = columns[name]!.bound(BigNumber.max(left.abs(), right.abs()), currency);
      const isTurned = left.times(right).isNegative() && !difference.isZero();
      turned += isTurned && difference.abs().eq(bound) ? 1 : 0;
      if (difference.abs().lte(bound)) {
        tolerated += difference.isZero() ? 0 : 1;
        return;
      }
      broken.set(`T${i} ${name}`, difference.toFixed());
      sums[name] = sums[name]!.plus(difference);
    }),
  );
  return { broken: new Map([...broken].toSorted()), sums, tolerated, turned };
}

function fileOf(random: Random, table: Row[], side: 0 | 1): string {
  const unsigned = names.findIndex((name) => columns[name]!.isUnsigned);
  const lines = table.map(({ currency, pairs }, i) => {
    const texts = pairs.map((pair, place) =>
      place === unsigned ? magnitude(random, pair[side].abs()) : spelled(random, pair[side]),
    );
    return [`T${i}`, currency, pairs[unsigned]![side].isNegative() ? "SELL" : "BUY", ...texts].join(",");
  });
  return `${["id", "currency", "side", ...names].join(",")}\n${lines.join("\n")}\n`;
}

function randomRow(random: Random): Row {
  const currency = random.pick(currencies);
  return { currency, pairs: names.map((name) => randomPair(random, columns[name]!, currency)) };
}

/** Two values: equal ones, some at a bound or a digit beside it, or any two. */
function randomPair(random: Random, { bound, turned }: Column, currency: string): Pair {
  const left = randomValue(random);
  if (random.chance(0.2)) return [left, randomValue(random)];
  if (random.chance(0.2)) return [left, left];
  const ofTwoSigns = random.chance(0.4) ? turned?.(random, currency) : null;
  if (ofTwoSigns) return besideBound(random, ofTwoSigns);
  // The left one is the larger: then the bound is exact.
  const apart = bound(left.abs(), currency);
  return besideBound(random, [left, left.isNegative() ? left.plus(apart.abs()) : left.minus(apart.abs())]);
}

/** The external value moved by one digit behind all others, or not at all. */
function besideBound(random: Random, [left, right]: Pair): Pair {
  const places = Math.max(left.decimalPlaces()!, right.decimalPlaces()!) + 1;
  return [left, right.plus(new BigNumber(`1e-${places}`).times(random.pick([-1, 0, 0, 1])))];
}

function digits(random: Random, count: number): string {
  return Array.from({ length: count }, () => String(random.below(10))).join("");
}

function randomValue(random: Random): BigNumber {
  const integer = digits(random, random.pick([1, 2, 5, 18, 19, 40]));
  const fraction = digits(random, random.pick([0, 2, 4, 18, 40]));
  const exponent = random.chance(0.05) ? random.pick([-300, -20, 20, 300]) : 0;
  return new BigNumber(`${random.pick(["", "-"])}${integer}.${fraction}0e${exponent}`);
}

function spelled(random: Random, value: BigNumber): string {
  if (value.isZero()) return random.pick(["0", "-0.000", "+0", "0.0"]);
  const text = magnitude(random, value.abs());
  return value.isNegative() ? `-${text}` : `${random.pick(["", "", "+"])}${text}`;
}

function magnitude(random: Random, value: BigNumber): string {
  const plain = value.toFixed();
  switch (random.below(6)) {
    case 0:
      return value.toExponential();
    case 1:
      return plain.includes(".") ? `${plain}00` : `${plain}.0`;
    case 2:
      return `00${plain}`;
    default:
      return plain;
  }
}
