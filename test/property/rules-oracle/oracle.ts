// A slow, obvious reconciliation of two CSV ledgers under a rules file: reads the text of all three and says what recon
// must print. It shares no code with the program. Used by rules-oracle.test.ts.
import type { InputFile } from "../oracle";
import { foldRows, shown } from "./groups";
import { readLedger, Refusal, splitFile, Unspecified, type BadRow, type Cell, type Ledger, type Row } from "./ledger";
import { pairRows, type Gap, type Pair } from "./pairing";
import type { ValueType } from "./numbers";
import { add, isZero, printed, subtract, zero, type Rational } from "./rational";
import { readRules, sides, type Rules, type Side } from "./rules";

export interface Place {
  path: string;
  line: number;
  members?: { path: string; line: number }[];
}

export interface Break {
  type: string;
  key: Record<string, string>;
  internal: Place | null;
  external: Place | null;
  columns: Record<string, { internal: string | null; external: string | null; difference: string }>;
}

export type SideCounts = Record<
  | "rows"
  | "matched"
  | "mismatch"
  | "missing"
  | "duplicate"
  | "missing_key"
  | "rejected"
  | "ignored"
  | "filtered"
  | "distinctKeys",
  number
>;

export interface ColumnCounts {
  mismatches: number;
  equalByValue: number;
  tolerated: number;
  sumOfDifferences?: string;
  sumOfTolerated?: string;
}

export interface ControlTotal {
  column: string;
  by: string | null;
  internal: string;
  external: string;
  difference: string;
}

export interface Verdict {
  kind: "done";
  exitCode: 0 | 1;
  matched: number;
  internal: SideCounts;
  external: SideCounts;
  columns: Record<string, ColumnCounts>;
  controls: ControlTotal[];
  breaks: Break[];
}

export type Result =
  | Verdict
  /** Of bad rows the places; null where only the exit status is certain. */
  | { kind: "error"; why: string; places: BadRow[] | null }
  | { kind: "unspecified"; why: string };

export interface Inputs {
  internal: InputFile;
  external: InputFile;
  rules: string;
}

export function reconcile(inputs: Inputs): Result {
  try {
    return reconcileOrThrow(inputs);
  } catch (error) {
    if (error instanceof Refusal) return { kind: "error", why: error.message, places: null };
    if (error instanceof Unspecified) return { kind: "unspecified", why: error.message };
    throw error;
  }
}

function reconcileOrThrow(inputs: Inputs): Result {
  // The first pass knows everything but which columns the files have.
  const known = readRules(inputs.rules, { internal: [], external: [] });
  const header = (side: Side) => splitFile(inputs[side], known[side]).header.fields;
  const rules = readRules(inputs.rules, { internal: header("internal"), external: header("external") });
  const ledgers = Object.fromEntries(sides.map((side) => [side, readSide(inputs[side], side, rules)])) as Record<
    Side,
    Ledger
  >;
  const bad = sides.flatMap((side) => ledgers[side].bad);
  if (bad.length > 0 && !rules.reject) return { kind: "error", why: "bad rows", places: bad };
  return new Reconciliation(rules, ledgers).verdict();
}

function readSide(file: InputFile, side: Side, rules: Rules): Ledger {
  const ledger = readLedger(file, rules[side], typesOf(side, rules));
  const { group } = rules[side];
  const key = rules.key.map((pair) => pair[side]);
  return group === null ? ledger : foldRows(ledger, group, key);
}

/** How each column that matters is read; all others are never looked at. */
function typesOf(side: Side, rules: Rules): Map<string, ValueType> {
  const { group } = rules[side];
  const types = new Map<string, ValueType>();
  for (const pair of rules.key) types.set(pair[side], "text");
  for (const pair of rules.controls?.sum ?? []) types.set(pair[side], "decimal");
  for (const pair of rules.compare) {
    const type = rules.columns.get(pair.internal)?.type ?? "auto";
    if (type !== "auto" || !types.has(pair[side])) types.set(pair[side], type);
  }
  for (const name of group?.sum ?? []) types.set(name, "decimal");
  for (const [price, weight] of group?.vwap ?? []) types.set(price, "decimal").set(weight, "decimal");
  return types;
}

interface ColumnTotals {
  mismatches: number;
  equalByValue: number;
  tolerated: number;
  sum: Rational;
  toleratedSum: Rational;
}

class Reconciliation {
  readonly #placed: { side: 0 | 1; place: number; item: Break }[] = [];
  readonly #counts: Record<Side, SideCounts>;
  #matched = 0;
  readonly #columns: ColumnTotals[];

  constructor(
    private readonly rules: Rules,
    private readonly ledgers: Record<Side, Ledger>,
  ) {
    this.#counts = { internal: this.#startingCounts("internal"), external: this.#startingCounts("external") };
    this.#columns = rules.compare.map(() => ({
      mismatches: 0,
      equalByValue: 0,
      tolerated: 0,
      sum: zero,
      toleratedSum: zero,
    }));
  }

  verdict(): Verdict {
    const { rules, ledgers } = this;
    const groups = { internal: this.#keyed("internal"), external: this.#keyed("external") };
    for (const side of sides) {
      this.#counts[side].distinctKeys = groups[side].size;
      for (const row of ledgers[side].rows.filter((one) => this.#isWithoutKey(one, side)))
        this.#oneSided("missing_key", side, row);
      for (const row of ledgers[side].bad) this.#rejected(side, row);
    }
    for (const key of new Set([...groups.internal.keys(), ...groups.external.keys()]))
      this.#useKey(groups.internal.get(key) ?? [], groups.external.get(key) ?? []);
    this.#placed.sort((a, b) => a.side - b.side || a.place - b.place);
    const breaks = this.#placed.map(({ item }) => item);
    const controls = this.#controls();
    const isOff = controls.some(({ difference }) => difference !== "0");
    return {
      kind: "done",
      exitCode: breaks.length > rules.maxBreaks || isOff ? 1 : 0,
      matched: this.#matched,
      ...this.#counts,
      columns: Object.fromEntries(rules.compare.map(({ internal }, i) => [internal, this.#columnCounts(i)])),
      controls,
      breaks,
    };
  }

  #startingCounts(side: Side): SideCounts {
    const { rows, bad, ignored, filtered } = this.ledgers[side];
    const behind = rows.reduce((sum, row) => sum + rowsBehind(row), 0);
    const none = { matched: 0, mismatch: 0, missing: 0, duplicate: 0, missing_key: 0, distinctKeys: 0 };
    return { ...none, rows: behind + bad.length, rejected: bad.length, ignored, filtered };
  }

  #keyTexts(row: Row, side: Side): string[] {
    return this.rules.key.map((pair) => (row.cells.get(pair[side]) as Cell).text);
  }

  #isWithoutKey(row: Row, side: Side): boolean {
    return this.#keyTexts(row, side).every((text) => text === "");
  }

  #keyed(side: Side): Map<string, Row[]> {
    const keyed = new Map<string, Row[]>();
    for (const row of this.ledgers[side].rows) {
      if (this.#isWithoutKey(row, side)) continue;
      const id = JSON.stringify(this.#keyTexts(row, side));
      keyed.set(id, [...(keyed.get(id) ?? []), row]);
    }
    return keyed;
  }

  #useKey(internal: Row[], external: Row[]): void {
    if (external.length === 0) for (const row of internal) this.#oneSided("missing_external", "internal", row);
    if (internal.length === 0) for (const row of external) this.#oneSided("missing_internal", "external", row);
    if (internal.length === 0 || external.length === 0) return;
    const pairs = pairRows(internal, external, this.rules);
    for (const pair of pairs) this.#usePair(pair);
    const left = (rows: Row[], side: Side) => rows.filter((row) => !pairs.some((pair) => pair[side] === row));
    for (const row of left(internal, "internal")) this.#oneSided("duplicate_internal", "internal", row);
    for (const row of left(external, "external")) this.#oneSided("duplicate_external", "external", row);
  }

  #usePair(pair: Pair): void {
    const { internal, external, gaps } = pair;
    const isMatch = gaps.every(({ isWithin }) => isWithin);
    this.#counts.internal[isMatch ? "matched" : "mismatch"] += rowsBehind(internal);
    this.#counts.external[isMatch ? "matched" : "mismatch"] += rowsBehind(external);
    if (isMatch) {
      this.#matched += 1;
      for (const [i, gap] of gaps.entries()) this.#countMatched(i, gap);
      return;
    }
    const columns: Break["columns"] = {};
    for (const [i, { isWithin, difference }] of gaps.entries()) {
      const column = this.rules.compare[i] as Rules["compare"][number];
      const total = this.#columns[i] as ColumnTotals;
      if (isWithin) continue;
      total.mismatches += 1;
      if (difference !== null) total.sum = add(total.sum, difference);
      columns[column.internal] = {
        internal: (internal.cells.get(column.internal) as Cell).raw,
        external: (external.cells.get(column.external) as Cell).raw,
        difference: difference === null ? "" : shown(difference),
      };
    }
    const key = this.#rawKey(internal, "internal");
    const item = { type: "mismatch", key, internal: placeOf(internal), external: placeOf(external), columns };
    this.#placed.push({ side: 0, place: internal.place, item });
  }

  #countMatched(i: number, { difference, isSameText }: Gap): void {
    const total = this.#columns[i] as ColumnTotals;
    if (difference !== null && !isZero(difference)) {
      total.tolerated += 1;
      total.toleratedSum = add(total.toleratedSum, difference);
    } else if (!isSameText) total.equalByValue += 1;
  }

  #columnCounts(i: number): ColumnCounts {
    const { mismatches, equalByValue, tolerated, sum, toleratedSum } = this.#columns[i] as ColumnTotals;
    const counts = { mismatches, equalByValue, tolerated };
    const pair = this.rules.compare[i] as Rules["compare"][number];
    const isAverage = sides.some((side) => this.rules[side].group?.vwap.some(([price]) => price === pair[side]));
    if (isAverage) return counts;
    return { ...counts, sumOfDifferences: printed(sum) as string, sumOfTolerated: printed(toleratedSum) as string };
  }

  #rawKey(row: Row, side: Side): Record<string, string> {
    return Object.fromEntries(this.rules.key.map((pair) => [pair.internal, (row.cells.get(pair[side]) as Cell).raw]));
  }

  #oneSided(type: string, side: Side, row: Row): void {
    const member = type === "missing_key" ? "missing_key" : type.startsWith("missing") ? "missing" : "duplicate";
    this.#counts[side][member] += rowsBehind(row);
    const columns = Object.fromEntries(
      this.rules.compare.map((pair) => [
        pair.internal,
        { internal: null, external: null, [side]: (row.cells.get(pair[side]) as Cell).raw, difference: "" },
      ]),
    );
    const item = { type, key: this.#rawKey(row, side), internal: null, external: null, [side]: placeOf(row), columns };
    this.#placed.push({ side: side === "internal" ? 0 : 1, place: row.place, item });
  }

  #rejected(side: Side, { path, line, place }: BadRow): void {
    const item = { type: "rejected", key: {}, internal: null, external: null, [side]: { path, line }, columns: {} };
    this.#placed.push({ side: side === "internal" ? 0 : 1, place, item });
  }

  /** In the order of their columns and then of the values of `by`. */
  #controls(): ControlTotal[] {
    const { controls } = this.rules;
    return (controls?.sum ?? []).flatMap((column) => {
      const totals = new Map<string | null, Record<Side, Rational>>();
      if (controls?.by === null) totals.set(null, { internal: zero, external: zero });
      for (const side of sides) {
        for (const { cells } of this.ledgers[side].rows) {
          const by = controls?.by ?? null;
          const value = by === null ? null : (cells.get(by[side]) as Cell).text;
          const total = totals.get(value) ?? { internal: zero, external: zero };
          const number = (cells.get(column[side]) as Cell).number ?? zero;
          totals.set(value, { ...total, [side]: add(total[side], number) });
        }
      }
      return [...totals].map(([by, { internal, external }]) => ({
        column: column.internal,
        by,
        internal: printed(internal) as string,
        external: printed(external) as string,
        difference: printed(subtract(external, internal)) as string,
      }));
    });
  }
}

const rowsBehind = ({ members }: Row) => members?.length ?? 1;

function placeOf({ path, line, members }: Row): Place {
  if (members === null) return { path, line };
  return { path, line, members: members.map((member) => ({ path: member.path, line: member.line })) };
}
