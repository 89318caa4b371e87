// One to many: rows of one side that agree in some columns become one row (docs/rules.md, [group]). Used by the oracle of
// rules.
import type { BadRow, Cell, Ledger, Row } from "./ledger";
import { add, divide, isZero, multiply, printed, zero, type Rational } from "./rational";
import type { Group } from "./rules";

/** `key` are the key columns of this side: rows without a key stay alone. */
export function foldRows(ledger: Ledger, group: Group, key: string[]): Ledger {
  const groups = new Map<string, Row[]>();
  for (const row of ledger.rows) {
    const texts = (names: string[]) => names.map((name) => (row.cells.get(name) as Cell).text);
    const hasKey = texts(key).some((text) => text !== "");
    const id = JSON.stringify([texts(group.by), hasKey ? null : row.place]);
    groups.set(id, [...(groups.get(id) ?? []), row]);
  }
  const rows: Row[] = [];
  const bad: BadRow[] = [];
  for (const members of groups.values()) {
    const cells = foldedCells(members, group);
    if (cells === null) bad.push(...members.map(({ path, line, place }) => ({ path, line, place })));
    else rows.push({ ...(members[0] as Row), cells, members });
  }
  return { ...ledger, rows, bad: [...ledger.bad, ...bad].sort((a, b) => a.place - b.place) };
}

/** Null where weights add up to zero. */
function foldedCells(members: Row[], { by, sum, vwap }: Group): Map<string, Cell> | null {
  const first = members[0] as Row;
  const cells = new Map(by.map((name) => [name, first.cells.get(name) as Cell]));
  const number = (row: Row, name: string) => (row.cells.get(name) as Cell).number;
  const total = (values: Rational[]) => values.reduce(add, zero);
  for (const name of sum) {
    const values = members.map((row) => number(row, name)).filter((value) => value !== null);
    cells.set(name, cellOf(values.length === 0 ? null : total(values)));
  }
  for (const [price, weight] of vwap) {
    const terms = members.flatMap((row) => {
      const [value, factor] = [number(row, price), number(row, weight)];
      return value === null || factor === null ? [] : [{ value, factor }];
    });
    const weights = total(terms.map(({ factor }) => factor));
    if (terms.length > 0 && isZero(weights)) return null;
    const amount = total(terms.map(({ value, factor }) => multiply(value, factor)));
    cells.set(price, cellOf(terms.length === 0 ? null : divide(amount, weights)));
  }
  return cells;
}

const cellOf = (number: Rational | null): Cell => {
  const text = number === null ? "" : shown(number);
  return { raw: text, text, number };
};

/** Exactly, or cut after 12 places with a `~` in front. */
export function shown(value: Rational): string {
  const exact = printed(value);
  if (exact !== null && (exact.split(".")[1] ?? "").length <= 12) return exact;
  const scale = 10n ** 12n;
  return `~${printed({ top: (value.top * scale) / value.bottom, bottom: scale })}`;
}
