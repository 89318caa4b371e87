import { expect, test } from "bun:test";
import fc from "fast-check";
import { safe, safeValue } from "./terminal-safe";

test("control, escape and direction characters are shown, never sent", () => {
  expect(safe("a\x1b[31mb\r\n\x07\x9b\u202ec\u200b")).toBe("a\\x1b[31mb\\x0d\\x0a\\x07\\x9b\\u202ec\\u200b");
  expect(safe("é 漢字 → 1,000.50")).toBe("é 漢字 → 1,000.50");
});

test("nothing unsafe is left of any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(safe(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028\u2029]/u);
    }),
  );
});

test("very long values lose their middle", () => {
  expect(safeValue("x".repeat(60))).toBe("x".repeat(60));
  const long = safeValue(`start${"x".repeat(1000)}end`);
  expect(long).toStartWith("start");
  expect(long).toEndWith("end (1008 characters)");
  expect(long.length).toBeLessThan(90);
});
