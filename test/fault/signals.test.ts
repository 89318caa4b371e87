// SIGINT, SIGTERM and SIGHUP end a run within a second from any phase, with their own exit status, and leave no file.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, scratchFolder } from "../executable";
import {
  cpuTicks,
  hasOpen,
  listing,
  openNamedPipe,
  start,
  until,
  writeLedger,
  type Started,
  type StartOptions,
} from "./started";

requireExecutable();
const statusOf = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Signal = keyof typeof statusOf;
const signals = Object.keys(statusOf) as Signal[];
const limit_ms = 1000;

const scratch = scratchFolder();
afterAll(() => scratch[Symbol.dispose]());
beforeAll(() => {
  writeLedger(join(scratch.path, "internal.csv"), 300_000, "10.5");
  writeLedger(join(scratch.path, "external.csv"), 300_000, "10.6");
  writeLedger(join(scratch.path, "few-internal.csv"), 60_000, "10.5");
  writeLedger(join(scratch.path, "few-external.csv"), 60_000, "10.6");
});

interface Place {
  out: string;
  temp: string;
  args: string[];
  options: StartOptions;
}

/** Fresh folders for output and spooling, with an old breaks file that must survive. */
function place(options: Partial<StartOptions> = {}): Place {
  const out = join(scratch.path, "out");
  const temp = join(scratch.path, "temp");
  for (const folder of [out, temp]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  }
  writeFileSync(join(out, "breaks.jsonl"), "old\n");
  const args = ["--breaks", join(out, "breaks.jsonl"), "--rejects", join(out, "rejects.csv"), "--temp", temp];
  return { out, temp, args, options: { cwd: scratch.path, ...options } };
}

async function endsBy(signal: Signal, run: Started, { out, temp }: Place): Promise<void> {
  const sent = performance.now();
  run.kill(signal);
  const done = await run.finished;
  const took_ms = performance.now() - sent;
  expect({ exitCode: done.exitCode, signal: done.signal, stderr: done.stderr }).toMatchObject({
    exitCode: statusOf[signal],
    signal: null,
  });
  expect(took_ms).toBeLessThan(limit_ms);
  expect(listing(out)).toEqual(["breaks.jsonl"]);
  expect(readFileSync(join(out, "breaks.jsonl"), "utf8")).toBe("old\n");
  expect(listing(temp)).toEqual([]);
}

for (const signal of signals) {
  test(`${signal} while standard input is spooled`, async () => {
    const at = place({ stdin: "pipe" });
    const run = start(["few-internal.csv", "-", ...at.args], at.options);
    run.write("trade_id,symbol,quantity,price\nT1,ACME,1,1\n");
    await until("the first ledger is open", () => hasOpen(run.pid, join(scratch.path, "few-internal.csv")));
    await endsBy(signal, run, at);
  });

  test(`${signal} while a named pipe is spooled`, async () => {
    const at = place();
    const path = join(scratch.path, `${signal}.pipe`);
    const pipe = openNamedPipe(path);
    const run = start([path, "few-external.csv", ...at.args], at.options);
    await until("the pipe is open", () => hasOpen(run.pid, path));
    await endsBy(signal, run, at);
    rmSync(path);
    void pipe;
  });

  test(`${signal} while rows are joined`, async () => {
    // With no bit of any hash kept, every key collides with every other: the join lasts as long as it is let.
    const at = place({ env: { RECON_HASH_BITS: "0" } });
    const run = start(
      ["few-internal.csv", "few-external.csv", "--plan", "hash", "--threads", "2", ...at.args],
      at.options,
    );
    await until("it has worked for a while", () => cpuTicks(run.pid) > 30 || !run.running());
    await endsBy(signal, run, at);
  });

  test(`${signal} while breaks are written`, async () => {
    // Nobody reads the pipe: once it is full, the run waits in the middle of writing.
    const at = place();
    const path = join(at.out, "breaks.csv");
    const pipe = openNamedPipe(path);
    const run = start(["few-internal.csv", "few-external.csv", "--breaks", path, "--temp", at.temp], at.options);
    await until("the first byte is written", () => holdsByte(pipe) || !run.running());
    const sent = performance.now();
    run.kill(signal);
    const done = await run.finished;
    expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: statusOf[signal] });
    expect(performance.now() - sent).toBeLessThan(limit_ms);
    expect(listing(at.out)).toEqual(["breaks.csv", "breaks.jsonl"]);
    expect(listing(at.temp)).toEqual([]);
  });
}

test("SIGINT at many moments of a run: its own status and no file, or the whole result", async () => {
  const args = ["internal.csv", "external.csv", "--threads", "2"];
  const whole = place();
  const began = performance.now();
  expect((await start([...args, ...whole.args], whole.options).finished).exitCode).toBe(1);
  const duration_ms = performance.now() - began;
  const breaks = readFileSync(join(whole.out, "breaks.jsonl"));
  const moments = 16;
  let interrupted = 0;
  for (let i = 0; i < moments; i++) {
    const at = place();
    const run = start([...args, ...at.args], at.options);
    // Not to synchronise: the moment is what is varied, and any outcome of it is judged.
    await Bun.sleep((duration_ms * i) / moments);
    const sent = performance.now();
    run.kill("SIGINT");
    const done = await run.finished;
    expect(performance.now() - sent).toBeLessThan(limit_ms);
    expect(listing(at.temp)).toEqual([]);
    if (done.exitCode === 1) {
      expect(readFileSync(join(at.out, "breaks.jsonl")).equals(breaks)).toBe(true);
      continue;
    }
    // Before the program has its handlers the system ends it; that is the same promise.
    if (done.exitCode === null) expect(done.signal).toBe("SIGINT");
    else expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 130 });
    interrupted += 1;
    expect(listing(at.out)).toEqual(["breaks.jsonl"]);
    expect(readFileSync(join(at.out, "breaks.jsonl"), "utf8")).toBe("old\n");
  }
  console.error(`signals: ${interrupted} of ${moments} runs of ${Math.round(duration_ms)} ms interrupted`);
  expect(interrupted).toBeGreaterThan(2);
}, 60_000);

test("SIGKILL while breaks are made leaves the old file", async () => {
  const at = place({ env: { RECON_HASH_BITS: "0" } });
  const run = start(["few-internal.csv", "few-external.csv", "--plan", "hash", ...at.args], at.options);
  await until("it has worked for a while", () => cpuTicks(run.pid) > 30 || !run.running());
  run.kill("SIGKILL");
  await run.finished;
  expect(readFileSync(join(at.out, "breaks.jsonl"), "utf8")).toBe("old\n");
  expect(listing(at.temp)).toEqual([]);
});

function holdsByte(pipe: number): boolean {
  try {
    return readSync(pipe, new Uint8Array(1), 0, 1, null) === 1;
  } catch {
    return false;
  }
}
