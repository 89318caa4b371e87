// The first values of a ledger's columns, for proposals. Used by `recon inspect` and `recon init`.
import { trimmed, type LedgerContext, type OpenLedger } from "./ledger";

/** The values of the first rows of the first file, by column. Damaged rows are left out. */
export async function sampleColumns(
  { spec, columns }: OpenLedger,
  rows: number,
  { engine, signal }: LedgerContext,
): Promise<string[][]> {
  const { delimiter, quote = null, trim = false } = spec;
  const sample = { file: spec.files[0]!, delimiter, quote, trim, records: rows };
  const { records } = await engine.run({ sample }, { signal });
  const width = columns.length + (spec.trailing || spec.origin ? 1 : 0);
  const sound = records
    .filter(({ problem, fields }) => problem === null && fields.length === width)
    .map((record) => record.fields.map(({ text }) => (trim ? trimmed(text) : text)));
  return columns.map((_, i) => sound.map((row) => row[i] ?? ""));
}
