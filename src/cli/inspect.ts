// recon inspect: how recon reads each file, what its columns look like, and which of them could be the key.
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { ledgerContext, runSettings, sideOptions } from "./ledger-options";
import type { Values } from "./options";
import { ReconError } from "../errors";
import type { ColumnSpec, Note, OnBadRow, RunResult } from "../generated/abi";
import { openLedger, type LedgerContext, type OpenLedger, type SideOptions } from "../ledger/ledger";
import { inputName } from "../ledger/source";
import { errorPlace } from "../report/errors";
import { dialect, fixCounts } from "../report/json";
import { bytesText, counted, grouped } from "../report/numbers";
import { writeOut } from "../report/standard-output";
import { delimiterText, table } from "../report/terminal";
import { safe, safeValue } from "../report/terminal-safe";
import { sampleColumns } from "../ledger/sampled-values";
import { uniqueColumns } from "../rules/correspondence";
import { sideSection, type SideDraft } from "../rules/draft";
import { lookOf, type Look } from "../rules/look";

/** Types are guessed and key candidates chosen from this many rows; the candidates are then proved on all. */
const sampled_rows = 1000;
/** Each proof reads the whole file once more. */
const proofs_max = 8;

interface Inspection {
  ledger: OpenLedger & { notes: Note[] };
  counts: RunResult["internal"];
  /** Up to 20. */
  badRows: RunResult["errors"];
  sampled: number;
  types: string[];
  /** The lines that `recon init` would write for this side. */
  rules: string[];
  /** Columns, or pairs of columns, that no two rows share and that are never empty. */
  keyCandidates: string[][];
}

export async function execute({ operands, values }: Invocation): Promise<number> {
  if (operands.length === 0) throw usage("recon inspect takes one or more files");
  using interruption = new Interruption();
  const context = ledgerContext(values, interruption.signal);
  const documents: object[] = [];
  for (const path of operands) {
    const options = sideOptions(values, "internal", path);
    using ledger = await openLedger(options, context);
    const inspection = await inspect(ledger, options, values, context);
    ledger.verifyUnchanged();
    if (values.json) documents.push(inspectionDocument(inspection));
    else if (!values.quiet) await writeOut(inspectionText(inspection));
  }
  if (values.json) {
    const document = { schemaVersion: 1, status: "inspected", exitCode: 0, files: documents, errors: [] };
    await writeOut(`${JSON.stringify(document, null, 2)}\n`);
  }
  return 0;
}

async function inspect(
  ledger: Inspection["ledger"],
  options: SideOptions,
  values: Values,
  context: LedgerContext,
): Promise<Inspection> {
  const sample = await sampleColumns(ledger, sampled_rows, context);
  const looks = sample.map(lookOf);
  const settings = runSettings(values);
  const measure = async (key: number[], on_bad_row: OnBadRow): Promise<RunResult> => {
    const columns = key.map((i): ColumnSpec => ({ name: ledger.columns[i]!, internal: i, external: i }));
    const spec = { ...settings, internal: ledger.spec, key: columns, compare: [], on_bad_row };
    return context.engine.run({ run: spec }, { signal: context.signal });
  };
  const candidates = uniqueColumns(sample).slice(0, proofs_max);
  const strict = await measure(candidates[0] ?? [0], "fail");
  const badRows = strict.errors.filter(({ code }) => code === "bad_row" || ledger.format === "fix");
  const first = badRows.length === 0 ? strict : await measure(candidates[0] ?? [0], "reject");
  // Also with bad rows set aside: a quote that never closes is none of them.
  if (first.outcome === "failed") throw new ReconError(first.errors, first.error_count);
  const keyCandidates: string[][] = [];
  for (const [i, candidate] of candidates.entries()) {
    const { internal } = i === 0 ? first : await measure(candidate, "reject");
    const unique = internal.missing_key === 0 && internal.distinct_keys === internal.rows - internal.rejected;
    if (unique && internal.rows > 0) keyCandidates.push(candidate.map((column) => ledger.columns[column]!));
  }
  return {
    ledger,
    counts: first.internal,
    badRows,
    sampled: sample[0]?.length ?? 0,
    types: looks.map(({ type }) => type),
    rules: ledger.format === "fix" ? [] : sideSection(sideDraft(options, ledger, looks, sample)),
    keyCandidates,
  };
}

function sideDraft(options: SideOptions, ledger: OpenLedger, looks: Look[], values: string[][]): SideDraft {
  const { delimiter, header, columns: names } = ledger;
  return { ...options, delimiter, header, names, looks, values };
}

function inspectionDocument({ ledger, counts, sampled, types, rules, keyCandidates, badRows }: Inspection) {
  return {
    paths: ledger.paths,
    format: ledger.format,
    bytes: ledger.bytes,
    rows: counts.rows,
    rejected: counts.rejected,
    ignored: counts.ignored + ledger.ignored,
    ...dialect(ledger),
    ...(ledger.fix === null ? {} : { fix: fixCounts(ledger.fix) }),
    types: Object.fromEntries(ledger.columns.map((name, i) => [name, types[i]])),
    typesFromRows: sampled,
    keyCandidates,
    ...(ledger.format === "fix" ? {} : { rules: rules.slice(1).join("\n") }),
    badRows,
    notes: ledger.notes,
  };
}

function inspectionText({ ledger, counts, sampled, types, rules, keyCandidates, badRows }: Inspection): string {
  const ignored = counts.ignored + ledger.ignored;
  const facts = table(
    [
      ["format", formatText(ledger)],
      ["size", bytesText(ledger.bytes)],
      ["rows", `${grouped(counts.rows)}${ignored > 0 ? `, ${counted(ignored, "line")} ignored` : ""}`],
      ["bad rows", grouped(counts.rejected)],
      [
        "key candidates",
        keyCandidates.map((names) => names.map((name) => safeValue(name)).join(",")).join("  ") || "none",
      ],
    ],
    [false, false],
  );
  const columns = table(
    ledger.columns.map((name, i) => [safeValue(name), types[i]!]),
    [false, false],
    "    ",
  );
  const problems = badRows.map((row) => `    ${errorPlace(row)}${safe(row.message)}`);
  if (counts.rejected > badRows.length) problems.push(`    and ${grouped(counts.rejected - badRows.length)} more`);
  const notes = ledger.notes.map(({ message }) => `  note: ${safe(message)}`);
  const inRules =
    ledger.format === "fix"
      ? []
      : ["  in a rules file (recon init):", ...rules.slice(1).map((line) => `    ${safe(line)}`)];
  const title = ledger.paths.map((path) => safe(inputName(path))).join(" ");
  const typesTitle = `  columns, with types guessed from the first ${counted(sampled, "row")}:`;
  return `${[title, ...facts, ...problems, typesTitle, ...columns, ...inRules, ...notes].join("\n")}\n\n`;
}

function formatText({ fix, delimiter, header }: OpenLedger): string {
  if (fix !== null) return `fix, ${counted(fix.messages, "message")}, ${counted(fix.executions, "execution")}`;
  return `csv, delimiter ${delimiterText(delimiter)}, ${header ? "header" : "no header"}`;
}
