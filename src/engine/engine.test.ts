// The boundary to the library: jobs that end, fail, are refused or cancelled, and buffers that grow and move meanwhile.
import { afterAll, beforeAll, expect, test } from "bun:test";
import * as fs from "node:fs";
import { Stopped } from "../errors";
import type { GenerateSpec, RunSpec } from "../generated/abi";
import { Engine } from "./engine";
import { loadLibrary } from "./library";

const engine = Engine.load();
const fds: number[] = [];
const column = { name: "id", internal: 0, external: 0 };

/** A ledger of one column in memory. */
function ledger(name: string, text: string): RunSpec["internal"] {
  const fd = engine.memoryFile(name);
  fds.push(fd);
  fs.writeSync(fd, text);
  return { files: [{ fd, path: name, size: Buffer.byteLength(text) }], delimiter: 0x2c, width: 1 };
}

let run: RunSpec;
beforeAll(() => {
  run = { internal: ledger("a", "1\n2\n3\n"), external: ledger("b", "1\n2\n4\n"), key: [column], compare: [] };
});
afterAll(() => fds.forEach((fd) => fs.closeSync(fd)));

/** A job that is never done before the test is. */
function endless(): GenerateSpec {
  const nowhere = fs.openSync("/dev/null", "w");
  fds.push(nowhere);
  return { internal_fd: nowhere, external_fd: nowhere, truth_fd: nowhere, rows: 2 ** 39, seed: 1 };
}

test("a job gives its result", async () => {
  const result = await engine.run({ run });
  expect(result).toMatchObject({
    outcome: "done",
    matched: 2,
    breaks: { missing_external: 1, missing_internal: 1, mismatch: 0 },
  });
});

test("jobs run at once, while buffers are collected and moved", async () => {
  const results = Array.from({ length: 8 }, () => engine.run({ run }));
  for (let i = 0; i < 20; i++) {
    void new Uint8Array(64).buffer;
    Bun.gc(true);
    await Bun.sleep(0);
  }
  for (const { matched } of await Promise.all(results)) expect(matched).toBe(2);
});

test("a result larger than the first buffer comes whole", async () => {
  const many = Array.from({ length: 500 }, (_, i) => `${i}\n`).join("");
  const result = await engine.run({ run: { ...run, internal: ledger("many", many), limit: 1000 } });
  expect(result.shown.length).toBe(result.breaks.missing_external + result.breaks.missing_internal);
  expect(result.shown.length).toBeGreaterThan(490);
});

test("a job that makes no sense fails, and says so", async () => {
  for (const spec of [{}, { ...run, threads: -1 }, { ...run, threads: 0.5 }, { ...run, nonsense: 1 }]) {
    const { outcome, errors } = await engine.run({ run: spec as RunSpec });
    expect([outcome, errors.length]).toEqual(["failed", 1]);
  }
});

test("an aborted job ends with the reason it was given", async () => {
  const controller = new AbortController();
  const job = engine.run({ generate: endless() }, { signal: controller.signal });
  setTimeout(() => controller.abort(new Stopped(130)), 20);
  const started_ms = performance.now();
  expect(await job.catch((error) => error)).toBeInstanceOf(Stopped);
  expect(performance.now() - started_ms).toBeLessThan(500);
  expect(engine.run({ run }, { signal: controller.signal })).rejects.toBeInstanceOf(Stopped);
});

test("progress is reported while a job runs", async () => {
  const controller = new AbortController();
  let seen = 0;
  const onProgress = ({ total, done }: { total: number; done: number }) => {
    expect(done).toBeLessThanOrEqual(total);
    seen = done;
    if (done > 0) controller.abort(new Stopped(130));
  };
  const job = engine.run({ generate: endless() }, { signal: controller.signal, onProgress });
  setTimeout(() => controller.abort(new Stopped(130)), 2000);
  await job.catch(() => {});
  expect(seen).toBeGreaterThan(0);
});

test("handles that were never given, or are given back, are refused", () => {
  const library = loadLibrary();
  expect(() => library.poll(0xffff_ffff)).toThrow("refused");
  const handle = library.start(new TextEncoder().encode(JSON.stringify({ run })));
  library.release(handle);
  for (const call of [() => library.poll(handle), () => library.result(handle), () => library.cancel(handle)]) {
    expect(call).toThrow("refused");
  }
  expect(() => library.release(handle)).toThrow("refused");
});

test("too many jobs are refused, and a release makes room", () => {
  const library = loadLibrary();
  const spec = new TextEncoder().encode(JSON.stringify({ run }));
  const handles: number[] = [];
  expect(() => {
    for (let i = 0; i < 1000; i++) handles.push(library.start(spec));
  }).toThrow("refused");
  for (const handle of handles) library.release(handle);
  library.release(library.start(spec));
});

test("a result is refused while its job runs", () => {
  const library = loadLibrary();
  const handle = library.start(new TextEncoder().encode(JSON.stringify({ generate: endless() })));
  expect(() => library.result(handle)).toThrow("refused");
  library.release(handle);
});

test("transcoding leaves a cut unit for the next call", () => {
  const output = new Uint8Array(30);
  const { written, consumed } = engine.transcode("utf-16le", new Uint8Array([0x41, 0, 0xac, 0x20, 0x42]), output);
  expect([new TextDecoder().decode(output.subarray(0, written)), consumed]).toEqual(["A€", 4]);
  expect(() => engine.transcode("iso-8859-1", new Uint8Array(20), output)).toThrow(RangeError);
});
