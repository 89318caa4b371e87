// How dates and times are spelled under the rules of a side, zones of a fixed offset only; read from docs/rules.md alone.
// Used by the oracle of rules.
import { add, fromDigits, rational, type Rational } from "./rational";

export interface Clock {
  /** Null for ISO 8601 and YYYYMMDD. */
  dateFormat: string | null;
  /** Minutes east of UTC; null where the side has no zone. */
  zone_minutes: number | null;
}

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const day_s = 86_400n;

const fieldForms: Record<string, string> = {
  yyyy: "(?<year>\\d{4})",
  MMM: "(?<name>[A-Za-z]{3})",
  MM: "(?<month>\\d{2})",
  M: "(?<month>\\d{1,2})",
  dd: "(?<day>\\d{2})",
  d: "(?<day>\\d{1,2})",
};

/** A regular expression of the format, with groups for its fields. */
function formOf(format: string): string {
  const parts = format.match(/yyyy|MMM|MM|M|dd|d|[^yMd]/g) ?? [];
  return parts.map((part) => fieldForms[part] ?? part.replace(/[.*+?^${}()|[\]\\/-]/, "\\$&")).join("");
}

const isoForm = formOf("yyyy-MM-dd");
const basicForm = formOf("yyyyMMdd");

type Groups = Record<string, string | undefined>;

/** Days since 1970 of a day that is in the calendar, or null. */
function daysOf({ year, month, day, name }: Groups): bigint | null {
  const monthNumber = name === undefined ? Number(month) : months.indexOf(name.toLowerCase()) + 1;
  if (Number(year) < 1 || monthNumber < 1 || monthNumber > 12) return null;
  try {
    const date = Temporal.PlainDate.from(
      { year: Number(year), month: monthNumber, day: Number(day) },
      { overflow: "reject" },
    );
    return BigInt(Temporal.PlainDate.from("1970-01-01").until(date, { largestUnit: "day" }).days);
  } catch {
    return null;
  }
}

/** Days since 1970, or null for what is no date under these rules. */
export function readDate(text: string, { dateFormat }: Clock): Rational | null {
  const forms = dateFormat === null ? [isoForm, basicForm] : [formOf(dateFormat)];
  for (const form of forms) {
    const groups = new RegExp(`^${form}$`).exec(text)?.groups;
    const days = groups === undefined ? null : daysOf(groups);
    if (days !== null) return rational(days);
  }
  return null;
}

const clockForm = "(?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:\\.(?<fraction>\\d{1,12}))?)?";
const zoneForm = "(?<zone>[Zz]|[+-]\\d{2}:\\d{2})?";

/** Seconds since 1970 in UTC, or null for what is no time under these rules or says no zone where it must. */
export function readTime(text: string, clock: Clock): Rational | null {
  const { dateFormat } = clock;
  const isLikeIso = dateFormat?.startsWith("yyyy") ?? false;
  const dates =
    dateFormat === null ? [isoForm, basicForm] : isLikeIso ? [formOf(dateFormat)] : [formOf(dateFormat), isoForm];
  for (const date of dates) {
    const groups = new RegExp(`^${date}[Tt ]${clockForm}${zoneForm}$`).exec(text)?.groups;
    const instant = groups === undefined ? null : instantOf(groups, minutesOf(groups.zone, clock));
    if (instant !== null) return instant;
  }
  const fix = isLikeIso ? undefined : new RegExp(`^${basicForm}-${clockForm}$`).exec(text)?.groups;
  // A FIX time is in UTC by definition.
  return fix === undefined ? null : instantOf(fix, 0);
}

function minutesOf(zone: string | undefined, clock: Clock): number | null {
  return zone === undefined ? clock.zone_minutes : offset_minutes(zone);
}

/** Of `UTC`, `Z` or `+09:00`. */
export function offset_minutes(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):(\d{2})$/.exec(zone) ?? [];
  return sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function instantOf(groups: Groups, east_minutes: number | null): Rational | null {
  const days = daysOf(groups);
  const [hour, minute, second] = [groups.hour, groups.minute, groups.second ?? "0"].map(Number) as [
    number,
    number,
    number,
  ];
  if (days === null || east_minutes === null || hour > 23 || minute > 59 || second > 59) return null;
  const whole = days * day_s + BigInt((hour * 60 + minute - east_minutes) * 60 + second);
  return add(rational(whole), fromDigits("", groups.fraction));
}
