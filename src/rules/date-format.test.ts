import { expect, test } from "bun:test";
import { parseDateFormat } from "./date-format";

test.each([
  "dd/MM/yyyy",
  "MM/dd/yyyy",
  "yyyyMMdd",
  "d.M.yyyy",
  "dd-MMM-yyyy",
  "ddMMMyyyy",
  "yyyy年MM月dd日",
  " d MMM, yyyy",
])("%s", (format) => expect(parseDateFormat(format)).toBe(format));

test.each([
  ["", "has no day"],
  ["dd/MM", "has no year"],
  ["dd/mm/yyyy", 'has "mm"'],
  ["DD/MM/YYYY", 'has "DD"'],
  ["dd/MM/yy", 'has "yy"'],
  ["dd/MM/yyyy HH:mm", 'has "HH"'],
  ["dd/MM/yyyyT", 'has "T"'],
  ["dd/MM/2026", 'has "/2026"'],
  ["dd/MM/yyyy/dd", "has two fields for the day"],
  ["dMyyyy", 'does not say where "d" ends: the next field needs a mark before it'],
  [`${" ".repeat(30)}dd/MM/yyyy`, "is longer than 32 bytes"],
])("%p %s", (format, why) => {
  expect(() => parseDateFormat(format)).toThrow(
    `a date format of yyyy (year), MM, M or MMM (month; MMM is Jan to Dec), dd or d (day): ${JSON.stringify(format)} ${why}`,
  );
});
