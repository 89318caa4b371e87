import { expect, test } from "bun:test";
import { bytesText, counted, grouped, rateText } from "./numbers";

test("thousands separators keep every digit of a decimal", () => {
  expect(grouped(0)).toBe("0");
  expect(grouped(1234567)).toBe("1,234,567");
  expect(grouped("-1234.00000000000000000001")).toBe("-1,234.00000000000000000001");
  expect(grouped("-123")).toBe("-123");
});

test("units", () => {
  expect(counted(1, "row")).toBe("1 row");
  expect(counted(2000, "row")).toBe("2,000 rows");
  expect(bytesText(488_000_000)).toBe("488 MB");
  expect(bytesText(999)).toBe("999 B");
  expect(rateText(10_000_000, 500, "rows")).toBe("20.0 M rows/s");
});
