// What a finished reconciliation is, for every form of report. Made by cli/run.ts.
import type { BreakType, Note, RunResult } from "../generated/abi";
import type { OpenedPair } from "../ledger/ledger";

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

/** Break types with their counts, in order; those of FIX only where a side is FIX. */
export function countedBreaks({ pair, result }: Report): [BreakType, number][] {
  const isFix = [pair.internal, pair.external].some(({ spec }) => spec.origin && !spec.origin.grouped);
  const entries = Object.entries(result.breaks) as [BreakType, number][];
  return entries.filter(([type]) => isFix || (type !== "orphan" && type !== "conflict"));
}
