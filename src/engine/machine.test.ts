import { expect, test } from "bun:test";
import { ReconError } from "../errors";
import { countRanges, memoryBudget, temporaryFolder, usableCores } from "./machine";

test("lists of cores", () => {
  expect(countRanges("0")).toBe(1);
  expect(countRanges("0-3,8,10-11")).toBe(7);
});

test("this machine has at least one core and some memory", () => {
  expect(usableCores()).toBeGreaterThanOrEqual(1);
  expect(usableCores()).toBeLessThanOrEqual(navigator.hardwareConcurrency);
  expect(memoryBudget()).toBeGreaterThan(2 ** 20);
});

test("cores by affinity", () => {
  const code = `console.log((await import(${JSON.stringify(`${import.meta.dir}/machine.ts`)})).usableCores())`;
  const output = Bun.spawnSync(["taskset", "-c", "0", process.execPath, "-e", code]).stdout.toString();
  expect(output.trim()).toBe("1");
});

test("a named folder must be usable", () => {
  expect(temporaryFolder("/")).toBe("/");
  expect(() => temporaryFolder("/nowhere/at/all")).toThrow(ReconError);
});
