// A pair of ledgers of which at least one is a FIX log: which columns are key and compared, and what types they have
// unless rules say otherwise. Used by ledger/ledger.ts.
import { aliases, fixColumn, fixType } from "./fields";
import { openFixLedger, requiredFixColumn } from "./fix-ledger";
import type { ColumnSpec, Note } from "../generated/abi";
import { fault, note } from "../ledger/codes";
import { listed, pairColumns, splitAddress, type ColumnPair, type SideColumns } from "../ledger/columns";
import type { DataFile } from "../ledger/data-file";
import { groupedColumns, groupNotes, groupOf, refuseUngroupedKey } from "../ledger/group";
import type { LedgerContext, OpenedPair, OpenLedger, PairOptions, SideOptions } from "../ledger/ledger";
import { inputName } from "../ledger/source";

type Side = "internal" | "external";
const sides = ["internal", "external"] as const;

/** One side as it was opened, with its columns. */
export interface OpenedSide {
  ledger: OpenLedger;
  columns: SideColumns;
  notes: Note[];
}

export interface PairFiles {
  options: PairOptions;
  files: Record<Side, DataFile[]>;
  isFix: Record<Side, boolean>;
  /** Opens a CSV side; `wanted` are names that show its header. */
  openCsv(side: Side, wanted: string[]): Promise<OpenedSide>;
}

const betweenLogs = ["symbol", "side", "quantity", "price"];

export async function openFixPair(pair: PairFiles, context: LedgerContext): Promise<OpenedPair> {
  const { options, isFix } = pair;
  const key = options.key ?? defaultKey(isFix);
  const csvSide = sides.find((side) => !isFix[side]);
  // On failure the caller closes the files: of what is opened here only the executions are ours.
  using opened = new DisposableStack();
  const csv = csvSide === undefined ? null : await pair.openCsv(csvSide, wantedOf(csvSide, options, key));
  const wanted = options.compare ?? defaultCompare(csv?.columns ?? null, key, options.ignore);
  const open = async (side: Side): Promise<OpenedSide> => {
    if (csv !== null && side === csvSide) return csv;
    const names = [...key, ...wanted].map((column) => column[side]);
    const fix = await openFixSide(options[side], pair.files[side], [...names, ...options.named], names, context);
    opened.use(fix.executions);
    return fix;
  };
  const both = { internal: await open("internal"), external: await open("external") };
  const compare = options.compare ?? wanted.filter((column) => occurs(column, both));
  const columns = {
    internal: groupedColumns(both.internal.columns, both.internal.ledger.group),
    external: groupedColumns(both.external.columns, both.external.ledger.group),
  };
  const paired = pairColumns(columns.internal, columns.external, { key, compare, ignore: options.ignore });
  for (const side of sides) refuseUngroupedKey(side, both[side].ledger.group, paired.key);
  opened.move();
  return {
    internal: both.internal.ledger,
    external: both.external.ledger,
    key: paired.key,
    compare: paired.compare.map((column) => typed(column, columns, isFix)),
    notes: [
      ...both.internal.notes,
      ...both.external.notes,
      ...sides.flatMap((side) => groupNotes(both[side].ledger)),
      ...paired.notes,
      ...leftOut(csv, paired),
    ],
    [Symbol.dispose]: () => sides.forEach((side) => both[side].ledger[Symbol.dispose]()),
  };
}

/** A log on its own, with a column for every alias. */
export async function openFixLog(options: SideOptions, files: DataFile[], context: LedgerContext) {
  const { ledger, notes } = await openFixSide(options, files, Object.keys(aliases), [], context);
  return { ...ledger, notes };
}

function samePair(name: string): ColumnPair {
  return { internal: name, external: name };
}

function defaultKey(isFix: Record<Side, boolean>): ColumnPair[] {
  const names = isFix.internal && isFix.external ? ["sender", "trade_date", "exec_id"] : ["exec_id"];
  return names.map(samePair);
}

function wantedOf(side: Side, { compare, named }: PairOptions, key: ColumnPair[]): string[] {
  return [...[...key, ...(compare ?? [])].map((column) => column[side]), ...named, ...Object.keys(aliases)];
}

/** Every CSV column that names a FIX column; between two logs what every execution has. */
function defaultCompare(csv: SideColumns | null, key: ColumnPair[], ignore: string[]): ColumnPair[] {
  const taken = new Set(key.flatMap(({ internal, external }) => [internal, external]));
  const names = csv === null ? betweenLogs : csv.names.filter((name) => fixColumn(name) !== null);
  return names.filter((name) => !taken.has(name) && !ignore.includes(name)).map(samePair);
}

/** Whether a column that nobody named is in a log at all. */
function occurs(column: ColumnPair, both: Record<Side, OpenedSide>): boolean {
  return sides.every((side) => {
    const { fix, columns } = both[side].ledger;
    return fix === null || (fix.present[columns.indexOf(column[side])] ?? 0) > 0;
  });
}

async function openFixSide(
  options: SideOptions,
  files: DataFile[],
  names: string[],
  needed: string[],
  context: LedgerContext,
): Promise<OpenedSide & { executions: Disposable }> {
  const path = files[0]!.spec.path;
  refuseCsvOptions(options, path);
  for (const name of needed) requiredFixColumn(name, path);
  const readable = [...new Set(names)].filter((name) => fixColumn(name) !== null);
  const { spec, result, ...executions } = await openFixLedger(
    files.map((file) => file.spec),
    readable,
    options.fix,
    context,
  );
  const columns: SideColumns = {
    side: options.side,
    path,
    line: 0,
    names: readable,
    noHeaderBecause: null,
    undecodable: new Set(),
  };
  const ledger: OpenLedger = {
    format: "fix",
    fix: result,
    paths: files.map((file) => file.spec.path),
    bytes: files.reduce((sum, file) => sum + file.spec.size, 0),
    header: false,
    delimiter: spec.delimiter,
    columns: readable,
    ignored: 0,
    filtered: 0,
    group: groupOf(options.rules.group, columns),
    spec: { ...spec, trim: options.trim, fold_case: options.foldCase },
    verifyUnchanged: () => files.forEach((file) => file.source.verifyUnchanged()),
    [Symbol.dispose]: () => [executions, ...files].forEach((open) => open[Symbol.dispose]()),
  };
  return { ledger, columns, executions, notes: [...files.flatMap((file) => file.notes), ...result.notes] };
}

/** A log is read as its bytes are: what tells how a CSV file is read would be without effect, or break its checksums. */
function refuseCsvOptions({ side, csvOptions, encoding }: SideOptions, path: string): void {
  const given = csvOptions[0] ?? (encoding === null ? undefined : "encoding");
  if (given === undefined) return;
  throw fault("format", path, `--${side}-${given} is for CSV, and this ledger is a FIX log`, {
    hint: `leave it out (name the other side's: --${side === "internal" ? "external" : "internal"}-${given}), or --${side}-format csv`,
  });
}

/** What is a price, time or day in the log is compared as one. */
function typed(column: ColumnSpec, columns: Record<Side, SideColumns>, isFix: Record<Side, boolean>): ColumnSpec {
  const side = sides.find((one) => isFix[one])!;
  const fix = fixColumn(columns[side].names[column[side]]!);
  const type = fix === null ? "auto" : fixType(fix);
  return type === "auto" ? column : { ...column, type };
}

/** CSV columns that were not compared because the log has nothing for them. */
function leftOut(csv: OpenedSide | null, { key, compare }: { key: ColumnSpec[]; compare: ColumnSpec[] }): Note[] {
  if (csv === null) return [];
  const { side, names, path } = csv.columns;
  const used = new Set([...key, ...compare].map((column) => column[side]));
  const left = names.filter((name, place) => !used.has(place) && splitAddress(name) === null);
  return left.length === 0 ? [] : [note("columns", `only ${inputName(path)} has ${listed(left)}: not compared`)];
}
