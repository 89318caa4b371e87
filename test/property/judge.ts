// Runs the executable on a pair of ledgers in one of many ways and lists what differs from the oracle; makes a failing
// pair smaller and prints how to repeat it. Used by the property tests.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { requireExecutable, runCommand } from "../executable";
import type { LedgerPair, Random } from "./ledgers";
import {
  breaksCsv,
  breaksJsonl,
  reconcile,
  rejectsCsv,
  type Fault,
  type InputFile,
  type Result,
  type SideOptions,
  type Verdict,
} from "./oracle";

/** One way to run the same reconciliation; none of it may change the result. */
export interface Way {
  level: string;
  threads: number;
  chunkBytes: number | null;
  hashBits: number | null;
  plan: "auto" | "hash" | "merge";
  /** For `--memory`; null for its default. */
  memory: string | null;
  format: "jsonl" | "csv";
  transport: "plain" | "gzip" | "zstd" | "utf-16le" | "utf-16be";
  rejectsFile: boolean;
}

/** The levels this machine can run. */
export function cpuLevels(): string[] {
  if (process.arch === "arm64") return ["arm64"];
  const flags =
    readFileSync("/proc/cpuinfo", "utf8")
      .match(/^flags.*$/m)?.[0]
      .split(" ") ?? [];
  const has = (...wanted: string[]) => wanted.every((flag) => flags.includes(flag));
  const v3 = has("avx2", "bmi2", "fma", "movbe") ? ["v3"] : [];
  return ["v2", ...v3, ...(v3.length > 0 && has("avx512f", "avx512bw", "avx512dq", "avx512vl") ? ["v4"] : [])];
}

export function randomWay(random: Random, level: string): Way {
  return {
    level,
    threads: random.pick([1, 2, 3, 7, 16]),
    chunkBytes: random.pick([64, 64, 100, 333, 4096, null]),
    hashBits: random.pick([0, 4, 64, null]),
    plan: random.pick(["auto", "hash", "merge"]),
    memory: random.pick(["1KiB", "1MiB", null, null]),
    format: random.pick(["jsonl", "csv"]),
    transport: random.chance(0.7) ? "plain" : random.pick(["gzip", "zstd", "utf-16le", "utf-16be"]),
    rejectsFile: random.chance(0.5),
  };
}

const delimiterName = (delimiter: number) => (delimiter === 0x09 ? "tab" : String.fromCharCode(delimiter));

/** The options of one side, without the side's prefix. */
function sideArguments(side: SideOptions): string[][] {
  return [
    side.delimiter === null ? [] : ["delimiter", delimiterName(side.delimiter)],
    side.quote === 0x22 ? [] : ["quote", side.quote === null ? "none" : String.fromCharCode(side.quote)],
    side.header === "auto" ? [] : ["header", side.header],
    side.columns === null ? [] : ["columns", side.columns.join(",")],
    side.trim ? ["trim"] : [],
    side.foldCase ? ["fold-case"] : [],
  ];
}

export function argumentsOf({ internal, external, options }: LedgerPair, way: Way): string[] {
  const ledger = (files: InputFile[]) =>
    files.length === 1 ? (files[0] as InputFile).path : files[0]?.path.replace("1", "*");
  const args = [ledger(internal) as string, ledger(external) as string];
  const mine = sideArguments(options.internal);
  const theirs = sideArguments(options.external);
  for (const [i, option] of mine.entries()) {
    const other = theirs[i] as string[];
    const both =
      option.join() === other.join()
        ? [["", option]]
        : [
            ["internal-", option],
            ["external-", other],
          ];
    for (const [prefix, [name, ...value]] of both as [string, string[]][])
      if (name !== undefined) args.push(`--${prefix}${name}`, ...value);
  }
  if (options.key !== null) args.push("--key", options.key.join(","));
  if (options.compare !== null) args.push("--compare", options.compare.join(","));
  if (options.ignore.length > 0) args.push("--ignore", options.ignore.join(","));
  if (options.reject && way.rejectsFile) args.push("--rejects", "rejects.csv");
  else if (options.reject) args.push("--on-bad-row", "reject");
  if (options.unique) args.push("--unique");
  if (options.maxBreaks > 0) args.push("--max-breaks", String(options.maxBreaks));
  if (way.memory !== null) args.push("--memory", way.memory);
  args.push("--threads", String(way.threads), "--plan", way.plan, "--breaks", `breaks.${way.format}`, "--json");
  return args;
}

export function environmentOf(way: Way): Record<string, string> {
  return {
    RECON_CPU: way.level,
    ...(way.chunkBytes === null ? {} : { RECON_CHUNK_BYTES: String(way.chunkBytes) }),
    ...(way.hashBits === null ? {} : { RECON_HASH_BITS: String(way.hashBits) }),
  };
}

/** What differs from the oracle; empty if nothing does, null where the contract is silent. `told` is what the oracle sees. */
export async function judge(pair: LedgerPair, way: Way, folder: string, told = pair): Promise<string[] | null> {
  const expected = reconcile(told.internal, told.external, told.options);
  if (expected.kind === "unspecified") return null;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = [...pair.internal, ...pair.external];
  const transport = way.transport.startsWith("utf-16") && !files.every(isUtf8) ? "plain" : way.transport;
  for (const file of files) writeFileSync(join(folder, file.path), carried(file.bytes, transport));
  const done = await runCommand([requireExecutable(), ...argumentsOf(pair, way)], {
    cwd: folder,
    env: environmentOf(way),
  });
  const breaksPath = join(folder, `breaks.${way.format}`);
  const rejectsPath = join(folder, "rejects.csv");
  const outputs = {
    breaks: existsSync(breaksPath) ? readFileSync(breaksPath) : null,
    rejects: existsSync(rejectsPath) ? readFileSync(rejectsPath) : null,
  };
  const exitCode = expected.kind === "error" ? 2 : expected.exitCode;
  if (done.exitCode !== exitCode) {
    const why = expected.kind === "error" ? ` (${expected.why})` : "";
    return [
      `exit ${done.exitCode ?? done.signal}, expected ${exitCode}${why}; it said: ${done.stderr.trim().slice(0, 400)}`,
    ];
  }
  let document: Document_;
  try {
    document = JSON.parse(Buffer.from(done.stdout).toString("utf8"));
  } catch (error) {
    return [`standard output is not JSON: ${error}`];
  }
  if (expected.kind === "error") return errorDifferences(expected, document, outputs, done.stderr);
  return verdictDifferences(expected, document, outputs, pair, way);
}

function isUtf8(file: InputFile): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(file.bytes);
    return true;
  } catch {
    return false;
  }
}

function carried(bytes: Uint8Array, transport: Way["transport"]): Uint8Array {
  if (transport === "plain") return bytes;
  if (transport === "gzip") {
    const half = bytes.length >> 1;
    return Buffer.concat([gzipSync(bytes.subarray(0, half)), gzipSync(bytes.subarray(half))]);
  }
  if (transport === "zstd") return zstdCompressSync(bytes);
  const wide = Buffer.from(`\ufeff${new TextDecoder("utf-8").decode(bytes)}`, "utf16le");
  return transport === "utf-16le" ? wide : wide.swap16();
}

interface Document_ {
  status?: string;
  exitCode?: number;
  matched?: number;
  breaks?: Record<string, number>;
  internal?: Record<string, unknown>;
  external?: Record<string, unknown>;
  columns?: Record<string, unknown>;
  hints?: { code: string; rows: number; option: string | null }[];
  errors?: { code: string; path: string; line: number; column: number }[];
}

interface Outputs {
  breaks: Buffer | null;
  rejects: Buffer | null;
}

function errorDifferences(
  expected: Result & { kind: "error" },
  document: Document_,
  outputs: Outputs,
  stderr: string,
): string[] {
  const found: string[] = [];
  if (document.status !== "error") found.push(`status ${document.status}`);
  if (document.matched !== undefined || document.breaks !== undefined)
    found.push("matched or breaks although exit is 2");
  if (outputs.breaks !== null || outputs.rejects !== null) found.push("an output file was left although exit is 2");
  if (stderr.trim() === "") found.push("nothing on standard error");
  const errors = document.errors ?? [];
  if (errors.length === 0) found.push("no errors in the document");
  if (expected.faults === null) return found;
  if (expected.faults.every(({ places }) => places.length === 0)) {
    // Whole files are opened side by side, and one that fails stops the other.
    const paths = expected.faults.map(({ path }) => path);
    return errors.every(({ path, line }) => paths.includes(path) && line === 0)
      ? found
      : [`errors: ${JSON.stringify(errors)}`];
  }
  const faults = expected.faults.slice(0, 20);
  const shown = `${JSON.stringify(errors.map((e) => [e.path, e.line, e.column]))}, expected ${JSON.stringify(faults)}`;
  if (errors.length !== faults.length) found.push(`${errors.length} errors: ${shown}`);
  else if (!faults.every((fault, i) => isFault(fault, errors[i] as { path: string; line: number; column: number })))
    found.push(`errors: ${shown}`);
  return found;
}

function isFault(fault: Fault, error: { path: string; line: number; column: number }): boolean {
  if (fault.path !== error.path) return false;
  const fits = ({ line, column }: { line: number; column: number }) =>
    line === error.line && (column === 0 || column === error.column);
  return fault.places.some(fits);
}

function verdictDifferences(
  expected: Verdict,
  document: Document_,
  outputs: Outputs,
  pair: LedgerPair,
  way: Way,
): string[] {
  const found: string[] = [];
  const compare = (what: string, mine: unknown, theirs: unknown) => {
    if (JSON.stringify(mine) !== JSON.stringify(theirs))
      found.push(`${what}: got ${JSON.stringify(theirs)}, expected ${JSON.stringify(mine)}`);
  };
  compare("status", expected.exitCode === 0 ? "reconciled" : "breaks", document.status);
  compare("exitCode", expected.exitCode, document.exitCode);
  compare("matched", expected.matched, document.matched);
  const types = [
    "mismatch",
    "missing_external",
    "missing_internal",
    "duplicate_internal",
    "duplicate_external",
    "missing_key",
    "rejected",
  ];
  for (const type of types)
    compare(`breaks.${type}`, expected.breaks.filter((item) => item.type === type).length, document.breaks?.[type]);
  compare("breaks.total", expected.breaks.length, document.breaks?.total);
  for (const side of ["internal", "external"] as const)
    for (const [name, value] of Object.entries(expected[side]))
      compare(`${side}.${name}`, value, document[side]?.[name]);
  compare(
    "column names",
    expected.columns.map(([name]) => name),
    Object.keys(document.columns ?? {}),
  );
  for (const [name, counts] of expected.columns) {
    const got = (document.columns?.[name] ?? {}) as Record<string, unknown>;
    for (const [member, value] of Object.entries(counts)) compare(`columns.${name}.${member}`, value, got[member]);
  }
  const hinted = (is: (hint: { code: string; option: string | null }) => boolean) =>
    document.hints?.find(is)?.rows ?? 0;
  compare(
    "hint trim",
    expected.hints.trim,
    hinted((hint) => hint.option === "--trim"),
  );
  compare(
    "hint fold-case",
    expected.hints["fold-case"],
    hinted((hint) => hint.option === "--fold-case"),
  );
  compare(
    "hint leading zeros",
    expected.hints["leading-zeros"],
    hinted((hint) => hint.code.includes("zero")),
  );
  found.push(...fileDifferences(expected, outputs, pair, way));
  return found;
}

function fileDifferences(expected: Verdict, outputs: Outputs, pair: LedgerPair, way: Way): string[] {
  const found: string[] = [];
  const compare = (what: string, mine: Uint8Array, theirs: Uint8Array | null) => {
    if (theirs === null) found.push(`no ${what}`);
    else if (!Buffer.from(mine).equals(theirs))
      found.push(`${what}\n--- got\n${quoted(theirs)}\n--- expected\n${quoted(mine)}\n---`);
  };
  const encoder = new TextEncoder();
  if (way.format === "jsonl") {
    const messages = messagesOfBreaks(outputs.breaks);
    compare("breaks.jsonl", encoder.encode(breaksJsonl(expected, messages)), outputs.breaks);
    if (messages.some((message) => message === "")) found.push("a rejected row without a message");
  } else if (pair.internal.length === 1 && pair.external.length === 1) {
    compare("breaks.csv", encoder.encode(breaksCsv(expected)), outputs.breaks);
  }
  if (pair.options.reject && way.rejectsFile)
    compare("rejects.csv", rejectsCsv(expected, messagesOfRejects(outputs.rejects, expected)), outputs.rejects);
  return found;
}

/** The program chooses the texts, so they are taken from its own file. */
function messagesOfBreaks(file: Buffer | null): string[] {
  const lines = (file?.toString("utf8") ?? "").split("\n").filter((line) => line.includes('"rejected"'));
  return lines.flatMap((line) => {
    try {
      const item = JSON.parse(line) as { type: string; reason?: { message?: unknown } };
      return item.type === "rejected" ? [String(item.reason?.message ?? "")] : [];
    } catch {
      return [""];
    }
  });
}

function messagesOfRejects(file: Buffer | null, expected: Verdict): string[] {
  let at = 0;
  const content = file?.toString("latin1") ?? "";
  return expected.rejected.map(({ path, line }) => {
    const lead = `\n${path},${line},bad_row,`;
    const start = content.indexOf(lead, at);
    if (start < 0) return "";
    const match = /"((?:[^"]|"")*)"|([^,]*)/y;
    match.lastIndex = start + lead.length;
    const found = match.exec(content);
    at = match.lastIndex;
    return Buffer.from(found?.[1]?.replaceAll('""', '"') ?? found?.[2] ?? "", "latin1").toString("utf8");
  });
}

function quoted(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .split(/(?<=\n)/)
    .map((line) => JSON.stringify(line))
    .join("\n");
}

// ---------------------------------------------------------------------------------------------------- smaller, printed

const shrinkLimit_runs = 300;

/** The smallest pair found that still differs from the oracle under this way. */
export async function shrink(pair: LedgerPair, way: Way, folder: string): Promise<{ pair: LedgerPair; way: Way }> {
  let best = { pair, way };
  let runs = 0;
  const fails = async (candidate: { pair: LedgerPair; way: Way }) => {
    if (runs >= shrinkLimit_runs) return false;
    runs += 1;
    const found = await judge(candidate.pair, candidate.way, folder);
    return found !== null && found.length > 0;
  };
  for (let smaller = true; smaller;) {
    smaller = false;
    for (const candidate of candidatesOf(best)) {
      if (!(await fails(candidate))) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

function* candidatesOf({ pair, way }: { pair: LedgerPair; way: Way }): Generator<{ pair: LedgerPair; way: Way }> {
  const simplest: Partial<Way> = {
    threads: 1,
    chunkBytes: null,
    hashBits: null,
    plan: "auto",
    memory: null,
    transport: "plain",
    rejectsFile: false,
  };
  for (const [name, value] of Object.entries(simplest))
    if (way[name as keyof Way] !== value) yield { pair, way: { ...way, [name]: value } };
  for (const side of ["internal", "external"] as const) {
    for (const [i, file] of pair[side].entries()) {
      for (const bytes of shorter(file.bytes)) {
        const files = pair[side].with(i, { ...file, bytes });
        yield { pair: { ...pair, [side]: files }, way };
      }
    }
  }
  const { options } = pair;
  const plain = { unique: false, maxBreaks: 0, ignore: [], compare: null };
  for (const [name, value] of Object.entries(plain))
    if (JSON.stringify(options[name as keyof typeof plain]) !== JSON.stringify(value))
      yield { pair: { ...pair, options: { ...options, [name]: value } }, way };
  for (const name of ["trim", "foldCase"] as const)
    for (const side of ["internal", "external"] as const)
      if (options[side][name])
        yield { pair: { ...pair, options: { ...options, [side]: { ...options[side], [name]: false } } }, way };
}

/** The file without runs of its lines, longest runs first, then without single bytes once it is small. */
export function* shorter(bytes: Uint8Array): Generator<Uint8Array> {
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .split(/(?<=\n)/);
  for (let size = lines.length >> 1; size >= 1; size >>= 1)
    for (let at = 0; at < lines.length; at += size)
      yield Buffer.from([...lines.slice(0, at), ...lines.slice(at + size)].join(""), "latin1");
  if (bytes.length > 60) return;
  for (let at = 0; at < bytes.length; at++) yield Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
}

/** Shell commands that repeat a run. Compressed and UTF-16 transports are named, not spelled out. */
export function reproduction(pair: LedgerPair, way: Way): string {
  const files = [...pair.internal, ...pair.external].map((file) => `printf '${printfText(file.bytes)}' > ${file.path}`);
  const environment = Object.entries(environmentOf(way)).map(([name, value]) => `${name}=${value}`);
  const args = argumentsOf(pair, way).map((arg) =>
    /^[\w.,=/-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`,
  );
  const note = way.transport === "plain" ? [] : [`# both files as ${way.transport}`];
  return ["cd $(mktemp -d)", ...files, ...note, `${environment.join(" ")} recon ${args.join(" ")}`].join("\n");
}

export function printfText(bytes: Uint8Array): string {
  const named: Record<number, string> = { 9: "\\t", 10: "\\n", 13: "\\r", 37: "%%", 39: "\\047", 92: "\\\\" };
  const one = (byte: number) =>
    named[byte] ?? (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`);
  return [...bytes].map(one).join("");
}
