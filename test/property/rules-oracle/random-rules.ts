// Random pairs of ledgers with a random rules file. The rows are drawn first and then spelled by each side's rules, so that most
// values can be read and many lie exactly at the bound of a tolerance. Used by rules-oracle.test.ts.
import type { Random } from "../ledgers";
import type { Inputs } from "./oracle";
import { sides, type Side } from "./rules";
import {
  randomSpelling,
  spellBadly,
  spellDay,
  spellingLines,
  spellNumber,
  spellTime,
  untidy,
  type Spelling,
} from "./spelling";
import { offset_minutes } from "./times";

/** What a column of a random ledger holds. */
type Kind = "key" | "number" | "time" | "day" | "code" | "word" | "sign" | "status" | "currency";

interface Column {
  name: string;
  /** What the external side calls it. */
  external: string;
  kind: Kind;
  /** Columns of other kinds than values are there for rules, under one name. */
  isCompared: boolean;
  on: readonly Side[];
  lines: string[];
  /** Of numbers: distances that are at the edge, for a value. */
  gaps: (value: bigint) => bigint[];
  maps: Record<Side, Map<string, string> | null>;
  /** Another column says the sign. */
  isUnsigned: Record<Side, boolean>;
  /** Of signs: the column whose signs they are. */
  signs: string | null;
}

type Value = bigint | string | null;
type Row = Map<string, Value>;

interface Drawn {
  columns: Column[];
  how: Record<Side, Spelling>;
  delimiter: Record<Side, string>;
  frames: Record<Side, Frame>;
  badness: number;
}

/** What stands around the rows of a file. */
interface Frame {
  preamble: string[];
  headerMatch: string | null;
  /** The columns that a trailer adds up; null without a trailer. */
  trailer: Column[] | null;
  stop: string | null;
}

const words = ["FILLED", "PARTIAL", "new", "1.0", "1", "01", "", "x"];

const always = [0n, 0n, 0n, 0n];
const numberTolerances: [text: string | null, gaps: (value: bigint) => bigint[]][] = [
  [null, () => [1n, -1n]],
  ["0", () => [1n, -1n]],
  ["0.01", () => [100n, -100n, 101n, -101n, 50n]],
  ["5bps", (value) => [-value / 2000n, -value / 2000n - 1n, value / 2000n, value / 1999n]],
  ["0.1%", (value) => [-value / 1000n, -value / 1000n - 1n, value / 1000n, value / 999n]],
  ["5bps max 0.02", (value) => [-value / 2000n, 200n, 201n, -200n, value / 1999n]],
  ["2.5 %", (value) => [-value / 40n, -value / 40n - 1n, value / 39n]],
];
const timeTolerances: [text: string | null, gaps_ms: number[]][] = [
  [null, [1, -1]],
  ["500ms", [500, -500, 501, 499]],
  ["2s", [2000, -2001, 1999]],
  ["1.5m", [90_000, -90_000, 90_001]],
  ["1000us", [1, -1, 2]],
  ["1h", [3_600_000, -3_600_001]],
];

const preambles = ["Report of 2 March\n", "\n", 'our "id"s; as of,today|\n', "a,b,c,d,e,f\r\n", "id's\n"];

function randomFrame(random: Random, side: Side, columns: Column[]): Frame {
  const here = columns.filter(({ on }) => on.includes(side));
  const name = (column: Column) => column[side === "internal" ? "name" : "external"];
  const isDressed = random.chance(0.25);
  return {
    preamble: isDressed ? random.shuffle(preambles).slice(0, random.below(4)) : [],
    headerMatch: isDressed ? name(random.pick(here)) : null,
    trailer: random.chance(0.2) ? here.filter(({ kind }) => kind === "number" && random.chance(0.6)) : null,
    stop: random.chance(0.15) ? "*** END" : null,
  };
}

export function randomInputs(random: Random): Inputs {
  const columns = randomColumns(random);
  const drawn: Drawn = {
    columns,
    frames: { internal: randomFrame(random, "internal", columns), external: randomFrame(random, "external", columns) },
    how: { internal: randomSpelling(random), external: randomSpelling(random) },
    delimiter: { internal: random.pick([",", ",", ";", "|"]), external: random.pick([",", ",", ";", "|"]) },
    badness: random.pick([0, 0, 0, 0.03, 0.2]),
  };
  const internal = Array.from({ length: random.below(14) }, () => randomRow(random, drawn.columns));
  const external = otherRows(random, drawn.columns, internal);
  const file = (side: Side, rows: Row[]) => ({
    path: `${side}.csv`,
    bytes: Buffer.from(ledgerText(random, side, rows, drawn)),
  });
  return {
    internal: file("internal", internal),
    external: file("external", external),
    rules: `${rulesLines(random, drawn).join("\n")}\n`,
  };
}

function randomColumns(random: Random): Column[] {
  const column = (name: string, kind: Kind, lines: string[] = []): Column => ({
    name,
    external: random.chance(0.6) ? name : `${name}_2`,
    kind,
    isCompared: true,
    on: sides,
    lines,
    gaps: () => [],
    maps: { internal: null, external: null },
    isUnsigned: { internal: false, external: false },
    signs: null,
  });
  const columns = [column("id", "key")];
  if (random.chance(0.4)) columns.push(column("code", "code"));
  if (random.chance(0.3)) columns.push(column("word", "word"));
  const numbers = random.below(3) + (columns.length === 1 ? 1 : 0);
  for (let i = 0; i < numbers; i++) columns.push(numberColumn(random, column(`n${i}`, "number")));
  if (random.chance(0.4)) columns.push(timeColumn(random, column("at", "time")));
  if (random.chance(0.4)) columns.push(dayColumn(random, column("day", "day")));
  for (const one of columns)
    if (one.kind === "code" || (one.kind === "key" && random.chance(0.15))) addMaps(random, one);
  if (random.chance(0.25)) columns.push(column("venue", "key"));
  const helpers = (["status", "currency"] as const).filter(() => random.chance(0.35));
  columns.push(...helpers.map((kind) => ({ ...column(kind, kind), external: kind, isCompared: false })));
  for (const one of columns.filter(({ kind }) => kind === "number")) {
    if (random.chance(0.3)) columns.push(signColumn(random, one, column(`${one.name}_sign`, "sign")));
    else if (helpers.includes("currency") && random.chance(0.5)) addToleranceBy(random, one);
  }
  return [columns[0] as Column, ...random.shuffle(columns.slice(1))];
}

function signColumn(random: Random, number: Column, column: Column): Column {
  const on = random.pick([sides, sides, ["internal"], ["external"]] as const);
  const only = random.chance(0.3) || on.length === 1 ? random.pick([null, ...on]) : null;
  number.lines.push(
    `signed_by = { column = "${column.name}", negative = ["SELL", "SSHT"], positive = ["BUY", "1"]${only === null ? "" : `, on = "${only}"`} }`,
  );
  for (const side of on) number.isUnsigned[side] = only === null || only === side;
  return { ...column, external: column.name, isCompared: false, on, signs: number.name };
}

function addToleranceBy(random: Random, number: Column): void {
  const before = number.gaps;
  number.gaps = (value) => [...before(value), 100n, -100n, 10_000n, -10_001n, -value / 100n, -value / 100n - 1n];
  number.lines.push(`tolerance_by = { column = "currency", JPY = "1", USD = "${random.pick(["0.01", "1%"])}" }`);
}

function numberColumn(random: Random, column: Column): Column {
  const [tolerance, gaps] = random.pick(numberTolerances);
  column.gaps = gaps;
  if (tolerance !== null) column.lines.push(`tolerance = "${tolerance}"`);
  if (tolerance === null ? random.chance(0.7) : random.chance(0.5)) column.lines.push('type = "decimal"');
  return column;
}

function timeColumn(random: Random, column: Column): Column {
  const [tolerance, gaps_ms] = random.pick(timeTolerances);
  column.gaps = () => gaps_ms.map(BigInt);
  column.lines.push('type = "timestamp"', ...(tolerance === null ? [] : [`tolerance = "${tolerance}"`]));
  return column;
}

function dayColumn(random: Random, column: Column): Column {
  const days = random.pick([0, 0, 1, 3]);
  column.gaps = () => [BigInt(days), BigInt(-days), BigInt(days + 1), 1n];
  column.lines.push('type = "date"', ...(days === 0 ? [] : [`tolerance = "${days}d"`]));
  return column;
}

function addMaps(random: Random, column: Column): void {
  const meanings = column.kind === "key" ? ["K0", "K1", "K2", "K3", "K4", "K5"] : ["BUY", "SELL", "SSHT"];
  const codesOf = () =>
    new Map(meanings.map((meaning, i) => [random.pick([String(i), `c${i}`, meaning]), meaning] as [string, string]));
  const both = random.chance(0.2) ? codesOf() : null;
  for (const side of sides) {
    const own = random.chance(both === null ? 0.5 : 0.2) ? codesOf() : null;
    if (own !== null) column.lines.push(`${side}_map = ${inlineTable(own)}`);
    column.maps[side] = own ?? both;
  }
  if (both !== null) column.lines.push(`map = ${inlineTable(both)}`);
}

const inlineTable = (entries: Map<string, string>) =>
  `{ ${[...entries].map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`).join(", ")} }`;

function randomRow(random: Random, columns: Column[]): Row {
  return new Map(columns.map((column) => [column.name, randomValue(random, column)]));
}

function randomValue(random: Random, { kind, name }: Column): Value {
  if (name === "venue") return random.pick(["XLON", "XPAR", ""]);
  switch (kind) {
    case "sign":
      return null;
    case "status":
      return random.pick(["FILLED", "PARTIAL", "CANCELLED", ""]);
    case "currency":
      return random.pick(["USD", "JPY", "EUR", ""]);
    case "key":
      return random.chance(0.05) ? "" : `K${random.below(6)}`;
    case "code":
      return random.chance(0.05) ? "" : random.pick(["BUY", "SELL", "SSHT"]);
    case "word":
      return random.pick(words);
    case "number": {
      if (random.chance(0.08)) return null;
      const size = random.pick([1n, 100n, 10_000n, 10_000n, 10_000_000n, 10n ** 18n]);
      return BigInt(random.below(41) - 20) * size;
    }
    case "time":
      return BigInt(Date.UTC(2026, 1, 28) + random.below(3) * 43_200_000 + random.below(5) * 500);
    case "day":
      return random.chance(0.05) ? null : BigInt(20_512 + random.below(4));
  }
}

/** The counterparty's view: mostly the same rows, many at the edge of what is tolerated. */
function otherRows(random: Random, columns: Column[], rows: Row[]): Row[] {
  const change = random.pick([0, 0.2, 0.6]);
  const result: Row[] = [];
  for (const row of rows) {
    if (random.chance(change / 3)) continue;
    const copy = new Map(
      columns.map((column) => [
        column.name,
        random.chance(change) ? moved(random, column, row) : row.get(column.name)!,
      ]),
    );
    for (const { name } of columns) if (!copy.has(name) || copy.get(name) === undefined) copy.set(name, null);
    result.push(copy);
    if (random.chance(change / 4)) result.push(new Map(copy));
  }
  if (random.chance(0.2)) result.push(randomRow(random, columns));
  return random.shuffle(result);
}

function moved(random: Random, column: Column, row: Row): Value {
  const value = row.get(column.name) ?? null;
  if (typeof value !== "bigint" || random.chance(0.05))
    return column.kind === "key" && random.chance(0.8) ? value : randomValue(random, column);
  return value + random.pick([...column.gaps(value), ...always]);
}

function ledgerText(random: Random, side: Side, rows: Row[], drawn: Drawn): string {
  const delimiter = drawn.delimiter[side];
  const line = (fields: string[]) =>
    `${fields.map((field) => quotedIfNeeded(random, field, delimiter)).join(delimiter)}\n`;
  const columns = drawn.columns.filter(({ on }) => on.includes(side));
  const spelled = rows.map((row) => {
    const fields = columns.map((column) => spelledValue(random, side, column, row, drawn));
    if (random.chance(drawn.badness / 4)) fields.push("more");
    return line(fields);
  });
  const header = line(columns.map((column) => column[side === "internal" ? "name" : "external"]));
  const { preamble, trailer, stop } = drawn.frames[side];
  if (random.chance(0.2)) spelled.splice(random.below(spelled.length + 1), 0, random.pick(["\n", " \n", "\r\n"]));
  const end = trailer === null ? "" : line(trailerFields(random, side, rows, trailer, drawn));
  const behind = stop === null ? "" : `${stop} of file\n"garbage\n\n`;
  return [...preamble, header, ...spelled, end, behind].join("");
}

/** Now and then a wrong one. */
function trailerFields(random: Random, side: Side, rows: Row[], sums: Column[], drawn: Drawn): string[] {
  const count = rows.length + (random.chance(0.05) ? 1 : 0);
  const totals = sums.map((column) => {
    const values = rows.map((row) => row.get(column.name)).filter((value) => typeof value === "bigint");
    const sizes = column.isUnsigned[side] ? values.map((value) => (value < 0n ? -value : value)) : values;
    const total = sizes.reduce((sum, value) => sum + value, random.chance(0.05) ? 1n : 0n);
    return spellNumber(random, total, false, drawn.how[side]);
  });
  return [random.chance(0.03) ? "TRAIL" : "TRL", String(count), ...totals];
}

function spelledValue(random: Random, side: Side, column: Column, row: Row, { how, badness }: Drawn): string {
  const spelling = how[side];
  const text = goodText(random, side, column, row.get(column.signs ?? column.name) ?? null, spelling);
  return random.chance(badness) ? spellBadly(random, text) : untidy(random, text, spelling);
}

function goodText(random: Random, side: Side, column: Column, value: Value, how: Spelling): string {
  if (column.kind === "sign") return random.pick(Number(value ?? 0) < 0 ? ["SELL", "SSHT"] : ["BUY", "1"]);
  if (value === null || value === "") return random.pick(["", ...how.nulls]);
  if (typeof value === "string") {
    const map = column.maps[side];
    return map === null ? value : ([...map].find(([, meaning]) => meaning === value)?.[0] ?? value);
  }
  if (column.kind === "time") return spellTime(random, Number(value), how, offset_minutes);
  if (column.kind === "day") return spellDay(random, Number(value), how);
  return spellNumber(random, value, column.isUnsigned[side], how);
}

function quotedIfNeeded(random: Random, field: string, delimiter: string): string {
  const isNeeded = field.includes(delimiter) || field.includes('"') || random.chance(0.02);
  return isNeeded ? `"${field.replaceAll('"', '""')}"` : field;
}

function rulesLines(random: Random, drawn: Drawn): string[] {
  const { columns, how, delimiter, frames } = drawn;
  const named = ({ name, external }: Column) =>
    name === external ? JSON.stringify(name) : `{ internal = "${name}", external = "${external}" }`;
  const keys = columns.filter(({ kind }) => kind === "key");
  const compared = columns.filter(({ kind, isCompared }) => kind !== "key" && isCompared);
  return [
    `key = [${keys.map(named).join(", ")}]`,
    `compare = [${random.shuffle(compared).map(named).join(", ")}]`,
    ...(random.chance(0.6) ? ['on_bad_row = "reject"'] : []),
    ...(random.chance(0.15) ? ["unique = true"] : []),
    ...(random.chance(0.1) ? ["max_breaks = 2"] : []),
    ...sides.flatMap((side) => [
      `[${side}]`,
      `delimiter = "${delimiter[side]}"`,
      ...spellingLines(how[side]),
      ...frameLines(side, frames[side], delimiter[side]),
      ...(columns.some(({ kind }) => kind === "status") && random.chance(0.7) ? [whereLine(random)] : []),
      ...(random.chance(how[side].isUntidy ? 0.6 : 0.1) ? ["trim = true"] : []),
      ...(random.chance(how[side].isUntidy ? 0.5 : 0.1) ? ["fold_case = true"] : []),
    ]),
    ...columns.flatMap((column) => (column.lines.length === 0 ? [] : [`[columns.${column.name}]`, ...column.lines])),
    ...controlLines(random, columns),
  ];
}

function frameLines(side: Side, { headerMatch, trailer, stop }: Frame, delimiter: string): string[] {
  const sums = (trailer ?? []).map((column) => `{sum:${column[side === "internal" ? "name" : "external"]}}`);
  return [
    ...(headerMatch === null ? [] : [`header_match = "${headerMatch}"`]),
    ...(trailer === null ? [] : [`trailer = "${["TRL", "{count}", ...sums].join(delimiter)}"`]),
    ...(stop === null ? [] : [`stop_at = "${stop}"`]),
  ];
}

function whereLine(random: Random): string {
  const values = random.pick([["FILLED", "PARTIAL"], ["FILLED", ""], ["CANCELLED"]]);
  return `where = [{ column = "status", in = ${JSON.stringify(values)} }]`;
}

function controlLines(random: Random, columns: Column[]): string[] {
  const isDecimal = ({ lines, kind }: Column) => kind === "number" && lines.length > 0;
  const sums = columns.filter((column) => isDecimal(column) && random.chance(0.4)).map(({ name }) => name);
  if (sums.length === 0) return [];
  const groupings = columns.filter(({ kind }) => ["currency", "word", "code"].includes(kind));
  const by = random.chance(0.6) && groupings.length > 0 ? random.pick(groupings).name : null;
  return ["[controls]", `sum = ${JSON.stringify(sums)}`, ...(by === null ? [] : [`by = "${by}"`])];
}
