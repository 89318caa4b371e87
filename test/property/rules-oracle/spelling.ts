// How a side of a random pair spells its values, and the lines of the rules file that say so. What comes out wrong is a bad
// row and meant to be. Used by random-rules.ts.
import type { Random } from "../ledgers";

export interface Spelling {
  decimal: string;
  thousands: string | null;
  accounting: boolean;
  currency: string[];
  dateFormat: string | null;
  zone: string | null;
  nulls: string[];
  /** Stray blanks and letters of another case are written. */
  isUntidy: boolean;
}

/** Numbers are whole multiples of 10^-4. */
export const number_digits = 4;
const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const zones = ["UTC", "+09:00", "-05:30", "+00:00"];
const dateFormats = ["dd/MM/yyyy", "MM/dd/yyyy", "yyyyMMdd", "d-MMM-yyyy", "yyyy年M月d日", "d.M.yyyy", null, null];

export function randomSpelling(random: Random): Spelling {
  const decimal = random.pick([".", ".", ","]);
  return {
    decimal,
    thousands: random.pick([null, null, decimal === "," ? "." : ",", "'"]),
    accounting: random.chance(0.4),
    currency: random.pick([[], [], ["€", "USD"]]),
    dateFormat: random.pick(dateFormats),
    zone: random.chance(0.9) ? random.pick(zones) : null,
    nulls: random.pick([[], [], ["NULL"], ["n/a", "-"], ["0"]]),
    isUntidy: random.chance(0.3),
  };
}

export function spellingLines(how: Spelling): string[] {
  return [
    ...(how.decimal === "." ? [] : [`decimal = "${how.decimal}"`]),
    ...(how.thousands === null ? [] : [`thousands = "${how.thousands}"`]),
    ...(how.accounting ? ['negative = "accounting"'] : []),
    ...(how.currency.length > 0 ? [`currency = ${JSON.stringify(how.currency)}`] : []),
    ...(how.dateFormat === null ? [] : [`date_format = "${how.dateFormat}"`]),
    ...(how.zone === null ? [] : [`timezone = "${how.zone}"`]),
    ...(how.nulls.length > 0 ? [`null = ${JSON.stringify(how.nulls)}`] : []),
  ];
}

export function plainDecimal(value: bigint, places = number_digits): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, "0");
  const point = digits.length - places;
  return `${value < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, "");
}

/** `isUnsigned` where another column says the sign. */
export function spellNumber(random: Random, value: bigint, isUnsigned: boolean, how: Spelling): string {
  const [sign, whole_, fraction_ = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(plainDecimal(value))?.slice(1) as [
    string,
    string,
    string?,
  ];
  let whole = whole_;
  const fraction = fraction_ + random.pick(["", "", "0", "00"]);
  if (how.thousands !== null && random.chance(0.6)) whole = whole.replace(/\B(?=(\d{3})+$)/g, how.thousands);
  else if (random.chance(0.08)) whole = `0${whole}`;
  if (whole === "0" && fraction !== "" && random.chance(0.3)) whole = "";
  let text = fraction === "" ? whole + (random.chance(0.05) ? how.decimal : "") : `${whole}${how.decimal}${fraction}`;
  if (random.chance(0.05) && how.thousands === null && whole !== "")
    text = `${text}${random.pick(["e0", "E+0", "e-0"])}`;
  if (sign === "-" && !isUnsigned)
    text = random.pick(how.accounting ? [`(${text})`, `${text}-`, `-${text}`] : [`-${text}`]);
  else if (!isUnsigned && random.chance(0.03)) text = `+${text}`;
  const mark = random.pick(["", ...how.currency]);
  return mark === "" ? text : random.pick([`${mark} ${text}`, `${text}${mark}`, `${mark}${text}`, `${text} ${mark}`]);
}

const two = (number: number) => String(number).padStart(2, "0");

function spellDate(date: Date, format: string | null, basic: boolean): string {
  const parts: Record<string, string> = {
    yyyy: String(date.getUTCFullYear()),
    MMM: months[date.getUTCMonth()] as string,
    MM: two(date.getUTCMonth() + 1),
    M: String(date.getUTCMonth() + 1),
    dd: two(date.getUTCDate()),
    d: String(date.getUTCDate()),
  };
  const used = format ?? (basic ? "yyyyMMdd" : "yyyy-MM-dd");
  return used.replace(/yyyy|MMM|MM|M|dd|d/g, (letters) => parts[letters] as string);
}

export function spellDay(random: Random, day: number, how: Spelling): string {
  return spellDate(new Date(day * 86_400_000), how.dateFormat, random.chance(0.2));
}

/** Sometimes with an offset of its own, or as FIX does. */
export function spellTime(random: Random, time_ms: number, how: Spelling, offset: (zone: string) => number): string {
  const isFix = random.chance(0.1) && !(how.dateFormat ?? "").startsWith("yyyy");
  const ownZone = isFix ? "UTC" : random.chance(0.2) || how.zone === null ? random.pick(zones) : null;
  const zone = ownZone ?? (how.zone as string);
  const local = new Date(time_ms + offset(zone) * 60_000);
  const whole = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:${two(local.getUTCSeconds())}`;
  const ms = String(local.getUTCMilliseconds()).padStart(3, "0");
  const clock = `${whole}${ms === "000" && random.chance(0.5) ? "" : `.${ms}${random.pick(["", "", "000", "000000000"])}`}`;
  if (isFix) return `${spellDate(local, "yyyyMMdd", false)}-${clock}`;
  const date = spellDate(local, random.chance(0.1) ? null : how.dateFormat, false);
  return `${date}${random.pick(["T", " "])}${clock}${ownZone === null ? "" : ownZone === "UTC" ? "Z" : ownZone}`;
}

/** Something that is wrong nearly everywhere. */
export function spellBadly(random: Random, text: string): string {
  return random.pick([
    "x",
    "n/a",
    "",
    "1.2.3",
    `${text}x`,
    `-${text}`,
    `(${text}`,
    `${text} `,
    `0x${text}`,
    text.replace(/\d/, ""),
    text.replaceAll(/[.,]/g, ""),
    "1e5",
    "NaN",
    "2026-02-30",
    "25:00",
  ]);
}

export function untidy(random: Random, text: string, how: Spelling): string {
  if (!how.isUntidy || !random.chance(0.2)) return text;
  return random.pick([` ${text}`, `${text} `, `${text}\t`, text.toLowerCase(), text.toUpperCase()]);
}
