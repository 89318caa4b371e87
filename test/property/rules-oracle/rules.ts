// What a rules file says, as the oracle of rules needs it: by the names that each file uses. Bun's TOML parser reads it, not
// the program's. Only what random-rules.ts writes is understood.
import { Unspecified } from "./ledger";
import { readTolerance, type NumberFormat, type Tolerance, type ValueType } from "./numbers";
import { offset_minutes, type Clock } from "./times";

export type Side = "internal" | "external";
export const sides = ["internal", "external"] as const;

export interface Sign {
  column: string;
  negative: string[];
  positive: string[];
}

export interface Group {
  by: string[];
  sum: string[];
  vwap: [price: string, weight: string][];
}

export interface SideRules {
  delimiter: string;
  trim: boolean;
  foldCase: boolean;
  format: NumberFormat;
  clock: Clock;
  nulls: string[];
  headerMatch: string | null;
  stopAt: string | null;
  trailer: string | null;
  where: { column: string; in: string[] }[];
  group: Group | null;
  /** By column of this file. */
  maps: Map<string, Map<string, string>>;
  signs: Map<string, Sign>;
}

export interface ColumnPair {
  internal: string;
  external: string;
}

export interface ColumnRules {
  type: ValueType;
  tolerance: Tolerance | null;
  toleranceBy: { column: string; cases: Map<string, Tolerance> } | null;
}

export interface Rules extends Record<Side, SideRules> {
  key: ColumnPair[];
  compare: ColumnPair[];
  columns: Map<string, ColumnRules>;
  controls: { sum: ColumnPair[]; by: ColumnPair | null } | null;
  reject: boolean;
  unique: boolean;
  maxBreaks: number;
}

type Table = Record<string, unknown>;
type Texts = Record<string, string>;

interface GroupTable {
  by: string[];
  sum?: string[];
  vwap?: Texts;
}

interface ColumnTable {
  type?: ValueType;
  tolerance?: string;
  tolerance_by?: Texts;
  map?: Texts;
  internal_map?: Texts;
  external_map?: Texts;
  signed_by?: Sign & { on?: Side };
}

/** `header` says which columns each file has. */
export function readRules(toml: string, header: Record<Side, string[]>): Rules {
  const file = Bun.TOML.parse(toml) as Table;
  if (file.key === undefined || file.compare === undefined) throw new Unspecified("columns that are not named");
  const pairs = (list: unknown) =>
    ((list ?? []) as (string | ColumnPair)[]).map((name) =>
      typeof name === "string" ? { internal: name, external: name } : name,
    );
  const key = pairs(file.key);
  const compare = pairs(file.compare);
  const outside = (name: string) => [...key, ...compare].find((pair) => pair.internal === name)?.external ?? name;
  const tables = Object.entries((file.columns ?? {}) as Record<string, ColumnTable>);
  const controls = file.controls as { sum: string[]; by?: string } | undefined;
  const pairOf = (name: string): ColumnPair => ({ internal: name, external: outside(name) });
  const sideRules = (side: Side) =>
    readSide(side, file, tables, header[side], side === "internal" ? (name) => name : outside);
  return {
    internal: sideRules("internal"),
    external: sideRules("external"),
    key,
    compare,
    columns: new Map(tables.map(([name, table]) => [name, readColumn(table)])),
    controls:
      controls === undefined
        ? null
        : { sum: controls.sum.map(pairOf), by: controls.by === undefined ? null : pairOf(controls.by) },
    reject: file.on_bad_row === "reject",
    unique: file.unique === true,
    maxBreaks: Number(file.max_breaks ?? 0),
  };
}

function readSide(
  side: Side,
  file: Table,
  tables: [string, ColumnTable][],
  header: string[],
  nameHere: (name: string) => string,
): SideRules {
  const here = (file[side] ?? {}) as Table;
  const textOf = (name: string) => (here[name] as string | undefined) ?? null;
  const group = (file.group as Record<Side, GroupTable> | undefined)?.[side];
  const maps = new Map<string, Map<string, string>>();
  const signs = new Map<string, Sign>();
  for (const [name, { map, signed_by, ...table }] of tables) {
    const codes = table[`${side}_map`] ?? map;
    if (codes !== undefined) maps.set(nameHere(name), new Map(Object.entries(codes)));
    if (signed_by === undefined || (signed_by.on ?? side) !== side) continue;
    const column = nameHere(signed_by.column);
    // A side without the column is taken as signed.
    if (header.includes(column)) signs.set(nameHere(name), { ...signed_by, column });
  }
  const zone = textOf("timezone");
  return {
    delimiter: textOf("delimiter") ?? "",
    trim: (here.trim ?? file.trim) === true,
    foldCase: (here.fold_case ?? file.fold_case) === true,
    format: {
      decimal: textOf("decimal") ?? ".",
      thousands: textOf("thousands"),
      accounting: here.negative === "accounting",
      currency: (here.currency as string[] | undefined) ?? [],
    },
    clock: { dateFormat: textOf("date_format"), zone_minutes: zone === null ? null : offset_minutes(zone) },
    nulls: (here.null as string[] | undefined) ?? [],
    headerMatch: textOf("header_match"),
    stopAt: textOf("stop_at"),
    trailer: textOf("trailer"),
    where: (here.where as SideRules["where"] | undefined) ?? [],
    group: group === undefined ? null : { by: group.by, sum: group.sum ?? [], vwap: Object.entries(group.vwap ?? {}) },
    maps,
    signs,
  };
}

function readColumn({ type, tolerance, tolerance_by, signed_by }: ColumnTable): ColumnRules {
  const { column = "", ...cases } = tolerance_by ?? {};
  const read = tolerance === undefined ? null : readTolerance(tolerance);
  const byValue = new Map(Object.entries(cases).map(([value, text]) => [value, readTolerance(text)]));
  const implied = read?.type ?? [...byValue.values()][0]?.type ?? (signed_by === undefined ? "auto" : "decimal");
  return {
    type: type === undefined || type === "auto" ? implied : type,
    tolerance: read,
    toleranceBy: tolerance_by === undefined ? null : { column, cases: byValue },
  };
}
