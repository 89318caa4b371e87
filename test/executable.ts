// Owns how tests run the executable under test: where it is, one run to its end, and scratch folders.
// Used by every test that judges the whole program: cases, property, fault.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The executable under test: `RECON` if set, else the one that `bun run build` leaves at the top of the tree. */
export const executable = resolve(process.env.RECON ?? join(import.meta.dir, "..", "recon"));

/** Throws, with what to do, unless the executable is there. Tests call it once at load so that nothing is skipped. */
export function requireExecutable(): string {
  if (!existsSync(executable)) throw new Error(`${executable} is not there: run \`bun run build\`, or set RECON`);
  return executable;
}

export interface Finished {
  /** Exit status; null if it was ended by a signal. */
  exitCode: number | null;
  signal: string | number | null;
  stdout: Uint8Array;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string | undefined> | undefined;
  /** A file to read as standard input; empty if not given. */
  stdin?: string;
  timeout_ms?: number;
}

/** Runs a command to its end. A run past its time limit is killed and shows as signal SIGKILL. */
export async function runCommand(command: string[], options: RunOptions): Promise<Finished> {
  const process_ = Bun.spawn(command, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdin: options.stdin === undefined ? "ignore" : Bun.file(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
    timeout: options.timeout_ms ?? 60_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([process_.stdout.bytes(), process_.stderr.text()]);
  await process_.exited;
  return { exitCode: process_.exitCode, signal: process_.signalCode, stdout, stderr };
}

/** A fresh folder that disappears with `using`. `parent` must exist if given. */
export function scratchFolder(parent = tmpdir()): { path: string } & Disposable {
  mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(parent, "recon-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
