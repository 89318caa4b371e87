// Text encodings: byte order marks, what a file is read in, and the stream that turns it into UTF-8 for the engine.
// Used by ledger.ts and spool.ts.
import type { Engine, TranscodedEncoding } from "../engine/engine";
import { fault } from "./codes";

export type Encoding = "utf-8" | TranscodedEncoding;

/** How many first bytes the functions here look at. */
export const mark_bytes = 16;

const marks: { encoding: Encoding; bytes: number[] }[] = [
  { encoding: "utf-8", bytes: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-16le", bytes: [0xff, 0xfe] },
  { encoding: "utf-16be", bytes: [0xfe, 0xff] },
];

function markOf(head: Uint8Array) {
  return marks.find((mark) => mark.bytes.every((byte, at) => head[at] === byte));
}

/** Bytes of the UTF-8 byte order mark at the start, 0 if there is none. */
export function utf8MarkLength(head: Uint8Array): number {
  const mark = markOf(head);
  return mark?.encoding === "utf-8" ? mark.bytes.length : 0;
}

/** A mark says what a file is, so it wins over the option; `overruled` then holds what the option said. */
export function encodingOf(
  head: Uint8Array,
  declared: Encoding | null,
  path: string,
): { encoding: Encoding; overruled: Encoding | null } {
  const marked = markOf(head)?.encoding;
  if (marked !== undefined) {
    return { encoding: marked, overruled: declared !== null && declared !== marked ? declared : null };
  }
  if (declared !== null) return { encoding: declared, overruled: null };
  const unmarked = unmarkedUtf16(head);
  if (unmarked === null) return { encoding: "utf-8", overruled: null };
  throw fault("encoding", path, `every other byte at its start is NUL: this looks like ${unmarked} without a mark`, {
    hint: `--encoding ${unmarked}`,
  });
}

/** Text of one-byte characters in UTF-16: each pair has a zero byte, always at the same place. */
function unmarkedUtf16(head: Uint8Array): Encoding | null {
  const pairs = head.length >> 1;
  if (pairs < 2) return null;
  const zerosAt = (place: number) => Array.from({ length: pairs }, (_, pair) => head[2 * pair + place] === 0);
  const [first, second] = [zerosAt(0), zerosAt(1)];
  if (second.every(Boolean) && !first.some(Boolean)) return "utf-16le";
  if (first.every(Boolean) && !second.some(Boolean)) return "utf-16be";
  return null;
}

/** The bytes as UTF-8. A unit that the end of the file cuts becomes a byte that is not valid UTF-8. */
export async function* transcode(
  encoding: TranscodedEncoding,
  chunks: AsyncIterable<Uint8Array>,
  engine: Pick<Engine, "transcode">,
): AsyncGenerator<Uint8Array> {
  let cut: Uint8Array = new Uint8Array();
  let output: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const input = cut.length === 0 ? chunk : Buffer.concat([cut, chunk]);
    if (output.length < 3 * input.length) output = new Uint8Array(3 * input.length);
    const { written, consumed } = engine.transcode(encoding, input, output);
    cut = new Uint8Array(input.subarray(consumed));
    yield output.subarray(0, written);
  }
  if (cut.length > 0) yield new Uint8Array(Math.ceil(cut.length / 2)).fill(0xff);
}
