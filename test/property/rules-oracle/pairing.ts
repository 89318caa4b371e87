// When two values are equal or within tolerance, and which rows of one key become pairs (docs/architecture.md, "Keys with
// several rows"). Used by the oracle of rules.
import type { Cell, Row } from "./ledger";
import { folded } from "./ledger";
import { none, type Tolerance } from "./numbers";
import { absolute, isZero, order, subtract, zero, type Rational } from "./rational";
import type { ColumnPair, Rules, Side } from "./rules";
import { sides } from "./rules";

export interface Pair {
  internal: Row;
  external: Row;
  /** By compared column. */
  gaps: Gap[];
}

export interface Gap {
  /** External minus internal; null if it cannot be said. */
  difference: Rational | null;
  isWithin: boolean;
  /** Of the texts, as they are read. */
  isSameText: boolean;
}

const isEqual = ({ difference }: Gap) => difference !== null && isZero(difference);

export function pairOf(internal: Row, external: Row, rules: Rules): Pair {
  return { internal, external, gaps: rules.compare.map((column) => gapOf(internal, external, column, rules)) };
}

function gapOf(internal: Row, external: Row, column: ColumnPair, rules: Rules): Gap {
  const mine = internal.cells.get(column.internal) as Cell;
  const theirs = external.cells.get(column.external) as Cell;
  const isSameText = mine.text === theirs.text;
  if (mine.number === null || theirs.number === null) {
    const isSame = isSameText && mine.number === theirs.number;
    return { difference: isSame ? zero : null, isWithin: isSame, isSameText };
  }
  const difference = subtract(theirs.number, mine.number);
  const isWithin =
    isZero(difference) || toleranceOf(internal, column, rules).isWithin(difference, mine.number, theirs.number);
  return { difference, isWithin, isSameText };
}

function toleranceOf(internal: Row, column: ColumnPair, rules: Rules): Tolerance {
  const rule = rules.columns.get(column.internal);
  const byValue = rule?.toleranceBy;
  if (byValue !== null && byValue !== undefined) {
    const value = (internal.cells.get(byValue.column) as Cell).text;
    const found = [...byValue.cases].find(([word]) => folded(word, rules.internal) === value);
    if (found !== undefined) return found[1];
  }
  return rule?.tolerance ?? none;
}

const brokenColumns = ({ gaps }: Pair) => gaps.filter(({ isWithin }) => !isWithin).length;

/** Which of two pairs of one key comes first. */
function pairOrder(a: Pair, b: Pair, compare: ColumnPair[]): number {
  const count = brokenColumns(a) - brokenColumns(b);
  if (count !== 0) return count;
  for (const [i, { difference: mine }] of a.gaps.entries()) {
    const theirs = (b.gaps[i] as Gap).difference;
    if (mine === null && theirs === null) continue;
    if (mine === null || theirs === null) return mine === null ? 1 : -1;
    const size = order(absolute(mine), absolute(theirs));
    if (size !== 0) return size;
  }
  for (const side of sides) {
    for (const column of compare) {
      const raw = ({ [side]: row }: Pair) => Buffer.from((row.cells.get(column[side]) as Cell).raw);
      const bytes = Buffer.compare(raw(a), raw(b));
      if (bytes !== 0) return bytes;
    }
  }
  return a.internal.place - b.internal.place || a.external.place - b.external.place;
}

/** Pairs in pairing order. Rows that are left over are in no pair. */
export function pairRows(internal: Row[], external: Row[], rules: Rules): Pair[] {
  const pairs: Pair[] = [];
  const free: Record<Side, Row[]> = { internal: [...internal], external: [...external] };
  const take = (pair: Pair) => {
    pairs.push(pair);
    for (const side of sides) free[side] = free[side].filter((row) => row !== pair[side]);
  };
  for (const row of internal) {
    const equal = free.external.map((other) => pairOf(row, other, rules)).find(({ gaps }) => gaps.every(isEqual));
    if (equal !== undefined) take(equal);
  }
  while (free.internal.length > 0 && free.external.length > 0) {
    const all = free.internal.flatMap((row) => free.external.map((other) => pairOf(row, other, rules)));
    take(all.reduce((least, pair) => (pairOrder(pair, least, rules.compare) < 0 ? pair : least)));
  }
  return rules.unique && (internal.length > 1 || external.length > 1) ? pairs.slice(0, 1) : pairs;
}
