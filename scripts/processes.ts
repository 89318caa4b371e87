// How the scripts run other programs: always in the project's folder, with the compiler that npm installed.
import { existsSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "..");

/** The Zig compiler itself: the launcher of its package is a Node.js program that passes no signals on. */
export function zig(): string {
  const path = join(root, `node_modules/@zigc/${process.platform}-${process.arch}/bin/zig`);
  if (existsSync(path)) return path;
  throw new Error(`there is no Zig compiler for ${process.platform}-${process.arch} in node_modules: run npm install`);
}

/** Zig keeps what it compiled of its own libraries here, so that it needs no home folder. */
const environment = { ZIG_GLOBAL_CACHE_DIR: join(root, ".zig-cache/global"), ...process.env };

export interface Output {
  exitCode: number;
  /** Standard output and standard error, in that order. */
  text: string;
}

/** Runs a command to its end and keeps what it prints. */
export async function capture(command: string[]): Promise<Output> {
  const child = Bun.spawn(command, { cwd: root, env: environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, text: stdout + stderr };
}

/** Runs a command that must succeed; says how long it took, and what it printed only if it failed. */
export async function run(title: string, command: string[]): Promise<void> {
  const started_ms = performance.now();
  const { exitCode, text } = await capture(command);
  if (exitCode !== 0) throw new Error(`${title} failed with exit status ${exitCode}: ${command.join(" ")}\n${text}`);
  console.error(`${title}: ${((performance.now() - started_ms) / 1000).toFixed(1)} s`);
}
