// What an option's text means, one function per kind of value. Each throws an Error whose message completes
// "--name takes …"; arguments.ts puts the option in front. Used by options.ts.
import type { BreaksFormat, ValueType } from "../generated/abi";
import type { ColumnPair } from "../ledger/ledger";
import type { Tolerance } from "../rules/rules";
import { parseTolerance } from "../rules/tolerance";

export const flag = (): boolean => true;
export const text = (value: string): string => value;

/** A file that is no ledger: `-` would be mistaken for one. */
export function path(value: string): string {
  if (value !== "-") return value;
  throw new Error('the path of a file, not "-"; standard input is /dev/stdin');
}

/** `choices` is for those who list them. */
export type Choice<T> = ((value: string) => T) & { choices: readonly T[] };

export function choice<const T extends string>(names: readonly T[]): Choice<T> {
  const parse = (value: string) => {
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    throw new Error(`${names.slice(0, -1).join(", ")} or ${names.at(-1)}, not ${JSON.stringify(value)}`);
  };
  return Object.assign(parse, { choices: names });
}

/** What a column's values can be declared to be. */
export const valueType = choice<Exclude<ValueType, "ratio">>(["auto", "text", "decimal", "timestamp", "date"]);

export function count(least: number, most = Number.MAX_SAFE_INTEGER): (value: string) => number {
  return (value) => {
    const number = /^[0-9]+$/.test(value) ? Number(value) : NaN;
    if (number >= least && number <= most) return number;
    throw new Error(`a whole number from ${least} to ${most}, not ${JSON.stringify(value)}`);
  };
}

const powers: Record<string, number> = { "": 0, k: 1, m: 2, g: 3, t: 4 };

/** Bytes: a whole number, or one with a unit such as `512MB` or `2GiB`. */
export function size(value: string): number {
  const [, digits, prefix, binary] = /^([0-9]+) ?(?:([kmgt])(i)?b|b)?$/i.exec(value) ?? [];
  const bytes = Number(digits) * (binary ? 1024 : 1000) ** (powers[(prefix ?? "").toLowerCase()] ?? 0);
  if (bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER) return bytes;
  throw new Error(`a size such as 2GiB, 512MB or a number of bytes, not ${JSON.stringify(value)}`);
}

export function mode(value: string): number {
  if (/^0?[0-7]{3}$/.test(value)) return parseInt(value, 8);
  throw new Error(`an octal mode such as 0600, not ${JSON.stringify(value)}`);
}

/** The byte of a one-character text. Line ends and the byte 0 cannot separate or quote anything. */
function byte(value: string, alternative: string): number {
  const code = value.charCodeAt(0);
  if (value.length === 1 && code < 0x80 && value !== "\n" && value !== "\r" && code !== 0) return code;
  throw new Error(`one byte, or ${alternative}, not ${JSON.stringify(value)}`);
}

export const delimiter = (value: string): number => (value === "tab" ? 9 : byte(value, "tab"));
export const quote = (value: string): number | null => (value === "none" ? null : byte(value, "none"));

export function names(value: string): string[] {
  const parts = value.split(",");
  if (parts.every((part) => part !== "")) return parts;
  throw new Error(`column names separated by commas, not ${JSON.stringify(value)}`);
}

/** `a,b=c`: each column by its name on both sides, or by its internal and its external name. */
export function columnPairs(value: string): ColumnPair[] {
  const found = names(value).map(columnPair);
  const twice = namedTwice(found);
  if (twice !== null) throw new Error(`each column once, ${JSON.stringify(twice)} is named twice`);
  return found;
}

/** A name that two of the pairs have on the same side. */
export function namedTwice(pairs: readonly ColumnPair[]): string | null {
  for (const side of ["internal", "external"] as const) {
    const twice = pairs.find((pair, i) => pairs.findIndex((other) => other[side] === pair[side]) < i);
    if (twice) return twice[side];
  }
  return null;
}

function columnPair(value: string): ColumnPair {
  const parts = splitAtEquals(value);
  if (parts === null) return { internal: value, external: value };
  const [internal, external] = parts;
  if (internal !== "" && external !== "") return { internal, external };
  throw new Error(`a name on both sides of "=", not ${JSON.stringify(value)}`);
}

/** At the first `=` outside brackets, so that `448[452=4]` is one name; null where there is none. */
function splitAtEquals(value: string): [before: string, after: string] | null {
  let depth = 0;
  for (let i = 0; i < value.length; i++) {
    if (value[i] === "[") depth++;
    if (value[i] === "]") depth--;
    if (value[i] === "=" && depth === 0) return [value.slice(0, i), value.slice(i + 1)];
  }
  return null;
}

/** What `COL=VALUE` says about a column, which goes by the internal side's name. */
export interface ColumnValue<T> {
  column: string;
  value: T;
}

function columnValue<T>(value: string, form: string, parse: (text: string) => T): ColumnValue<T> {
  const [column, text] = splitAtEquals(value) ?? ["", ""];
  if (column === "") throw new Error(`${form}, not ${JSON.stringify(value)}`);
  return { column, value: parse(text) };
}

export const columnType = (value: string): ColumnValue<ValueType> => columnValue(value, "COLUMN=TYPE", valueType);
export const columnTolerance = (value: string): ColumnValue<Tolerance> =>
  columnValue(value, "COLUMN=TOLERANCE", parseTolerance);

/** Where breaks go. A path of `-` is standard output. */
export interface BreaksTarget {
  path: string;
  format: BreaksFormat;
}

/** Devices and open descriptors have names that say nothing, so they get CSV as `-` does. */
const nameless = /^(-$|\/dev\/|\/proc\/)/;

export function breaksTarget(path: string): BreaksTarget {
  if (path.endsWith(".csv") || nameless.test(path)) return { path, format: "csv" };
  if (path.endsWith(".jsonl")) return { path, format: "jsonl" };
  throw new Error(`a file name that ends in .csv or .jsonl, or -, not ${JSON.stringify(path)}`);
}
