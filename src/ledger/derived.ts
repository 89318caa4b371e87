// Derived ledgers: CSV that a job of the engine writes into an unnamed file, with a last column that says where each row
// comes from. Used by group.ts for folded ledgers and by fix/fix-ledger.ts for executions.
import { closeSync, fstatSync } from "node:fs";
import type { LedgerSpec, OriginSpec } from "../generated/abi";
import { openTemporary, type LedgerContext } from "./spool";

/** What a job wrote and came to. The caller closes the file that `spec` reads. */
export interface Derived<Result> extends Disposable {
  spec: LedgerSpec;
  result: Result;
}

/** Has `write` fill the file with rows of `width` named columns. Throws `spool` and what `write` throws. */
export async function deriveLedger<Result>(
  origin: OriginSpec,
  width: number,
  context: LedgerContext,
  write: (fd: number) => Promise<Result>,
): Promise<Derived<Result>> {
  const path = origin.paths[0]!;
  const { fd } = openTemporary(path, context);
  try {
    const result = await write(fd);
    const spec: LedgerSpec = {
      files: [{ fd, path, size: fstatSync(fd).size, start: 0, line: 1 }],
      delimiter: ",".charCodeAt(0),
      quote: '"'.charCodeAt(0),
      width,
      origin,
    };
    return { spec, result, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
