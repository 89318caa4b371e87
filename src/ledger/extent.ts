// Which part of a file holds its records: behind a preamble, ahead of a stop line and of the control trailer. Used by
// ledger.ts, before anything is sampled (`boundsOf`) and once the delimiter is known (`withoutTrailer`).
import type { FileSpec, TrailerSpec } from "../generated/abi";
import type { Placed, TrailerRule } from "../rules/rules";
import { fault } from "./codes";
import { quote, rulePlace, type SideColumns } from "./columns";
import { countLineFeeds, countLines, lastLine, lineAt, lineBlocks, lineStart } from "./lines";

/** What of a side's dialect says where fields begin and end. A null delimiter is not known yet. */
export interface FieldDialect {
  delimiter: number | null;
  quote: number | null;
  trim: boolean;
}

/** `ignored` counts the physical lines that were left out. */
export interface Extent {
  file: FileSpec;
  ignored: number;
}

/** Leaves out the preamble and what a stop line begins. Throws `header` where no line has the field. */
export async function boundsOf(
  file: FileSpec,
  rules: { headerMatch: Placed<string> | null; stopAt: Placed<string> | null },
  dialect: FieldDialect,
  signal: AbortSignal,
): Promise<Extent> {
  const begun = await behindPreamble(file, rules.headerMatch, dialect, signal);
  const { start = 0 } = begun.file;
  const end = rules.stopAt === null ? null : await findStopLine(begun.file, rules.stopAt.value, signal);
  if (end === null) return begun;
  const ignored = begun.ignored + (await countLines(file, end, file.size, signal));
  return { file: { ...begun.file, start, end }, ignored };
}

async function behindPreamble(
  file: FileSpec,
  headerMatch: Placed<string> | null,
  dialect: FieldDialect,
  signal: AbortSignal,
): Promise<Extent> {
  if (headerMatch === null) return { file, ignored: 0 };
  const name = headerMatch.value;
  const { start: from = 0, line: firstLine = 1 } = file;
  const needle = searchable(name, dialect);
  let line = firstLine;
  for await (const { at, bytes } of lineBlocks(file, from, file.size, signal)) {
    for (let hit = bytes.indexOf(needle); hit >= 0;) {
      const start = lineStart(bytes, hit);
      const text = lineAt(bytes, start);
      if (hasField(text, name, dialect)) {
        line += countLineFeeds(bytes.subarray(0, start));
        return { file: { ...file, start: at + start, line }, ignored: line - firstLine };
      }
      const next = start + text.length + 1;
      hit = next < bytes.length ? bytes.indexOf(needle, next) : -1;
    }
    line += countLineFeeds(bytes);
  }
  throw fault("header", file.path, `no line has a field ${quote(name)}, which header_match looks for`, {
    hint: "it is compared with whole fields, case included; the line that has it is the header",
  });
}

/** What every line with the field has in it: the longest part without the quote, which may be written twice. */
function searchable(name: string, dialect: FieldDialect): Buffer {
  if (dialect.quote === null) return Buffer.from(name);
  const parts = name.split(String.fromCharCode(dialect.quote));
  return Buffer.from(parts.reduce((longest, part) => (part.length > longest.length ? part : longest)));
}

/** In the order in which delimiters are detected. */
const delimiters = [44, 9, 59, 124];

function hasField(line: Buffer, name: string, dialect: FieldDialect): boolean {
  const text = line.toString();
  const possible = dialect.delimiter === null ? delimiters : [dialect.delimiter];
  return possible.some((delimiter) => splitLine(text, { ...dialect, delimiter }).includes(name));
}

async function findStopLine(file: FileSpec, text: string, signal: AbortSignal): Promise<number | null> {
  const [start, inner] = [Buffer.from(text), Buffer.from(`\n${text}`)];
  for await (const { at, bytes } of lineBlocks(file, file.start ?? 0, file.size, signal)) {
    if (bytes.subarray(0, start.length).equals(start)) return at;
    const hit = bytes.indexOf(inner);
    if (hit >= 0) return at + hit + 1;
  }
  return null;
}

/** The control record of a file, as it was read. */
export interface Trailer {
  line: number;
  count: string | null;
  sums: { column: string; text: string }[];
}

/** Takes the trailer off the end of a file. Throws `trailer` where the last record is not what the rule says. */
export async function withoutTrailer(
  file: FileSpec,
  rule: TrailerRule,
  dialect: FieldDialect & { delimiter: number },
  signal: AbortSignal,
): Promise<Extent & { trailer: Trailer }> {
  const { start = 0, line: firstLine = 1 } = file;
  const end = file.end ?? file.size;
  const isBlank = (line: Buffer) => line.every((byte) => isBlankByte(byte, dialect.delimiter));
  const last = await lastLine(file, start, end, isBlank, signal);
  if (last === null) throw wrongTrailer(file, firstLine, "the trailer is not there: the file has no record");
  const line = firstLine + (await countLines(file, start, last.start, signal));
  const fields = splitLine(last.line.toString(), dialect);
  const trailer = readTrailer(file, line, fields, templateOf(rule.text, dialect.delimiter));
  const ignored = (await countLines(file, last.start, end, signal)) - 1;
  return { file: { ...file, end: last.start }, ignored, trailer };
}

function isBlankByte(byte: number, delimiter: number): boolean {
  return byte === 32 || byte === 13 || (byte === 9 && delimiter !== 9);
}

type TemplateField = { literal: string } | "count" | { sum: string };

/** A template without the file's delimiter is split at commas: `TRL,{count}` serves a file with semicolons, too. */
function templateOf(text: string, delimiter: number): TemplateField[] {
  const own = splitTemplate(text, String.fromCharCode(delimiter));
  return (own.length > 1 ? own : splitTemplate(text, ",")).map((field) => {
    if (field === "{count}") return "count";
    const sum = /^\{sum:(.*)\}$/s.exec(field)?.[1];
    return sum === undefined ? { literal: field } : { sum };
  });
}

/** Names in braces may hold the delimiter. */
function splitTemplate(text: string, delimiter: string): string[] {
  const fields = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "{") depth++;
    if (character === "}") depth--;
    if (character === delimiter && depth === 0) fields.push("");
    else fields[fields.length - 1] += character;
  }
  return fields;
}

function readTrailer(file: FileSpec, line: number, fields: string[], template: TemplateField[]): Trailer {
  const isLiteral = (field: TemplateField) => typeof field === "object" && "literal" in field;
  const mark = template.findIndex(isLiteral);
  const matches = (field: TemplateField, text: string | undefined) => !isLiteral(field) || literalOf(field) === text;
  const found = `${quote(fields.join(" | ").slice(0, 120))}`;
  if (mark >= 0 && !matches(template[mark]!, fields[mark])) {
    const wanted = quote(literalOf(template[mark]!));
    throw wrongTrailer(
      file,
      line,
      `the trailer is not there: the last record is ${found}, its field ${mark + 1} not ${wanted}`,
    );
  }
  const surplus = fields.slice(template.length).filter((text) => text !== "");
  if (fields.length < template.length || surplus.length > 0) {
    throw wrongTrailer(
      file,
      line,
      `the trailer has ${fields.length} fields, the rule says ${template.length}: ${found}`,
    );
  }
  const other = template.findIndex((field, i) => !matches(field, fields[i]));
  if (other >= 0) {
    const wanted = quote(literalOf(template[other]!));
    throw wrongTrailer(
      file,
      line,
      `field ${other + 1} of the trailer is ${quote(fields[other]!)}, the rule says ${wanted}`,
    );
  }
  const trailer: Trailer = { line, count: null, sums: [] };
  template.forEach((field, i) => {
    const text = fields[i]!.trim();
    if (isLiteral(field)) return;
    if (text === "") throw wrongTrailer(file, line, `field ${i + 1} of the trailer is empty: ${found}`);
    if (field === "count") trailer.count = text;
    else trailer.sums.push({ column: (field as { sum: string }).sum, text });
  });
  return trailer;
}

function literalOf(field: TemplateField): string {
  return (field as { literal: string }).literal;
}

function wrongTrailer(file: FileSpec, line: number, message: string) {
  return fault("trailer", file.path, message, {
    line,
    hint: "the trailer must be the last record; a file without it may have been cut",
  });
}

/** The trailer for the engine, which checks what it says. Throws where a sum is of a column that is not there. */
export function trailerSpec({ line, count, sums }: Trailer, columns: SideColumns, { place }: TrailerRule): TrailerSpec {
  return {
    line,
    count,
    sums: sums.map(({ column, text }) => ({ column: rulePlace(columns, { value: column, place }), text })),
  };
}

/** The fields of one physical line, leniently: as record.zig does where the line is sound. */
export function splitLine(line: string, dialect: FieldDialect & { delimiter: number }): string[] {
  const delimiter = String.fromCharCode(dialect.delimiter);
  const mark = dialect.quote === null ? null : String.fromCharCode(dialect.quote);
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const fields: string[] = [];
  for (let at = 0; at <= text.length;) {
    const blanks = dialect.trim ? text.slice(at).search(delimiter === "\t" ? /[^ ]|$/ : /[^\t ]|$/) : 0;
    if (mark !== null && text[at + blanks] === mark) {
      const { value, end } = quotedField(text, at + blanks + 1, mark);
      const next = text.indexOf(delimiter, end);
      fields.push(value);
      at = (next < 0 ? text.length : next) + 1;
    } else {
      const next = text.indexOf(delimiter, at);
      const end = next < 0 ? text.length : next;
      fields.push(dialect.trim ? text.slice(at, end).trim() : text.slice(at, end));
      at = end + 1;
    }
  }
  return fields;
}

function quotedField(text: string, from: number, mark: string): { value: string; end: number } {
  let value = "";
  for (let at = from; ;) {
    const closing = text.indexOf(mark, at);
    if (closing < 0) return { value: value + text.slice(at), end: text.length };
    value += text.slice(at, closing);
    if (text[closing + 1] !== mark) return { value, end: closing + 1 };
    value += mark;
    at = closing + 2;
  }
}
