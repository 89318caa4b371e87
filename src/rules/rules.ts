// What a rules file and the column options say, validated: names of columns, not places. Made by load.ts and
// column-options.ts; turned into the engine's specs by translate.ts; read by src/ledger, `recon init` and the reports.
import type { CodeSpec, NumberSpec, ToleranceSpec, ValueType } from "../generated/abi";

/** Where a rule stands. On the command line `path` is empty, `line` and `column` are 0 and `member` is the option. */
export interface Place {
  path: string;
  /** 1-based, as `column`. */
  line: number;
  column: number;
  /** `columns.price.tolerance`, `internal.where[0].column` or `--tolerance`. */
  member: string;
}

export interface Placed<T> {
  value: T;
  place: Place;
}

export interface Rules {
  /** Which columns and how: at most one of each name. */
  columns: ColumnRule[];
  internal: SideRules;
  external: SideRules;
  controls: ControlsRule | null;
}

/** Rules that describe the file of one side; columns are called as in that file. */
export interface SideRules {
  number: NumberSpec;
  /** Letters as in `dd/MM/yyyy`. */
  dateFormat: Placed<string> | null;
  /** `UTC`, an IANA name or `+09:00`; known to be valid. */
  timezone: Placed<string> | null;
  nulls: string[];
  /** Lines up to the first that has a field of this text are a preamble. */
  headerMatch: Placed<string> | null;
  /** The first line that begins with this text, and all behind it, are left out. */
  stopAt: Placed<string> | null;
  trailer: TrailerRule | null;
  where: FilterRule[];
  group: GroupRule | null;
}

export type SideMember = "internal" | "external";

/** `text` is split at the delimiter of the file; its placeholders are known to be `{count}` or `{sum:NAME}`. */
export interface TrailerRule {
  place: Place;
  text: string;
}

/** Rows whose column holds none of `values` are filtered. */
export interface FilterRule {
  column: Placed<string>;
  values: string[];
}

/** One row for all that agree in `by`. */
export interface GroupRule {
  place: Place;
  by: Placed<string>[];
  sum: Placed<string>[];
  vwap: { price: Placed<string>; weight: Placed<string> }[];
}

/** Rules of one column, which goes by the internal side's name. */
export interface ColumnRule {
  name: string;
  place: Place;
  type: Placed<ValueType> | null;
  tolerance: Placed<Tolerance> | null;
  toleranceBy: ToleranceByRule | null;
  maps: Record<SideMember, Placed<CodeSpec[]> | null>;
  signedBy: SignRule | null;
}

/** What a tolerance is for, by its unit: `0.01`, `5bps` and `0.1%` for numbers, `500ms` for times, `1d` for days. */
export type ToleranceType = "decimal" | "timestamp" | "date";

export interface Tolerance {
  type: ToleranceType;
  spec: ToleranceSpec;
}

export interface ToleranceByRule {
  /** Of the internal side. */
  column: Placed<string>;
  cases: { value: string; tolerance: Placed<Tolerance> }[];
}

export interface SignRule {
  place: Place;
  column: Placed<string>;
  negative: string[];
  positive: string[];
  /** Null: every side that has the column. */
  on: SideMember | null;
}

/** Totals of both sides, by the internal side's names. */
export interface ControlsRule {
  sum: Placed<string>[];
  by: Placed<string> | null;
}

export const noColumnRule: Omit<ColumnRule, "name" | "place"> = {
  type: null,
  tolerance: null,
  toleranceBy: null,
  maps: { internal: null, external: null },
  signedBy: null,
};

export const noSideRules: SideRules = {
  number: { decimal: 46, thousands: null, negative: "plain", currency: [] },
  dateFormat: null,
  timezone: null,
  nulls: [],
  headerMatch: null,
  stopAt: null,
  trailer: null,
  where: [],
  group: null,
};

export const noRules: Rules = { columns: [], internal: noSideRules, external: noSideRules, controls: null };

/** Every column that a rule names, on either side: a first record that holds one of them is a header. */
export function namedColumns({ columns, internal, external, controls }: Rules): string[] {
  const ofColumn = ({ name, toleranceBy, signedBy }: ColumnRule) => [
    name,
    ...(toleranceBy === null ? [] : [toleranceBy.column.value]),
    ...(signedBy === null ? [] : [signedBy.column.value]),
  ];
  const ofSide = ({ where, group }: SideRules) => [...where.map(({ column }) => column), ...groupColumns(group)];
  const ofBoth = controls === null ? [] : [...controls.sum, ...(controls.by === null ? [] : [controls.by])];
  return [
    ...columns.flatMap(ofColumn),
    ...[...ofSide(internal), ...ofSide(external), ...ofBoth].map(({ value }) => value),
  ];
}

function groupColumns(group: GroupRule | null): Placed<string>[] {
  if (group === null) return [];
  return [...group.by, ...group.sum, ...group.vwap.flatMap(({ price, weight }) => [price, weight])];
}
