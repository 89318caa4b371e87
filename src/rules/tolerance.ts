// How a tolerance is written: `0.01`, `5bps`, `0.1%`, `5bps max 1.00`, `500ms`, `2s`, `1d`. Pure, and by decimal digits
// only. Used by the option --tolerance and by members.ts.
import type { Tolerance } from "./rules";

export const toleranceForms =
  "an amount (0.01), a share (5bps, 0.1%, 5bps max 1.00), a time (us, ms, s, m, h) or days (1d)";

const rate = /^(\d+(?:\.\d+)?) ?(bps|%)(?: +max +(\d+(?:\.\d+)?))?$/;
const amount = /^(\d+(?:\.\d+)?)$/;
const time = /^(\d+(?:\.\d+)?) ?(us|ms|s|m|h)$/;
const days = /^(\d+) ?d$/;
const secondsOf = { us: [1, 6], ms: [1, 3], s: [1, 0], m: [60, 0], h: [3600, 0] } as const;

/** Throws an Error whose message completes "takes …". */
export function parseTolerance(text: string): Tolerance {
  const [, share, unit, cap] = rate.exec(text) ?? [];
  if (share !== undefined) {
    const spec = { amount: share, unit: unit === "%" ? "percent" : "bps", cap: cap ?? null } as const;
    return { type: "decimal", spec };
  }
  const absolute = amount.exec(text)?.[1];
  if (absolute !== undefined) return { type: "decimal", spec: { amount: absolute, unit: "absolute", cap: null } };
  const [, span, spanUnit] = time.exec(text) ?? [];
  if (span !== undefined) {
    const [factor, decimals] = secondsOf[spanUnit as keyof typeof secondsOf];
    return { type: "timestamp", spec: { amount: scaled(span, factor, decimals), unit: "absolute", cap: null } };
  }
  const day = days.exec(text)?.[1];
  if (day !== undefined) return { type: "date", spec: { amount: day, unit: "absolute", cap: null } };
  throw new Error(`${toleranceForms}, not ${JSON.stringify(text)}`);
}

/** `text` times `factor` with the point moved `decimals` to the left, as a plain decimal. */
function scaled(text: string, factor: number, decimals: number): string {
  const [whole = "", fraction = ""] = text.split(".");
  const digits = String(BigInt(whole + fraction) * BigInt(factor));
  const places = fraction.length + decimals;
  const padded = digits.padStart(places + 1, "0");
  const [front, back] = [padded.slice(0, padded.length - places), padded.slice(padded.length - places)];
  const shortest = back.replace(/0+$/, "");
  return shortest === "" ? front : `${front}.${shortest}`;
}
