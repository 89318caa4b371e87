import { afterAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReconError } from "../errors";
import { expandPath, openSource } from "./source";

const folder = mkdtempSync(join(tmpdir(), "recon-source-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const write = (name: string, text = "x\n") => {
  writeFileSync(at(name), text);
  return at(name);
};
const never = new AbortController().signal;

const codeOf = (error: unknown) => (error instanceof ReconError ? error.items[0]?.code : error);
async function refusal(step: () => unknown): Promise<unknown> {
  try {
    await step();
    return "not refused";
  } catch (error) {
    return codeOf(error);
  }
}

async function textOf(path: string, signal = never): Promise<string> {
  using source = await openSource(path, signal);
  const chunks: Buffer[] = [];
  for await (const chunk of source.chunks(signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

test("a path is itself, and a file of that very name wins over a pattern", () => {
  const star = write("star*.csv");
  write("star1.csv");
  expect(expandPath(star)).toEqual([star]);
  expect(expandPath("-")).toEqual(["-"]);
});

test("patterns give files in byte order", () => {
  mkdirSync(at("days"));
  for (const name of ["b.csv", "a10.csv", "a2.csv", "B.csv", "é.csv", "ab.csv", ".hidden.csv", "a]b.csv", "a.b.csv"]) {
    write(`days/${name}`);
  }
  mkdirSync(at("days/folder.csv"));
  const names = (pattern: string) => expandPath(at(`days/${pattern}`)).map((path) => path.slice(at("days/").length));
  expect(names("*.csv")).toEqual(["B.csv", "a.b.csv", "a10.csv", "a2.csv", "a]b.csv", "ab.csv", "b.csv", "é.csv"]);
  expect(names("?.csv")).toEqual(["B.csv", "b.csv", "é.csv"]);
  expect(names("a[0-9]*.csv")).toEqual(["a10.csv", "a2.csv"]);
  expect(names("[!a].csv")).toEqual(["B.csv", "b.csv", "é.csv"]);
  expect(names("[^B]*.csv").length).toBe(7);
  expect(names("a[]]b.csv")).toEqual(["a]b.csv"]);
  expect(names(".h*")).toEqual([".hidden.csv"]);
  expect(expandPath(at("d[a]ys/b.c?v"))).toEqual([at("days/b.csv")]);
  expect(expandPath(`${folder}/*/b.csv`)).toEqual([at("days/b.csv")]);
});

test("a bracket that is never closed stands for itself", async () => {
  const path = write("odd[1.csv");
  expect(expandPath(at("odd[*.csv"))).toEqual([path]);
  expect(await refusal(() => expandPath(at("even[*.csv")))).toBe("not_found");
});

test("what is not there", async () => {
  const plain = write("plain.csv");
  expect(await refusal(() => expandPath(at("nothing.csv")))).toBe("not_found");
  expect(await refusal(() => expandPath(at("nothing*.csv")))).toBe("not_found");
  expect(await refusal(() => expandPath(`${plain}/inside.csv`))).toBe("not_found");
  expect(await refusal(() => expandPath(""))).toBe("not_found");
  expect(await refusal(() => openSource(at("nothing.csv"), never))).toBe("not_found");
});

test("what is no file", async () => {
  expect(await refusal(() => openSource(folder, never))).toBe("unreadable");
  const server = createServer().listen(at("socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  expect(await refusal(() => openSource(at("socket"), never))).toBe("unreadable");
  server.close();
  using empty = await openSource("/dev/null", never);
  expect(empty.seekable).toBe(false);
});

test.skipIf(process.getuid?.() === 0)("what may not be read", async () => {
  chmodSync(write("secret.csv"), 0);
  expect(await refusal(() => openSource(at("secret.csv"), never))).toBe("unreadable");
});

test("a FIFO is read to its end", async () => {
  const fifo = at("fifo");
  execFileSync("mkfifo", [fifo]);
  const reading = textOf(fifo);
  const writer = Bun.spawn(["sh", "-c", `exec 3>${fifo}; echo one >&3; sleep 0.05; echo two >&3`]);
  expect(await reading).toBe("one\ntwo\n");
  await writer.exited;
});

test("waiting for a FIFO ends when aborted, before a writer comes and after", async () => {
  const fifo = at("silent");
  execFileSync("mkfifo", [fifo]);
  const reason = new Error("stop");
  const stopped = async (start: (signal: AbortSignal) => Promise<unknown>) => {
    const stop = new AbortController();
    const waiting = refusal(() => start(stop.signal));
    await Bun.sleep(30);
    const began_ms = performance.now();
    stop.abort(reason);
    expect(await waiting).toBe(reason);
    expect(performance.now() - began_ms).toBeLessThan(500);
  };
  await stopped((signal) => openSource(fifo, signal));
  const writer = Bun.spawn(["sleep", "1"], { stdio: [null, Bun.file("/dev/null"), Bun.file("/dev/null")] });
  const holder = Bun.spawn(["sh", "-c", `exec 3>${fifo}; sleep 0.3`]);
  await stopped((signal) => textOf(fifo, signal));
  writer.kill();
  await holder.exited;
  expect(await refusal(() => openSource(fifo, AbortSignal.abort(reason)))).toBe(reason);
});

const changes: [what: string, change: (path: string) => void][] = [
  ["grows", (path) => appendFileSync(path, "y")],
  ["is cut", (path) => writeFileSync(path, "")],
  ["gets another time", (path) => utimesSync(path, 1, 1)],
  ["is replaced", (path) => renameSync(write("other"), path)],
  ["is removed", (path) => rmSync(path)],
];
for (const [what, change] of changes) {
  test(`a file that ${what} is noticed`, async () => {
    const path = write(`guarded ${what}`);
    using source = await openSource(path, never);
    source.verifyUnchanged();
    change(path);
    expect(await refusal(() => source.verifyUnchanged())).toBe("changed");
  });
}

test("the same file under two names", async () => {
  const path = write("same");
  using one = await openSource(path, never);
  using two = await openSource(`${folder}/./same`, never);
  using other = await openSource(write("different"), never);
  expect(one.isSameFileAs(two)).toBe(true);
  expect(one.isSameFileAs(other)).toBe(false);
});
