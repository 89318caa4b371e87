import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReconError } from "../errors";
import type { FileSpec } from "../generated/abi";
import type { Place, Placed } from "../rules/rules";
import { countLineFeeds } from "./lines";
import { boundsOf, splitLine, withoutTrailer, type FieldDialect } from "./extent";

const folder = mkdtempSync(join(tmpdir(), "recon-extent-"));
const opened: number[] = [];
afterAll(() => {
  opened.forEach((fd) => closeSync(fd));
  rmSync(folder, { recursive: true });
});

const { signal } = new AbortController();
const place: Place = { path: "recon.toml", line: 1, column: 1, member: "internal" };
const placed = (value: string | null): Placed<string> | null => (value === null ? null : { value, place });
const commas = { delimiter: 44, quote: 34, trim: false } satisfies FieldDialect;

function file(text: string): FileSpec {
  const path = join(folder, `${opened.length}.csv`);
  writeFileSync(path, text);
  const fd = openSync(path, "r");
  opened.push(fd);
  return { fd, path: "x.csv", size: Buffer.byteLength(text), start: 0, line: 1 };
}

async function faultOf(step: Promise<unknown>): Promise<{ code: string; line: number; message: string }> {
  try {
    await step;
  } catch (error) {
    if (error instanceof ReconError) return error.items[0]!;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("preamble and stop line", () => {
  async function bounds(
    text: string,
    headerMatch: string | null,
    stopAt: string | null,
    rest: Partial<FieldDialect> = {},
  ) {
    const spec = file(text);
    const rules = { headerMatch: placed(headerMatch), stopAt: placed(stopAt) };
    const { file: found, ignored } = await boundsOf(spec, rules, { ...commas, delimiter: null, ...rest }, signal);
    const bytes = Buffer.from(text).subarray(found.start, found.end ?? undefined);
    return { text: bytes.toString(), line: found.line, ignored };
  }

  test("nothing is left out without rules", async () => {
    expect(await bounds("a,b\n1,2\n", null, null)).toEqual({ text: "a,b\n1,2\n", line: 1, ignored: 0 });
  });

  test("the preamble ends at the first line that has the field, not just the text", async () => {
    const text = "Report of id\r\n\r\nids,x\r\nid;x\r\n1;2\r\n";
    expect(await bounds(text, "id", null)).toEqual({ text: "id;x\r\n1;2\r\n", line: 4, ignored: 3 });
    expect(await bounds(text, "id", null, { delimiter: 59 })).toMatchObject({ line: 4 });
    expect(await faultOf(bounds(text, "id", null, { delimiter: 44 }))).toMatchObject({ code: "header" });
  });

  test("the field may be quoted, have quotes in it, or blanks around it under trim", async () => {
    expect(await bounds('x\n"id,1",b\n', "id,1", null)).toMatchObject({ line: 2 });
    expect(await bounds('x\na "b",c\n"a ""b""",c\n', 'a "b"', null, { quote: 34 })).toMatchObject({ line: 2 });
    expect(await bounds('x\n"""b""",c\n', '"b"', null)).toMatchObject({ line: 2 });
    expect(await bounds("id\t\n id , b\n", "b", null, { trim: true })).toMatchObject({ line: 2 });
    expect(await faultOf(bounds("id , b\n", "b", null))).toMatchObject({
      code: "header",
      message: expect.stringContaining("header_match"),
    });
  });

  test("a stop line and all behind it are left out and counted", async () => {
    expect(await bounds("a\n1\n*** END of\n2\n\nlast", null, "*** END")).toEqual({
      text: "a\n1\n",
      line: 1,
      ignored: 4,
    });
    expect(await bounds("a\nx *** END\n", null, "*** END")).toEqual({ text: "a\nx *** END\n", line: 1, ignored: 0 });
    expect(await bounds("*** END\nid\n1\n*** END\n", "id", "*** END")).toEqual({
      text: "id\n1\n",
      line: 2,
      ignored: 2,
    });
    expect(await bounds("END\n1\n", null, "END")).toEqual({ text: "", line: 1, ignored: 2 });
  });

  test("both are found in a file of many blocks with long lines", async () => {
    const long = `${"x".repeat(5 << 20)}\n`;
    const text = `${long}${long}id,a\n${"1,2\n".repeat(2_000_000)}END\n${long}`;
    const found = await bounds(text, "id", "END");
    expect(found).toMatchObject({ line: 3, ignored: 4 });
    expect(found.text.length).toBe(5 + 8_000_000);
  });
});

describe("trailer", () => {
  async function cut(text: string, template: string, dialect: typeof commas = commas, spec: Partial<FileSpec> = {}) {
    const found = await withoutTrailer({ ...file(text), ...spec }, { place, text: template }, dialect, signal);
    const bytes = Buffer.from(text).subarray(found.file.start, found.file.end!);
    return { text: bytes.toString(), ignored: found.ignored, ...found.trailer };
  }
  const template = "TRL,{count},{sum:amt}";

  test("it is taken off, blank lines behind it are counted", async () => {
    const expected = { text: "id,amt\n1,5\n", line: 3, count: "1", sums: [{ column: "amt", text: "5" }] };
    expect(await cut("id,amt\n1,5\nTRL,1,5", template)).toEqual({ ...expected, ignored: 0 });
    expect(await cut("id,amt\n1,5\nTRL,1,5\r\n \t\r\n\r\n", template)).toEqual({ ...expected, ignored: 2 });
    expect(await cut('id,amt\n1,5\n"TRL", 1,"5"\n', template)).toEqual({ ...expected, ignored: 0 });
    expect(await cut("id,amt\n1,5\nTRL,1,5,,\n", template)).toEqual({ ...expected, ignored: 0 });
  });

  test("a template in commas serves other delimiters", async () => {
    const semicolons = { ...commas, delimiter: 59 };
    expect(await cut("1;5\nTRL;1;5,0\n", template, semicolons)).toMatchObject({ count: "1", sums: [{ text: "5,0" }] });
    expect(await cut("1;5\nTRL;1;5,0\n", "TRL;{count};{sum:a,b}", semicolons)).toMatchObject({
      sums: [{ column: "a,b" }],
    });
  });

  test("a missing or malformed one is refused with its line", async () => {
    const refused: [text: string, line: number][] = [
      ["id,amt\n1,5\n", 2],
      ["id,amt\nTRL,1,5\n1,5\n", 3],
      ["id,amt\n1,5\nTRL,1\n\n", 3],
      ["id,amt\n1,5\nTRL,1,5,x\n", 3],
      ["id,amt\n1,5\nTRL,,5\n", 3],
      ["\n\n", 1],
    ];
    for (const [text, line] of refused) {
      expect(await faultOf(cut(text, template))).toMatchObject({
        code: "trailer",
        line,
        message: expect.stringContaining("trailer"),
      });
    }
    expect(await faultOf(cut("1\nTRL,x,2\n", "TRL,EUR,{count}"))).toMatchObject({ code: "trailer", line: 2 });
  });

  test("it is found in front of a stop line, behind any number of rows", async () => {
    const rows = "1,5\n".repeat(200_000);
    const text = `${rows}TRL,1,5\n${" \n".repeat(100_000)}END\n`;
    const end = text.indexOf("END");
    expect(await cut(text, template, commas, { end, line: 3 })).toMatchObject({ line: 200_003, ignored: 100_000 });
  });
});

test("a line is split as the engine splits it", () => {
  const split = (line: string, rest: Partial<FieldDialect> = {}) =>
    splitLine(line, { ...commas, ...rest } as typeof commas);
  expect(split('a,"b,""c""",,d "e"\r')).toEqual(["a", 'b,"c"', "", 'd "e"']);
  expect(split(' a , "b" ,c', { trim: true })).toEqual(["a", "b", "c"]);
  expect(split('\t"b"', { delimiter: 9, trim: true })).toEqual(["", "b"]);
  expect(split('"a,b"', { quote: null })).toEqual(['"a', 'b"']);
  expect(split("")).toEqual([""]);
});

test("line feeds are counted at every place and beside every byte", () => {
  const bytes = Uint8Array.from({ length: 1024 }, (_, i) => (i % 7 === 0 || i % 11 === 3 ? 10 : i & 0xff));
  for (let from = 0; from < 9; from++) {
    for (let to = from; to < bytes.length; to += 13) {
      const part = bytes.subarray(from, to);
      expect(countLineFeeds(part)).toBe(part.filter((byte) => byte === 10).length);
    }
  }
});
