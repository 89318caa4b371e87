// Physical lines of an open file, in large pieces: nothing is ever loaded whole. Used by extent.ts.
import { read } from "node:fs";
import { promisify } from "node:util";
import type { FileSpec } from "../generated/abi";
import { fault } from "./codes";

const block_bytes = 4 << 20;
const line_feed = 10;
const readAt = promisify(read);

/** Whole lines: all but the last block end with a line feed. `bytes` is valid until the next block is asked for. */
export interface LineBlock {
  /** Where it begins in the file. */
  at: number;
  bytes: Buffer;
}

/** The lines between two places of a file, the first of which begins a line. Throws the signal's reason. */
export async function* lineBlocks(
  file: FileSpec,
  from: number,
  to: number,
  signal: AbortSignal,
): AsyncGenerator<LineBlock> {
  let buffer = Buffer.allocUnsafe(Math.min(block_bytes, to - from));
  for (let at = from, filled = 0; at < to;) {
    signal.throwIfAborted();
    const wanted = Math.min(buffer.length, to - at) - filled;
    const { bytesRead } = await readAt(file.fd, buffer, filled, wanted, at + filled);
    if (bytesRead === 0) throw fault("changed", file.path, "the file changed while it was read: it became shorter");
    filled += bytesRead;
    const isLast = at + filled === to;
    const length = isLast ? filled : buffer.lastIndexOf(line_feed, filled - 1) + 1;
    if (length > 0) {
      yield { at, bytes: buffer.subarray(0, length) };
      buffer.copyWithin(0, length, filled);
      at += length;
      filled -= length;
    } else if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(2 * buffer.length);
      buffer.copy(larger);
      buffer = larger;
    }
  }
}

/** The line that begins at `start`, without its line end. */
export function lineAt(bytes: Buffer, start: number): Buffer {
  const end = bytes.indexOf(line_feed, start);
  return bytes.subarray(start, end < 0 ? bytes.length : end);
}

/** Where the line that holds the byte at `place` begins. */
export function lineStart(bytes: Buffer, place: number): number {
  return place === 0 ? 0 : bytes.lastIndexOf(line_feed, place - 1) + 1;
}

/** Four bytes at a time: ledgers are counted whole where a rule cuts them. */
export function countLineFeeds(bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes;
  const head = Math.min(length, -byteOffset & 3);
  // A view begins at a whole word, also an empty one.
  const words = length === head ? new Int32Array() : new Int32Array(buffer, byteOffset + head, (length - head) >> 2);
  let count = 0;
  for (let i = 0; i < head; i++) if (bytes[i] === line_feed) count++;
  for (let i = head + 4 * words.length; i < length; i++) if (bytes[i] === line_feed) count++;
  for (let i = 0; i < words.length; i++) {
    const apart = words[i]! ^ 0x0a0a0a0a;
    // The highest bit of each byte that was a line feed, and of no other.
    const found = ~(((apart & 0x7f7f7f7f) + 0x7f7f7f7f) | apart | 0x7f7f7f7f);
    if (found !== 0) count += ((found >>> 7) & 1) + ((found >>> 15) & 1) + ((found >>> 23) & 1) + (found >>> 31);
  }
  return count;
}

/** Physical lines between two places of a file; the last may lack its line end. */
export async function countLines(file: FileSpec, from: number, to: number, signal: AbortSignal): Promise<number> {
  let lines = 0;
  for await (const { bytes } of lineBlocks(file, from, to, signal)) {
    lines += countLineFeeds(bytes) + (bytes.at(-1) === line_feed ? 0 : 1);
  }
  return lines;
}

/** The last line between two places that is not blank, or null. `from` begins a line. */
export async function lastLine(
  file: FileSpec,
  from: number,
  to: number,
  isBlank: (line: Buffer) => boolean,
  signal: AbortSignal,
): Promise<{ start: number; line: Buffer } | null> {
  for (let length = Math.min(1 << 16, to - from); ; length = Math.min(4 * length, to - from)) {
    signal.throwIfAborted();
    const begin = to - length;
    const bytes = await readWhole(file, begin, length);
    for (let end = bytes.length; end > 0;) {
      const start = lineStart(bytes, end - 1);
      if (start === 0 && begin > from) break;
      const line = lineAt(bytes, start);
      if (!isBlank(line)) return { start: begin + start, line };
      end = start;
    }
    if (begin === from) return null;
  }
}

async function readWhole(file: FileSpec, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length;) {
    const { bytesRead } = await readAt(file.fd, bytes, filled, length - filled, from + filled);
    if (bytesRead === 0) throw fault("changed", file.path, "the file changed while it was read: it became shorter");
    filled += bytesRead;
  }
  return bytes;
}
