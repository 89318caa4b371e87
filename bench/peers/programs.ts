// The programs that bench/peers/run.ts measures: how each is started and what its answer says.
import { join } from "node:path";
import type { Counts } from "../../src/bench/baseline";
import type { Pair } from "../../src/bench/pairs";

/** What one run is about. */
export interface Job {
  pair: Pair;
  /** The key first. */
  columns: readonly string[];
  compared: readonly string[];
  threads: number;
  /** More options for recon. */
  options: readonly string[];
  /** Every break is written to a file. */
  writesBreaks: boolean;
}

/** What one run of a program says. A program that does not time itself is timed from start to end; one that compares
    nothing has no counts. */
export interface Answer {
  elapsed_ms?: number;
  counts: Counts | null;
}

export interface Program {
  /** What is timed. */
  timed: string;
  command(job: Job): string[];
  environment?: (job: Job) => Record<string, string>;
  read(output: string): Answer;
}

const script = (name: string) => [process.execPath, join(import.meta.dir, name)];

/** What the scripts of DuckDB and Polars are told. */
const told = ({ pair: { internal, external }, columns, compared, threads }: Job, breaks: string | null) =>
  JSON.stringify({ internal, external, threads, columns, compared, breaks });

export const peers = {
  duckdb: {
    timed: "the query that counts breaks, without start-up",
    command: (job) => [...script("duckdb.mjs"), told(job, null)],
    read: JSON.parse,
  },
  "duckdb-breaks": {
    timed: "the query that writes every break to a JSON file, without start-up, in no order and without line numbers",
    command: (job) => [...script("duckdb.mjs"), told(job, join(job.pair.folder, "duckdb-breaks.csv"))],
    read: JSON.parse,
  },
  polars: {
    timed: "the query that counts breaks, without start-up",
    command: (job) => [...script("polars.mjs"), told(job, null)],
    environment: ({ threads }) => ({ POLARS_MAX_THREADS: String(threads) }),
    read: JSON.parse,
  },
  comm: {
    timed: "the whole process, one thread",
    command: ({ pair: { internal, external } }) => ["comm", "-3", "--nocheck-order", internal, external],
    environment: () => ({ LC_ALL: "C" }),
    read: (output) => ({ counts: countLines(output) }),
  },
  gunzip: gunzip("gzip -dc of both files at once, each to a file", "&"),
  "gunzip-in-turn": gunzip("gzip -dc of one file after the other, each to a file", ";"),
} satisfies Record<string, Program>;

export type PeerName = keyof typeof peers;

/** `level` forces a CPU level. */
export function recon(executable: string, level?: string): Program {
  return {
    timed: "the whole process, start-up included",
    command: ({ pair: { folder, internal, external }, columns, compared, threads, options, writesBreaks }) => [
      executable,
      ...[internal, external, "--key", columns[0]!, "--compare", compared.join(",")],
      ...["--json", "--threads", String(threads), ...options],
      ...(writesBreaks ? ["--breaks", join(folder, "breaks.csv")] : []),
    ],
    environment: () => (level === undefined ? {} : { RECON_CPU: level }),
    read: (output) => {
      const { mismatch, missing_external, missing_internal } = JSON.parse(output).breaks;
      return { counts: { mismatch, missing_external, missing_internal } };
    },
  };
}

function gunzip(timed: string, between: "&" | ";"): Program {
  const both = `gzip -dc "$1" > "$3" ${between} gzip -dc "$2" > "$4"; wait`;
  return {
    timed,
    command: ({ pair: { folder, internal, external } }) => [
      ...["sh", "-c", both, "sh", internal, external],
      ...["unpacked-internal.csv", "unpacked-external.csv"].map((name) => join(folder, name)),
    ],
    read: () => ({ counts: null }),
  };
}

/** Lines of `comm -3`: those of the external file are indented. A key on both sides is a mismatch. */
function countLines(output: string): Counts {
  const keys = { internal: new Set<string>(), external: new Set<string>() };
  for (const line of output.split("\n").filter((text) => text !== "")) {
    const side = line.startsWith("\t") ? keys.external : keys.internal;
    side.add(line.trimStart().split(",")[0]!);
  }
  const mismatch = keys.internal.intersection(keys.external).size;
  return {
    mismatch,
    missing_external: keys.internal.size - mismatch,
    missing_internal: keys.external.size - mismatch,
  };
}
