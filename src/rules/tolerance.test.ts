import { expect, test } from "bun:test";
import { parseTolerance } from "./tolerance";

test.each([
  ["0.01", "decimal", "0.01", "absolute", null],
  ["0", "decimal", "0", "absolute", null],
  ["5bps", "decimal", "5", "bps", null],
  ["2.5 bps", "decimal", "2.5", "bps", null],
  ["0.1%", "decimal", "0.1", "percent", null],
  ["5bps max 1.00", "decimal", "5", "bps", "1.00"],
  ["0.1% max 12", "decimal", "0.1", "percent", "12"],
  ["1us", "timestamp", "0.000001", "absolute", null],
  ["1500us", "timestamp", "0.0015", "absolute", null],
  ["500ms", "timestamp", "0.5", "absolute", null],
  ["1000ms", "timestamp", "1", "absolute", null],
  ["0.5ms", "timestamp", "0.0005", "absolute", null],
  ["2s", "timestamp", "2", "absolute", null],
  ["1.50s", "timestamp", "1.5", "absolute", null],
  ["5m", "timestamp", "300", "absolute", null],
  ["0.1m", "timestamp", "6", "absolute", null],
  ["24h", "timestamp", "86400", "absolute", null],
  ["0s", "timestamp", "0", "absolute", null],
  ["99999999999999999999h", "timestamp", "359999999999999999996400", "absolute", null],
  ["1d", "date", "1", "absolute", null],
] as const)("%s", (text, type, amount, unit, cap) => {
  expect(parseTolerance(text)).toEqual({ type, spec: { amount, unit, cap } });
});

test.each([
  "",
  "-1",
  "+1",
  "1.",
  ".5",
  "1e3",
  "1,5",
  "5 bip",
  "5bps max",
  "5bps max 1%",
  "1 max 2",
  "2s max 1",
  "1.5d",
])("%p is refused with what is allowed", (text) => expect(() => parseTolerance(text)).toThrow(/^an amount .*, not "/));
