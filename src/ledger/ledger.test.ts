import { afterAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
  openLedger,
  openPair,
  type LedgerContext,
  type OpenLedger,
  type PairOptions,
  type SideOptions,
} from "./ledger";
import { Engine } from "../engine/engine";
import { ReconError } from "../errors";
import { noSideRules } from "../rules/rules";

const folder = mkdtempSync(join(tmpdir(), "recon-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
const engine = Engine.load();
const context: LedgerContext = { engine, signal: new AbortController().signal, tempDirectory: null, threads: 2 };

let written = 0;
/** A file of its own with this content. */
function file(content: string | Uint8Array): string {
  const path = join(folder, `${written++}.csv`);
  writeFileSync(path, content);
  return path;
}

function side(name: "internal" | "external", path: string, rest: Partial<SideOptions> = {}): SideOptions {
  const defaults = { delimiter: null, quote: 34, header: "auto", columns: null, encoding: null } as const;
  const fix = { checks: "fail", multileg: "legs" } as const;
  const rules = noSideRules;
  return {
    side: name,
    path,
    ...defaults,
    trim: false,
    foldCase: false,
    format: "auto",
    csvOptions: [],
    fix,
    rules,
    ...rest,
  };
}

/** Lets the thread go that waits for a writer of a FIFO: there are only a few. */
function release(fifo: string): void {
  closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
}

interface Choice {
  both?: Partial<SideOptions>;
  internal?: Partial<SideOptions>;
  external?: Partial<SideOptions>;
  key?: string;
  ignore?: string[];
}

const names = (text: string | undefined) =>
  text?.split(",").map((name) => ({ internal: name, external: name })) ?? null;

function pairOptions(internal: string, external: string, choice: Choice = {}): PairOptions {
  return {
    internal: side("internal", internal, { ...choice.both, ...choice.internal }),
    external: side("external", external, { ...choice.both, ...choice.external }),
    key: names(choice.key),
    compare: null,
    ignore: choice.ignore ?? [],
    named: [],
  };
}

const opened = (internal: string, external: string, choice?: Choice) =>
  openPair(pairOptions(internal, external, choice), context);

async function refused(step: Promise<Disposable>) {
  try {
    (await step)[Symbol.dispose]();
  } catch (error) {
    if (error instanceof ReconError) return error.items;
    throw error;
  }
  throw new Error("not refused");
}

/** The text from where the rows of each file begin. */
function rowsOf({ spec }: OpenLedger): string {
  const texts = spec.files.map(({ fd, size, start = 0 }) => {
    const bytes = Buffer.alloc(size - start);
    readSync(fd, bytes, 0, bytes.length, start);
    return bytes.toString("latin1");
  });
  return texts.join("");
}

const codes = (notes: { code: string }[]) => notes.map(({ code }) => code);
const ledger = "id,qty\nT1,100\n";

test("two plain ledgers", async () => {
  const [internal, external] = [file(ledger), file("id,qty\nT1,100\nT2,7\n")];
  using pair = await opened(internal, external);
  expect(pair.internal).toMatchObject({ paths: [internal], bytes: 14, header: true, delimiter: 44, ignored: 0 });
  expect(pair.internal.columns).toEqual(["id", "qty"]);
  expect(pair.internal.spec).toMatchObject({ width: 2, trailing: false, quote: 34, files: [{ start: 7, line: 2 }] });
  expect(pair.key).toEqual([{ name: "id", internal: 0, external: 0 }]);
  expect(pair.compare).toEqual([{ name: "qty", internal: 1, external: 1 }]);
  expect(codes(pair.notes)).toEqual(["header", "header"]);
  expect(rowsOf(pair.external)).toBe("T1,100\nT2,7\n");
});

test("disposing closes what was opened, once", async () => {
  const pair = await opened(file(ledger), file(gzipSync(ledger)));
  const fds = [pair.internal, pair.external].map(({ spec }) => spec.files[0]?.fd as number);
  pair[Symbol.dispose]();
  pair.internal[Symbol.dispose]();
  await Bun.sleep(20);
  for (const fd of fds) expect(() => fstatSync(fd)).toThrow();
});

describe("header", () => {
  test("blank lines ahead of it and behind it", async () => {
    using pair = await opened(file(`\n  \n${ledger}`), file("id,qty\n\nT1,1\n\n"));
    expect(pair.internal).toMatchObject({ ignored: 2, spec: { files: [{ start: 11, line: 4 }] } });
    expect(pair.external).toMatchObject({ ignored: 1, spec: { files: [{ start: 8, line: 3 }] } });
  });

  test("of several lines", async () => {
    using pair = await opened(file('id,"q\nty"\nT1,100\n'), file('id,"q\nty"\r\nT1,100\n'));
    expect(pair.internal).toMatchObject({ columns: ["id", "q\nty"], spec: { files: [{ line: 3 }] } });
    expect(pair.compare).toMatchObject([{ name: "q\nty" }]);
  });

  test("without rows, with and without a line end", async () => {
    using pair = await opened(file("id,qty\n"), file("id,qty"), { key: "id" });
    expect(pair.internal.spec.files).toMatchObject([{ size: 7, start: 7 }]);
    expect(pair.external.spec.files).toMatchObject([{ size: 6, start: 6 }]);
  });

  test("none: columns by place, the engine reads from the start", async () => {
    using pair = await opened(file("\nT1,10.5\n"), file("T1,10.5\n"));
    expect(pair.internal).toMatchObject({ header: false, columns: ["c1", "c2"], ignored: 0 });
    expect(pair.internal.spec).toMatchObject({ width: 2, files: [{ start: 0, line: 1 }] });
    expect(pair.key[0]?.name).toBe("c1");
  });

  test("--columns names them, --header yes with it renames", async () => {
    using named = await opened(file("T1,ABC\n"), file("T1,ABC\n"), { both: { columns: ["id", "symbol"] } });
    expect(named.internal).toMatchObject({ header: false, columns: ["id", "symbol"], spec: { files: [{ start: 0 }] } });
    const both = { columns: ["id", "symbol"], header: "yes" as const };
    using renamed = await opened(file("a,b\nT1,ABC\n"), file("x,y\nT1,ABC\n"), { both });
    expect(renamed.internal).toMatchObject({ header: true, columns: ["id", "symbol"], spec: { files: [{ line: 2 }] } });
    const three = { columns: ["id", "a", "b"], header: "yes" as const };
    expect(await refused(opened(file(ledger), file(ledger), { both: three }))).toMatchObject([
      { code: "columns", line: 1 },
      { code: "columns", line: 1 },
    ]);
  });

  test("a header on one side, names by --columns on the other", async () => {
    using pair = await opened(file(ledger), file("100,T1\n"), { external: { columns: ["qty", "id"] } });
    expect(pair.key).toEqual([{ name: "id", internal: 0, external: 1 }]);
  });

  test("sides that decide differently", async () => {
    const external = file("T1,100\n");
    const items = await refused(opened(file(ledger), external));
    expect(items).toMatchObject([{ code: "header", path: external }]);
    expect(items[0]?.message).toContain('"100" stands under "qty"');
    expect(items[0]?.message).toContain('"100" in it is a number');
  });

  test("nothing shows what the first record is", async () => {
    const text = file("T1,ABC\nT2,DEF\n");
    const items = await refused(opened(text, text));
    expect(items[0]).toMatchObject({ code: "header", path: text });
    expect(items[0]?.hint).toContain("--header");
  });

  test("a damaged first record: an error, unless --columns says how wide the file is", async () => {
    const [bad, good] = [file('"T1"x,100\nT2,100\n'), file("T1,100\n")];
    expect(await refused(opened(bad, good))).toMatchObject([{ code: "bad_row", path: bad, line: 1, column: 5 }]);
    using pair = await opened(bad, good, { both: { columns: ["id", "qty"] } });
    expect(pair.internal.spec).toMatchObject({ width: 2, files: [{ start: 0 }] });
  });

  test("without a header both sides need as many columns", async () => {
    expect(await refused(opened(file("T1,100,x\n"), file("T1,100\n")))).toMatchObject([{ code: "columns" }]);
    const external = { columns: ["a", "b", "c"] };
    expect(await refused(opened(file("T1,1\n"), file("T1,1\n"), { external }))).toMatchObject([{ code: "columns" }]);
  });

  test("unnamed columns get the name of their place", async () => {
    using pair = await opened(file(",qty\nT1,1\n"), file(",qty\nT1,1\n"), { both: { header: "yes" } });
    expect(pair.internal.columns).toEqual(["c1", "qty"]);
  });

  test("names with --trim", async () => {
    const spaced = file('id , qty, "px"\nT1,100,1\n');
    using pair = await opened(spaced, file("id,qty,px\nT1,100,1\n"), { both: { trim: true } });
    expect(pair.internal.columns).toEqual(["id", "qty", "px"]);
  });
});

describe("trailing column", () => {
  test("left out with a note", async () => {
    using pair = await opened(file("id,qty,\nT1,100,\n"), file(ledger));
    expect(pair.internal).toMatchObject({ columns: ["id", "qty"], spec: { width: 2, trailing: true } });
    expect(codes(pair.notes)).toContain("trailing_column");
  });

  test("behind the names of --columns", async () => {
    const both = { columns: ["id", "qty"] };
    using pair = await opened(file("T1,100,\n"), file("T1,100\n"), { both });
    expect([pair.internal.spec.trailing, pair.external.spec.trailing]).toEqual([true, false]);
  });

  test("is a column like others without a header", async () => {
    using pair = await opened(file("T1,100,\n"), file("T1,100,\n"));
    expect(pair.internal.spec).toMatchObject({ width: 3, trailing: false });
  });
});

describe("delimiter", () => {
  test("detected for each side", async () => {
    using pair = await opened(file("id;qty\nT1;1,5\n"), file("id\tqty\nT1\t1\n"), { key: "id" });
    expect([pair.internal.delimiter, pair.external.delimiter]).toEqual([59, 9]);
  });

  test("a given one that leaves one column", async () => {
    const semicolons = file("id;qty;px\nT1;1;2\n");
    const items = await refused(opened(semicolons, file("id,qty,px\nT1,1,2\n"), { both: { delimiter: 44 } }));
    expect(items).toMatchObject([{ code: "delimiter", path: semicolons, line: 1, hint: "--internal-delimiter ';'" }]);
  });

  test("one column that the other side's unusual delimiter would split", async () => {
    const [internal, external] = [file("id^qty\nT1^1\n"), file("id^qty\nT1^1\n")];
    const items = await refused(opened(internal, external, { external: { delimiter: 94 } }));
    expect(items).toMatchObject([{ code: "delimiter", path: internal }]);
  });

  test("a ledger of one column", async () => {
    using pair = await opened(file("id\nT1\n"), file("id\nT1\n"), { key: "id" });
    expect(pair.internal.columns).toEqual(["id"]);
    expect(codes(pair.notes)).toContain("keys_only");
  });
});

describe("empty", () => {
  const nothing = ["", "\n \n\t\n", "\ufeff", "\ufeff\n"];
  test.each(nothing)("%j", async (text) => {
    const empty = file(text);
    const items = await refused(opened(empty, file(ledger), { key: "id" }));
    expect(items).toMatchObject([{ code: "empty", path: empty }]);
    expect(items[0]?.message).toContain("empty");
  });

  test("compressed", async () => {
    expect(await refused(opened(file(gzipSync("")), file(ledger)))).toMatchObject([{ code: "empty" }]);
  });
});

describe("encoding", () => {
  const utf16 = (text: string, big = false) =>
    big ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf16le");
  const text = "id,né\nT1,Ærø\n";
  const utf8Rows = Buffer.from("T1,Ærø\n").toString("latin1");

  const read: [what: string, bytes: Uint8Array, encoding: SideOptions["encoding"]][] = [
    ["UTF-8", Buffer.from(text), null],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${text}`), null],
    ["UTF-16LE with a mark", utf16(`\ufeff${text}`), null],
    ["UTF-16BE with a mark", utf16(`\ufeff${text}`, true), null],
    ["UTF-16LE without a mark", utf16(text), "utf-16le"],
    ["UTF-16BE without a mark", utf16(text, true), "utf-16be"],
    ["UTF-16LE with a mark, declared", utf16(`\ufeff${text}`), "utf-16le"],
    ["windows-1252", Buffer.from(text, "latin1"), "windows-1252"],
    ["iso-8859-1", Buffer.from(text, "latin1"), "iso-8859-1"],
    ["UTF-16LE in gzip", gzipSync(utf16(`\ufeff${text}`)), null],
    ["windows-1252 in zstd", zstdCompressSync(Buffer.from(text, "latin1")), "windows-1252"],
    ["UTF-8 with a mark in gzip", gzipSync(`\ufeff${text}`), null],
  ];
  test.each(read)("%s", async (_, bytes, encoding) => {
    using pair = await opened(file(bytes), file(text), { key: "id", internal: { encoding } });
    expect(pair.internal.columns).toEqual(["id", "né"]);
    expect(rowsOf(pair.internal)).toBe(utf8Rows);
    expect(codes(pair.notes)).toEqual(["header", "header"]);
  });

  test("a mark wins over the option, with a note", async () => {
    const marked = file(utf16(`\ufeff${text}`));
    using pair = await opened(marked, file(text), { key: "id", internal: { encoding: "windows-1252" } });
    expect(rowsOf(pair.internal)).toBe(utf8Rows);
    expect(codes(pair.notes)).toContain("encoding");
  });

  test("UTF-16 that nothing declares", async () => {
    const items = await refused(opened(file(utf16(ledger)), file(ledger)));
    expect(items).toMatchObject([{ code: "encoding", hint: "--encoding utf-16le" }]);
    expect((await refused(opened(file(ledger), file(gzipSync(utf16(ledger, true))))))[0]?.hint).toContain("utf-16be");
  });

  test("a last byte that is half a unit is not valid UTF-8", async () => {
    const odd = Buffer.concat([utf16(`\ufeff${ledger}`), Buffer.from("x")]);
    using pair = await opened(file(odd), file(ledger));
    expect(rowsOf(pair.internal)).toBe("T1,100\n\xff");
  });

  test("units that are cut between chunks", async () => {
    // Surrogate pairs from an odd place on, in a file of several chunks.
    const long = `id,text\n${"T1,\u{1f600}\u{1f600}x\n".repeat(120_000)}`;
    using pair = await opened(file(utf16(`\ufeff${long}`)), file(long), { key: "id" });
    expect(rowsOf(pair.internal) === rowsOf(pair.external)).toBe(true);
  });

  test("a name that is not valid is refused where it is compared", async () => {
    const latin = file(Buffer.from("id,né\nT1,x\n", "latin1"));
    expect(await refused(opened(latin, latin, { key: "id" }))).toMatchObject([
      { code: "encoding" },
      { code: "encoding" },
    ]);
    using pair = await opened(latin, latin, { key: "id", ignore: ["n\ufffd"] });
    expect(pair.compare).toEqual([]);
  });
});

describe("patterns", () => {
  function files(...contents: (string | Uint8Array)[]): string {
    const place = mkdtempSync(join(folder, "pattern-"));
    contents.forEach((content, at) => writeFileSync(join(place, `${at}.csv`), content));
    return join(place, "*.csv");
  }

  test("every file has its own mark, blank lines and header", async () => {
    const pattern = files("id,qty\nT1,1\n", "\ufeff\nid,qty\nT2,2\n", gzipSync("id,qty\nT3,3\n"), "id,qty\n");
    using pair = await opened(pattern, file("id,qty\nT1,1\n"));
    expect(pair.internal.paths.map((path) => path.slice(-5))).toEqual(["0.csv", "1.csv", "2.csv", "3.csv"]);
    expect(rowsOf(pair.internal)).toBe("T1,1\nT2,2\nT3,3\n");
    expect(pair.internal.ignored).toBe(1);
    expect(pair.internal.spec.files[1]).toMatchObject({ start: 11, line: 3 });
  });

  test("other headers are refused by name of the file", async () => {
    const pattern = files("id,qty\nT1,1\n", "id,px\nT2,2\n");
    const items = await refused(opened(pattern, file(ledger)));
    expect(items).toMatchObject([{ code: "header", line: 1 }]);
    expect(items[0]?.path).toEndWith("1.csv");
    expect((await refused(opened(files("id,qty\nT1,1\n", "T2,2\n"), file(ledger))))[0]?.path).toEndWith("1.csv");
  });

  test("without headers", async () => {
    using pair = await opened(files("T1,1\n", "T2,2\n"), file("T1,1\n"));
    expect(rowsOf(pair.internal)).toBe("T1,1\nT2,2\n");
  });

  test("an empty file among them", async () => {
    const items = await refused(opened(files("id,qty\nT1,1\n", ""), file(ledger)));
    expect(items[0]).toMatchObject({ code: "empty" });
    expect(items[0]?.path).toEndWith("1.csv");
  });
});

describe("faults", () => {
  test("both sides are reported", async () => {
    const missing = [join(folder, "no"), join(folder, "nothing")] as const;
    expect(await refused(opened(...missing))).toMatchObject(missing.map((path) => ({ code: "not_found", path })));
  });

  test("standard input for both", async () => {
    expect(await refused(opened("-", "/dev/stdin"))).toMatchObject([{ code: "unreadable" }]);
  });

  test("a damaged stream names its file and leaves nothing open", async () => {
    const cut = file(gzipSync(ledger.repeat(1000)).subarray(0, -3));
    const before = readdirSync("/proc/self/fd").length;
    expect(await refused(opened(file(ledger), cut))).toMatchObject([{ code: "bad_compression", path: cut }]);
    await Bun.sleep(20);
    // What earlier tests left to be closed may be closed by now.
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
  });

  test("a change, also of what was spooled", async () => {
    for (const content of [ledger, gzipSync(ledger)]) {
      const path = file(content);
      using pair = await opened(path, file(ledger));
      pair.internal.verifyUnchanged();
      appendFileSync(path, "x");
      expect(() => pair.internal.verifyUnchanged()).toThrow("changed while it was read");
    }
  });

  test("an abort while the other side never comes", async () => {
    const fifo = join(folder, "fifo");
    execFileSync("mkfifo", [fifo]);
    const stop = new AbortController();
    const opening = openPair(pairOptions(file(ledger), fifo), { ...context, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("stopped")), 20);
    expect(opening).rejects.toThrow("stopped");
    await opening.catch(() => {});
    release(fifo);
  });

  test("a failure on one side stops the other", async () => {
    const fifo = join(folder, "other-fifo");
    execFileSync("mkfifo", [fifo]);
    const cut = file(gzipSync(ledger).subarray(0, -3));
    expect(await refused(opened(fifo, cut))).toMatchObject([{ code: "bad_compression", path: cut }]);
    release(fifo);
  });

  test("the same file on both sides is noted", async () => {
    const path = file(ledger);
    using pair = await opened(path, path);
    expect(codes(pair.notes)).toContain("same_file");
  });
});

describe("spooling", () => {
  test("a stream, into the directory that was given, without a name", async () => {
    const place = mkdtempSync(join(folder, "temp-"));
    const fifo = join(folder, "stream");
    execFileSync("mkfifo", [fifo]);
    const writer = Bun.spawn(["sh", "-c", `printf 'id,qty\\nT1,100\\n' > ${fifo}`]);
    using pair = await openPair(pairOptions(fifo, file(ledger)), { ...context, tempDirectory: place });
    await writer.exited;
    expect(pair.internal).toMatchObject({ paths: [fifo], bytes: 14 });
    const fd = pair.internal.spec.files[0]?.fd;
    expect(execFileSync("readlink", [`/proc/${process.pid}/fd/${fd}`]).toString()).toStartWith(place);
    expect(readdirSync(place)).toEqual([]);
  });

  test("a directory that is not there", async () => {
    const spooled = pairOptions(file(gzipSync(ledger)), file(ledger));
    const items = await refused(openPair(spooled, { ...context, tempDirectory: join(folder, "nowhere") }));
    expect(items).toMatchObject([{ code: "spool", path: spooled.internal.path }]);
    expect(items[0]?.message).toContain(join(folder, "nowhere"));
    expect(items[0]?.hint).toContain("--temp");
  });

  test("progress", async () => {
    const seen: [string, number, number][] = [];
    const progress = (...told: [string, number, number]) => void seen.push(told);
    const packed = file(gzipSync(ledger));
    using _ = await openPair(pairOptions(packed, file(ledger)), { ...context, progress });
    const size = Bun.file(packed).size;
    expect(seen).toEqual([[`reading ${packed}`, size, size]]);
  });
});

test("a ledger of its own", async () => {
  const path = file("id,name\nT1,ABC\n");
  using alone = await openLedger(side("internal", path), context);
  expect(alone).toMatchObject({ header: true, columns: ["id", "name"], notes: [{ code: "header" }] });
  expect(await refused(openLedger(side("internal", file("")), context))).toMatchObject([{ code: "empty" }]);
});
