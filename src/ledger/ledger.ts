// Opening ledgers: from a path, pattern or `-` and its options to descriptors, dialect, header and columns. The order of
// the steps is here; each step has its own file. Used by the commands that read ledgers.
import { ReconError } from "../errors";
import { detectFormat } from "../fix/detect";
import type { FixOptions } from "../fix/fix-ledger";
import type { ColumnSpec, ControlSpec, FileSpec, FixResult, LedgerSpec, Note, SampleResult } from "../generated/abi";
import { fault, note } from "./codes";
import type { SideRules } from "../rules/rules";
import { pairColumns, quote, type ColumnPair, type SideColumns } from "./columns";
import { DataFile, emptyHint } from "./data-file";
import type { Encoding } from "./encoding";
import { boundsOf, trailerSpec, withoutTrailer } from "./extent";
import { groupedColumns, groupNotes, groupOf, refuseUngroupedKey, type Group } from "./group";
import { decideHeader, decideHeaders, type HeaderDecision, type HeaderEvidence, type HeaderMode } from "./header";
import { evidenceOf, headerText, layOut, shown, type Layout, type SampledSide } from "./layout";
import { expandPath, inputName, isStandardInput } from "./source";
import type { LedgerContext } from "./spool";

export type { ColumnPair } from "./columns";
export type { Encoding } from "./encoding";
export type { LedgerContext } from "./spool";

/** How one side is to be read. Delimiter and quote are bytes; a null delimiter is detected, a null quote is none. */
export interface SideOptions {
  side: "internal" | "external";
  path: string;
  delimiter: number | null;
  quote: number | null;
  header: HeaderMode;
  columns: string[] | null;
  encoding: Encoding | null;
  trim: boolean;
  foldCase: boolean;
  format: "auto" | "csv" | "fix";
  /** Options that were given for this side alone and have no meaning for a FIX log. */
  csvOptions: readonly string[];
  /** How a FIX log is read. */
  fix: FixOptions;
  rules: SideRules;
}

export interface PairOptions {
  internal: SideOptions;
  external: SideOptions;
  key: ColumnPair[] | null;
  compare: ColumnPair[] | null;
  ignore: string[];
  /** Other columns that rules name, on either side. */
  named: string[];
}

/** One side, ready for the engine. Disposing it closes its descriptors. */
export interface OpenLedger extends Disposable {
  format: "csv" | "fix";
  /** What a FIX log came to. */
  fix: FixResult | null;
  paths: string[];
  /** Of the text that is read: behind decompression and transcoding. */
  bytes: number;
  header: boolean;
  delimiter: number;
  columns: string[];
  /** Lines that the engine does not read and count: in front of the first row, and behind the last. */
  ignored: number;
  /** Rows that a fold has already left out. */
  filtered: number;
  /** Which rows become one before they are compared; what is compared then are its columns. */
  group: Group | null;
  spec: LedgerSpec;
  /** Throws `changed` if a file is not what it was when it was opened. */
  verifyUnchanged(): void;
}

export interface OpenedPair extends Disposable {
  internal: OpenLedger;
  external: OpenLedger;
  key: ColumnSpec[];
  compare: ColumnSpec[];
  notes: Note[];
}

/** A pair that is read as its rules say. Disposing it closes folded ledgers, not the pair it was made from. */
export interface RuledPair extends OpenedPair {
  controls: ControlSpec[];
}

/** Opens both sides at once. Throws a ReconError with what is wrong on either, or the signal's reason. */
export async function openPair(options: PairOptions, context: LedgerContext): Promise<OpenedPair> {
  return withFiles(options, context, async (files) => {
    const isFix = both((side) => isFixLog(options[side], files[side]));
    if (!isFix.internal && !isFix.external) return describePair(options, files, context);
    const { openFixPair } = await import("../fix/fix-pair");
    const openCsv = (side: Side, wanted: string[]) => describeSide(options[side], files[side], wanted, context);
    return openFixPair({ options, files, isFix, openCsv }, context);
  });
}

function isFixLog({ format, delimiter }: SideOptions, files: DataFile[]): boolean {
  if (format !== "auto") return format === "fix";
  return files.some(({ spec }) => {
    const found = detectFormat(spec, delimiter);
    if (found.format !== "table") return found.format === "fix";
    throw fault("format", spec.path, "a column of this ledger holds FIX messages: which of the two counts?", {
      line: found.line,
      hint: "--format csv reads the columns, --format fix the messages; --internal-format and --external-format are for one side",
    });
  });
}

/** Opens a ledger on its own. Throws a ReconError, or the signal's reason. */
export async function openLedger(
  options: SideOptions,
  context: LedgerContext,
): Promise<OpenLedger & { notes: Note[] }> {
  const files = await openFiles(options, expandPath(options.path), context);
  return orClosed(files, async () => {
    if (!isFixLog(options, files)) return describeLedger(options, files, context);
    const { openFixLog } = await import("../fix/fix-pair");
    return openFixLog(options, files, context);
  });
}

/** Both sides of a pair for which no columns have been chosen. */
export interface OpenedSides extends Disposable {
  internal: OpenLedger;
  external: OpenLedger;
  columns: Sides<SideColumns>;
  notes: Note[];
}

/** Opens both sides as `openPair` does; key and compared columns say where there is a header, and need not be there. */
export async function openSides(options: PairOptions, context: LedgerContext): Promise<OpenedSides> {
  return withFiles(options, context, (files) => {
    both((side) => {
      if (!isFixLog(options[side], files[side])) return;
      const hint =
        "key, columns and types of a FIX log are known: reconcile it without a rules file, or write one by hand";
      throw fault("format", files[side][0]!.spec.path, "recon init reads CSV ledgers, and this is a FIX log", { hint });
    });
    return describeSides(options, files, context);
  });
}

async function withFiles<T>(
  options: PairOptions,
  context: LedgerContext,
  describe: (files: Sides<DataFile[]>) => Promise<T>,
): Promise<T> {
  refuseSharedStream(options);
  const paths = both((side) => expandPath(options[side].path));
  const files = await bothAtOnce(context, (side, joint) => openFiles(options[side], paths[side], joint));
  return orClosed([...files.internal, ...files.external], () => describe(files));
}

async function describePair(
  options: PairOptions,
  files: Sides<DataFile[]>,
  context: LedgerContext,
): Promise<OpenedPair> {
  const { columns, notes, ...sides } = await describeSides(options, files, context);
  const compared = both((side) => groupedColumns(columns[side], sides[side].group));
  const { key, compare, notes: columnNotes } = pairColumns(compared.internal, compared.external, options);
  both((side) => refuseUngroupedKey(side, sides[side].group, key));
  const groups = [...groupNotes(sides.internal), ...groupNotes(sides.external)];
  return { ...sides, key, compare, notes: [...notes, ...groups, ...columnNotes] };
}

async function describeSides(
  options: PairOptions,
  files: Sides<DataFile[]>,
  context: LedgerContext,
): Promise<OpenedSides> {
  const sampled = await bothAtOnce(context, (side, joint) => sample(options[side], files[side], joint));
  await refuseWrongDelimiter(options.internal, sampled.internal, sampled.external.delimiter, context);
  await refuseWrongDelimiter(options.external, sampled.external, sampled.internal.delimiter, context);
  const decisions = decideBoth(sampled, options);
  const layouts = both((side) => layOut(sampled[side], decisions[side]));
  refuseUnequalWidths(sampled, layouts);
  const ledgers = both((side) => openLedgerOf(options[side], sampled[side], layouts[side], files[side]));
  return {
    ...ledgers,
    columns: both((side) => layouts[side].columns),
    notes: [
      ...notesOf(files.internal, layouts.internal),
      ...notesOf(files.external, layouts.external),
      ...sameFileNotes(files),
    ],
    [Symbol.dispose]: () => disposeAll([ledgers.internal, ledgers.external]),
  };
}

async function describeLedger(options: SideOptions, files: DataFile[], context: LedgerContext) {
  const { ledger, notes } = await describeSide(options, files, [], context);
  return { ...ledger, notes };
}

/** A CSV side on its own; `wanted` are names that show its header. */
async function describeSide(options: SideOptions, files: DataFile[], wanted: string[], context: LedgerContext) {
  const sampled = await sample(options, files, context);
  await refuseWrongDelimiter(options, sampled, null, context);
  const layout = layOut(sampled, decideHeader(evidenceOf(sampled, wanted)));
  return {
    ledger: openLedgerOf(options, sampled, layout, files),
    columns: layout.columns,
    notes: notesOf(files, layout),
  };
}

/** The result of a step over open files. If it fails they are closed; if they changed, that is the reason. */
async function orClosed<T>(files: DataFile[], step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    using _ = { [Symbol.dispose]: () => disposeAll(files) };
    if (error instanceof ReconError) verifyAll(files);
    throw error;
  }
}

interface Sides<T> {
  internal: T;
  external: T;
}
type Side = keyof Sides<unknown>;

/** Runs a step for both sides; errors of both are reported together. */
function both<T>(step: (side: Side) => T): Sides<T> {
  const errors: unknown[] = [];
  const attempt = (side: Side) => {
    try {
      return step(side);
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const results = { internal: attempt("internal"), external: attempt("external") };
  if (errors.length > 0) throw merged(errors);
  return results as Sides<T>;
}

/** Runs a step for both sides at the same time. The first failure stops the other side; what that has opened is closed. */
async function bothAtOnce<T extends Disposable[] | SampledSide>(
  context: LedgerContext,
  step: (side: Side, context: LedgerContext) => Promise<T>,
): Promise<Sides<T>> {
  const failure = new AbortController();
  const joint = { ...context, signal: AbortSignal.any([context.signal, failure.signal]) };
  const attempt = (side: Side) =>
    step(side, joint).catch((error) => {
      failure.abort(error);
      throw error;
    });
  const [internal, external] = await Promise.allSettled([attempt("internal"), attempt("external")]);
  if (internal.status === "fulfilled" && external.status === "fulfilled") {
    return { internal: internal.value, external: external.value };
  }
  for (const outcome of [internal, external]) {
    if (outcome.status === "fulfilled" && Array.isArray(outcome.value)) disposeAll(outcome.value);
  }
  context.signal.throwIfAborted();
  throw merged([internal, external].flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : [])));
}

/** One error for all: the first that is not about the input, or else all that are, each once. */
function merged(errors: unknown[]): unknown {
  const different = [...new Set(errors)];
  const other = different.find((error) => !(error instanceof ReconError));
  if (other !== undefined) return other;
  const faults = different as ReconError[];
  const total = faults.reduce((sum, error) => sum + error.total, 0);
  return new ReconError(
    faults.flatMap((error) => error.items),
    total,
  );
}

function verifyAll(files: DataFile[]): void {
  for (const file of files) file.source.verifyUnchanged();
}

function notesOf(files: DataFile[], layout: Layout): Note[] {
  return [...files.flatMap((file) => file.notes), ...layout.notes];
}

function disposeAll(disposables: Disposable[]): void {
  for (const disposable of disposables) disposable[Symbol.dispose]();
}

function refuseSharedStream({ internal, external }: PairOptions): void {
  if (!isStandardInput(internal.path) || !isStandardInput(external.path)) return;
  throw fault("unreadable", external.path, "standard input can be read by one of the two ledgers only");
}

/** One after the other: the two sides already keep two processors busy. Throws a ReconError, `empty` for an empty file. */
export async function openFiles(
  options: Pick<SideOptions, "encoding">,
  paths: string[],
  context: LedgerContext,
): Promise<DataFile[]> {
  const files: DataFile[] = [];
  try {
    for (const path of paths) {
      const file = await DataFile.open(path, options.encoding, context);
      files.push(file);
      file.refuseEmpty();
    }
    return files;
  } catch (error) {
    disposeAll(files);
    throw error;
  }
}

/** The first two records of each file. A delimiter that is not given is the one detected in the first file. */
async function sample(options: SideOptions, files: DataFile[], context: LedgerContext): Promise<SampledSide> {
  const sampled: SampledSide["files"] = [];
  let delimiter = options.delimiter;
  for (const { spec } of files) {
    const file = await sampleRecords({ ...options, delimiter }, spec, context);
    delimiter ??= file.sample.delimiter;
    sampled.push(file);
  }
  const { side, path, columns, rules } = options;
  // Whoever looks for the header has said that there is one.
  const header = rules.headerMatch !== null && options.header === "auto" ? "yes" : options.header;
  return { side, label: inputName(path), header, columns, delimiter: delimiter as number, files: sampled };
}

/** What is between preamble and trailer, with its first records. */
async function sampleRecords(
  options: SideOptions,
  whole: FileSpec,
  context: LedgerContext,
): Promise<SampledSide["files"][number]> {
  const { rules } = options;
  const { signal } = context;
  let { file: spec, ignored } = await boundsOf(whole, rules, options, signal);
  const result = await sampleFile(options, spec, context);
  if (result.records.length === 0)
    throw fault("empty", spec.path, "the file is empty: it has blank lines only", emptyHint);
  if (rules.trailer === null) return { spec, sample: result, ignored, trailer: null };
  const dialect = { ...options, delimiter: result.delimiter };
  const cut = await withoutTrailer(spec, rules.trailer, dialect, signal);
  const records = result.records.filter(({ start }) => start < (cut.file.end as number));
  if (records.length === 0) throw fault("empty", spec.path, "the file is empty but for its trailer", emptyHint);
  return {
    spec: cut.file,
    sample: { ...result, records },
    ignored: ignored + cut.ignored,
    trailer: { found: cut.trailer, rule: rules.trailer },
  };
}

async function sampleFile(
  { delimiter, quote, trim }: SideOptions,
  file: DataFile["spec"],
  { engine, signal }: LedgerContext,
): Promise<SampleResult> {
  const result = await engine.run({ sample: { file, delimiter, quote, trim, records: 2 } }, { signal });
  if (result.outcome !== "done") throw new ReconError(result.errors);
  // The engine leaves blanks in fields to whoever uses them.
  if (trim) for (const { fields } of result.records) for (const field of fields) field.text = trimmed(field.text);
  return result;
}

/** Without the blanks of ASCII, as everywhere under `--trim`. */
export function trimmed(text: string): string {
  return text.replace(/^[\t-\r ]+|[\t-\r ]+$/g, "");
}

/** A header of one column that the other side's delimiter, or a common one, would split. */
async function refuseWrongDelimiter(
  options: SideOptions,
  sampled: SampledSide,
  othersDelimiter: number | null,
  context: LedgerContext,
): Promise<void> {
  const mayBeHeader = options.header === "yes" || (options.header === "auto" && options.columns === null);
  const { spec, sample: first } = sampled.files[0] as SampledSide["files"][number];
  if (!mayBeHeader || first.records[0]?.fields.length !== 1) return;
  const candidates = first.candidates.filter(({ delimiter }) => delimiter !== sampled.delimiter);
  if (othersDelimiter !== null && othersDelimiter !== sampled.delimiter) {
    const other = await sampleFile({ ...options, delimiter: othersDelimiter }, spec, context);
    candidates.unshift({ delimiter: othersDelimiter, fields: other.records[0]?.fields.length ?? 0 });
  }
  const likely = candidates.sort((a, b) => b.fields - a.fields)[0];
  if (likely === undefined || likely.fields < 2) return;
  const [used, better] = [delimiterName(sampled.delimiter), delimiterName(likely.delimiter)];
  throw fault(
    "delimiter",
    spec.path,
    `the header has one column if the delimiter is ${quote(used)}, but ${likely.fields} if it is ${quote(better)}`,
    {
      line: first.records[0].line,
      hint: `--${options.side}-delimiter '${better}'`,
    },
  );
}

function delimiterName(delimiter: number): string {
  return delimiter === 9 ? "tab" : String.fromCharCode(delimiter);
}

function decideBoth(sampled: Sides<SampledSide>, { key, compare, named: others }: PairOptions): Sides<HeaderDecision> {
  const named = [...(key ?? []), ...(compare ?? [])];
  const evidence = both((side) => evidenceOf(sampled[side], [...named.map((pair) => pair[side]), ...others]));
  const decisions = decideHeaders(evidence.internal, evidence.external);
  if (decisions === null) throw undecided(sampled, evidence);
  const decidedAlone = (side: Side) => sampled[side].header === "auto" && sampled[side].columns === null;
  const disagree = decisions.internal.header !== decisions.external.header;
  if (disagree && decidedAlone("internal") && decidedAlone("external"))
    throw disagreement(sampled, evidence, decisions);
  return decisions;
}

function undecided(sampled: Sides<SampledSide>, evidence: Sides<HeaderEvidence>): ReconError {
  const seen = `${shown(evidence.internal.first)} and ${shown(evidence.external.first)}`;
  const missing = evidence.internal.wanted.length > 0 ? "; no key or compared column is named in them" : "";
  return fault(
    "header",
    sampled.internal.files[0]?.spec.path as string,
    `nothing shows whether the files begin with a header or with data: their first records are ${seen}${missing}`,
    { hint: "--header yes if these are column names, --header no if they are rows" },
  );
}

function disagreement(
  sampled: Sides<SampledSide>,
  evidence: Sides<HeaderEvidence>,
  decisions: Sides<HeaderDecision>,
): ReconError {
  const [named, unnamed]: [Side, Side] = decisions.internal.header
    ? ["internal", "external"]
    : ["external", "internal"];
  const seen = (["internal", "external"] as const).map((side) => headerText(sampled[side].label, decisions[side]));
  return fault(
    "header",
    sampled[unnamed].files[0]?.spec.path as string,
    `one ledger has a header and the other has none. ${seen.join(". ")}. It begins with ${shown(evidence[unnamed].first)}`,
    {
      hint: `--${unnamed}-header yes if it has one, --${unnamed}-columns NAMES to name its columns, or --${named}-header no`,
    },
  );
}

/** Where a first record alone says how many columns there are, a damaged one would reject the rest of its file. */
function refuseUnequalWidths(sampled: Sides<SampledSide>, layouts: Sides<Layout>): void {
  const { internal, external } = layouts;
  const guessed = sampled.internal.columns === null || sampled.external.columns === null;
  const [own, others] = [internal.columns.names.length, external.columns.names.length];
  if (internal.header || external.header || !guessed || own === others) return;
  throw fault(
    "columns",
    external.columns.path,
    `there are ${others} columns here but ${own} in ${inputName(internal.columns.path)}; without a header both need the same number`,
    { hint: "--internal-columns and --external-columns name the columns of each side" },
  );
}

function sameFileNotes({ internal, external }: Sides<DataFile[]>): Note[] {
  const shared = internal.find((file) => external.some((other) => file.source.isSameFileAs(other.source)));
  if (shared === undefined) return [];
  return [note("same_file", `${quote(shared.spec.path)} is read on both sides: a file always agrees with itself`)];
}

function openLedgerOf(options: SideOptions, sampled: SampledSide, layout: Layout, files: DataFile[]): OpenLedger {
  const trailers = sampled.files.map(({ trailer }) =>
    trailer === null ? null : trailerSpec(trailer.found, layout.columns, trailer.rule),
  );
  return {
    format: "csv",
    fix: null,
    paths: files.map(({ spec }) => spec.path),
    bytes: files.reduce((sum, { spec }) => sum + spec.size, 0),
    header: layout.header,
    delimiter: sampled.delimiter,
    columns: layout.columns.names,
    ignored: layout.ignored + sampled.files.reduce((sum, { ignored }) => sum + ignored, 0),
    filtered: 0,
    group: groupOf(options.rules.group, layout.columns),
    spec: {
      files: layout.files.map((file, i) => (trailers[i] === null ? file : { ...file, trailer: trailers[i]! })),
      delimiter: sampled.delimiter,
      quote: options.quote,
      width: layout.columns.names.length,
      trailing: layout.trailing,
      trim: options.trim,
      fold_case: options.foldCase,
    },
    verifyUnchanged: () => verifyAll(files),
    [Symbol.dispose]: () => disposeAll(files),
  };
}
