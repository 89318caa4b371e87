// The two ways a command ends without a verdict. Thrown anywhere; turned into text, JSON and an exit status by
// main.ts and report/errors.ts, never anywhere else.
import type { ErrorItem } from "./generated/abi";

/** The job could not be done: exit status 2. `total` counts all problems, `items` holds those that are listed. */
export class ReconError extends Error {
  readonly items: ErrorItem[];
  readonly total: number;

  constructor(items: ErrorItem[], total = 0) {
    super(items[0]?.message ?? "unknown error");
    this.name = "ReconError";
    this.items = items;
    this.total = Math.max(total, items.length);
  }
}

/** A single problem, with only the members that are known. */
export function problem(code: string, message: string, rest: Partial<ErrorItem> = {}): ReconError {
  return new ReconError([{ code, path: "", line: 0, column: 0, message, hint: "", ...rest }]);
}

/** Stopped from outside, by a signal or a closed pipe: exit status 128 plus the signal, and nothing to say. */
export class Stopped extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`stopped, exit status ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** A file that cannot be opened or read, in words: `PATH: cannot open it: permission denied`. */
export function fileProblem(path: string, doing: string, error: unknown): ReconError {
  return problem("io", `cannot ${doing}: ${systemWords(error)}`, { path });
}

/** Output that cannot be written, for want of space as a rule. */
export function writeProblem(path: string, doing: string, error: unknown): ReconError {
  return problem("write", `cannot ${doing}: ${systemWords(error)}`, { path });
}

/** `ENOSPC: no space left on device, write` without what only programmers read. */
export function systemWords(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === "EFBIG") return "the file is too large: file size limit (ulimit -f)";
  const text = error instanceof Error ? error.message : String(error);
  return /^[A-Z0-9]+: ([^,]+)/.exec(text)?.[1] ?? text;
}
