// Finds, loads and wraps the Zig library: the only file that knows how its symbols are called. In the executable the
// library is embedded and loaded from memory; in a checkout it is zig-out/lib/librecon.so. Used by engine.ts and job.ts.
import { dlopen } from "bun:ffi";
import { readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { problem, systemWords } from "../errors";
import { fingerprint, Progress, Status } from "../generated/abi";

const symbols = {
  recon_abi_fingerprint: { args: [], returns: "u32" },
  recon_last_error: { args: ["buffer", "buffer_length"], returns: "u64" },
  recon_job_start: { args: ["buffer", "buffer_length", "buffer"], returns: "i32" },
  recon_job_poll: { args: ["u32", "buffer"], returns: "i32" },
  recon_job_cancel: { args: ["u32"], returns: "i32" },
  recon_job_result: { args: ["u32", "buffer", "buffer_length", "buffer"], returns: "i32" },
  recon_job_release: { args: ["u32"], returns: "i32" },
  recon_transcode: {
    args: ["u32", "buffer", "buffer_length", "buffer", "buffer_length", "buffer"],
    returns: "i64",
  },
} as const;

type Symbols = ReturnType<typeof dlopen<typeof symbols>>["symbols"];

/** A record that the library writes into. Always this one view: its memory must not move between two looks at it. */
const record = (bytes: number) => new DataView(new ArrayBuffer(bytes));

/** What a job has done so far. `done` of `total` units belong to the phase. */
export interface JobProgress {
  phase: number;
  done: number;
  total: number;
  rows: number;
  breaks: number;
}

/** The library's calls with checked arguments; a refused call throws a ReconError with the library's own text. */
export class Library {
  readonly #call: Symbols;

  constructor(call: Symbols) {
    this.#call = call;
  }

  /** Returns the handle of a job that runs until it is released. */
  start(spec: Uint8Array): number {
    const handle = record(4);
    this.#check(this.#call.recon_job_start(spec, spec, handle));
    return handle.getUint32(0, true);
  }

  /** Null once the job has finished. */
  poll(handle: number): JobProgress | null {
    const progress = record(Progress.size);
    if (this.#check(this.#call.recon_job_poll(handle, progress)) === Status.finished) return null;
    return {
      phase: progress.getUint32(Progress.phase, true),
      done: Number(progress.getBigUint64(Progress.done_units, true)),
      total: Number(progress.getBigUint64(Progress.total_units, true)),
      rows: Number(progress.getBigUint64(Progress.rows, true)),
      breaks: Number(progress.getBigUint64(Progress.breaks, true)),
    };
  }

  cancel(handle: number): void {
    this.#check(this.#call.recon_job_cancel(handle));
  }

  /** The result document of a finished job. */
  result(handle: number): string {
    const needed = record(8);
    let text = new Uint8Array(4096);
    for (;;) {
      this.#check(this.#call.recon_job_result(handle, text, text, needed));
      const length = Number(needed.getBigUint64(0, true));
      if (length <= text.length) return new TextDecoder().decode(text.subarray(0, length));
      text = new Uint8Array(length);
    }
  }

  /** Cancels the job if it still runs, waits for its threads and frees what it holds. */
  release(handle: number): void {
    this.#check(this.#call.recon_job_release(handle));
  }

  /** Whole units of `input` as UTF-8 into `output`, which holds three bytes for each of them. */
  transcode(encoding: number, input: Uint8Array, output: Uint8Array): { written: number; consumed: number } {
    if (output.length < 3 * input.length) throw new RangeError("transcode needs three output bytes for an input byte");
    const consumed = record(8);
    const written = Number(this.#call.recon_transcode(encoding, input, input, output, output, consumed));
    if (written < 0) this.#check(written);
    return { written, consumed: Number(consumed.getBigUint64(0, true)) };
  }

  #check(status: number): number {
    if (status >= 0) return status;
    const text = new Uint8Array(1024);
    const length = Math.min(Number(this.#call.recon_last_error(text, text)), text.length);
    const message = new TextDecoder().decode(text.subarray(0, length));
    throw problem("internal", `internal error: the engine refused a call: ${message || `status ${status}`}`);
  }
}

/** Loads the library once per process. Throws a ReconError of one sentence where that fails. */
export function loadLibrary(): Library {
  return (loaded ??= new Library(openEmbedded(locate(), openChecked)));
}
let loaded: Library | undefined;

/** A file in memory, as a descriptor that the caller closes. */
export function memoryFile(name: string): number {
  const closeOnExec = 1;
  const fd = libc().memfd_create(new TextEncoder().encode(`${name}\0`), closeOnExec);
  if (fd < 0) throw problem("engine", "cannot create a file in memory (memfd_create was refused)");
  return fd;
}

const libcSymbols = {
  memfd_create: { args: ["buffer", "u32"], returns: "i32" },
  linkat: { args: ["i32", "buffer", "i32", "buffer", "i32"], returns: "i32" },
} as const;

/** The calls of the C library that Bun has no function for. */
export function libc() {
  return (openedLibc ??= loading(() => dlopen("libc.so.6", libcSymbols))).symbols;
}
let openedLibc: ReturnType<typeof dlopen<typeof libcSymbols>> | undefined;

/** A step of loading; what refuses it is the environment. */
function loading<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw problem("engine", `cannot load the engine: ${systemWords(error)}`, {
      hint: "recon needs executable memory (no MemoryDenyWriteExecute=) and room for its engine in a file in memory (ulimit -f)",
    });
  }
}

function locate(): string {
  try {
    // A require, because the file need not be there until it is used.
    return (require("./embedded") as { default: string }).default;
  } catch {
    throw problem("engine", "the engine has not been built: zig-out/lib/librecon.so is missing", {
      hint: "run `bun run build`",
    });
  }
}

/** Opens a library from its path; in the executable, where the path is inside, from a copy in memory. */
export function openEmbedded<T>(path: string, open: (path: string) => T): T {
  if (!Bun.isStandaloneExecutable) return open(path);
  // Never closed: the loader knows libraries by path, and would take a later one under the same number for this one.
  const fd = memoryFile(basename(path));
  const image = readFileSync(path);
  for (let at = 0; at < image.length;) at += loading(() => writeSync(fd, image, at));
  return open(`/proc/self/fd/${fd}`);
}

function openChecked(path: string): Symbols {
  const opened = loading(() => dlopen(path, symbols).symbols);
  if (opened.recon_abi_fingerprint() === fingerprint) return opened;
  throw problem("engine", "the engine library belongs to another build of recon", { hint: "run `bun run build`" });
}
