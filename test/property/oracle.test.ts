// The oracle is held to the given cases, so that program and oracle cannot agree on something wrong.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { plainOptions } from "./ledgers";
import {
  breaksCsv,
  breaksJsonl,
  parseDecimal,
  printDecimal,
  reconcile,
  type Options,
  type SideOptions,
} from "./oracle";

const cases = join(import.meta.dir, "..", "cases");
const readable = "C01 C02 C03 C06 C07 C08 C09 C10 C13 C14 C15 C21 C23 C24 C26 C31 C33 C34 C35 C37".split(" ");

interface Run {
  args: string[];
  exit?: number;
  json?: Record<string, unknown>;
  breaks?: Record<string, unknown>[];
}

function optionsOf(args: string[]): Options {
  const side = (): SideOptions => ({
    delimiter: null,
    quote: 0x22,
    header: "auto",
    columns: null,
    trim: args.includes("--trim"),
    foldCase: args.includes("--fold-case"),
  });
  const value = (name: string) => (args.includes(name) ? (args[args.indexOf(name) + 1] as string) : null);
  const external = side();
  if (value("--external-delimiter") === "tab") external.delimiter = 0x09;
  if (value("--external-quote") === "none") external.quote = null;
  return {
    internal: side(),
    external,
    key: value("--key")?.split(",") ?? null,
    compare: value("--compare")?.split(",") ?? null,
    ignore: value("--ignore")?.split(",") ?? [],
    reject: value("--on-bad-row") === "reject",
    unique: args.includes("--unique"),
    maxBreaks: Number(value("--max-breaks") ?? 0),
  };
}

for (const id of readable) {
  const { runs } = JSON.parse(readFileSync(join(cases, id, "case.json"), "utf8")) as { runs: Run[] };
  for (const [i, run] of runs.entries()) {
    if (run.args.includes("--min-rows")) continue;
    test(`the oracle on ${id} run ${i + 1}`, () => {
      const file = (path: string) => ({ path, bytes: new Uint8Array(readFileSync(join(cases, id, path))) });
      const [internal, external] = run.args as [string, string];
      expect(existsSync(join(cases, id, internal))).toBe(true);
      const result = reconcile([file(internal)], [file(external)], optionsOf(run.args));
      if (run.exit === 2) {
        expect(result).toMatchObject({ kind: "error" });
        const error = (run.json?.errors as { path: string; line?: number; column?: number }[] | undefined)?.[0];
        if (error?.line === undefined || result.kind !== "error") return;
        const { line, column } = error;
        const places = result.faults?.find((fault) => fault.path === error.path)?.places;
        expect(places).toContainEqual(expect.objectContaining({ line }));
        if (column !== undefined) expect(result.faults?.[0]?.places[0]).toEqual({ line, column });
        return;
      }
      if (result.kind !== "done") throw new Error(JSON.stringify(result));
      expect(result.exitCode).toBe((run.exit ?? 0) as 0 | 1);
      const breaks = breaksJsonl(
        result,
        result.rejected.map(() => "text"),
      )
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      if (run.breaks !== undefined) expect(breaks).toMatchObject(run.breaks);
      const { breaks: counts = {}, columns = {}, hints, ...rest } = (run.json ?? {}) as Record<string, never>;
      expect(result).toMatchObject(rest);
      for (const [type, count] of Object.entries(counts))
        if (type === "total") expect(breaks.length).toBe(count as number);
        else expect(breaks.filter((item) => item.type === type).length).toBe(count as number);
      expect(Object.fromEntries(result.columns)).toMatchObject(columns);
      if (hints !== undefined) expect(result.hints.trim).toBe(2);
    });
  }
}

test("plain decimals", () => {
  const printed = (value: string) => {
    const parsed = parseDecimal(value);
    return parsed === null ? null : printDecimal(parsed);
  };
  for (const value of ["", "+", "-", ".5", "5.", "007", "1e3", "1,000", " 1", "1\n", "--1", "0x1", "٣", "1.0.0", "NaN"])
    expect([value, printed(value)]).toEqual([value, null]);
  const values = { "0": "0", "-0": "0", "+0.00": "0", "1.10": "1.1", "-0.50": "-0.5", "+12": "12", "100": "100" };
  for (const [value, plain] of Object.entries(values)) expect([value, printed(value)]).toEqual([value, plain]);
  expect(printed("123456789012345678901234567890.010")).toBe("123456789012345678901234567890.01");
});

const plain: Options = { ...plainOptions, key: ["k"] };

function breaksOf(internal: string, external: string, options: Options = plain): string {
  const file = (path: string, content: string) => [{ path, bytes: new TextEncoder().encode(content) }];
  const result = reconcile(file("i", internal), file("e", external), options);
  if (result.kind !== "done") throw new Error(JSON.stringify(result));
  return breaksCsv(result);
}

test("rows of one key pair by the number of columns, then by difference", () => {
  const breaks = breaksOf("k,p,q\nA,1,x\nA,5,x\nA,9,x\n", "k,p,q\nA,8,y\nA,4,x\nA,2,x\n");
  expect(breaks.split("\n").slice(1, -1)).toEqual([
    "1,mismatch,A,2,4,p,1,2,1",
    "2,mismatch,A,3,3,p,5,4,-1",
    "3,mismatch,A,4,2,p,9,8,-1",
    "3,mismatch,A,4,2,q,x,y,",
  ]);
});
