// How numbers are spelled under the rules of a side, and how far two values may lie apart; read from docs/rules.md alone.
// Used by the oracle of rules.
import { absolute, fromDigits, isZero, multiply, negated, order, rational, type Rational } from "./rational";

export interface NumberFormat {
  decimal: string;
  thousands: string | null;
  accounting: boolean;
  currency: string[];
}

export interface SignedNumber {
  value: Rational;
  /** Whether any sign stands in the text. */
  hasSign: boolean;
}

const escaped = (mark: string) => mark.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** The number that a text is in this format, or null. */
export function readNumber(text: string, format: NumberFormat): SignedNumber | null {
  const forms = [text, ...format.currency.flatMap((mark) => withoutMark(text, mark))];
  for (const form of forms) {
    const number = readPlain(form, format);
    if (number !== null) return number;
  }
  return null;
}

/** The text without a mark that stands at its number or outside the sign, and without the blanks next to it. */
function withoutMark(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  if (at < 0) return [];
  const before = text.slice(0, at).replace(/[\t-\r ]+$/, "");
  const after = text.slice(at + mark.length).replace(/^[\t-\r ]+/, "");
  // In the middle of the digits it would join what it stands between.
  return /\d/.test(before) && /\d/.test(after) ? [] : [before + after];
}

function readPlain(text: string, format: NumberFormat): SignedNumber | null {
  const parenthesis = format.accounting ? /^\((.*)\)$/.exec(text)?.[1] : undefined;
  const behind = format.accounting ? /^(.*)-$/.exec(text)?.[1] : undefined;
  const inFront = /^([+-])(.*)$/.exec(text);
  const body = parenthesis ?? behind ?? inFront?.[2] ?? text;
  const isNegative = parenthesis !== undefined || behind !== undefined || inFront?.[1] === "-";
  const value = readDigits(body, format);
  return value === null ? null : { value: isNegative ? negated(value) : value, hasSign: body !== text };
}

const greatestExponent = 9999;

function readDigits(text: string, { decimal, thousands }: NumberFormat): Rational | null {
  const grouped = thousands === null ? "" : `\\d{1,3}(?:${escaped(thousands)}\\d{3})+|`;
  const form = new RegExp(`^(${grouped}\\d*)(?:${escaped(decimal)}(\\d*))?(?:[eE]([+-]?\\d+))?$`);
  const [, whole = "", fraction = "", exponent = "0"] = form.exec(text) ?? [];
  if (whole + fraction === "" || Math.abs(Number(exponent)) > greatestExponent) return null;
  return fromDigits(thousands === null ? whole : whole.replaceAll(thousands, ""), fraction, Number(exponent));
}

/** What an `auto` column takes for a number. */
export function readPlainDecimal(text: string): Rational | null {
  const [, sign, whole, fraction] = /^([+-]?)(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const value = fromDigits(whole, fraction);
  return sign === "-" ? negated(value) : value;
}

export type ValueType = "auto" | "text" | "decimal" | "timestamp" | "date";

export interface Tolerance {
  type: ValueType;
  isWithin(difference: Rational, a: Rational, b: Rational): boolean;
}

/** Bounds are within. */
export function readTolerance(text: string): Tolerance {
  const [, amount = "", unit = "", cap] = /^([\d.]+) ?(bps|%|us|ms|s|m|h|d|)(?: +max +([\d.]+))?$/.exec(text) ?? [];
  const exact = (digits: string) => fromDigits(...(digits.split(".") as [string, string?]));
  const shares: Record<string, bigint> = { bps: 10_000n, "%": 100n };
  const share = shares[unit];
  if (share !== undefined) {
    const rate = multiply(exact(amount), rational(1n, share));
    return {
      type: "decimal",
      isWithin(difference, a, b) {
        const larger = order(absolute(a), absolute(b)) > 0 ? absolute(a) : absolute(b);
        const gap = absolute(difference);
        return order(gap, multiply(rate, larger)) <= 0 && (cap === undefined || order(gap, exact(cap)) <= 0);
      },
    };
  }
  const seconds: Record<string, Rational> = {
    us: rational(1n, 1_000_000n),
    ms: rational(1n, 1000n),
    s: rational(1n),
    m: rational(60n),
    h: rational(3600n),
  };
  const bound = multiply(exact(amount), seconds[unit] ?? rational(1n));
  return {
    type: unit === "" ? "decimal" : unit === "d" ? "date" : "timestamp",
    isWithin: (difference) => order(absolute(difference), bound) <= 0,
  };
}

export const none: Tolerance = { type: "auto", isWithin: (difference) => isZero(difference) };
