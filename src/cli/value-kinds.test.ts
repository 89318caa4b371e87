import { expect, test } from "bun:test";
import { breaksTarget, columnPairs, mode, size } from "./value-kinds";

test("sizes", () => {
  expect(size("1024")).toBe(1024);
  expect(size("512MB")).toBe(512_000_000);
  expect(size("2GiB")).toBe(2 * 2 ** 30);
  expect(size("1 kib")).toBe(1024);
  expect(size("3TiB")).toBe(3 * 2 ** 40);
  for (const text of ["", "0", "-1", "1.5GiB", "GiB", "1i", "1iB", "1e9", "99999999TiB"])
    expect(() => size(text)).toThrow();
});

test("modes", () => {
  expect(mode("0600")).toBe(0o600);
  expect(mode("644")).toBe(0o644);
});

test("the first = outside brackets splits a pair of names", () => {
  expect(columnPairs("a,b=c,448[452=4],qty[2]=qty,x=y=z")).toEqual([
    { internal: "a", external: "a" },
    { internal: "b", external: "c" },
    { internal: "448[452=4]", external: "448[452=4]" },
    { internal: "qty[2]", external: "qty" },
    { internal: "x", external: "y=z" },
  ]);
});

test("where breaks go", () => {
  expect(breaksTarget("a/b.jsonl")).toEqual({ path: "a/b.jsonl", format: "jsonl" });
  expect(breaksTarget("/dev/stdout").format).toBe("csv");
  expect(breaksTarget("/dev/fd/63").format).toBe("csv");
  expect(() => breaksTarget("breaks")).toThrow();
});
