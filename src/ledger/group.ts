// One-to-many: which rows of a side become one before they are compared, and the fold that makes a ledger of them. Its
// columns are those of `by`, `sum` and `vwap`, in that order. Used by ledger.ts and cli/ledger-options.ts.
import { problem, ReconError } from "../errors";
import type { ColumnSpec, FoldResult, FoldSpec, LedgerSpec, Note } from "../generated/abi";
import type { GroupRule } from "../rules/rules";
import { note } from "./codes";
import { listed, rulePlace, type SideColumns } from "./columns";
import { deriveLedger, type Derived } from "./derived";
import { inputName } from "./source";
import type { LedgerContext } from "./spool";

/** A group rule with places in the file, and the names of what it leads to. */
export interface Group {
  rule: GroupRule;
  by: number[];
  sum: number[];
  vwap: { price: number; weight: number }[];
  /** Of the columns of the file. */
  from: string[];
  /** Of the columns of the folded ledger. */
  names: string[];
  /** Columns of the file that are not among them. */
  left: string[];
}

export function groupOf(rule: GroupRule | null, columns: SideColumns): Group | null {
  if (rule === null) return null;
  const by = rule.by.map((name) => rulePlace(columns, name));
  const sum = rule.sum.map((name) => rulePlace(columns, name));
  const vwap = rule.vwap.map(({ price, weight }) => ({
    price: rulePlace(columns, price),
    weight: rulePlace(columns, weight),
  }));
  const kept = [...by, ...sum, ...vwap.map(({ price }) => price)];
  const names = [...rule.by, ...rule.sum, ...rule.vwap.map(({ price }) => price)].map(({ value }) => value);
  return {
    rule,
    by,
    sum,
    vwap,
    from: columns.names,
    names,
    left: columns.names.filter((_, place) => !kept.includes(place)),
  };
}

/** The columns that key and compared columns are looked for in. */
export function groupedColumns(columns: SideColumns, group: Group | null): SideColumns {
  if (group === null) return columns;
  return { ...columns, names: group.names, undecodable: new Set(), folded: { from: columns.names } };
}

/** Throws where rows with one key could be in several groups, or groups without a key. */
export function refuseUngroupedKey(side: "internal" | "external", group: Group | null, key: ColumnSpec[]): void {
  const wrong = group === null ? undefined : key.find((part) => part[side] >= group.by.length);
  if (group === null || wrong === undefined) return;
  const { path, line, column, member } = group.rule.place;
  const name = group.names[wrong[side]];
  throw problem("columns", `${member}: the key column "${name}" is not in by`, {
    path,
    line,
    column,
    hint: `add "${name}" to by: rows are matched by columns that all rows of a group agree in`,
  });
}

export function groupNotes({ group, paths }: { group: Group | null; paths: string[] }): Note[] {
  if (group === null || group.left.length === 0) return [];
  const text = `${inputName(paths[0]!)} is folded: ${listed(group.left)} ${group.left.length === 1 ? "is" : "are"} neither by, sum nor vwap and not compared`;
  return [note("grouped", text)];
}

/** A column of `by` is signed when the folded row is read: by a code that must be in `by`, too. */
function refuseLostSigns({ signs = [] }: LedgerSpec, { rule, by, names }: Group): void {
  const lost = signs.find((sign) => by.includes(sign.column) && !by.includes(sign.by));
  if (lost === undefined) return;
  const { path, line, column, member } = rule.place;
  const name = names[by.indexOf(lost.column)];
  const message = `${member}: the column "${name}" of by has a sign, whose code is not in by`;
  throw problem("columns", message, {
    path,
    line,
    column,
    hint: `add the column of the code to by, or "${name}" to sum`,
  });
}

/** The settings of the run that a fold shares. */
export type FoldSettings = Required<Pick<FoldSpec, "threads" | "memory_bytes" | "temp_directory">>;

/** Folds a ledger into an unnamed file. Throws a ReconError with bad rows, or the signal's reason. */
export async function foldLedger(
  ledger: LedgerSpec,
  group: Group,
  settings: FoldSettings,
  context: LedgerContext,
): Promise<Derived<FoldResult>> {
  const { by, sum, vwap, from, names } = group;
  refuseLostSigns(ledger, group);
  const paths = ledger.files.map(({ path }) => path);
  const derived = await deriveLedger({ paths, grouped: true }, names.length, context, async (output_fd) => {
    const fold: FoldSpec = { ledger, names: from, by, sum, vwap, output_fd, ...settings };
    const result = await context.engine.run({ fold }, { signal: context.signal });
    if (result.outcome !== "done") throw new ReconError(result.errors, result.error_count);
    return result;
  });
  return { ...derived, spec: { ...ledger, ...derived.spec, ...foldedRules(ledger, group) } };
}

/** Sums and averages are signed already, of rows that are filtered already; values of `by` columns are as the file has them. */
function foldedRules(ledger: LedgerSpec, group: Group): Partial<LedgerSpec> {
  return {
    trailing: false,
    maps: (ledger.maps ?? []).flatMap((map) => {
      const column = group.by.indexOf(map.column);
      return column < 0 ? [] : [{ ...map, column }];
    }),
    signs: (ledger.signs ?? []).flatMap(({ column, by, ...codes }) => {
      const [place, code] = [group.by.indexOf(column), group.by.indexOf(by)];
      return place < 0 || code < 0 ? [] : [{ column: place, by: code, ...codes }];
    }),
    where: [],
  };
}

/** Compared columns with the types of what rows were folded to. */
export function foldedTypes(
  compare: ColumnSpec[],
  groups: Record<"internal" | "external", Group | null>,
): ColumnSpec[] {
  const isFolded = (column: ColumnSpec, place: (group: Group) => [from: number, to: number]) =>
    (["internal", "external"] as const).some((side) => {
      const group = groups[side];
      if (group === null) return false;
      const [from, to] = place(group);
      return column[side] >= from && column[side] < to;
    });
  return compare.map((column) => {
    const isAverage = isFolded(column, ({ by, sum, names }) => [by.length + sum.length, names.length]);
    const isSum = isFolded(column, ({ by, sum }) => [by.length, by.length + sum.length]);
    return isAverage ? { ...column, type: "ratio" } : isSum ? { ...column, type: "decimal" } : column;
  });
}
