// From the text of a ledger to its rows as the rules read them: which lines are rows, and what every value is. Used by the
// oracle of rules. Records are split by the oracle of files, which knows no rules.
import { readRecords, type InputFile } from "../oracle";
import { readNumber, readPlainDecimal, type ValueType } from "./numbers";
import { add, order, zero, type Rational } from "./rational";
import type { SideRules } from "./rules";
import { readDate, readTime } from "./times";

export interface Cell {
  /** As it stands in the file. */
  raw: string;
  /** After trimming, folding, words for empty values and maps. */
  text: string;
  /** Null where it is not read as a number, time or day, or is empty. */
  number: Rational | null;
}

export interface Row {
  path: string;
  line: number;
  /** Place among the rows of its side, those that are no longer there included. */
  place: number;
  cells: Map<string, Cell>;
  /** The rows that were folded into this one. */
  members: Row[] | null;
}

export interface BadRow {
  path: string;
  line: number;
  place: number;
}

export interface Ledger {
  names: string[];
  rows: Row[];
  bad: BadRow[];
  ignored: number;
  filtered: number;
}

/** The run must end with exit status 2 for another reason than bad rows. */
export class Refusal extends Error {}
/** The contract does not say what happens. */
export class Unspecified extends Error {}

export const decoded = (bytes: ArrayLike<number>) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
const blanks = /^[\t-\r ]+|[\t-\r ]+$/g;

interface TextRecord {
  line: number;
  fields: string[];
  isMalformed: boolean;
}

interface Split {
  header: TextRecord;
  records: TextRecord[];
  ignored: number;
}

/** The records of a file without what stands in front of its header and what stands behind its end. */
export function splitFile(file: InputFile, rules: SideRules): Split {
  if (rules.delimiter === "") throw new Unspecified("no delimiter");
  const lines = decoded(file.bytes).split(/(?<=\n)/);
  const recordsOf = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    return readRecords({ path: file.path, bytes }, rules.delimiter.charCodeAt(0), 0x22, rules.trim);
  };
  const fieldsOf = (line: string) => (recordsOf(line).records[0]?.fields ?? []).map(({ bytes }) => decoded(bytes));
  const trimmed = (name: string) => (rules.trim ? name.replace(blanks, "") : name);
  const { headerMatch, stopAt } = rules;
  const start =
    headerMatch === null
      ? 0
      : lines.findIndex((line) => fieldsOf(line).some((field) => trimmed(field) === headerMatch));
  if (start < 0) throw new Refusal("no line holds header_match");
  const stop = stopAt === null ? -1 : lines.findIndex((line, i) => i > start && line.startsWith(stopAt));
  const end = stop < 0 ? lines.length : stop;
  const reading = recordsOf(lines.slice(start, end).join(""));
  if (reading.unclosed !== null) throw new Unspecified("a quote that never closes");
  const [header, ...records] = reading.records.map((record) => ({
    line: record.line + start,
    fields: record.fields.map(({ bytes }) => decoded(bytes)),
    isMalformed: record.fault !== null,
  }));
  if (header === undefined || header.isMalformed) throw new Unspecified("no header");
  header.fields = header.fields.map(trimmed);
  return { header, records, ignored: start + (lines.length - end) + reading.blank.length };
}

/** `types` says of each column that matters how it is read; columns that do not matter are never wrong. */
export function readLedger(file: InputFile, rules: SideRules, types: Map<string, ValueType>): Ledger {
  const { header, records, ignored } = splitFile(file, rules);
  const names = header.fields;
  if ([...types.keys()].some((name) => !names.includes(name))) throw new Unspecified("a column that is not there");
  const ledger: Ledger = { names, rows: [], bad: [], ignored, filtered: 0 };
  const rows = rules.trailer === null ? records : withoutTrailer(records, names, rules, rules.trailer);
  for (const [place, record] of rows.entries()) {
    const { line } = record;
    if (record.isMalformed || record.fields.length !== names.length) {
      ledger.bad.push({ path: file.path, line, place });
      continue;
    }
    const raw = new Map(names.map((name, i) => [name, record.fields[i] as string]));
    if (!isUsed(raw, rules)) {
      ledger.filtered += 1;
      continue;
    }
    const cells = readCells(raw, rules, types);
    if (cells === null) ledger.bad.push({ path: file.path, line, place });
    else ledger.rows.push({ path: file.path, line, place, cells, members: null });
  }
  return ledger;
}

/** Trimmed and folded, and empty if it is a word for that. */
export function readText(raw: string, rules: SideRules): string {
  const text = folded(raw, rules);
  return rules.nulls.some((word) => folded(word, rules) === text) ? "" : text;
}

export function folded(raw: string, { trim, foldCase }: SideRules): string {
  const text = trim ? raw.replace(blanks, "") : raw;
  return foldCase ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
}

function isUsed(raw: Map<string, string>, rules: SideRules): boolean {
  return rules.where.every((filter) => {
    const text = readText(raw.get(filter.column) as string, rules);
    return filter.in.some((word) => folded(word, rules) === text);
  });
}

/** Null if any value is not what the rules say it is. */
function readCells(
  raw: Map<string, string>,
  rules: SideRules,
  types: Map<string, ValueType>,
): Map<string, Cell> | null {
  const cells = new Map<string, Cell>();
  for (const [name, value] of raw) {
    const type = types.get(name);
    const text = type === undefined ? readText(value, rules) : readMapped(value, name, rules);
    if (text === null) return null;
    const sign = rules.signs.get(name);
    const factor =
      sign === undefined || type === undefined ? null : signOf(raw.get(sign.column) as string, sign, rules);
    if (factor === 0 && text !== "") return null;
    const number = text === "" || type === undefined ? null : readTyped(text, type, rules, factor);
    if (number === undefined) return null;
    // A sign that another column says stands in front, as it would in the file.
    cells.set(name, { raw: value, text: factor === -1 && text !== "" ? `-${text}` : text, number });
  }
  return cells;
}

function readMapped(value: string, name: string, rules: SideRules): string | null {
  const text = readText(value, rules);
  const map = rules.maps.get(name);
  if (map === undefined || text === "") return text;
  const meaning = [...map].find(([code]) => folded(code, rules) === text)?.[1];
  return meaning === undefined ? null : folded(meaning, rules);
}

/** 1, -1, or 0 for a code that the rule does not list. */
function signOf(
  value: string,
  { negative, positive }: { negative: string[]; positive: string[] },
  rules: SideRules,
): number {
  const code = readText(value, rules);
  const isIn = (codes: string[]) => codes.some((one) => folded(one, rules) === code);
  return isIn(negative) ? -1 : isIn(positive) ? 1 : 0;
}

/** Undefined for what is not of the type; null for text. */
function readTyped(
  text: string,
  type: ValueType,
  rules: SideRules,
  factor: number | null,
): Rational | null | undefined {
  switch (type) {
    case "text":
      return null;
    case "auto":
      return readPlainDecimal(text);
    case "date":
      return readDate(text, rules.clock) ?? undefined;
    case "timestamp":
      return readTime(text, rules.clock) ?? undefined;
    case "decimal": {
      const number = readNumber(text, rules.format);
      if (number === null || (factor !== null && number.hasSign)) return undefined;
      return factor === -1 ? { ...number.value, top: -number.value.top } : number.value;
    }
  }
}

/** All records but the last one, which must be the trailer and agree with them. */
function withoutTrailer(records: TextRecord[], names: string[], rules: SideRules, template: string): TextRecord[] {
  const parts = template.split(rules.delimiter);
  const isTrailer = ({ fields }: TextRecord) => fields[0] === parts[0];
  const trailer = records.at(-1);
  const rows = records.slice(0, -1);
  if (trailer === undefined || !isTrailer(trailer) || rows.some(isTrailer))
    throw new Refusal("the trailer is not the last record");
  if (trailer.isMalformed || trailer.fields.length !== parts.length) throw new Refusal("the trailer has other fields");
  for (const [i, part] of parts.entries()) {
    const said = trailer.fields[i] as string;
    const column = /^\{sum:(.*)\}$/.exec(part)?.[1];
    const isRight =
      column !== undefined
        ? isSum(said, rows, names, column, rules)
        : part === "{count}"
          ? said === String(rows.length)
          : said === part;
    if (!isRight) throw new Refusal(`the trailer is wrong: ${said}`);
  }
  return rows;
}

function isSum(said: string, rows: TextRecord[], names: string[], column: string, rules: SideRules): boolean {
  const place = names.indexOf(column);
  const wanted = readNumber(said, rules.format);
  let sum = zero;
  for (const { fields, isMalformed } of rows) {
    if (isMalformed || fields.length !== names.length) throw new Unspecified("the numbers of a row of another width");
    // Of a rejected row what can be read is added.
    const number = readNumber(readText(fields[place] as string, rules), rules.format);
    sum = add(sum, number?.value ?? zero);
  }
  return wanted !== null && order(sum, wanted.value) === 0;
}
