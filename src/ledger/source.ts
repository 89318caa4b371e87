// Where the bytes of a ledger come from: names and patterns to open descriptors, what kind of file each is, and the
// guard that notices when one changes. Used by ledger.ts, which reads in place, and spool.ts, which reads in chunks.
import { close, constants, fstatSync, open, read, readdirSync, readSync, statSync, type BigIntStats } from "node:fs";
import { fault } from "./codes";

const chunk_bytes = 1 << 20;
const retry_ms = 5;

/** Other names of standard input: opening them again would fail where it is a socket. */
const standardInput = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]);

export function isStandardInput(path: string): boolean {
  return standardInput.has(path);
}

/** A path as messages call it. */
export function inputName(path: string): string {
  return path === "-" ? "standard input (-)" : path;
}

/** One open file. Disposing it closes the descriptor, standard input excepted. */
export class Source implements Disposable {
  /** As given; shown in every message. */
  readonly path: string;
  readonly fd: number;
  /** A regular file that was opened by name: it can be read at any place and its size is known. */
  readonly seekable: boolean;
  readonly #opened: BigIntStats;
  #reading = false;
  #disposed = false;

  constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
    this.#opened = fstatSync(fd, { bigint: true });
    this.seekable = this.#opened.isFile() && !isStandardInput(path);
  }

  /** Bytes, 0 where that is not known before the end. */
  get size(): number {
    return this.#opened.isFile() ? Number(this.#opened.size) : 0;
  }

  /** A directory, or something else that no record can be read from. */
  get refusal(): string | null {
    if (this.#opened.isDirectory()) return "is a directory, not a file";
    if (this.#opened.isSocket() && !isStandardInput(this.path)) return "is a socket, not a file";
    return null;
  }

  isSameFileAs(other: Source): boolean {
    return this.#opened.isFile() && this.#opened.dev === other.#opened.dev && this.#opened.ino === other.#opened.ino;
  }

  /** The first bytes of a seekable source, fewer where it is shorter. */
  head(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    return bytes.subarray(
      0,
      this.#checked(() => readSync(this.fd, bytes, 0, length, 0)),
    );
  }

  /** All bytes from where the descriptor stands. Each chunk is valid until the next one is asked for. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const buffer = new Uint8Array(chunk_bytes);
    let filled = 0;
    // A pipe gives little at a time, and a terminal may only once say that it ended.
    for (let position = 0, length = -1; length !== 0; position += length, filled += length) {
      if (filled === buffer.length) {
        yield buffer;
        filled = 0;
      }
      length = await this.#read(buffer.subarray(filled), this.seekable ? position : null, signal);
    }
    if (filled > 0) yield buffer.subarray(0, filled);
  }

  /** Throws if the file has another size, time or identity than when it was opened. Says nothing about streams. */
  verifyUnchanged(): void {
    if (!this.#opened.isFile()) return;
    const now = [fstatSync(this.fd, { bigint: true })];
    if (this.seekable) now.push(...this.#byName());
    const same = (stats: BigIntStats) =>
      stats.dev === this.#opened.dev &&
      stats.ino === this.#opened.ino &&
      stats.size === this.#opened.size &&
      stats.mtimeNs === this.#opened.mtimeNs;
    if (!now.every(same)) throw this.#changed("its size, time or identity is not what it was at the start");
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#closeWhenIdle();
  }

  #byName(): BigIntStats[] {
    try {
      return [statSync(this.path, { bigint: true })];
    } catch {
      throw this.#changed("it is no longer there");
    }
  }

  #changed(what: string) {
    return fault("changed", this.path, `the file changed while it was read: ${what}`, {
      hint: "run again once whatever writes it has finished",
    });
  }

  async #read(buffer: Uint8Array, position: number | null, signal: AbortSignal): Promise<number> {
    for (;;) {
      try {
        return await this.#readOnce(buffer, position, signal);
      } catch (error) {
        // Standard input may have been made non-blocking by whoever started us.
        if (codeOf(error) !== "EAGAIN") throw signal.aborted ? error : this.#unreadable(error);
        await Bun.sleep(retry_ms);
      }
    }
  }

  /** A read of a pipe can block for ever, so an abort leaves it behind; the descriptor is closed once it returns. */
  #readOnce(buffer: Uint8Array, position: number | null, signal: AbortSignal): Promise<number> {
    return orAborted(signal, (resolve, reject) => {
      this.#reading = true;
      read(this.fd, buffer, 0, buffer.length, position, (error, length) => {
        this.#reading = false;
        if (this.#disposed) this.#closeWhenIdle();
        if (error) reject(error);
        else resolve(length);
      });
    });
  }

  #closeWhenIdle(): void {
    if (!this.#reading && this.fd !== 0) close(this.fd, () => {});
  }

  #checked<T>(operation: () => T): T {
    try {
      return operation();
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  #unreadable(error: unknown) {
    return cannotOpen(this.path, error);
  }
}

/** Opens a path or standard input. Waits where a FIFO has no writer yet. Throws `not_found` or `unreadable`. */
export async function openSource(path: string, signal: AbortSignal): Promise<Source> {
  const source = await openDescriptor(path, signal);
  if (source.refusal === null) return source;
  source[Symbol.dispose]();
  throw fault("unreadable", path, source.refusal);
}

async function openDescriptor(path: string, signal: AbortSignal): Promise<Source> {
  try {
    const fd = isStandardInput(path) ? 0 : await openByName(path, signal);
    return new Source(path, fd);
  } catch (error) {
    throw signal.aborted ? error : cannotOpen(path, error);
  }
}

function openByName(path: string, signal: AbortSignal): Promise<number> {
  return orAborted(signal, (resolve, reject) => {
    open(path, constants.O_RDONLY | constants.O_NOCTTY, (error, fd) => {
      if (error) reject(error);
      else if (signal.aborted) close(fd, () => {});
      else resolve(fd);
    });
  });
}

/** Starts an operation and settles with it, or at once with the signal's reason. */
function orAborted<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  start(resolve, reject);
  return promise.finally(() => signal.removeEventListener("abort", abort));
}

const reasons: Record<string, string> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file: a part of its path is not a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EBADF: "it is closed",
  ENXIO: "it is a socket or has no device behind it",
  ELOOP: "too many symbolic links",
  EMFILE: "too many open files (see `ulimit -n`)",
  EIO: "input/output error",
};

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? "";
}

function cannotOpen(path: string, error: unknown) {
  const code = codeOf(error);
  const reason = reasons[code] ?? (error instanceof Error ? error.message : String(error));
  if (path === "") return fault("not_found", path, "the path of a ledger is empty");
  if (code === "ENOENT" || code === "ENOTDIR") return fault("not_found", path, reason);
  return fault("unreadable", path, `cannot be read: ${reason}`);
}

/** The files that a path or pattern stands for, in name order (as bytes). Throws `not_found`, `unreadable`. */
export function expandPath(path: string): string[] {
  if (isStandardInput(path)) return [path];
  try {
    statSync(path);
    return [path];
  } catch (error) {
    if (!/[*?[]/.test(path)) throw cannotOpen(path, error);
  }
  const found = expandPattern(path).filter((name) => !isDirectory(name));
  if (found.length === 0) throw fault("not_found", path, "no file matches this pattern");
  return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function expandPattern(pattern: string): string[] {
  let found = [pattern.startsWith("/") ? "/" : ""];
  for (const part of pattern.split("/").filter((part) => part !== "")) {
    found = found.flatMap((folder) => entriesLike(folder, part));
  }
  return found;
}

/** The paths inside `folder` ("" or ending in a slash is as it is) that one part of a pattern stands for. */
function entriesLike(folder: string, part: string): string[] {
  const inside = (name: string) => (folder === "" || folder.endsWith("/") ? folder + name : `${folder}/${name}`);
  if (!/[*?[]/.test(part)) return [inside(part)].filter(exists);
  const matches = nameMatcher(part);
  return listing(folder === "" ? "." : folder)
    .filter((name) => matches.test(name) && (part.startsWith(".") || !name.startsWith(".")))
    .map(inside);
}

/** `*`, `?` and `[...]` as the shell reads them; a bracket that is never closed stands for itself. */
function nameMatcher(part: string): RegExp {
  const source = part.replace(/\[([!^]?)(\]?[^\]]*)\]|[*?]|[^*?[]+|\[/gu, (token, negated = "", set) => {
    if (token === "*") return ".*";
    if (token === "?") return ".";
    if (set === undefined) return RegExp.escape(token);
    return `[${negated === "" ? "" : "^"}${set.replace(/[\\\][&^~]/gu, "\\$&")}]`;
  });
  return new RegExp(`^${source}$`, "su");
}

function listing(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "EACCES") throw cannotOpen(folder, error);
    return [];
  }
}

function exists(path: string): boolean {
  return statsOf(path) !== null;
}

function isDirectory(path: string): boolean {
  return statsOf(path)?.isDirectory() ?? false;
}

function statsOf(path: string) {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
