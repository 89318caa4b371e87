// Loads and calls librecon_baseline.so (zig/baseline/baseline.cpp): the only file that knows how. Used by scenarios.ts.
import { dlopen } from "bun:ffi";
import { openEmbedded } from "../engine/library";
import { problem } from "../errors";

const symbols = {
  recon_baseline_run: {
    args: ["u32", "buffer", "buffer", "u32", "buffer", "buffer", "buffer_length"],
    returns: "i32",
  },
  recon_baseline_fix: { args: ["buffer", "buffer", "buffer", "buffer", "buffer_length"], returns: "i32" },
} as const;

/** The numbers of `Kind` in baseline.cpp. */
const kinds = {
  /** std::ifstream, the first field of every line. */
  firstField: 0,
  /** std::ifstream, every field as a std::string. */
  allFields: 1,
  /** The whole reconciliation by std::unordered_map. */
  reconcile: 2,
  /** Every byte once through a mapping, and through one whose pages are asked for 2 MB at a time. */
  readMapped: 3,
  readMappedAhead: 4,
  /** Every byte once through a buffer that is used again and again. */
  readCopied: 5,
  /** Every message of the FIX log `internal` into a std::map<int, std::string>, verified. */
  fixLog: 6,
} as const;

export type BaselineKind = keyof typeof kinds;

/** Of the C++ struct of this name: so many 64-bit numbers, in this order. */
const members = ["records", "matched", "mismatch", "missing_external", "missing_internal", "elapsed_ns"] as const;

/** Breaks by type, of ledgers in which no key occurs twice on a side. */
export interface Counts {
  mismatch: number;
  missing_external: number;
  missing_internal: number;
}

export interface BaselineResult extends Counts {
  records: number;
  matched: number;
  elapsed_ns: number;
}

/** Runs to its end before it returns. `threads` matters to the reads only. Throws a ReconError with the reason. */
export function runBaseline(kind: BaselineKind, internal: string, external: string, threads: number): BaselineResult {
  const result = new BigUint64Array(members.length);
  const message = new Uint8Array(1024);
  const paths = [internal, external].map((path) => new TextEncoder().encode(`${path}\0`)) as [Uint8Array, Uint8Array];
  const status = load().recon_baseline_run(kinds[kind], ...paths, threads, result, message, message);
  if (status !== 0) throw failure(kind, message);
  return Object.fromEntries(members.map((name, i) => [name, Number(result[i])])) as unknown as BaselineResult;
}

/** Messages of one length, and what is done with them. */
export interface FixBatch {
  bytes: Uint8Array;
  messageBytes: number;
  /** Messages in one sample. */
  group: number;
  rounds: number;
  checked: boolean;
  /** The four fields that are looked up. */
  tags: readonly [number, number, number, number];
}

export interface FixBatchResult {
  /** Nanoseconds of each group, in the order they were taken. */
  samples_ns: number[];
  /** FNV-1a of the four fields of every message, in hexadecimal. */
  digest: string;
  /** In all rounds together. */
  allocations: number;
  fourFields_ns: number;
}

/** The conventional FIX parser (zig/baseline/conventional_fix.cpp) on one pinned core. Throws a ReconError with the reason. */
export function runConventionalFix({ bytes, messageBytes, group, rounds, checked, tags }: FixBatch): FixBatchResult {
  const messages = bytes.length / messageBytes;
  const numbers = [messages, messageBytes, group, rounds, Number(checked), ...tags, 0, 0, 0];
  const batch = new BigUint64Array(numbers.map(BigInt));
  const samples = new BigUint64Array((rounds * messages) / group);
  const message = new Uint8Array(1024);
  if (load().recon_baseline_fix(bytes, batch, samples, message, message) !== 0) throw failure("FIX", message);
  const [digest, allocations, fourFields_ps] = batch.subarray(numbers.length - 3) as unknown as [
    bigint,
    bigint,
    bigint,
  ];
  return {
    samples_ns: [...samples].map(Number),
    digest: digest.toString(16).padStart(16, "0"),
    allocations: Number(allocations),
    fourFields_ns: Number(fourFields_ps) / 1000,
  };
}

function failure(kind: string, message: Uint8Array): Error {
  const text = new TextDecoder().decode(message.subarray(0, message.indexOf(0)));
  return problem("baseline", `the ${kind} baseline failed: ${text}`);
}

function load() {
  return (loaded ??= openEmbedded(locate(), (path) => dlopen(path, symbols).symbols));
}
let loaded: ReturnType<typeof dlopen<typeof symbols>>["symbols"] | undefined;

function locate(): string {
  try {
    // A require, because the file need not be there until it is used.
    return (require("./embedded") as { default: string }).default;
  } catch {
    throw problem("baseline", "the baselines have not been built: zig-out/lib/librecon_baseline.so is missing", {
      hint: "run `bun run build`",
    });
  }
}
