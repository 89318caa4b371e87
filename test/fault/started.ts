// Owns runs that are disturbed while they last: starting the executable, waiting for something that can be seen from
// outside, ledgers large enough to be caught at work, and what lies in a folder. Used by the fault tests beside it.
import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, type Finished } from "../executable";

/** A run that has not ended by then is killed, which shows as signal SIGKILL. */
const limit_ms = 20_000;

export interface Started {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Feeds standard input, which stays open until `closeInput`. */
  write(text: string): void;
  closeInput(): void;
  /** What it said on standard error so far. */
  said(): string;
  running(): boolean;
  finished: Promise<Finished>;
}

export interface StartOptions {
  cwd: string;
  env?: Record<string, string | undefined>;
  stdin?: "pipe" | "ignore";
  /** A file descriptor for standard output; collected if not given. */
  stdout?: number;
}

export function start(args: string[], options: StartOptions): Started {
  const child = Bun.spawn([requireExecutable(), ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdin: options.stdin ?? "ignore",
    stdout: options.stdout ?? "pipe",
    stderr: "pipe",
    timeout: limit_ms,
    killSignal: "SIGKILL",
  });
  let said = "";
  const listen = async () => {
    const decoder = new TextDecoder();
    for await (const part of child.stderr) said += decoder.decode(part, { stream: true });
  };
  const stdout = child.stdout instanceof ReadableStream ? child.stdout.bytes() : Promise.resolve(new Uint8Array());
  const finish = async (): Promise<Finished> => {
    const [output] = await Promise.all([stdout, listen()]);
    await child.exited;
    return { exitCode: child.exitCode, signal: child.signalCode, stdout: output, stderr: said };
  };
  const input = () => child.stdin as import("bun").FileSink;
  return {
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    write: (text) => {
      input().write(text);
      input().flush();
    },
    closeInput: () => void input().end(),
    said: () => said,
    running: () => child.exitCode === null && child.signalCode === null,
    finished: finish(),
  };
}

/** Polls until the condition holds; throws after the limit. */
export async function until(what: string, condition: () => boolean, limit_ms = 20_000): Promise<void> {
  const deadline = performance.now() + limit_ms;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${limit_ms} ms in vain: ${what}`);
    await Bun.sleep(1);
  }
}

/** Whether the process holds an open descriptor of this file. */
export function hasOpen(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === path);
  } catch {
    return false;
  }
}

/** Processor time the process has used, in clock ticks of 10 ms. */
export function cpuTicks(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Waits until the process has used no processor time for a while: it has done what it can and waits for input. */
export async function untilIdle(run: Started): Promise<void> {
  const used = () => readFileSync(`/proc/${run.pid}/schedstat`, "utf8").split(" ")[0];
  let last = used();
  let since = performance.now();
  await until("it is idle", () => {
    if (!run.running()) return true;
    const now = used();
    if (now !== last) [last, since] = [now, performance.now()];
    return performance.now() - since > 50;
  });
}

/** All files below a folder, in name order. */
export function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort();
}

/** A ledger of `rows` rows with a header; `price` is that of every row. */
export function writeLedger(path: string, rows: number, price: string): void {
  const file = openSync(path, "w");
  writeSync(file, "trade_id,symbol,quantity,price\n");
  for (let from = 0; from < rows; from += 50_000) {
    let part = "";
    for (let i = from; i < Math.min(rows, from + 50_000); i++)
      part += `T${String(i).padStart(9, "0")},ACME,100,${price}\n`;
    writeSync(file, part);
  }
  closeSync(file);
}

/** Makes a named pipe. Opening it for both directions never blocks and keeps it from ending. */
export function openNamedPipe(path: string): number {
  const made = Bun.spawnSync(["mkfifo", path]);
  if (made.exitCode !== 0) throw new Error(`mkfifo ${path}: ${made.stderr}`);
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

/** Mounts a small file system in memory; null, with the reason printed, where that is not allowed. */
export function mountSmall(folder: string, size: string): Disposable | null {
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}`, "none", join(folder)]);
  if (mounted.exitCode !== 0) {
    console.error(`not tested: cannot mount a small file system here: ${mounted.stderr.toString().trim()}`);
    return null;
  }
  return { [Symbol.dispose]: () => void Bun.spawnSync(["umount", folder]) };
}
