import { describe, expect, test } from "bun:test";
import { lookOf } from "./look";

test("types by the look of all values", () => {
  const type = (values: string[]) => lookOf(values).type;
  expect(type(["1", "-2.50", "", "+3"])).toBe("decimal");
  expect(type(["007"])).toBe("text");
  expect(type(["2026-03-02", "20260302"])).toBe("date");
  expect(type(["2026-03-02T10:00:00.123Z", "20260302-14:30:01"])).toBe("timestamp");
  expect(type(["1", "x"])).toBe("text");
  expect(type(["", ""])).toBe("empty");
});

test("times with a zone and without", () => {
  expect(lookOf(["2026-03-02T10:00:00+01:00", "20260302-14:30:01"]).zoned).toBe(true);
  expect(lookOf(["2026-03-02T10:00:00.5Z", "2026-03-02 10:00"]).zoned).toBe(false);
});

describe("dates in other formats", () => {
  const cases: [values: string[], formats: string[]][] = [
    [["02/03/2026", "31/03/2026"], ["dd/MM/yyyy"]],
    [["03/31/2026", ""], ["MM/dd/yyyy"]],
    [
      ["02/03/2026", "01/02/2026"],
      ["dd/MM/yyyy", "MM/dd/yyyy"],
    ],
    [["2.3.2026", "31.3.2026"], ["d.M.yyyy"]],
    [["02-Mar-2026"], ["dd-MMM-yyyy"]],
    [["2026/03/02"], ["yyyy/MM/dd"]],
    [["02/13/2026", "13/02/2026"], []],
  ];
  test.each(cases)("%j", (values, formats) => expect(lookOf(values).dateFormats).toEqual(formats));
});

describe("number formats", () => {
  const cases: [values: string[], format: string[]][] = [
    [["1,5", "2", "-3,25"], ['decimal = ","']],
    [
      ["1.000,50", "2"],
      ['decimal = ","', 'thousands = "."'],
    ],
    [["1,000.50", "12"], ['thousands = ","']],
    [["1 000,50"], ['decimal = ","', 'thousands = " "']],
    [["(5)", "6.5"], ['negative = "accounting"']],
    [
      ["5-", "1.000,5"],
      ['decimal = ","', 'thousands = "."', 'negative = "accounting"'],
    ],
    [["007", "123"], []],
    [["1,5", "x"], []],
  ];
  test.each(cases)("%j", (values, format) => expect(lookOf(values).numberFormat).toEqual(format));
});

test("words for an empty value are seen among others only", () => {
  expect(lookOf(["1", "NULL", "N/A"]).nulls).toEqual(["NULL", "N/A"]);
  expect(lookOf(["NULL"]).nulls).toEqual([]);
});
