// The one error class for everything that ends a run with exit status 2. Thrown by option parsing, ledger opening,
// the engine wrapper and output files; turned into text and JSON by the report folder, never anywhere else.
import type { ErrorItem } from "./generated/abi";

/** The job could not be done. `total` counts all problems, `items` holds those that are listed. */
export class ReconError extends Error {
  readonly items: ErrorItem[];
  readonly total: number;

  constructor(items: ErrorItem[], total = items.length) {
    super(items[0]?.message ?? "unknown error");
    this.name = "ReconError";
    this.items = items;
    this.total = total;
  }
}

/** A single problem, with only the members that are known. */
export function problem(code: string, message: string, rest: Partial<ErrorItem> = {}): ReconError {
  return new ReconError([{ code, path: "", line: 0, column: 0, message, hint: "", ...rest }]);
}
