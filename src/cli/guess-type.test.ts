import { expect, test } from "bun:test";
import { guessType } from "./guess-type";

test("types by the look of all values", () => {
  expect(guessType(["1", "-2.50", "", "+3"])).toBe("number");
  expect(guessType(["007"])).toBe("text");
  expect(guessType(["2026-03-02", "20260302"])).toBe("date");
  expect(guessType(["2026-03-02T10:00:00.123Z", "20260302-14:30:01"])).toBe("timestamp");
  expect(guessType(["1", "x"])).toBe("text");
  expect(guessType(["", ""])).toBe("empty");
});
