// What a finished reconciliation is, for every form of report. Made by cli/run.ts.
import type { RunResult } from "../generated/abi";
import type { OpenedPair } from "../ledger/ledger";
import type { Note } from "../generated/abi";

export interface Report {
  pair: OpenedPair;
  result: RunResult;
  /** Of the opened pair, the engine and the run, in that order. */
  notes: Note[];
  exitCode: 0 | 1;
  elapsed_ms: number;
  /** Breaks of all types. */
  total: number;
  /** Where all breaks are; null if nobody asked. */
  breaksPath: string | null;
  rejectsPath: string | null;
}

/** One line of the `.jsonl` breaks file, as the engine also gives it in `RunResult.shown`. */
export interface Break {
  break: number;
  type: string;
  key: Record<string, string>;
  internal: Place | null;
  external: Place | null;
  columns: Record<string, BrokenColumn>;
  reason?: { code: string; message: string };
}

export interface Place {
  path: string;
  line: number;
}

/** `how` says which rule made the values equal or different (recon explain only). */
export interface BrokenColumn {
  internal: string | null;
  external: string | null;
  difference: string;
  how?: string;
}
