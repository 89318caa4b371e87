// `recon bench fix`: the engine's FIX parser beside a conventional one on the same messages, and over a whole log. What they
// read is compared before anything is said about time. Used by cli/bench.ts; how it is measured is in docs/benchmarks.md.
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { runBaseline, runConventionalFix } from "./baseline";
import { messageKinds, messageCount, messagesOf, type MessageKind } from "./fix-messages";
import { describeMachine, type Machine } from "./machine";
import { makePair } from "./pairs";
import { median, ratio, timing, type Ratio } from "./statistics";
import type { Engine } from "../engine/engine";
import { problem, ReconError } from "../errors";
import type { BenchResult, BenchSpec, FileSpec } from "../generated/abi";

export interface FixBenchOptions {
  engine: Engine;
  threads: number;
  /** Executions in the log. */
  rows: number;
  reps: number;
  folder: string;
  /** Called before each step that takes time. */
  say(text: string): void;
}

export type Parser = "recon" | "conventional";

export interface ParserResult {
  parser: Parser;
  message: MessageKind["name"];
  /** BodyLength and CheckSum are verified. */
  checked: boolean;
  /** Nanoseconds a message: the median of whole batches, and of groups of 64 messages. */
  batchNs: number;
  p50Ns: number;
  p99Ns: number;
  /** Nanoseconds for four fields of a message that was parsed. */
  fourFieldsNs: number;
  /** A message. */
  allocations: number;
}

export interface BulkResult {
  parser: Parser;
  threads: number;
  messages: number;
  bytes: number;
  bytesPerSecond: number;
  messagesPerSecond: number;
}

export interface FixBenchDocument {
  machine: Machine;
  version: string;
  commit: string;
  rows: number;
  reps: number;
  parsers: ParserResult[];
  bulk: BulkResult[];
  ratios: (Ratio & { of: string; to: string })[];
}

/** Messages between two looks at the clock, batches in one repetition, and readings of four fields in one sample. */
const group = 64;
const rounds = 50;
const readings = 256;

type Named<T> = { result: T; label: string; samples: number[] };

/** Throws a ReconError where the parsers read different values: there is nothing to time then. */
export async function runFixBench(options: FixBenchOptions): Promise<Omit<FixBenchDocument, "version" | "commit">> {
  const parsed: Named<ParserResult>[] = [];
  for (const kind of messageKinds) {
    for (const checked of [true, false]) {
      options.say(`${kind.name}, ${checked ? "verified" : "not verified"}`);
      parsed.push(...(await measureMessages(kind, checked, options)));
    }
  }
  const bulk = await measureLog(options);
  const { rows, reps } = options;
  return {
    machine: describeMachine(),
    rows,
    reps,
    parsers: parsed.map(({ result }) => result),
    bulk: bulk.map(({ result }) => result),
    ratios: [...ratiosOf(parsed), ...ratiosOf(bulk)],
  };
}

/** Both parsers in turn, repetition by repetition, so that whatever slows the machine down slows both. */
async function measureMessages(
  kind: MessageKind,
  checked: boolean,
  { engine, reps }: FixBenchOptions,
): Promise<Named<ParserResult>[]> {
  const bytes = messagesOf(kind);
  using file = memoryFile(engine, kind.name, bytes);
  const { bytes: messageBytes, tags } = kind;
  const spec = { file: file.spec, message_bytes: messageBytes, tags: [...tags], pin: true };
  const part = checked ? "fix_parse" : "fix_parse_unchecked";
  const mine: Sampled = { samples_ns: [], allocations: 0, fourFields_ns: [] };
  const theirs: Sampled = { samples_ns: [], allocations: 0, fourFields_ns: [] };
  for (let i = 0; i < reps; i++) {
    const parse = await runPart(engine, { ...spec, part, group, rounds });
    const fields = await runPart(engine, { ...spec, part: "fix_fields", group: readings });
    const conventional = runConventionalFix({ bytes, messageBytes, group, rounds, checked, tags });
    if (parse.digest !== conventional.digest) {
      throw problem("bench_counts", `${kind.name}: the parsers read different values`);
    }
    mine.samples_ns.push(parse.samples_ns);
    mine.allocations += parse.allocations;
    mine.fourFields_ns.push(median(fields.samples_ns) / readings);
    theirs.samples_ns.push(conventional.samples_ns);
    theirs.allocations += conventional.allocations;
    theirs.fourFields_ns.push(conventional.fourFields_ns);
  }
  const describe = (parser: Parser, sampled: Sampled) => describeParser(parser, kind.name, checked, sampled);
  return [describe("recon", mine), describe("conventional", theirs)];
}

interface Sampled {
  /** By repetition: nanoseconds of each group. */
  samples_ns: number[][];
  allocations: number;
  fourFields_ns: number[];
}

function describeParser(
  parser: Parser,
  message: MessageKind["name"],
  checked: boolean,
  { samples_ns, allocations, fourFields_ns }: Sampled,
): Named<ParserResult> {
  const groups = samples_ns.flat().sort((a, b) => a - b);
  const batches = samples_ns.map((samples) => median(wholeBatches(samples)) / messageCount);
  const result = {
    parser,
    message,
    checked,
    batchNs: rounded(median(batches)),
    p50Ns: rounded(quantile(groups, 0.5) / group),
    p99Ns: rounded(quantile(groups, 0.99) / group),
    fourFieldsNs: rounded(median(fourFields_ns)),
    allocations: allocations / (samples_ns.length * rounds * messageCount),
  };
  return { result, label: `${message}${checked ? "" : ", not verified"}`, samples: batches };
}

function wholeBatches(samples: readonly number[]): number[] {
  const perBatch = messageCount / group;
  return Array.from({ length: samples.length / perBatch }, (_, i) =>
    samples.slice(i * perBatch, (i + 1) * perBatch).reduce((sum, ns) => sum + ns, 0),
  );
}

async function measureLog(options: FixBenchOptions): Promise<Named<BulkResult>[]> {
  const { engine, threads, rows, reps, folder, say } = options;
  say("FIX log");
  const { external: path } = await makePair(engine, folder, "fix", rows, threads);
  using file = opened(path);
  const { size } = file.spec;
  const runs: { parser: Parser; threads: number; samples_ns: number[]; messages: number }[] = [];
  for (const count of new Set([1, threads])) {
    say(`FIX log, ${count} threads`);
    const spec = { part: "fix_log", file: file.spec, rounds: reps, threads: count } as const;
    const { samples_ns, group: messages } = await runPart(engine, spec);
    runs.push({ parser: "recon", threads: count, samples_ns, messages });
  }
  say("FIX log, conventional parser");
  // Once is enough: it takes long, and nothing hangs on its last percent.
  const { records, elapsed_ns } = runBaseline("fixLog", path, path, 1);
  runs.push({ parser: "conventional", threads: 1, samples_ns: [elapsed_ns], messages: records });
  const counts = new Set(runs.map(({ messages }) => messages));
  if (counts.size > 1)
    throw problem("bench_counts", `the parsers find ${[...counts].join(" and ")} messages`, { path });
  return runs.map(({ parser, threads: used, samples_ns, messages }) => {
    const seconds = median(samples_ns) / 1e9;
    const [bytesPerSecond, messagesPerSecond] = [size, messages].map((count) => Math.round(count / seconds));
    const result = { parser, threads: used, messages, bytes: size, bytesPerSecond, messagesPerSecond } as BulkResult;
    return { result, label: `log, ${used} thread${used === 1 ? "" : "s"}`, samples: samples_ns };
  });
}

/** The conventional parser over recon's wherever both did the same, and one thread over all. */
function ratiosOf<T extends { parser: Parser }>(named: readonly Named<T>[]): FixBenchDocument["ratios"] {
  const compared = (of: Named<T>, to: Named<T>) => {
    const [from, by] = [of, to].map(({ result, label }) => `${result.parser} ${label}`) as [string, string];
    return { of: from, to: by, ...ratio(timing(of.samples), timing(to.samples)) };
  };
  const mine = named.filter(({ result }) => result.parser === "recon");
  const theirs = named.filter(({ result }) => result.parser === "conventional");
  const against = theirs.flatMap((one) =>
    mine.filter(({ label }) => label === one.label).map((other) => compared(one, other)),
  );
  const [first, last] = [mine[0], mine.at(-1)];
  const scaled = first && last && first !== last && "threads" in first.result ? [compared(first, last)] : [];
  return [...against, ...scaled];
}

async function runPart(engine: Engine, bench: BenchSpec): Promise<BenchResult> {
  const result = await engine.run({ bench });
  if (result.outcome !== "done") throw new ReconError(result.errors);
  return result;
}

function memoryFile(engine: Engine, name: string, bytes: Uint8Array): Disposable & { spec: FileSpec } {
  const fd = engine.memoryFile(name);
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at);
  return { spec: { fd, path: name, size: bytes.length }, [Symbol.dispose]: () => closeSync(fd) };
}

function opened(path: string): Disposable & { spec: FileSpec } {
  const fd = openSync(path, "r");
  return { spec: { fd, path, size: statSync(path).size }, [Symbol.dispose]: () => closeSync(fd) };
}

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor((sorted.length - 1) * part)]!;
const rounded = (ns: number) => Math.round(ns * 100) / 100;
