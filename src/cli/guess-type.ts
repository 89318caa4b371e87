// What the values of a column look like. Used by inspect.ts; nothing is ever compared by a guess.

const shapes: [type: string, shape: RegExp][] = [
  ["date", /^(\d{4}-\d{2}-\d{2}|(19|20)\d{2}(0[1-9]|1[0-2])([0-2]\d|3[01]))$/],
  ["timestamp", /^(\d{4}-\d{2}-\d{2}[T ]|\d{8}-)\d{2}:\d{2}(:\d{2}(\.\d{1,12})?)?(Z|[+-]\d{2}:?\d{2})?$/],
  ["number", /^[-+]?(0|[1-9]\d*)(\.\d+)?$/],
];

/** `date`, `timestamp`, `number`, `text`, or `empty` where there is no value to tell by. */
export function guessType(values: readonly string[]): string {
  const filled = values.filter((value) => value !== "");
  if (filled.length === 0) return "empty";
  return shapes.find(([, shape]) => filled.every((value) => shape.test(value)))?.[0] ?? "text";
}
