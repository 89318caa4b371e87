// FIX logs as ledgers: the engine reads the logs once and writes their effective executions into an unnamed file, which
// the run then reads like any other ledger. Used by ledger/ledger.ts and cli/fix.ts.
import { fixColumn, nearFixColumn, aliases } from "./fields";
import { ReconError } from "../errors";
import type { FileSpec, FixChecks, FixColumnSpec, FixMultileg, FixResult, FixSpec } from "../generated/abi";
import { fault } from "../ledger/codes";
import { quote } from "../ledger/columns";
import { deriveLedger, type Derived } from "../ledger/derived";
import type { LedgerContext } from "../ledger/spool";

/** How logs are read. */
export interface FixOptions {
  checks: FixChecks;
  multileg: FixMultileg;
}

/** The executions of a log. */
export interface FixLedger extends Derived<FixResult> {
  names: string[];
}

/** The column of a FIX ledger by its name. Throws `columns` for a name that is none. */
export function requiredFixColumn(name: string, path: string): FixColumnSpec {
  const column = fixColumn(name);
  if (column !== null) return column;
  const near = nearFixColumn(name);
  const hint =
    near === null
      ? `aliases are ${Object.keys(aliases).join(", ")}; a tag number, a FIX name such as LastPx, and 448[452=4] name columns too`
      : `did you mean ${quote(near)}?`;
  throw fault("columns", path, `${quote(name)} names no column of a FIX log`, { hint });
}

/** Reads logs as one ledger with the columns `names`, of which each is known to be one. */
export async function openFixLedger(
  files: FileSpec[],
  names: string[],
  { checks, multileg }: FixOptions,
  context: LedgerContext,
): Promise<FixLedger> {
  const paths = files.map(({ path }) => path);
  const columns = names.map((name) => requiredFixColumn(name, paths[0]!));
  const derived = await deriveLedger({ paths }, names.length, context, (output_fd) =>
    readFix({ files, columns, checks, multileg, output_fd }, context),
  );
  return { names, ...derived };
}

/** Throws a ReconError where the job could not be done, or no message was found. */
export async function readFix(fix: FixSpec, context: LedgerContext): Promise<FixResult> {
  const { engine, signal, threads, chunk_bytes } = context;
  const job: FixSpec = { ...fix, threads, ...(chunk_bytes === undefined ? {} : { chunk_bytes }) };
  const result = await engine.run({ fix: job }, { signal });
  if (result.outcome !== "done") throw new ReconError(result.errors);
  if (result.messages + result.rejected === 0)
    throw fault("format", fix.files[0]!.path, "there is no FIX message in it", {
      hint: "a message is 8=FIX…, a separator and 9= with digits; --format csv reads a file as CSV",
    });
  return result;
}
