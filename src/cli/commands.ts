// The commands: what help says about each and where its code is. Read by main.ts and help.ts.
import type { Invocation } from "./arguments";
import type { CommandName } from "./options";

/** A command's module. `execute` returns the exit status; it throws ReconError or Stopped where there is no verdict. */
export interface CommandModule {
  execute(invocation: Invocation): Promise<number>;
}

export interface Command {
  usage: readonly string[];
  summary: string;
  examples: readonly string[];
  /** Modules are loaded when needed: start-up has a budget of milliseconds. */
  load(): Promise<CommandModule>;
}

export const commands: Record<CommandName, Command> = {
  run: {
    usage: ["recon INTERNAL EXTERNAL [options]", "recon run INTERNAL EXTERNAL [options]"],
    summary: "reconcile two ledgers",
    examples: [
      "recon ours.csv theirs.csv --key trade_id",
      "recon ours.csv theirs.csv --key trade_id,venue=mic --compare price,quantity=qty --breaks breaks.csv",
      "recon ours.csv 'broker/2026-03-02*.csv.gz' --external-delimiter ';' --on-bad-row reject --rejects rejects.csv",
      "zstd -dc ours.csv.zst | recon - theirs.csv --json --breaks breaks.jsonl",
    ],
    load: () => import("./run"),
  },
  inspect: {
    usage: ["recon inspect FILE… [options]"],
    summary: "what recon sees: format, dialect, header, columns, types, rows, key candidates",
    examples: ["recon inspect ours.csv theirs.csv", "recon inspect theirs.csv --json"],
    load: () => import("./inspect"),
  },
  explain: {
    usage: ["recon explain INTERNAL EXTERNAL --key COLS KEY… [options]"],
    summary: "why one key matched or broke",
    examples: [
      "recon explain ours.csv theirs.csv --key trade_id T000123",
      `recon explain ours.csv theirs.csv --key trade_id,venue 'T000123,XLON' '"A,1",XLON'`,
    ],
    load: () => import("./explain"),
  },
  init: {
    usage: ["recon init INTERNAL EXTERNAL [options]"],
    summary: "write a commented recon.toml for two ledgers",
    examples: [
      "recon init ours.csv theirs.csv",
      "recon init ours.csv theirs.csv --key trade_id,venue=mic --output rules/broker.toml",
    ],
    load: () => import("./init"),
  },
  fix: {
    usage: ["recon fix FILE… [options]"],
    summary: "the audit of one FIX log: executions, busts, gaps, CumQty and AvgPx against the fills",
    examples: ["recon fix venue.log", "recon fix 'logs/venue.messages.*.log' --json"],
    load: () => import("./fix"),
  },
  generate: {
    usage: ["recon generate DIR [options]", "recon generate --score TRUTH BREAKS"],
    summary: "a pair of ledgers with known breaks, and how well a run found them",
    examples: [
      "recon generate data/demo --rows 1000000 --seed 7 --order shuffled --breaks 100 --missing 50 --benign 200",
      "recon generate data/fix --rows 100000 --format fix --order shuffled --breaks 50",
      "recon generate --score data/demo/truth.jsonl breaks.jsonl",
    ],
    load: () => import("./generate"),
  },
  bench: {
    usage: ["recon bench [SCENARIO…] [options]", "recon bench fix [options]"],
    summary: "the engine against conventional programs and against memory, on generated ledgers",
    examples: ["recon bench", "recon bench nominal baseline-c floor --rows 1000000 --reps 3", "recon bench fix"],
    load: () => import("./bench"),
  },
};
