// Spooling: streams, compressed files and other encodings become UTF-8 in an unnamed file that the engine can map.
// Nothing is left behind however the process ends. Used by ledger.ts; derived.ts has jobs write to such a file.
import { closeSync, constants, openSync, unlinkSync, write } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../engine/engine";
import { openUnnamed } from "../unnamed-file";
import { fault } from "./codes";
import { compressionOf, decompress, magic_bytes } from "./decompress";
import { encodingOf, mark_bytes, transcode, type Encoding } from "./encoding";
import { inputName, type Source } from "./source";

/** What opening a ledger needs besides its options. `progress` gets bytes, `total` 0 where it is not known. */
export interface LedgerContext {
  engine: Engine;
  signal: AbortSignal;
  /** Null where there is none: then in memory. */
  tempDirectory: string | null;
  threads: number;
  /** For tests. */
  chunk_bytes?: number;
  progress?: (text: string, done: number, total: number) => void;
}

/** A spooled copy: the caller closes `fd`. `overruled` is the encoding that a mark won over. */
export interface Spooled {
  fd: number;
  size: number;
  overruled: Encoding | null;
}

/** Copies all of `source`. Throws `bad_compression`, `encoding`, `spool`, `unreadable` or the signal's reason. */
export async function spool(source: Source, declared: Encoding | null, context: LedgerContext): Promise<Spooled> {
  const file = openTemporary(source.path, context);
  try {
    const decoded = await decodedChunks(source, declared, context);
    let size = 0;
    for await (const chunk of decoded.chunks) {
      context.signal.throwIfAborted();
      await writeAll(file, chunk, source.path);
      size += chunk.length;
    }
    return { fd: file.fd, size, overruled: decoded.overruled };
  } catch (error) {
    closeSync(file.fd);
    throw error;
  }
}

async function decodedChunks(source: Source, declared: Encoding | null, { engine, signal, progress }: LedgerContext) {
  const counted = countBytes(source.chunks(signal), (done) =>
    progress?.(`reading ${inputName(source.path)}`, done, source.size),
  );
  const raw = await peek(counted, magic_bytes);
  const compression = compressionOf(raw.head);
  const plain = compression === null ? raw.chunks : decompress(compression, raw.chunks, source.path);
  try {
    const text = await peek(plain, mark_bytes);
    const { encoding, overruled } = encodingOf(text.head, declared, source.path);
    return { overruled, chunks: encoding === "utf-8" ? text.chunks : transcode(encoding, text.chunks, engine) };
  } catch (error) {
    await plain.return(undefined);
    throw error;
  }
}

async function* countBytes(chunks: AsyncIterable<Uint8Array>, report: (done: number) => void) {
  let done = 0;
  for await (const chunk of chunks) {
    report((done += chunk.length));
    yield chunk;
  }
}

/** The first `length` bytes, fewer at an early end, and all chunks with those bytes still in front. */
async function peek(chunks: AsyncGenerator<Uint8Array>, length: number) {
  let head: Uint8Array = new Uint8Array();
  while (head.length < length) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head: head.subarray(0, length), chunks: putBack(head, chunks) };
}

async function* putBack(head: Uint8Array, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* chunks;
}

export interface UnnamedFile {
  fd: number;
  /** Where it lies, for messages. */
  place: string;
}

/** In the folder for temporary files if there is one, else in memory. */
export function openTemporary(path: string, { tempDirectory, engine }: LedgerContext): UnnamedFile {
  if (tempDirectory === null) return { fd: engine.memoryFile("recon-spool"), place: "memory" };
  try {
    return { fd: openUnnamed(tempDirectory, mode) ?? openBriefly(tempDirectory), place: tempDirectory };
  } catch (error) {
    throw cannotSpool(path, tempDirectory, error);
  }
}

const mode = 0o600;

/** Named for as long as it takes to remove the name. */
function openBriefly(folder: string): number {
  const name = join(folder, `.recon-${process.pid}-${crypto.randomUUID()}`);
  const fd = openSync(name, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_NOFOLLOW, mode);
  unlinkSync(name);
  return fd;
}

async function writeAll(file: UnnamedFile, chunk: Uint8Array, path: string): Promise<void> {
  for (let at = 0; at < chunk.length;) at += await writeSome(file, chunk.subarray(at), path);
}

function writeSome(file: UnnamedFile, bytes: Uint8Array, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file.fd, bytes, 0, bytes.length, null, (error, length) => {
      if (error) reject(cannotSpool(path, file.place, error));
      else resolve(length);
    });
  });
}

const reasons: Record<string, string> = {
  ENOSPC: "no space is left there",
  EDQUOT: "the quota there is used up",
  EFBIG: "the file is too large: file size limit (ulimit -f)",
  EACCES: "permission denied",
  EROFS: "it is read-only",
  ENOENT: "there is no such directory",
  ENOTDIR: "it is not a directory",
};

function cannotSpool(path: string, place: string, error: unknown) {
  const { code = "", message } = error as { code?: string; message: string };
  const reason = reasons[code] ?? message;
  return fault("spool", path, `its temporary copy cannot be written in ${place}: ${reason}`, {
    hint: "--temp DIR names a directory with room for the decoded data",
  });
}
