// Every code that opening a ledger can end with or note, in one list: it types the errors and notes of this folder and
// is printed by the docs.
import { problem, type ReconError } from "../errors";
import type { ErrorItem, Note } from "../generated/abi";

export const ledgerErrors = {
  not_found: "no such file, or no file matches the pattern",
  unreadable: "the file is there but cannot be opened or read, or is not a kind of file that holds data",
  empty: "the file has no record at all",
  bad_compression: "a gzip or zstd stream is cut, damaged, or followed by something else",
  encoding: "the bytes are not in the encoding they are read in",
  spool: "the temporary copy of a stream cannot be written",
  delimiter: "the header has one column and another delimiter would split it",
  header: "it cannot be told whether there is a header, or headers that must be alike differ",
  trailer: "the control record at the end of a file is missing, malformed, or does not agree with the rows",
  format:
    "a file that is read as FIX has no FIX message, or it cannot be told whether its columns count or the messages in one",
  columns: "a column that is needed is not there, is there twice, or is named twice",
  changed: "the file changed while it was read",
} as const;

export const ledgerNotes = {
  header: "whether the first record was read as a header, and why",
  columns: "columns that only one side has, that no side has, or whose rules have nothing to compare",
  grouped: "columns of a grouped side that are not compared, because they are neither by, sum nor vwap",
  keys_only: "no column was left to compare",
  trailing_column: "an empty unnamed last column was left out",
  encoding: "a byte order mark decided the encoding against the option",
  log_order: "busts or corrections come before what they refer to: logs that are not in the order of their names",
  same_file: "both sides are the same file",
} as const;

export type LedgerErrorCode = keyof typeof ledgerErrors;
export type LedgerNoteCode = keyof typeof ledgerNotes;

/** An error of this folder that is about the file shown as `path`. */
export function fault(
  code: LedgerErrorCode,
  path: string,
  message: string,
  rest: Partial<Pick<ErrorItem, "line" | "hint">> = {},
): ReconError {
  return problem(code, message, { path, ...rest });
}

export function note(code: LedgerNoteCode, message: string): Note {
  return { code, message };
}
