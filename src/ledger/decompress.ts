// gzip and zstd: recognised by their first bytes and decoded as streams, every member and every frame, with whatever
// is cut, damaged or left over refused. Used by spool.ts.
//
// Bun's streams do the decoding and verify the checksums, but they end quietly at a cut zstd frame and at whatever
// follows the end (measured with Bun 1.4.5), so where a file ends is decided here.
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from "node:zlib";
import { ReconError } from "../errors";
import { fault } from "./codes";

const output_bytes = 1 << 18;

/** How many first bytes `compressionOf` looks at. */
export const magic_bytes = 4;

export type Compression = "gzip" | "zstd";

export function compressionOf(head: Uint8Array): Compression | null {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  if (head.length < magic_bytes) return null;
  const magic = littleEndian(head.subarray(0, magic_bytes));
  return magic === zstdMagic || isSkippable(magic) ? "zstd" : null;
}

/** The decoded bytes. Throws `bad_compression` naming `path`; errors of `chunks` pass through. */
export async function* decompress(
  compression: Compression,
  chunks: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const options = { chunkSize: output_bytes };
  const stream = compression === "gzip" ? createGunzip(options) : createZstdDecompress(options);
  const end = compression === "gzip" ? new GzipEnd() : new ZstdEnd();
  const leaving = new AbortController();
  const feeding = feed(stream, chunks, end, leaving.signal);
  try {
    for await (const piece of stream) yield piece as Uint8Array;
    await feeding;
    end.check(stream.bytesWritten);
  } catch (error) {
    if (error instanceof ReconError || !isDecodingError(error)) throw error;
    throw fault("bad_compression", path, `the ${compression} data is damaged or cut: ${error.message}`, {
      hint: `check it with \`${compression} -t\` and fetch the file again`,
    });
  } finally {
    leaving.abort();
    stream.destroy();
    await feeding.catch(() => {});
  }
}

/** Writes chunk by chunk, each only when the one before is used up. A failure of `chunks` fails the stream. */
async function feed(
  stream: Gunzip | ZstdDecompress,
  chunks: AsyncIterable<Uint8Array>,
  end: GzipEnd | ZstdEnd,
  leaving: AbortSignal,
): Promise<void> {
  const closed = new Promise<void>((resolve) => stream.once("close", resolve));
  try {
    for await (const chunk of chunks) {
      if (leaving.aborted) return;
      end.see(chunk);
      // What follows the end is only looked at.
      if (stream.readableEnded || stream.destroyed) continue;
      await Promise.race([closed, new Promise<void>((resolve) => stream.write(chunk, () => resolve()))]);
    }
    stream.end();
  } catch (error) {
    stream.destroy(error as Error);
  }
}

class DecodingError extends Error {}

function isDecodingError(error: unknown): error is Error {
  const code = (error as { code?: string }).code ?? "";
  return error instanceof DecodingError || /^(Z_|ZSTD_)/.test(code);
}

/** A gzip stream may be followed by zeros (tape blocks), by nothing else. */
class GzipEnd {
  #seen = 0;
  #behindLastByte = 0;

  see(chunk: Uint8Array): void {
    let used = chunk.length;
    while (used > 0 && chunk[used - 1] === 0) used--;
    if (used > 0) this.#behindLastByte = this.#seen + used;
    this.#seen += chunk.length;
  }

  check(decoded: number): void {
    if (this.#behindLastByte > decoded) throw new DecodingError("something else follows the end of the stream");
  }
}

const zstdMagic = 0xfd2fb528;
const isSkippable = (magic: number) => magic >= 0x184d2a50 && magic <= 0x184d2a5f;

/** Walks the frames of a zstd file by their headers (RFC 8878) to know whether it ends where one ends. */
class ZstdEnd {
  readonly #frames = zstdFrames();
  #step = this.#frames.next(new Uint8Array()).value as Step;
  #header: number[] = [];
  #skipped = 0;
  #seen = 0;

  see(chunk: Uint8Array): void {
    this.#seen += chunk.length;
    for (let at = 0; at < chunk.length;) {
      if ("skip" in this.#step) {
        const length = Math.min(this.#step.skip - this.#skipped, chunk.length - at);
        this.#skipped += length;
        at += length;
      } else {
        this.#header.push(chunk[at++] as number);
      }
      this.#advance();
    }
  }

  check(decoded: number): void {
    const betweenFrames = "read" in this.#step && this.#step.first === true && this.#header.length === 0;
    if (!betweenFrames) throw new DecodingError("unexpected end of file");
    if (decoded !== this.#seen) throw new DecodingError("something else follows the end of the stream");
  }

  #advance(): void {
    while ("skip" in this.#step ? this.#skipped === this.#step.skip : this.#header.length === this.#step.read) {
      const header = Uint8Array.from(this.#header);
      this.#header = [];
      this.#skipped = 0;
      this.#step = this.#frames.next(header).value as Step;
    }
  }
}

/** The next bytes to look at, `first` where a frame begins, or how many to pass over. */
type Step = { read: number; first?: true } | { skip: number };

function* zstdFrames(): Generator<Step, never, Uint8Array> {
  for (;;) {
    const magic = littleEndian(yield { read: 4, first: true });
    if (isSkippable(magic)) yield { skip: littleEndian(yield { read: 4 }) };
    else if (magic === zstdMagic) yield* zstdFrame();
    else throw new DecodingError("something else follows the end of the stream");
  }
}

function* zstdFrame(): Generator<Step, void, Uint8Array> {
  const descriptor = (yield { read: 1 })[0] as number;
  const singleSegment = (descriptor & 0x20) !== 0;
  const contentSizeBytes = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  yield { skip: (singleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes };
  for (let last = false; !last;) {
    const header = littleEndian(yield { read: 3 });
    const repeatsOneByte = ((header >> 1) & 3) === 1;
    last = (header & 1) === 1;
    yield { skip: repeatsOneByte ? 1 : header >> 3 };
  }
  if ((descriptor & 4) !== 0) yield { skip: 4 };
}

function littleEndian(bytes: Uint8Array): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}
