// What repeated timings say. Used by the harness (harness.ts) and by the developer benchmarks in bench/.

/** Of one scenario, in milliseconds; `samples` in the order they were taken. */
export interface Timing {
  median_ms: number;
  best_ms: number;
  worst_ms: number;
  samples_ms: number[];
}

/** How many times longer one thing took than another: median over median, best over worst, worst over best. */
export interface Ratio {
  median: number;
  low: number;
  high: number;
}

/** Throws if there are no samples. */
export function timing(samples_ms: readonly number[]): Timing {
  const sorted = samples_ms.toSorted((a, b) => a - b);
  const [best_ms, worst_ms] = [sorted[0], sorted.at(-1)];
  if (best_ms === undefined || worst_ms === undefined) throw new RangeError("a timing needs at least one sample");
  return { median_ms: median(sorted), best_ms, worst_ms, samples_ms: [...samples_ms] };
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function ratio(of: Timing, to: Timing): Ratio {
  return {
    median: of.median_ms / to.median_ms,
    low: of.best_ms / to.worst_ms,
    high: of.worst_ms / to.best_ms,
  };
}
