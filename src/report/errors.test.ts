import { expect, test } from "bun:test";
import { problem, ReconError } from "../errors";
import { errorText } from "./errors";

const item = { code: "bad_row", path: "a.csv", line: 3, column: 4, message: "too short", hint: "" };

test("path, line and column as far as they are known, then the hint", () => {
  expect(errorText(new ReconError([item]))).toBe("recon: a.csv:3:4: too short");
  expect(errorText(new ReconError([{ ...item, column: 0 }]))).toBe("recon: a.csv:3: too short");
  expect(errorText(problem("empty", "the file is empty", { path: "a.csv" }))).toBe("recon: a.csv: the file is empty");
  expect(errorText(problem("usage", "no", { hint: "yes" }))).toBe("recon: no\n  hint: yes");
});

test("a hint that many share is said once, and what is not listed is counted", () => {
  const items = [1, 2, 3].map((line) => ({ ...item, line, column: 0, hint: "do this" }));
  expect(errorText(new ReconError(items, 12)).split("\n")).toEqual([
    "recon: a.csv:1: too short",
    "recon: a.csv:2: too short",
    "recon: a.csv:3: too short",
    "  hint: do this",
    "recon: and 9 more",
  ]);
});

test("texts from a ledger cannot reach the terminal", () => {
  expect(errorText(problem("bad_row", "value \x1b[2J", { path: "a\x07.csv" }))).toBe(
    "recon: a\\x07.csv: value \\x1b[2J",
  );
});
