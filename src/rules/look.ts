// What the values of a column look like, for proposals only: nothing is ever compared by a guess. Pure; used by
// draft.ts, correspondence.ts and `recon inspect`.
import type { ValueType } from "../generated/abi";

/** What all values of a column have in common; empty values fit everything. */
export interface Look {
  /** `empty` where there is no value to tell by. */
  type: Exclude<ValueType, "auto" | "ratio"> | "empty";
  /** For dates: the formats of rules files that fit all of them; none for ISO 8601 and YYYYMMDD. */
  dateFormats: string[];
  /** For timestamps: whether every one says its zone. */
  zoned: boolean;
  /** For text: members that would make numbers of it, as a rules file has them. */
  numberFormat: string[];
  /** Words that may stand for an empty value. */
  nulls: string[];
}

const plainDate = /^(\d{4}-\d{2}-\d{2}|(19|20)\d{2}(0[1-9]|1[0-2])([0-2]\d|3[01]))$/;
const timestamp = /^(\d{4}-\d{2}-\d{2}[T ]|\d{8}-)\d{2}:\d{2}(:\d{2}([.,]\d{1,12})?)?(Z|[+-]\d{2}:?\d{2})?$/;
const zoned = /(Z|:\d{2}(?:[.,]\d+)?[+-]\d{2}:?\d{2})$|^\d{8}-/;
const plainDecimal = /^[-+]?(0|[1-9]\d*)(\.\d+)?$/;
const nullWord = /^(null|nan|none|nil|n\/a|na|#n\/a|\\n|-|--)$/i;

export function lookOf(values: readonly string[]): Look {
  const filled = [...new Set(values.filter((value) => value !== ""))];
  const fits = (shape: RegExp) => filled.every((value) => shape.test(value));
  const look: Look = { type: "text", dateFormats: [], zoned: true, numberFormat: [], nulls: [] };
  if (filled.length === 0) return { ...look, type: "empty" };
  if (fits(plainDate)) return { ...look, type: "date" };
  if (fits(timestamp)) return { ...look, type: "timestamp", zoned: fits(zoned) };
  if (fits(plainDecimal)) return { ...look, type: "decimal" };
  const dateFormats = dateFormatsOf(filled);
  if (dateFormats.length > 0) return { ...look, type: "date", dateFormats };
  const nulls = filled.filter((value) => nullWord.test(value));
  if (nulls.length > 0 && nulls.length < filled.length) return { ...look, nulls };
  return { ...look, numberFormat: numberFormatOf(filled) };
}

interface DateShape {
  format: string;
  shape: RegExp;
}

/** Those of one width are preferred: `d` also fits two digits. */
const dateShapes: DateShape[] = ["/", ".", "-"].flatMap((mark) =>
  ["dd MM yyyy", "MM dd yyyy", "yyyy MM dd", "dd MMM yyyy", "d M yyyy", "M d yyyy", "d MMM yyyy"].map((parts) => ({
    format: parts.replaceAll(" ", mark),
    shape: new RegExp(`^${parts.split(" ").map(datePart).join(RegExp.escape(mark))}$`),
  })),
);

function datePart(part: string): string {
  const shapes: Record<string, string> = {
    dd: "(?:0[1-9]|[12]\\d|3[01])",
    d: "(?:0?[1-9]|[12]\\d|3[01])",
    MM: "(?:0[1-9]|1[0-2])",
    M: "(?:0?[1-9]|1[0-2])",
    MMM: "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
    yyyy: "(?:19|20)\\d{2}",
  };
  return shapes[part]!;
}

function dateFormatsOf(values: string[]): string[] {
  const fitting = dateShapes.filter(({ shape }) => values.every((value) => shape.test(value)));
  const fixed = fitting.filter(({ format }) => !/(^|[^dM])[dM]([^dM]|$)/.test(format));
  return (fixed.length > 0 ? fixed : fitting).map(({ format }) => format);
}

/** The least format that reads all values, which the plain one does not. */
function numberFormatOf(values: string[]): string[] {
  // Digits alone that are no plain number, such as 007, are codes.
  if (values.every((value) => /^\d+$/.test(value))) return [];
  const digits = values.map((value) => value.replace(/^\((.*)\)$/, "$1").replace(/^[-+]|-$/g, ""));
  const marks = markShapes.find(({ shape }) => digits.every((value) => shape.test(value)))?.members;
  if (marks === undefined) return [];
  const isAccounting = values.some((value) => /^\(.*\)$|\d-$/.test(value));
  return isAccounting ? [...marks, 'negative = "accounting"'] : marks;
}

/** In this order: what fits a shape further up needs no more marks. */
const markShapes: { shape: RegExp; members: string[] }[] = [
  { shape: /^(0|[1-9]\d*)(\.\d+)?$/, members: [] },
  { shape: /^\d+(,\d+)?$/, members: ['decimal = ","'] },
  { shape: /^\d{1,3}(\.\d{3})*(,\d+)?$/, members: ['decimal = ","', 'thousands = "."'] },
  { shape: /^\d{1,3}(,\d{3})*(\.\d+)?$/, members: ['thousands = ","'] },
  { shape: /^\d{1,3}( \d{3})*(,\d+)?$/, members: ['decimal = ","', 'thousands = " "'] },
  { shape: /^\d{1,3}( \d{3})*(\.\d+)?$/, members: ['thousands = " "'] },
];
