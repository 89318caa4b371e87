// Exact numbers as fractions of BigInt, never rounded. Used by the oracle of rules.

export interface Rational {
  top: bigint;
  /** Above zero. */
  bottom: bigint;
}

export const zero: Rational = { top: 0n, bottom: 1n };

const absoluteOf = (value: bigint) => (value < 0n ? -value : value);
const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

export function rational(top: bigint, bottom = 1n): Rational {
  const shared = gcd(absoluteOf(top), absoluteOf(bottom)) * (bottom < 0n ? -1n : 1n);
  return { top: top / shared, bottom: bottom / shared };
}

export const add = (a: Rational, b: Rational) => rational(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
export const negated = (a: Rational): Rational => ({ top: -a.top, bottom: a.bottom });
export const subtract = (a: Rational, b: Rational) => add(a, negated(b));
export const multiply = (a: Rational, b: Rational) => rational(a.top * b.top, a.bottom * b.bottom);
export const divide = (a: Rational, b: Rational) => rational(a.top * b.bottom, a.bottom * b.top);
export const absolute = (a: Rational): Rational => ({ top: absoluteOf(a.top), bottom: a.bottom });
export const isZero = (a: Rational) => a.top === 0n;

/** Below zero, zero or above, as a is below, at or above b. */
export function order(a: Rational, b: Rational): number {
  const { top } = subtract(a, b);
  return top < 0n ? -1 : top > 0n ? 1 : 0;
}

/** `whole` and `fraction` are digits. */
export function fromDigits(whole: string, fraction = "", exponent = 0): Rational {
  const places = fraction.length - exponent;
  const digits = BigInt(`0${whole}${fraction}`);
  return places >= 0 ? rational(digits, 10n ** BigInt(places)) : rational(digits * 10n ** BigInt(-places));
}

/** The shortest plain decimal; null where there is none, as of one third. */
export function printed(value: Rational): string | null {
  let places = 0;
  let scale = 1n;
  for (let rest = value.bottom; scale % rest !== 0n; places += 1) {
    if (places > 20_000 || !/^[25]*$/.test(factors(rest))) return null;
    scale *= 10n;
  }
  const digits = String((absoluteOf(value.top) * scale) / value.bottom).padStart(places + 1, "0");
  const point = digits.length - places;
  const fraction = places === 0 ? "" : `.${digits.slice(point)}`;
  return `${value.top < 0n ? "-" : ""}${digits.slice(0, point)}${fraction}`;
}

/** The prime factors 2 and 5 of a number, and "x" if it has others. */
function factors(value: bigint): string {
  let found = "";
  let rest = value;
  for (const prime of [2n, 5n]) {
    for (; rest % prime === 0n; rest /= prime) if (!found.includes(String(prime))) found += prime;
  }
  return rest === 1n ? found : "x";
}
