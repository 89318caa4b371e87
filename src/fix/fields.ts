// The names of FIX columns: tags, field names, aliases and group entries, from the table that the parser is built with
// (zig/fix/fields.csv). Used by fix-ledger.ts and cli/fix.ts.
import table from "../../zig/fix/fields.csv" with { type: "text" };
import type { FixColumnSpec, ValueType } from "../generated/abi";
import { nearest } from "../ledger/columns";

interface Field {
  tag: number;
  type: string;
}

/** What a column of a FIX ledger is called beside its tag and its FIX name. */
export const aliases = {
  exec_id: { source: "root", tag: 17 },
  order_id: { tag: 37 },
  client_order_id: { tag: 11 },
  symbol: { tag: 55 },
  side: { tag: 54 },
  quantity: { tag: 32 },
  price: { tag: 31 },
  transact_time: { tag: 60 },
  trade_date: { source: "trade_date", tag: 75 },
  sender: { tag: 49 },
  currency: { tag: 15 },
  account: { tag: 1 },
  venue: { tag: 30 },
} as const satisfies Record<string, FixColumnSpec>;

const max_tag = 2 ** 31 - 1;

let fields: Map<string, Field> | undefined;

/** By number and by every name it ever had. */
function fieldNamed(name: string): Field | undefined {
  fields ??= readTable();
  return fields.get(name);
}

function readTable(): Map<string, Field> {
  const found = new Map<string, Field>();
  for (const line of table.trimEnd().split("\n").slice(1)) {
    const [tag = "", name = "", type = "", , , earlier = ""] = line.split(",");
    const field = { tag: Number(tag), type };
    for (const known of [tag, name, ...earlier.split(" ")])
      if (known !== "" && !found.has(known)) found.set(known, field);
  }
  return found;
}

/** Which values a column holds: by tag (`31`), FIX name (`LastPx`), alias, or group entry (`448[452=4]`). Null for no column. */
export function fixColumn(name: string): FixColumnSpec | null {
  if (Object.hasOwn(aliases, name)) return aliases[name as keyof typeof aliases];
  const group = /^([^[\]]+)\[([^[\]=]+)=(.*)\]$/s.exec(name);
  if (group === null) {
    const tag = tagOf(name);
    return tag === null ? null : { tag };
  }
  const [tag, role_tag] = [tagOf(group[1]!), tagOf(group[2]!)];
  return tag === null || role_tag === null ? null : { source: "group", tag, role_tag, role: group[3]! };
}

function tagOf(name: string): number | null {
  if (/^[1-9]\d*$/.test(name)) return Number(name) <= max_tag ? Number(name) : null;
  return fieldNamed(name)?.tag ?? null;
}

/** What a FIX column is compared as unless rules say otherwise: prices, quantities and amounts by value, times as instants. */
export function fixType(column: FixColumnSpec): ValueType {
  switch (fieldNamed(String(column.tag))?.type) {
    case "PRICE":
    case "PRICEOFFSET":
    case "QTY":
    case "AMT":
      return "decimal";
    case "UTCTIMESTAMP":
      return "timestamp";
    case "LOCALMKTDATE":
      return "date";
    default:
      return "auto";
  }
}

/** The name that may have been meant. */
export function nearFixColumn(name: string): string | null {
  fields ??= readTable();
  return nearest(name, [...Object.keys(aliases), ...[...fields.keys()].filter((known) => !/^\d/.test(known))]);
}
