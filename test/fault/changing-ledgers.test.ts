// A ledger that changes while it is read is exit 2 with an error that names it: never a crash, never a verdict.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { requireExecutable, scratchFolder, type Finished } from "../executable";
import { cpuTicks, hasOpen, start, until, untilIdle, writeLedger } from "./started";

requireExecutable();
const scratch = scratchFolder();
const at = (name: string) => join(scratch.path, name);
const ledger = at("internal.csv");
const breaks = at("breaks.jsonl");
afterAll(() => scratch[Symbol.dispose]());
beforeAll(() => {
  writeLedger(at("original.csv"), 60_000, "10.5");
  writeLedger(at("external.csv"), 60_000, "10.5");
  writeLedger(at("few-original.csv"), 6_000, "10.5");
  writeLedger(at("few-external.csv"), 6_000, "10.5");
});
beforeEach(() => rmSync(breaks, { force: true }));

function expectRefusal(done: Finished): void {
  expect({ exitCode: done.exitCode, signal: done.signal, stderr: done.stderr }).toMatchObject({
    exitCode: 2,
    signal: null,
  });
  expect(done.stderr).toContain("internal.csv");
  const document = JSON.parse(Buffer.from(done.stdout).toString());
  expect(document).toMatchObject({ status: "error", exitCode: 2, errors: [{ path: "internal.csv" }] });
  expect(document).not.toHaveProperty("breaks");
  expect(existsSync(breaks)).toBe(false);
}

/** Starts a run whose first ledger is open while the other one still comes in, changes the first, lets it go on. */
async function changedWhileSpooling(change: () => void): Promise<Finished> {
  copyFileSync(at("original.csv"), ledger);
  const run = start(["internal.csv", "-", "--json", "--breaks", breaks], { cwd: scratch.path, stdin: "pipe" });
  run.write("trade_id,symbol,quantity,price\n");
  await until("the ledger is open", () => hasOpen(run.pid, ledger) || !run.running());
  await untilIdle(run);
  change();
  run.write("T000000001,ACME,100,10.5\n");
  run.closeInput();
  return run.finished;
}

/** Changes the ledger in the middle of the join, which is slow because every key collides. */
async function changedWhileJoining(change: () => void): Promise<Finished> {
  copyFileSync(at("few-original.csv"), ledger);
  const args = ["internal.csv", "few-external.csv", "--plan", "hash", "--json", "--breaks", breaks];
  const run = start(args, { cwd: scratch.path, env: { RECON_HASH_BITS: "0" } });
  await until("it has worked for a while", () => cpuTicks(run.pid) > 30 || !run.running());
  expect(run.running()).toBe(true);
  change();
  return run.finished;
}

const rewrite = () => {
  writeLedger(ledger, 60_000, "99.9");
  utimesSync(ledger, new Date(), new Date());
};

test("cut to nothing while the other side is spooled", async () => {
  expectRefusal(await changedWhileSpooling(() => truncateSync(ledger, 0)));
});

test("cut in the middle while the other side is spooled", async () => {
  expectRefusal(await changedWhileSpooling(() => truncateSync(ledger, 100_000)));
});

test("grown while the other side is spooled", async () => {
  expectRefusal(await changedWhileSpooling(() => appendFileSync(ledger, "T999999999,ACME,100,10.5\n")));
});

test("written over with the same size while the other side is spooled", async () => {
  expectRefusal(await changedWhileSpooling(rewrite));
});

test("replaced by another file: the old one is read to its end, or refused", async () => {
  const done = await changedWhileSpooling(() => {
    writeFileSync(at("new.csv"), "trade_id,symbol,quantity,price\n");
    renameSync(at("new.csv"), ledger);
  });
  if (done.exitCode === 2) return expectRefusal(done);
  expect(done.exitCode).toBe(1);
  expect(JSON.parse(Buffer.from(done.stdout).toString())).toMatchObject({ internal: { rows: 60_000 }, matched: 1 });
  rmSync(breaks);
});

test("deleted: the old one is read to its end, or refused", async () => {
  const done = await changedWhileSpooling(() => rmSync(ledger));
  if (done.exitCode === 2) return expectRefusal(done);
  expect(JSON.parse(Buffer.from(done.stdout).toString())).toMatchObject({ internal: { rows: 60_000 }, matched: 1 });
  rmSync(breaks);
});

test("cut to nothing while rows are joined: its pages vanish", async () => {
  expectRefusal(await changedWhileJoining(() => truncateSync(ledger, 0)));
}, 60_000);

test("cut in the middle while rows are joined", async () => {
  expectRefusal(await changedWhileJoining(() => truncateSync(ledger, 50_000)));
}, 60_000);

test("cut at many moments of a run: refused, or judged whole", async () => {
  const args = ["internal.csv", "external.csv", "--json", "--breaks", breaks];
  copyFileSync(at("original.csv"), ledger);
  const began = performance.now();
  expect((await start(args, { cwd: scratch.path }).finished).exitCode).toBe(0);
  const duration_ms = performance.now() - began;
  rmSync(breaks);
  const moments = 16;
  let refused = 0;
  for (let i = 0; i < moments; i++) {
    copyFileSync(at("original.csv"), ledger);
    const run = start(args, { cwd: scratch.path });
    // Not to synchronise: the moment is what is varied, and any outcome of it is judged.
    await Bun.sleep((duration_ms * i) / moments);
    truncateSync(ledger, 4096 * i);
    const done = await run.finished;
    // A cut before the ledger is opened leaves a ledger with fewer rows, which has breaks, or a last row that is bad.
    expect({ exitCode: done.exitCode, signal: done.signal }).toEqual({ exitCode: expect.any(Number), signal: null });
    if (done.exitCode === 2) {
      refused += 1;
      expect(existsSync(breaks)).toBe(false);
    } else {
      const document = JSON.parse(Buffer.from(done.stdout).toString());
      if (done.exitCode === 0) expect(document.matched).toBe(60_000);
      else expect(document.internal.rows).toBe(document.matched + document.breaks.mismatch);
      rmSync(breaks);
    }
  }
  console.error(`changing ledgers: ${refused} of ${moments} runs refused`);
}, 60_000);
