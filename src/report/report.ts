// What a finished reconciliation is, for every form of report. Made by cli/run.ts.
import type { BreakType, Note, RunResult, ToleranceUnit, ValueType } from "../generated/abi";
import type { RuledPair } from "../ledger/ledger";

export interface Report {
  pair: RuledPair;
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
  /** Of a folded row: what it was made of, itself included. */
  members?: { path: string; line: number }[];
}

/** What stands behind `difference` says how the values were read and compared (recon explain only). */
export interface BrokenColumn {
  internal: string | null;
  external: string | null;
  difference: string;
  columnType?: ValueType;
  how?: "equal_bytes" | "equal_by_value" | "within_tolerance" | "differs";
  /** After all rules; decimals as plain numbers. */
  internalValue?: string;
  externalValue?: string;
  /** `bound` is what a share comes to for these two values. */
  tolerance?: { amount: string; unit: ToleranceUnit; max?: string; bound?: string };
  /** Which rules made the value of what the file has, in the order they were applied. */
  internalRules?: string[];
  externalRules?: string[];
}

/** Break types with their counts, in order; those of FIX only where a side is FIX. */
export function countedBreaks({ pair, result }: Report): [BreakType, number][] {
  const isFix = [pair.internal, pair.external].some(({ format }) => format === "fix");
  const entries = Object.entries(result.breaks) as [BreakType, number][];
  return entries.filter(([type]) => isFix || (type !== "orphan" && type !== "conflict"));
}
