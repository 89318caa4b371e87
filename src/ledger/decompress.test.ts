import { expect, test } from "bun:test";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { ReconError } from "../errors";
import { compressionOf, decompress, type Compression } from "./decompress";

const gzip = (text: string | Uint8Array) => gzipSync(text);
const zstd = (text: string | Uint8Array) => zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
const rows = Array.from({ length: 40_000 }, (_, at) => `T${(at * 7919) % 100_003},${at % 97}\n`).join("");

async function* cutInto(bytes: Uint8Array, length: number) {
  // One buffer for all, as source.ts gives them.
  const buffer = new Uint8Array(length);
  for (let at = 0; at < bytes.length; at += length) {
    const part = bytes.subarray(at, at + length);
    buffer.set(part);
    yield buffer.subarray(0, part.length);
  }
}

async function decoded(kind: Compression, bytes: Uint8Array, length = 1 << 16): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decompress(kind, cutInto(bytes, length), "file")) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function outcome(kind: Compression, bytes: Uint8Array, length?: number): Promise<string> {
  try {
    return await decoded(kind, bytes, length);
  } catch (error) {
    if (error instanceof ReconError) return error.items[0]?.code ?? "";
    throw error;
  }
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const place = at < 0 ? bytes.length + at : at;
  copy[place] = (copy[place] as number) ^ 0x10;
  return copy;
}

const join = (...parts: Uint8Array[]) => Buffer.concat(parts);

test("magic bytes", () => {
  expect(compressionOf(gzip("x"))).toBe("gzip");
  expect(compressionOf(zstd("x"))).toBe("zstd");
  expect(compressionOf(skippable)).toBe("zstd");
  expect(compressionOf(Buffer.from("trade_id"))).toBeNull();
  expect(compressionOf(new Uint8Array())).toBeNull();
});

const whole: [what: string, kind: Compression, bytes: Buffer, text: string][] = [
  ["one member", "gzip", gzip(rows), rows],
  ["an empty member", "gzip", gzip(""), ""],
  ["two members", "gzip", join(gzip("a\n"), gzip("b\n")), "a\nb\n"],
  ["members with an empty one last", "gzip", join(gzip(rows), gzip("b\n"), gzip("")), `${rows}b\n`],
  ["zeros behind the end", "gzip", join(gzip("a\n"), Buffer.alloc(1000)), "a\n"],
  ["one frame", "zstd", zstd(rows), rows],
  ["an empty frame", "zstd", zstd(""), ""],
  ["two frames", "zstd", join(zstd("a\n"), zstd("b\n")), "a\nb\n"],
  [
    "skippable frames first, between and last",
    "zstd",
    join(skippable, zstd("a\n"), skippable, zstd(rows), skippable),
    `a\n${rows}`,
  ],
  ["a frame without a checksum", "zstd", join(zstdCompressSync(rows), zstd("b\n")), `${rows}b\n`],
  ["a run of one byte", "zstd", zstd("a".repeat(1_000_000)), "a".repeat(1_000_000)],
];
for (const [what, kind, bytes, text] of whole) {
  for (const length of [1, 7, 1000, 1 << 20]) {
    if (bytes.length / length > 5_000) continue;
    test(`${kind}: ${what}, ${length} bytes at a time`, async () => {
      expect((await decoded(kind, bytes, length)) === text).toBe(true);
    });
  }
}

const broken: [what: string, kind: Compression, bytes: Buffer][] = [
  ["cut in the data", "gzip", gzip(rows).subarray(0, 50_000)],
  ["cut in the trailer", "gzip", gzip("a\n").subarray(0, -1)],
  ["cut in the second member", "gzip", join(gzip("a\n"), gzip("b\n").subarray(0, -3))],
  ["cut in the second header", "gzip", join(gzip("a\n"), gzip("b\n").subarray(0, 1))],
  ["a wrong checksum", "gzip", flipped(gzip("a\n"), -6)],
  ["a wrong length", "gzip", flipped(gzip("a\n"), -3)],
  ["a wrong checksum in the second member", "gzip", join(gzip("a\n"), flipped(gzip("b\n"), -6))],
  ["text behind the end", "gzip", join(gzip("a\n"), Buffer.from("b,1\n"))],
  ["zeros, then a member", "gzip", join(gzip("a\n"), Buffer.alloc(9), gzip("b\n"))],
  ["zeros, then text", "gzip", join(gzip("a\n"), Buffer.alloc(9), Buffer.from("b"))],
  ["damaged data", "gzip", flipped(gzip(rows), 20_000)],
  ["cut in the data", "zstd", zstd(rows).subarray(0, 3000)],
  ["cut in the checksum", "zstd", zstd(rows).subarray(0, -1)],
  ["cut before the checksum", "zstd", zstd(rows).subarray(0, -4)],
  ["cut in the second frame", "zstd", join(zstd("a\n"), zstd(rows).subarray(0, -2))],
  ["cut in the second magic", "zstd", join(zstd("a\n"), zstd("b\n").subarray(0, 2))],
  ["cut in a skippable frame", "zstd", join(zstd("a\n"), skippable.subarray(0, -1))],
  ["a wrong checksum", "zstd", flipped(zstd(rows), -1)],
  ["text behind the end", "zstd", join(zstd("a\n"), Buffer.from("b,1\n"))],
  ["zeros behind the end", "zstd", join(zstd("a\n"), Buffer.alloc(9))],
  ["damaged data", "zstd", flipped(zstd(rows), 5000)],
  ["only a magic", "zstd", zstd("a").subarray(0, 4)],
];
for (const [what, kind, bytes] of broken) {
  for (const length of [1, 10, 1 << 20]) {
    if (bytes.length / length > 5_000) continue;
    test(`${kind} is refused: ${what}, ${length} bytes at a time`, async () => {
      expect(await outcome(kind, bytes, length)).toBe("bad_compression");
    });
  }
}

test("every cut of a small file is refused or a whole number of members", async () => {
  const files: [Compression, Buffer, number][] = [
    ["gzip", join(gzip("first\n"), gzip("second\n")), gzip("first\n").length],
    ["zstd", join(zstd("first\n"), zstd("second\n")), zstd("first\n").length],
  ];
  for (const [kind, bytes, boundary] of files) {
    for (let length = 4; length < bytes.length; length++) {
      const expected = length === boundary ? "first\n" : "bad_compression";
      expect([length, await outcome(kind, bytes.subarray(0, length))]).toEqual([length, expected]);
    }
  }
});

test("a failure of the input comes through", async () => {
  async function* failing() {
    yield gzip(rows).subarray(0, 1000);
    throw new RangeError("gone");
  }
  const reading = Array.fromAsync(decompress("gzip", failing(), "file"));
  expect(reading).rejects.toThrow("gone");
});

test("leaving early ends the input too", async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield gzip(rows);
    } finally {
      ended = true;
    }
  }
  for await (const _ of decompress("gzip", endless(), "file")) break;
  expect(ended).toBe(true);
});
