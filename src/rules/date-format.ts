// The letters of `date_format`; zig/value/date.zig reads dates by them. Used by members.ts.

const fields = { yyyy: "year", MMM: "month", MM: "month", M: "month", dd: "day", d: "day" } as const;
/** As many pieces as the engine takes. */
const bytes_max = 32;
const numbers_of_any_width = ["M", "d"];
export const dateLetters = "yyyy (year), MM, M or MMM (month; MMM is Jan to Dec), dd or d (day)";

/** Throws an Error whose message completes "expected …". */
export function parseDateFormat(text: string): string {
  const refuse = (why: string) => new Error(`a date format of ${dateLetters}: ${JSON.stringify(text)} ${why}`);
  if (Buffer.byteLength(text) > bytes_max) throw refuse(`is longer than ${bytes_max} bytes`);
  const parts = text.match(/([A-Za-z])\1*|[^A-Za-z]+/g) ?? [];
  const found: string[] = [];
  for (const [i, part] of parts.entries()) {
    const field = fieldOf(part);
    if (field === null && !/[A-Za-z0-9]/.test(part)) continue;
    if (field === null) throw refuse(`has ${JSON.stringify(part)}`);
    if (found.includes(field)) throw refuse(`has two fields for the ${field}`);
    if (numbers_of_any_width.includes(part) && fieldOf(parts[i + 1] ?? "") !== null)
      throw refuse(`does not say where ${JSON.stringify(part)} ends: the next field needs a mark before it`);
    found.push(field);
  }
  const missing = ["day", "month", "year"].find((field) => !found.includes(field));
  if (missing !== undefined) throw refuse(`has no ${missing}`);
  return text;
}

function fieldOf(part: string): string | null {
  return Object.hasOwn(fields, part) ? fields[part as keyof typeof fields] : null;
}
