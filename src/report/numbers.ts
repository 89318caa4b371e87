// Numbers for people. Used by the terminal summary, progress and inspect.

/** `1234567` as `1,234,567`; works on the text, so that any exact decimal keeps all its digits. */
export function grouped(number: number | string): string {
  const [whole = "", fraction] = String(number).split(".");
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** `3 rows`, `1 row`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Three digits and a decimal unit: `488 MB`. */
export function bytesText(bytes: number): string {
  return `${scaled(bytes, ["", "k", "M", "G", "T"])}B`;
}

/** `12.3 M rows/s`. */
export function rateText(count: number, elapsed_ms: number, unit: string): string {
  return `${scaled(count / Math.max(elapsed_ms / 1000, 1e-6), ["", "k ", "M ", "G "])}${unit}/s`;
}

/** `0.123 s`, `12.3 s` */
export function secondsText(elapsed_ms: number): string {
  return `${(elapsed_ms / 1000).toPrecision(3)} s`;
}

function scaled(value: number, prefixes: readonly string[]): string {
  let i = 0;
  while (value >= 999.5 && i < prefixes.length - 1) {
    value /= 1000;
    i++;
  }
  return `${i === 0 ? Math.round(value) : value.toPrecision(3)} ${prefixes[i]}`;
}
