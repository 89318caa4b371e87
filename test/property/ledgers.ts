// Random pairs of small ledgers with random options, from a seed. Keys come from small alphabets so that duplicates,
// near misses, quoted line ends, bad rows and odd spellings of numbers occur all the time. Used by the property tests.
import type { InputFile, Options, SideOptions } from "./oracle";

/** A seeded source of choices: same seed, same sequence. */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  /** 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
  shuffle<Item>(items: readonly Item[]): Item[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j] as Item, result[i] as Item];
    }
    return result;
  }
}

export interface LedgerPair {
  internal: InputFile[];
  external: InputFile[];
  options: Options;
}

const plainSide: SideOptions = {
  delimiter: 0x2c,
  quote: 0x22,
  header: "yes",
  columns: null,
  trim: false,
  foldCase: false,
};

/** CSV with a header whose column `id` is the key, and nothing else asked for. */
export const plainOptions: Options = {
  internal: plainSide,
  external: plainSide,
  key: ["id"],
  compare: null,
  ignore: [],
  reject: false,
  unique: false,
  maxBreaks: 0,
};

/** A row is a list of field texts; a char above 0xff is not used, one above 0x7f stands for that very byte. */
type Bytes = string;

const utf8 = (value: string): Bytes => Buffer.from(value, "utf8").toString("latin1");
const keyTexts = [
  "a",
  "b",
  "A",
  "aa",
  "1",
  "01",
  "1.0",
  "",
  " a",
  "a ",
  utf8("é"),
  "a\nb",
  "a,b",
  'q"q',
  "b\r",
  "\t",
  "B;",
];
const numberTexts = "0 -0 0.0 1 1.0 1.00 +1 -1 2 10 01 .5 0.5 0.50 5. 1e3 1000 -1.10 -1.1 99.99 100.00 - + 1.0.0".split(
  " ",
);
const longNumbers = ["123456789012345678901234567890.01", "123456789012345678901234567890.010", "90071992547409.93"];
const valueTexts = [
  "x",
  "X",
  " x",
  "x ",
  "",
  utf8("ü"),
  "a,b",
  "a\nb",
  "a\r\nb",
  '"',
  'say "x"',
  "NULL",
  "\0",
  "\u00ff",
  "x".repeat(70),
];
const names = ["id", "venue", "px", "qty", "type", "note", "acct"];
const delimiters = [0x2c, 0x3b, 0x09, 0x7c];

interface Shape {
  columns: number;
  keys: number;
  sorted: boolean;
  numeric: boolean;
}

export function randomPair(random: Random): LedgerPair {
  const columns = 1 + random.below(4) + (random.chance(0.7) ? 1 : 0);
  const shape: Shape = {
    columns,
    keys: Math.min(columns, random.chance(0.7) ? 1 : 2),
    sorted: random.chance(0.25),
    numeric: random.chance(0.6),
  };
  const count = random.chance(0.1) ? random.below(80) : random.below(12);
  const mine = randomRows(random, shape, count);
  const theirs = otherRows(random, shape, mine);
  const columnNames = random.shuffle(names).slice(0, columns);
  const otherNames = columnNames.map((name) => (random.chance(0.08) ? `${name}2` : name));
  const options = randomOptions(random, shape, columnNames, otherNames);
  return {
    internal: randomFiles(random, "internal", columnNames, mine, options.internal),
    external: randomFiles(random, "external", otherNames, theirs, options.external),
    options,
  };
}

function randomKey(random: Random): Bytes {
  return random.chance(0.85) ? random.pick(keyTexts.slice(0, 8)) : random.pick(keyTexts);
}

function randomValue(random: Random, shape: Shape): Bytes {
  if (random.chance(shape.numeric ? 0.85 : 0.4)) return random.pick(numberTexts);
  return random.chance(0.2) ? random.pick(longNumbers) : random.pick(valueTexts);
}

function randomRows(random: Random, shape: Shape, count: number): Bytes[][] {
  const rows: Bytes[][] = [];
  for (let i = 0; i < count; i++) {
    const row: Bytes[] = [];
    for (let c = 0; c < shape.columns; c++) {
      const sortedKey = shape.sorted && c === 0;
      if (sortedKey) row.push(`k${String(i).padStart(3, "0")}`);
      else row.push(c < shape.keys ? randomKey(random) : randomValue(random, shape));
    }
    rows.push(row);
  }
  return rows;
}

/** The counterparty's view: mostly the same rows, some changed, respelled, dropped, repeated or moved. */
function otherRows(random: Random, shape: Shape, rows: Bytes[][]): Bytes[][] {
  const change = random.pick([0, 0.1, 0.4]);
  const result: Bytes[][] = [];
  for (const row of rows) {
    if (random.chance(change / 2)) continue;
    const copy = row.map((value, c) => {
      if (!random.chance(change)) return value;
      return c < shape.keys ? changedKey(random, value) : changedValue(random, shape, value);
    });
    result.push(copy);
    if (random.chance(change / 3)) result.push([...copy]);
  }
  if (random.chance(0.3)) result.push(...randomRows(random, { ...shape, sorted: false }, random.below(3)));
  return shape.sorted || random.chance(0.4) ? result : random.shuffle(result);
}

function changedKey(random: Random, value: Bytes): Bytes {
  return random.pick([
    () => ` ${value}`,
    () => `${value} `,
    () => value.toUpperCase(),
    () => `0${value}`,
    () => randomKey(random),
  ])();
}

function changedValue(random: Random, shape: Shape, value: Bytes): Bytes {
  if (/^-?\d+\.\d+$/.test(value) && random.chance(0.6)) return `${value}0`;
  return random.pick([() => randomValue(random, shape), () => `${value} `, () => value.toLowerCase()])();
}

function randomOptions(random: Random, shape: Shape, mine: string[], theirs: string[]): Options {
  const same = random.chance(0.8);
  const internal = randomSide(random);
  const external = same ? { ...internal } : { ...randomSide(random), header: internal.header };
  const noHeader = internal.header === "no";
  if (noHeader && random.chance(0.5)) internal.columns = [...mine];
  if (noHeader && random.chance(0.5)) external.columns = [...theirs];
  const myNames = noHeader && internal.columns === null ? mine.map((_, i) => `c${i + 1}`) : mine;
  const theirNames = noHeader && external.columns === null ? theirs.map((_, i) => `c${i + 1}`) : theirs;
  const spec = (i: number) =>
    myNames[i] === theirNames[i] ? (myNames[i] as string) : `${myNames[i]}=${theirNames[i]}`;
  const keys = Array.from({ length: shape.keys }, (_, i) => i);
  const others = myNames.map((_, i) => i).slice(shape.keys);
  const compared = random.shuffle(others).slice(0, 1 + random.below(others.length || 1));
  const compare = random.chance(0.4) && others.length > 0 ? compared.map(spec) : null;
  return {
    internal,
    external,
    key: shape.keys === 1 && myNames[0] === theirNames[0] && random.chance(0.2) ? null : keys.map(spec),
    compare,
    ignore: compare === null && random.chance(0.2) && others.length > 0 ? [myNames[random.pick(others)] as string] : [],
    reject: random.chance(0.6),
    unique: random.chance(0.2),
    maxBreaks: random.chance(0.1) ? random.below(5) : 0,
  };
}

function randomSide(random: Random): SideOptions {
  return {
    delimiter: random.chance(0.2) ? null : random.chance(0.6) ? 0x2c : random.pick(delimiters),
    quote: random.chance(0.85) ? 0x22 : random.pick([null, 0x27]),
    header: random.chance(0.6) ? "yes" : random.pick(["no", "auto"]),
    columns: null,
    trim: random.chance(0.25),
    foldCase: random.chance(0.2),
  };
}

function randomFiles(
  random: Random,
  side: string,
  header: string[],
  rows: Bytes[][],
  options: SideOptions,
): InputFile[] {
  if (random.chance(0.9) || options.header !== "yes") {
    return [{ path: `${side}.csv`, bytes: randomFile(random, header, rows, options) }];
  }
  const half = random.below(rows.length + 1);
  return [rows.slice(0, half), rows.slice(half)].map((part, i) => ({
    path: `${side}-${i + 1}.csv`,
    bytes: randomFile(random, header, part, options),
  }));
}

function randomFile(random: Random, header: string[], rows: Bytes[][], options: SideOptions): Uint8Array {
  const delimiter = String.fromCharCode(options.delimiter ?? 0x2c);
  const lineEnds = random.pick([["\n"], ["\r\n"], ["\n", "\r\n"]]);
  const quoting = random.pick([0, 0, 0.1, 1]);
  const badness = random.pick([0, 0, 0, 0.05, 0.3]);
  const blankness = random.pick([0, 0, 0.15]);
  const trailing = options.header === "yes" && header.length > 1 && random.chance(0.08) ? delimiter : "";
  const lines: Bytes[] = [];
  const encode = (row: Bytes[]) =>
    row.map((value) => field(random, value, delimiter, options.quote, quoting)).join(delimiter);
  if (options.header !== "no") lines.push(encode(header) + trailing);
  for (const row of rows) {
    const line = encode(row) + trailing;
    lines.push(lines.length > 0 && random.chance(badness) ? damaged(random, line, delimiter) : line);
  }
  let file = random.chance(0.12) ? "\u00ef\u00bb\u00bf" : "";
  for (const [i, line] of lines.entries()) {
    if (random.chance(blankness)) file += random.pick(["", " ", "\t", "\r", " \t "]) + random.pick(lineEnds);
    file += line;
    if (i < lines.length - 1 || random.chance(0.7)) file += random.pick(lineEnds);
  }
  return Buffer.from(file, "latin1");
}

function field(random: Random, value: Bytes, delimiter: string, quote: number | null, quoting: number): Bytes {
  if (quote === null) return value.replaceAll(delimiter, "").replaceAll("\n", "");
  const mark = String.fromCharCode(quote);
  const needed = value.includes(delimiter) || /[\r\n]/.test(value) || new RegExp(`^\\s*${mark}`).test(value);
  if (!needed && !random.chance(quoting)) return value;
  return mark + value.replaceAll(mark, mark + mark) + mark;
}

function damaged(random: Random, line: Bytes, delimiter: string): Bytes {
  const at = random.below(line.length + 1);
  const inserted = random.pick([
    '"',
    '""',
    delimiter,
    "\n",
    "\r",
    " ",
    "\t",
    "\0",
    "\u00ff",
    "\u00c3",
    "x",
    ' "y"',
    "'",
    '"x"y',
  ]);
  const kind = random.below(4);
  if (kind === 0) return line + random.pick([delimiter, `${delimiter}x`, `${delimiter}${delimiter}`]);
  if (kind === 1) return line.slice(0, at) + line.slice(at + 1);
  if (kind === 2) return line.slice(0, Math.max(1, line.lastIndexOf(delimiter)));
  return line.slice(0, at) + inserted + line.slice(at);
}
