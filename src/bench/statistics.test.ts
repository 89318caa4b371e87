import { expect, test } from "bun:test";
import { median, ratio, timing } from "./statistics";

test("medians of odd and even numbers of samples", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});

test("a ratio spans from best over worst to worst over best", () => {
  const slow = timing([30, 20, 40]);
  const fast = timing([10, 5, 20]);
  expect(slow).toEqual({ median_ms: 30, best_ms: 20, worst_ms: 40, samples_ms: [30, 20, 40] });
  expect(ratio(slow, fast)).toEqual({ median: 3, low: 1, high: 8 });
});

test("no samples, no timing", () => expect(() => timing([])).toThrow(RangeError));
