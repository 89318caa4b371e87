// A slow, obvious reconciliation of two CSV ledgers, written from the contract alone. It shares no code with the
// program, keeps everything in memory, and uses exact decimals. Used by the property tests beside it.
//
// Where the contract is silent the choice made here is marked "choice".

export interface SideOptions {
  /** One byte, or null to detect it. */
  delimiter: number | null;
  quote: number | null;
  header: "auto" | "yes" | "no";
  columns: string[] | null;
  trim: boolean;
  foldCase: boolean;
}

export interface Options {
  internal: SideOptions;
  external: SideOptions;
  /** `a` or `a=b` where the names differ; null for the first column. */
  key: string[] | null;
  compare: string[] | null;
  ignore: string[];
  reject: boolean;
  unique: boolean;
  maxBreaks: number;
}

export interface InputFile {
  path: string;
  bytes: Uint8Array;
}

/** Something wrong with the input. Any of `places` may be the one that is reported. */
export interface Fault {
  path: string;
  places: { line: number; column: number }[];
}

export type Text = string;

/** One break as the text members of the output files need it. `message` of a rejected row is the program's to choose. */
export interface Break {
  type: string;
  /** Internal names and the raw key parts; empty for a rejected row. */
  key: [name: string, value: Text][];
  internal: { path: string; line: number } | null;
  external: { path: string; line: number } | null;
  columns: [name: string, values: { internal: Text | null; external: Text | null; difference: string }][];
}

export interface SideCounts {
  rows: number;
  matched: number;
  mismatch: number;
  missing: number;
  duplicate: number;
  missing_key: number;
  rejected: number;
  ignored: number;
  distinctKeys: number;
}

export interface Rejected {
  path: string;
  line: number;
  record: Uint8Array;
}

export interface Verdict {
  kind: "done";
  exitCode: 0 | 1;
  keyNames: string[];
  matched: number;
  breaks: Break[];
  internal: SideCounts & { columns: string[]; header: boolean; delimiter: string };
  external: SideCounts & { columns: string[]; header: boolean; delimiter: string };
  columns: [name: string, counts: { mismatches: number; sumOfDifferences: string; equalByValue: number }][];
  /** Internal rows that would join under the code's folding. */
  hints: Record<"trim" | "fold-case" | "leading-zeros", number>;
  rejected: Rejected[];
}

export type Result =
  | Verdict
  /** `faults` is null where only the exit status is certain. */
  | { kind: "error"; faults: Fault[] | null; why: string }
  /** The contract does not say what happens. */
  | { kind: "unspecified"; why: string };

class Refusal extends Error {
  constructor(
    readonly why: string,
    readonly faults: Fault[] | null = null,
  ) {
    super(why);
  }
}
class Unspecified extends Error {}

export function reconcile(internal: InputFile[], external: InputFile[], options: Options): Result {
  try {
    return reconcileOrThrow(internal, external, options);
  } catch (error) {
    if (error instanceof Refusal) return { kind: "error", faults: error.faults, why: error.why };
    if (error instanceof Unspecified) return { kind: "unspecified", why: error.message };
    throw error;
  }
}

// ------------------------------------------------------------------------------------------------- reading records

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

interface Field {
  /** After unescaping, before folding. */
  bytes: number[];
  /** Where each of `bytes` stands in the file. */
  offsets: number[];
  start: number;
}

interface Record_ {
  path: string;
  start: number;
  line: number;
  raw: Uint8Array;
  fields: Field[];
  /** Offset of the byte that makes the record malformed. */
  fault: number | null;
}

interface Reading {
  path: string;
  bytes: Uint8Array;
  records: Record_[];
  /** Lines of the file that were blank, each with its offset. */
  blank: number[];
  /** The opening quote of a field that never closes. */
  unclosed: number | null;
}

/** Choice: the blanks around a quote, and those of a blank line, are spaces and tabs; a lone CR is data there too. */
function isBlank(byte: number | undefined, delimiter: number): boolean {
  return (byte === space || byte === tab) && byte !== delimiter;
}

/** Bytes that `--trim` removes from a value. */
function isTrimmed(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x09 && byte <= 0x0d) || byte === space);
}

function startsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function placeOf(reading: Reading, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = startsWithMark(reading.bytes) ? 3 : 0;
  for (let i = 0; i < offset; i++) {
    if (reading.bytes[i] === lineFeed) {
      line += 1;
      lineStart = i + 1;
    }
  }
  return { line, column: offset - lineStart + 1 };
}

export function readRecords(file: InputFile, delimiter: number, quote: number | null, trim: boolean): Reading {
  const { bytes, path } = file;
  const reading: Reading = { path, bytes, records: [], blank: [], unclosed: null };
  let at = startsWithMark(bytes) ? 3 : 0;
  while (at < bytes.length) {
    const lineEnd = blankLineEnd(bytes, at, delimiter);
    if (lineEnd !== null) {
      reading.blank.push(at);
      at = lineEnd;
      continue;
    }
    const next = readRecord(reading, at, delimiter, quote, trim);
    if (next === null) break;
    at = next;
  }
  return reading;
}

/** Where the next line starts if the line at `at` is blank, else null. */
function blankLineEnd(bytes: Uint8Array, at: number, delimiter: number): number | null {
  while (isBlank(bytes[at], delimiter)) at += 1;
  if (at === bytes.length) return at;
  if (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) return at + 2;
  return bytes[at] === lineFeed ? at + 1 : null;
}

/** Appends one record and returns where the next one starts, or null after a quote that never closes. */
function readRecord(
  reading: Reading,
  start: number,
  delimiter: number,
  quote: number | null,
  trim: boolean,
): number | null {
  const { bytes, path } = reading;
  const line = placeOf(reading, start).line;
  const fields: Field[] = [];
  const isEnd = (i: number) => i >= bytes.length || bytes[i] === lineFeed;
  const isLineEnd = (i: number) => isEnd(i) || (bytes[i] === carriageReturn && bytes[i + 1] === lineFeed);
  const finish = (end: number, fault: number | null): number => {
    let contentEnd = end;
    if (end < bytes.length && end > start && bytes[end - 1] === carriageReturn) contentEnd -= 1;
    reading.records.push({ path, start, line, raw: bytes.slice(start, contentEnd), fields, fault });
    return Math.min(end + 1, bytes.length);
  };
  const malformed = (offender: number): number => {
    let end = offender;
    while (!isEnd(end)) end += 1;
    return finish(end, offender);
  };

  let at = start;
  for (;;) {
    const fieldStart = at;
    let opening = at;
    while (isBlank(bytes[opening], delimiter)) opening += 1;
    const opensQuoted = quote !== null && bytes[opening] === quote;
    if (opensQuoted && opening > fieldStart && !trim) return malformed(opening);
    const field: Field = { bytes: [], offsets: [], start: fieldStart };
    if (opensQuoted) {
      at = opening + 1;
      for (;;) {
        if (at >= bytes.length) {
          reading.unclosed = opening;
          return null;
        }
        if (bytes[at] === quote) {
          if (bytes[at + 1] !== quote) break;
          at += 1;
        }
        field.bytes.push(bytes[at] as number);
        field.offsets.push(at);
        at += 1;
      }
      at += 1;
      if (trim) while (isBlank(bytes[at], delimiter)) at += 1;
      if (!isLineEnd(at) && bytes[at] !== delimiter) return malformed(at);
      if (bytes[at] === carriageReturn) at += 1;
    } else {
      while (!isEnd(at) && bytes[at] !== delimiter) {
        field.bytes.push(bytes[at] as number);
        field.offsets.push(at);
        at += 1;
      }
      if (at < bytes.length && bytes[at] === lineFeed && field.bytes.at(-1) === carriageReturn) {
        field.bytes.pop();
        field.offsets.pop();
      }
    }
    fields.push(field);
    if (isEnd(at)) return finish(at, null);
    at += 1;
  }
}

// ------------------------------------------------------------------------------------- delimiter, header and columns

const text = (bytes: ArrayLike<number>): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));

function trimmed(bytes: number[]): number[] {
  let from = 0;
  let to = bytes.length;
  while (from < to && isTrimmed(bytes[from])) from += 1;
  while (to > from && isTrimmed(bytes[to - 1])) to -= 1;
  return bytes.slice(from, to);
}

function folded(bytes: number[]): number[] {
  return bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));
}

function looksLikeValue(name: string): boolean {
  const number = /^[+-]?(\d[\d.,]*|[.,]\d[\d.,]*)([eE][+-]?\d+)?$/;
  const date = /^\d+([-/.])\d+\1\d+$|^\d{4}-\d{2}-\d{2}[T ].*$|^\d{8}-\d.*$/;
  const time = /^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$/;
  return name === "" || number.test(name) || date.test(name) || time.test(name);
}

interface Ledger {
  options: SideOptions;
  delimiter: number;
  readings: Reading[];
  first: string[];
  /** What the first record says on its own; null where an option decides. */
  evidence: "header" | "candidate" | "none" | null;
  hasHeader: boolean;
  names: string[];
  trailing: boolean;
}

const candidates = [0x2c, tab, 0x3b, 0x7c];

function detectDelimiter(file: InputFile, options: SideOptions): number {
  if (options.delimiter !== null) return options.delimiter;
  // Whether a line of tabs is blank depends on what is being found out here.
  if (/^(\xef\xbb\xbf)?(?:[ \t]*\r?\n)* *\t[ \t]*(\r?\n|$)/.test(Buffer.from(file.bytes).toString("latin1")))
    throw new Unspecified("a line of tabs in front of all others");
  let best = 0x2c;
  let most = 1;
  for (const candidate of candidates) {
    const first = readRecords(file, candidate, options.quote, options.trim).records[0];
    // Choice: a candidate under which the first record is malformed splits nothing.
    if (first === undefined || first.fault !== null) continue;
    if (first.fields.length > most) {
      most = first.fields.length;
      best = candidate;
    }
  }
  return best;
}

function openLedger(files: InputFile[], options: SideOptions, named: string[]): Ledger {
  const delimiter = detectDelimiter(files[0] as InputFile, options);
  const readings = files.map((file) => readRecords(file, delimiter, options.quote, options.trim));
  for (const reading of readings) {
    if (reading.records.length === 0) throw new Refusal("quote never closed in the first record");
    if (reading.records[0]?.fault !== null) throw new Unspecified("first record malformed");
  }
  const first = firstNames(readings[0] as Reading, options);
  const evidence =
    options.header !== "auto" || options.columns !== null ? null : headerEvidence(first, readings, named);
  const hasHeader = options.header === "yes";
  return { options, delimiter, readings, first, evidence, hasHeader, names: [], trailing: false };
}

function firstNames(reading: Reading, options: SideOptions): string[] {
  const fields = (reading.records[0] as Record_).fields;
  return fields.map((field) => text(options.trim ? trimmed(field.bytes) : field.bytes));
}

function headerEvidence(first: string[], readings: Reading[], named: string[]): "header" | "candidate" | "none" {
  const names = first.length > 1 && first.at(-1) === "" ? first.slice(0, -1) : first;
  if (names.some(looksLikeValue)) return "none";
  if (named.some((name) => names.includes(name))) return "header";
  const second = (readings[0] as Reading).records[1];
  if (second !== undefined && second.fault !== null) throw new Unspecified("second record malformed");
  const isNumber = /^[+-]?(\d[\d.,]*|[.,]\d[\d.,]*)([eE][+-]?\d+)?$/;
  if (second?.fields.some((field, i) => i < names.length && isNumber.test(text(field.bytes)))) return "header";
  return "candidate";
}

function decideHeaders(internal: Ledger, external: Ledger): void {
  const agree = internal.first.some((name) => external.first.includes(name));
  const decide = (mine: Ledger, other: Ledger) => {
    if (mine.evidence === null) return;
    if (mine.evidence === "header") mine.hasHeader = true;
    else if (mine.evidence === "candidate") {
      if (other.evidence === "candidate") {
        if (agree) throw new Refusal("neither side shows a header");
        throw new Unspecified("neither side shows a header and no name agrees");
      }
      if (other.evidence === null && !(other.hasHeader && agree))
        throw new Unspecified("one side decided by option, the other undecided");
      if (other.evidence === null) {
        mine.hasHeader = true;
        return;
      }
      mine.hasHeader = other.evidence === "header" && agree;
    }
  };
  decide(internal, external);
  decide(external, internal);
  if (internal.hasHeader !== external.hasHeader && (internal.evidence !== null || external.evidence !== null))
    throw new Refusal("the two sides decide differently about the header");
}

function nameColumns(ledger: Ledger): void {
  const { first, options } = ledger;
  ledger.trailing = ledger.hasHeader && first.length > 1 && first.at(-1) === "";
  const width = first.length - (ledger.trailing ? 1 : 0);
  if (ledger.hasHeader) {
    for (const reading of ledger.readings)
      if (firstNames(reading, options).join("\0") !== first.join("\0"))
        throw new Refusal("headers of the files differ");
    ledger.names = first.slice(0, width);
  }
  if (options.columns !== null) {
    if (ledger.hasHeader && options.columns.length !== width) throw new Unspecified("--columns of another width");
    ledger.names = options.columns;
  } else if (!ledger.hasHeader) ledger.names = first.map((_, i) => `c${i + 1}`);
  if (ledger.names.includes("")) throw new Unspecified("a column without a name");
}

interface Column {
  name: string;
  internal: number;
  external: number;
}

/** Position of a column given as `name` or `name[n]`. */
function find(ledger: Ledger, name: string): number {
  const places = ledger.names.flatMap((candidate, i) => (candidate === name ? [i] : []));
  if (places.length > 1) throw new Refusal(`${name} is there ${places.length} times`);
  if (places.length === 1) return places[0] as number;
  const [, base, number] = /^(.*)\[(\d+)\]$/.exec(name) ?? [];
  const same = ledger.names.flatMap((candidate, i) => (candidate === base ? [i] : []));
  const place = same[Number(number) - 1];
  if (base === undefined || place === undefined) throw new Refusal(`no column ${name}`);
  return place;
}

function findPair(internal: Ledger, external: Ledger, spec: string): Column {
  const [mine, theirs] = spec.includes("=") ? (spec.split("=") as [string, string]) : [spec, spec];
  return { name: mine, internal: find(internal, mine), external: find(external, theirs) };
}

function resolveColumns(internal: Ledger, external: Ledger, options: Options): { key: Column[]; compare: Column[] } {
  const keySpecs = options.key ?? [internal.names[0] as string];
  const key = keySpecs.map((spec) => findPair(internal, external, spec));
  if (options.compare !== null) {
    if (options.compare.some((spec) => spec.split("=").some((name) => options.ignore.includes(name))))
      throw new Unspecified("a column both compared and ignored");
    return { key, compare: options.compare.map((spec) => findPair(internal, external, spec)) };
  }
  const ignored = (name: string, place: number, ledger: Ledger): boolean =>
    options.ignore.includes(name) || options.ignore.some((item) => item.includes("[") && find(ledger, item) === place);
  const compare: Column[] = [];
  for (const [place, name] of internal.names.entries()) {
    if (key.some((part) => part.internal === place) || ignored(name, place, internal)) continue;
    const others = external.names.flatMap((candidate, i) =>
      candidate === name && !ignored(name, i, external) ? [i] : [],
    );
    const free = others.filter((i) => !key.some((part) => part.external === i));
    if (free.length === 0) continue;
    const mine = internal.names.filter((candidate, i) => candidate === name && !ignored(name, i, internal));
    if (mine.length > 1 || free.length > 1) throw new Refusal(`${name} is there more than once`);
    if (others.length > free.length) throw new Unspecified("a duplicate of an external key column");
    compare.push({ name, internal: place, external: free[0] as number });
  }
  return { key, compare };
}

// -------------------------------------------------------------------------------------------------------------- rows

interface Row {
  path: string;
  line: number;
  /** Place among all records of its side. */
  order: number;
  /** Parts and values as they stand in the file, and after trimming and folding. */
  rawKey: Text[];
  key: string[];
  rawValues: Text[];
  rawBytes: string[];
  values: string[];
  numbers: (Decimal | null)[];
}

interface BadRow {
  order: number;
  record: Record_;
  fault: Fault;
}

interface SideRows {
  rows: Row[];
  bad: BadRow[];
  ignored: number;
}

/** Folded bytes as a string of one character per byte, so that order of strings is order of bytes. */
const asBytes = (bytes: number[]): string => bytes.map((byte) => String.fromCharCode(byte)).join("");

function readRows(ledger: Ledger, side: "internal" | "external", key: Column[], compare: Column[]): SideRows {
  const { options } = ledger;
  const fold = (bytes: number[]): number[] => {
    const cut = options.trim ? trimmed(bytes) : bytes;
    return options.foldCase ? folded(cut) : cut;
  };
  const result: SideRows = { rows: [], bad: [], ignored: 0 };
  let order = 0;
  for (const reading of ledger.readings) {
    result.ignored += reading.blank.length;
    for (const record of ledger.hasHeader ? reading.records.slice(1) : reading.records) {
      order += 1;
      const places = faultsOf(record, reading, ledger, side, key, compare);
      if (places.length > 0) {
        result.bad.push({ order, record, fault: { path: reading.path, places } });
        continue;
      }
      const keyFields = key.map((column) => (record.fields[column[side]] as Field).bytes);
      const valueFields = compare.map((column) => (record.fields[column[side]] as Field).bytes);
      const values = valueFields.map((bytes) => asBytes(fold(bytes)));
      result.rows.push({
        path: reading.path,
        line: record.line,
        order,
        rawKey: keyFields.map(text),
        key: keyFields.map((bytes) => asBytes(fold(bytes))),
        rawValues: valueFields.map(text),
        rawBytes: valueFields.map(asBytes),
        values,
        numbers: values.map(parseDecimal),
      });
    }
  }
  return result;
}

/** Every place of the record that may be named as what is wrong with it; empty for a good row. */
function faultsOf(
  record: Record_,
  reading: Reading,
  ledger: Ledger,
  side: "internal" | "external",
  key: Column[],
  compare: Column[],
): { line: number; column: number }[] {
  if (record.fault !== null) return [placeOf(reading, record.fault)];
  const width = ledger.names.length + (ledger.trailing ? 1 : 0);
  if (record.fields.length !== width) return [{ line: record.line, column: 0 }];
  const places: { line: number; column: number }[] = [];
  const last = record.fields.at(-1) as Field;
  if (ledger.trailing && (ledger.options.trim ? trimmed(last.bytes) : last.bytes).length > 0)
    places.push({ line: record.line, column: 0 }, { ...placeOf(reading, last.start), column: 0 });
  for (const column of key) {
    const field = record.fields[column[side]] as Field;
    const nul = field.bytes.indexOf(0);
    if (nul >= 0) places.push(placeOf(reading, field.offsets[nul] as number));
  }
  for (const column of [...key, ...compare]) {
    const field = record.fields[column[side]] as Field;
    const invalid = firstInvalid(field.bytes);
    if (invalid !== null) places.push(placeOf(reading, field.offsets[invalid] as number));
  }
  return places;
}

/** Index of the first byte of the first sequence that is not UTF-8, or null. */
function firstInvalid(bytes: number[]): number | null {
  for (let at = 0; at < bytes.length;) {
    const length = [1, 2, 3, 4].find((size) => isOneCharacter(bytes.slice(at, at + size)));
    if (length === undefined) return at;
    at += length;
  }
  return null;
}

function isOneCharacter(bytes: number[]): boolean {
  try {
    const decoded = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
    return [...decoded].length === 1;
  } catch {
    return false;
  }
}

// ---------------------------------------------------------------------------------------------------------- decimals

/** digits / 10^scale */
export interface Decimal {
  digits: bigint;
  scale: number;
}

export function parseDecimal(value: string): Decimal | null {
  const match = /^([+-]?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(value);
  if (match === null) return null;
  const [, sign, whole, fraction = ""] = match;
  const digits = BigInt(`${whole}${fraction}`);
  return { digits: sign === "-" ? -digits : digits, scale: fraction.length };
}

function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { digits: -b.digits, scale: b.scale });
}

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const scaled = (value: Decimal) => value.digits * 10n ** BigInt(scale - value.scale);
  return { digits: scaled(a) + scaled(b), scale };
}

export function printDecimal({ digits, scale }: Decimal): string {
  const magnitude = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const whole = magnitude.slice(0, magnitude.length - scale);
  const fraction = magnitude.slice(magnitude.length - scale).replace(/0+$/, "");
  return `${digits < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

function sizeOrder(a: Decimal, b: Decimal): number {
  const absolute = (value: Decimal) => ({ ...value, digits: value.digits < 0n ? -value.digits : value.digits });
  const { digits } = subtract(absolute(a), absolute(b));
  return digits < 0n ? -1 : digits > 0n ? 1 : 0;
}

// ------------------------------------------------------------------------------------------------- pairing of groups

interface Pair {
  internal: Row;
  external: Row;
}

const zero: Decimal = { digits: 0n, scale: 0 };

/** The difference of one column: zero if equal, null if it is not a number ("infinite"). */
function difference(pair: Pair, column: number): Decimal | null {
  if (pair.internal.values[column] === pair.external.values[column]) return zero;
  const mine = pair.internal.numbers[column] as Decimal | null;
  const theirs = pair.external.numbers[column] as Decimal | null;
  return mine === null || theirs === null ? null : subtract(theirs, mine);
}

function differingColumns(pair: Pair): number[] {
  return pair.internal.values.flatMap((_, column) => (difference(pair, column)?.digits === 0n ? [] : [column]));
}

const textOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Which of two pairs of one group comes first. */
function pairOrder(a: Pair, b: Pair): number {
  const count = differingColumns(a).length - differingColumns(b).length;
  if (count !== 0) return count;
  for (const column of a.internal.values.keys()) {
    const mine = difference(a, column);
    const theirs = difference(b, column);
    if (mine === null && theirs === null) continue;
    if (mine === null || theirs === null) return mine === null ? 1 : -1;
    const order = sizeOrder(mine, theirs);
    if (order !== 0) return order;
  }
  // Choice: the values of the internal row in compare order, then those of the external row, as they stand in the
  // files: so that nothing but line numbers depends on the order of rows even with --trim.
  for (const side of ["internal", "external"] as const) {
    for (const column of a.internal.values.keys()) {
      const order = textOrder(a[side].rawBytes[column] as string, b[side].rawBytes[column] as string);
      if (order !== 0) return order;
    }
  }
  return a.internal.order - b.internal.order || a.external.order - b.external.order;
}

/** Pairs in pairing order. Rows that are left over are in no pair. */
function pairGroup(internal: Row[], external: Row[]): Pair[] {
  const pairs: Pair[] = [];
  const free = { internal: [...internal], external: [...external] };
  const take = (pair: Pair) => {
    pairs.push(pair);
    free.internal = free.internal.filter((row) => row !== pair.internal);
    free.external = free.external.filter((row) => row !== pair.external);
  };
  for (const row of internal) {
    const equal = free.external.find((other) => differingColumns({ internal: row, external: other }).length === 0);
    if (equal !== undefined) take({ internal: row, external: equal });
  }
  while (free.internal.length > 0 && free.external.length > 0) {
    const all = free.internal.flatMap((row) => free.external.map((other) => ({ internal: row, external: other })));
    take(all.reduce((least, pair) => (pairOrder(pair, least) < 0 ? pair : least)));
  }
  return pairs;
}

// --------------------------------------------------------------------------------------------------- the whole thing

const joined = (key: string[]): string => JSON.stringify(key);
const isMissing = (row: Row): boolean => row.key.every((part) => part === "");

function group(rows: Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (isMissing(row)) continue;
    const list = groups.get(joined(row.key));
    if (list === undefined) groups.set(joined(row.key), [row]);
    else list.push(row);
  }
  return groups;
}

function reconcileOrThrow(internalFiles: InputFile[], externalFiles: InputFile[], options: Options): Verdict {
  const named = [...(options.key ?? []), ...(options.compare ?? [])];
  const namesOf = (part: 0 | 1) => named.map((spec) => spec.split("=")[part] ?? spec);
  refuseEmpty(internalFiles, externalFiles, options);
  const internal = openLedger(internalFiles, options.internal, namesOf(0));
  const external = openLedger(externalFiles, options.external, namesOf(1));
  decideHeaders(internal, external);
  nameColumns(internal);
  nameColumns(external);
  for (const [ledger, other] of [
    [internal, external],
    [external, internal],
  ] as const)
    refuseOneColumn(ledger, other);
  if (!internal.hasHeader && !external.hasHeader && internal.names.length !== external.names.length)
    throw new Refusal("without headers both sides must have the same number of columns");
  const { key, compare } = resolveColumns(internal, external, options);
  const internalRows = readRows(internal, "internal", key, compare);
  const externalRows = readRows(external, "external", key, compare);
  refuseBadRows(internal, internalRows, external, externalRows, options.reject);
  return join(internal, internalRows, external, externalRows, key, compare, options);
}

/** An empty file is a failed delivery. */
function refuseEmpty(internal: InputFile[], external: InputFile[], options: Options): void {
  const isEmpty = ({ bytes }: InputFile, { delimiter }: SideOptions) => {
    let at: number | null = startsWithMark(bytes) ? 3 : 0;
    while (at !== null && at < bytes.length) at = blankLineEnd(bytes, at, delimiter ?? 0x2c);
    return at !== null;
  };
  const empty = [
    ...internal.filter((file) => isEmpty(file, options.internal)),
    ...external.filter((file) => isEmpty(file, options.external)),
  ];
  if (empty.length > 0)
    throw new Refusal(
      "empty file",
      empty.map(({ path }) => ({ path, places: [] })),
    );
}

function refuseOneColumn(ledger: Ledger, other: Ledger): void {
  if (ledger.first.length > 1) return;
  const first = ledger.readings[0]?.records[0]?.raw ?? new Uint8Array();
  if ([...candidates, other.delimiter].some((byte) => byte !== ledger.delimiter && first.includes(byte))) {
    if (ledger.hasHeader) throw new Refusal("one column, another delimiter would split it");
    throw new Unspecified("one column without a header, another delimiter would split it");
  }
}

function refuseBadRows(
  internal: Ledger,
  internalRows: SideRows,
  external: Ledger,
  externalRows: SideRows,
  reject: boolean,
) {
  const sides = [
    { readings: internal.readings, bad: internalRows.bad },
    { readings: external.readings, bad: externalRows.bad },
  ];
  const isCut = sides.some(({ readings }) => readings.some(({ unclosed }) => unclosed !== null));
  if (reject && !isCut) return;
  // Rows that would be set aside are no errors beside a quote that never closes.
  const faults = sides.flatMap(({ readings, bad }) => [
    ...(reject ? [] : bad.map(({ fault }) => fault)),
    ...readings.flatMap((reading) =>
      reading.unclosed === null ? [] : [{ path: reading.path, places: [placeOf(reading, reading.unclosed)] }],
    ),
  ]);
  if (faults.length > 0) throw new Refusal("bad rows", faults);
}

function join(
  internal: Ledger,
  internalRows: SideRows,
  external: Ledger,
  externalRows: SideRows,
  key: Column[],
  compare: Column[],
  options: Options,
): Verdict {
  const counts = (ledger: Ledger, side: SideRows, groups: Map<string, Row[]>) => ({
    rows: side.rows.length + side.bad.length,
    matched: 0,
    mismatch: 0,
    missing: 0,
    duplicate: 0,
    missing_key: 0,
    rejected: side.bad.length,
    ignored: side.ignored,
    distinctKeys: groups.size,
    columns: ledger.names,
    header: ledger.hasHeader,
    delimiter: String.fromCharCode(ledger.delimiter),
  });
  const groups = { internal: group(internalRows.rows), external: group(externalRows.rows) };
  const result: Verdict = {
    kind: "done",
    exitCode: 0,
    keyNames: key.map((column) => column.name),
    matched: 0,
    breaks: [],
    internal: counts(internal, internalRows, groups.internal),
    external: counts(external, externalRows, groups.external),
    columns: [],
    hints: { trim: 0, "fold-case": 0, "leading-zeros": 0 },
    rejected: [...internalRows.bad, ...externalRows.bad].map(({ record }) => ({
      path: record.path,
      line: record.line,
      record: record.raw,
    })),
  };
  const totals = compare.map(() => ({ mismatches: 0, sum: zero, equalByValue: 0 }));
  const placed: { side: 0 | 1; order: number; item: Break }[] = [];
  const named = (rawKey: Text[]): [string, Text][] => rawKey.map((part, i) => [(key[i] as Column).name, part]);
  const place = (row: { path: string; line: number }) => ({ path: row.path, line: row.line });

  const oneSided = (type: string, side: "internal" | "external", row: Row) => {
    const columns = row.rawValues.map((value, i): Break["columns"][number] => [
      (compare[i] as Column).name,
      { internal: null, external: null, [side]: value, difference: "" },
    ]);
    const item: Break = { type, key: named(row.rawKey), internal: null, external: null, [side]: place(row), columns };
    placed.push({ side: side === "internal" ? 0 : 1, order: row.order, item });
  };
  const usePair = (pair: Pair) => {
    const differing = differingColumns(pair);
    if (differing.length === 0) {
      result.matched += 1;
      result.internal.matched += 1;
      result.external.matched += 1;
      for (const [i, total] of totals.entries())
        if (pair.internal.values[i] !== pair.external.values[i]) total.equalByValue += 1;
      return;
    }
    result.internal.mismatch += 1;
    result.external.mismatch += 1;
    const columns = differing.map((i): Break["columns"][number] => {
      const exact = difference(pair, i);
      const total = totals[i] as (typeof totals)[number];
      total.mismatches += 1;
      if (exact !== null) total.sum = add(total.sum, exact);
      return [
        (compare[i] as Column).name,
        {
          internal: pair.internal.rawValues[i] as Text,
          external: pair.external.rawValues[i] as Text,
          difference: exact === null ? "" : printDecimal(exact),
        },
      ];
    });
    const { internal: mine, external: theirs } = pair;
    placed.push({
      side: 0,
      order: mine.order,
      item: { type: "mismatch", key: named(mine.rawKey), internal: place(mine), external: place(theirs), columns },
    });
  };

  for (const side of ["internal", "external"] as const) {
    const { rows, bad } = side === "internal" ? internalRows : externalRows;
    for (const row of rows.filter(isMissing)) {
      result[side].missing_key += 1;
      oneSided("missing_key", side, row);
    }
    for (const { order, record } of bad) {
      const item: Break = {
        type: "rejected",
        key: [],
        internal: null,
        external: null,
        [side]: place(record),
        columns: [],
      };
      placed.push({ side: side === "internal" ? 0 : 1, order, item });
    }
  }
  const lonely: { internal: Row[]; external: Row[] } = { internal: [], external: [] };
  for (const [id, mine] of groups.internal) {
    const theirs = groups.external.get(id);
    if (theirs === undefined) {
      for (const row of mine) oneSided("missing_external", "internal", row);
      result.internal.missing += mine.length;
      lonely.internal.push(...mine);
      continue;
    }
    let pairs = pairGroup(mine, theirs);
    if (options.unique && (mine.length > 1 || theirs.length > 1)) pairs = pairs.slice(0, 1);
    for (const pair of pairs) usePair(pair);
    for (const row of mine.filter((candidate) => !pairs.some((pair) => pair.internal === candidate))) {
      result.internal.duplicate += 1;
      oneSided("duplicate_internal", "internal", row);
    }
    for (const row of theirs.filter((candidate) => !pairs.some((pair) => pair.external === candidate))) {
      result.external.duplicate += 1;
      oneSided("duplicate_external", "external", row);
    }
  }
  for (const [id, theirs] of groups.external) {
    if (groups.internal.has(id)) continue;
    for (const row of theirs) oneSided("missing_internal", "external", row);
    result.external.missing += theirs.length;
    lonely.external.push(...theirs);
  }
  placed.sort((a, b) => a.side - b.side || a.order - b.order);
  result.breaks = placed.map(({ item }) => item);
  result.exitCode = result.breaks.length > options.maxBreaks ? 1 : 0;
  result.columns = compare.map((column, i) => {
    const { mismatches, sum, equalByValue } = totals[i] as (typeof totals)[number];
    return [column.name, { mismatches, sumOfDifferences: printDecimal(sum), equalByValue }];
  });
  result.hints = nearMisses(lonely.internal, lonely.external);
  return result;
}

/** How many one-sided internal rows would find a one-sided external row under each folding. */
function nearMisses(internal: Row[], external: Row[]): Verdict["hints"] {
  const bytes = (part: string) => [...part].map((character) => character.charCodeAt(0));
  const joins = (fold: (part: string) => string): number => {
    const theirs = new Set(external.map((row) => joined(row.key.map(fold))));
    const candidates_ = internal.filter((row) => row.key.map(fold).some((part) => part !== ""));
    return candidates_.filter((row) => theirs.has(joined(row.key.map(fold)))).length;
  };
  return {
    trim: joins((part) => asBytes(trimmed(bytes(part)))),
    "fold-case": joins((part) => asBytes(folded(bytes(part)))),
    // Choice: one digit always stays.
    "leading-zeros": joins((part) => part.replace(/^0+(?=[0-9])/, "")),
  };
}

// ------------------------------------------------------------------------------------------------------ output files

type Ordered = [name: string, value: unknown][];

/** JSON of an object whose members keep their order whatever their names are. */
function json(members: Ordered): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** The `.jsonl` file. `messages` are the program's texts for the rejected rows, in order. */
export function breaksJsonl(verdict: Verdict, messages: string[]): string {
  let rejected = 0;
  const lines = verdict.breaks.map((item, i) => {
    const values = item.columns.map(([name, value]): [string, string] => [name, JSON.stringify(value)]);
    const members: Ordered = [
      ["break", i + 1],
      ["type", JSON.stringify(item.type)],
      ["key", json(item.key.map(([name, value]) => [name, JSON.stringify(value)]))],
      ["internal", JSON.stringify(item.internal)],
      ["external", JSON.stringify(item.external)],
      ["columns", json(values)],
    ];
    if (item.type === "rejected") {
      members.push(["reason", JSON.stringify({ code: "bad_row", message: messages[rejected] })]);
      rejected += 1;
    }
    return `${json(members)}\n`;
  });
  return lines.join("");
}

const fixedColumns = [
  "break",
  "type",
  "internal_line",
  "external_line",
  "column",
  "internal_value",
  "external_value",
  "difference",
];

function csvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The `.csv` file of ledgers of one file each. */
export function breaksCsv(verdict: Verdict): string {
  const keyHeaders = verdict.keyNames.map((name) => (fixedColumns.includes(name) ? `key.${name}` : name));
  const lines = [["break", "type", ...keyHeaders, ...fixedColumns.slice(2)]];
  for (const [i, item] of verdict.breaks.entries()) {
    const key = item.type === "rejected" ? verdict.keyNames.map(() => "") : item.key.map(([, value]) => value);
    const start = [
      String(i + 1),
      item.type,
      ...key,
      String(item.internal?.line ?? ""),
      String(item.external?.line ?? ""),
    ];
    // Choice: rows of one side have no broken column, so one line without values.
    if (item.type !== "mismatch") lines.push([...start, "", "", "", ""]);
    else
      for (const [name, values] of item.columns)
        lines.push([...start, name, values.internal ?? "", values.external ?? "", values.difference]);
  }
  return lines.map((line) => `${line.map(csvField).join(",")}\n`).join("");
}

/** The rejects file, as bytes since records need not be UTF-8. */
export function rejectsCsv(verdict: Verdict, messages: string[]): Uint8Array {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [encoder.encode("path,line,code,message,record\n")];
  for (const [i, { path, line, record }] of verdict.rejected.entries()) {
    const start = [path, String(line), "bad_row", messages[i] ?? ""].map(csvField).join(",");
    parts.push(encoder.encode(`${start},`), csvRecord(record), encoder.encode("\n"));
  }
  return Buffer.concat(parts);
}

function csvRecord(record: Uint8Array): Uint8Array {
  const latin = Buffer.from(record).toString("latin1");
  return Buffer.from(csvField(latin), "latin1");
}
