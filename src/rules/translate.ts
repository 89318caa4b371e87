// From rules to the engine's specification, once the columns of both ledgers are known: names become places, defaults
// become types, zones become offsets. Used by the commands that reconcile, through cli/ledger-options.ts.
import { ReconError } from "../errors";
import type {
  ColumnSpec,
  ControlSpec,
  ErrorItem,
  FilterSpec,
  LedgerSpec,
  MapSpec,
  Note,
  SignSpec,
  ToleranceBySpec,
} from "../generated/abi";
import { note } from "../ledger/codes";
import { listed, nearest, placesOf, quote, type ColumnPair } from "../ledger/columns";
import { trimmed } from "../ledger/ledger";
import { inputName } from "../ledger/source";
import { rulesProblem, typeOf } from "./column-types";
import type { ColumnRule, Place, Placed, Rules, SideMember } from "./rules";
import { zoneSpec } from "./zones";

/** The columns of one side, and how its values are folded before codes are looked up. */
export interface SideNames {
  path: string;
  names: string[];
  /** Of the rows that are compared: not `names` where rows are folded. */
  compared: string[];
  trim: boolean;
  foldCase: boolean;
}

/** How values of one side are read. */
export type Reading = Required<
  Pick<LedgerSpec, "number" | "date_format" | "zone" | "nulls" | "maps" | "signs" | "where">
>;

export interface Comparison {
  compare: ColumnSpec[];
  controls: ControlSpec[];
  notes: Note[];
}

/** `pairs` are the key and compared columns that were named: they say how a column is called on the external side. */
export class Translation {
  readonly #problems: ErrorItem[] = [];
  readonly #externalNames: Map<string, string>;

  constructor(
    private readonly rules: Rules,
    private readonly sides: Record<SideMember, SideNames>,
    pairs: readonly ColumnPair[],
  ) {
    this.#externalNames = new Map(pairs.map(({ internal, external }) => [internal, external]));
  }

  /** Throws one ReconError with every rule that does not fit the columns. */
  finish(): void {
    if (this.#problems.length === 0) return;
    throw new ReconError(this.#problems.sort((a, b) => a.line - b.line || a.column - b.column));
  }

  /** `zone` says whether any value is a time. */
  reading(side: SideMember, zone: boolean): Reading {
    const { number, dateFormat, timezone, nulls } = this.rules[side];
    return {
      number,
      date_format: dateFormat?.value ?? null,
      zone: zone && timezone !== null ? zoneSpec(timezone.value) : null,
      nulls,
      maps: this.#ofEach("map", (rule) => this.#map(side, rule)),
      signs: this.#ofEach("sign", (rule) => this.#sign(side, rule)),
      where: this.#where(side),
    };
  }

  comparison(key: ColumnSpec[], compare: ColumnSpec[]): Comparison {
    const byPlace = new Map<number, ColumnRule>();
    for (const rule of this.rules.columns) {
      this.#refuseUnknown(rule);
      const place = this.#find("internal", rule.name, true, this.sides.internal.compared);
      if (place === null) continue;
      if (byPlace.has(place))
        this.#refuse(rule.place, `the column has rules already, as ${quote(byPlace.get(place)!.name)}`);
      byPlace.set(place, rule);
    }
    for (const { internal } of key) this.#refuseOnKey(byPlace.get(internal));
    const controls = this.#controls();
    const used = new Set([...key, ...compare, ...controls].map(({ internal }) => byPlace.get(internal)));
    const idle = this.rules.columns.filter((rule) => isOfValues(rule) && !used.has(rule));
    return {
      compare: compare.map((column) => this.#compared(column, byPlace.get(column.internal))),
      controls,
      notes: idle.map(({ name }) =>
        note("columns", `column ${quote(name)} is not compared: its type and tolerance are not used`),
      ),
    };
  }

  #compared(column: ColumnSpec, rule: ColumnRule | undefined): ColumnSpec {
    if (rule === undefined) return column;
    return {
      ...column,
      type: typeOf(rule),
      tolerance: rule.tolerance?.value.spec ?? null,
      tolerance_by: this.#toleranceBy(rule),
    };
  }

  #toleranceBy({ toleranceBy }: ColumnRule): ToleranceBySpec | null {
    if (toleranceBy === null) return null;
    const column = this.#comparedPlace("internal", toleranceBy.column);
    if (column === null) return null;
    return {
      column,
      cases: toleranceBy.cases.map(({ value, tolerance }) => ({ value, tolerance: tolerance.value.spec })),
    };
  }

  #controls(): ControlSpec[] {
    const { controls } = this.rules;
    if (controls === null) return [];
    const by = controls.by === null ? null : this.#onBothSides(controls.by);
    return controls.sum.flatMap((sum) => {
      const places = this.#onBothSides(sum);
      return places === null ? [] : [{ name: sum.value, ...places, by }];
    });
  }

  #onBothSides(name: Placed<string>): Record<SideMember, number> | null {
    const internal = this.#comparedPlace("internal", name);
    const external = this.#comparedPlace("external", name);
    return internal === null || external === null ? null : { internal, external };
  }

  /** What each column rule makes; two of them may mean one column, by the names of either side. */
  #ofEach<T extends { column: number }>(what: string, specs: (rule: ColumnRule) => T[]): T[] {
    const made = new Map<number, T>();
    for (const rule of this.rules.columns) {
      for (const spec of specs(rule)) {
        if (made.has(spec.column)) this.#refuse(rule.place, `another rule has a ${what} for this column already`);
        made.set(spec.column, spec);
      }
    }
    return [...made.values()];
  }

  #map(side: SideMember, { name, maps }: ColumnRule): MapSpec[] {
    const map = maps[side];
    if (map === null) return [];
    // A map of both sides may be for a column that only one has.
    const other = side === "internal" ? "external" : "internal";
    if (maps[other] === map && this.#find(side, name) === null && this.#find(other, name) !== null) return [];
    const column = this.#place(side, { value: name, place: map.place });
    const words = new Map<string, string>();
    for (const { from, to } of map.value) {
      const word = this.#folded(side, from);
      if (words.has(word) && words.get(word) !== to)
        this.#refuse(map.place, `the code ${quote(from)} is there twice once letters and blanks are folded`);
      words.set(word, to);
    }
    return column === null ? [] : [{ column, codes: map.value }];
  }

  #sign(side: SideMember, { name, signedBy }: ColumnRule): SignSpec[] {
    if (signedBy === null || (signedBy.on !== null && signedBy.on !== side)) return [];
    if (signedBy.on === null && this.#find(side, signedBy.column.value) === null) {
      const other = side === "internal" ? "external" : "internal";
      // A side without the column is taken as signed.
      if (side === "external" || this.#find(other, signedBy.column.value) !== null) return [];
    }
    const by = this.#place(side, signedBy.column);
    const column = this.#place(side, { value: name, place: signedBy.place });
    const negative = new Set(signedBy.negative.map((code) => this.#folded(side, code)));
    const both = signedBy.positive.find((code) => negative.has(this.#folded(side, code)));
    if (both !== undefined)
      this.#refuse(
        signedBy.place,
        `the code ${quote(both)} is both negative and positive once letters and blanks are folded`,
      );
    if (by === null || column === null) return [];
    if (by === column) this.#refuse(signedBy.column.place, `column ${quote(name)} cannot give itself a sign`);
    return [{ column, by, negative: signedBy.negative, positive: signedBy.positive }];
  }

  #where(side: SideMember): FilterSpec[] {
    return this.rules[side].where.flatMap(({ column, values }) => {
      const place = this.#place(side, column, false);
      return place === null ? [] : [{ column: place, in: values }];
    });
  }

  /** What a value is is said by the internal side's name; codes and signs may be for a column of the other side alone. */
  #refuseUnknown(rule: ColumnRule): void {
    const { type, tolerance, toleranceBy } = rule;
    const said = type ?? tolerance ?? toleranceBy?.column;
    if (this.#find("internal", rule.name) !== null) return;
    if (said === undefined && this.#find("external", rule.name) !== null) return;
    this.#refuseMissing("internal", { value: rule.name, place: (said ?? rule).place });
  }

  #refuseOnKey(keyRule: ColumnRule | undefined): void {
    if (keyRule === undefined) return;
    const { name, type, tolerance, toleranceBy, signedBy } = keyRule;
    const rule =
      (type?.value === "text" || type?.value === "auto" ? null : type) ?? tolerance ?? toleranceBy?.column ?? signedBy;
    if (rule !== null)
      this.#refuse(
        rule.place,
        `${quote(name)} is a key column: keys are compared as bytes, after --trim, --fold-case and maps`,
      );
  }

  /** The column a rule names; null, and a problem, where it is not there. */
  #place(side: SideMember, name: Placed<string>, byInternalName = true): number | null {
    const found = this.#find(side, name.value, byInternalName);
    if (found === null) this.#refuseMissing(side, name);
    return found;
  }

  /** The same among the columns that are compared. */
  #comparedPlace(side: SideMember, name: Placed<string>): number | null {
    const { names, compared } = this.sides[side];
    const found = this.#find(side, name.value, true, compared);
    if (found !== null) return found;
    if (compared !== names && this.#find(side, name.value) !== null) {
      const message = `${quote(name.value)} is neither by, sum nor vwap of [group.${side}], so folded rows have no such column`;
      this.#refuse(name.place, message, `add it to by or sum of [group.${side}]`);
    } else this.#refuseMissing(side, name);
    return null;
  }

  #find(side: SideMember, name: string, byInternalName = true, names = this.sides[side].names): number | null {
    const here = side === "external" && byInternalName ? (this.#externalNames.get(name) ?? name) : name;
    const places = placesOf(names, here);
    return places.length === 1 ? (places[0] as number) : null;
  }

  #refuseMissing(side: SideMember, { value, place }: Placed<string>): void {
    const { path, names } = this.sides[side];
    const here = side === "external" ? (this.#externalNames.get(value) ?? value) : value;
    const count = names.filter((name) => name === here).length;
    if (count > 1) {
      this.#refuse(
        place,
        `column ${quote(here)} is there ${count} times in ${inputName(path)}`,
        `${quote(`${here}[1]`)} is the first of them`,
      );
      return;
    }
    const inner = [...this.#externalNames].find(([, external]) => external === value)?.[0];
    const near = nearest(here, names);
    const close = near === null ? "" : `did you mean ${quote(near)}?`;
    const hint = inner === undefined ? close : `rules go by the name in the internal ledger: ${inner}`;
    this.#refuse(place, `${inputName(path)} has no column ${quote(here)}; there are ${listed(names)}`, hint);
  }

  #folded(side: SideMember, code: string): string {
    const { trim, foldCase } = this.sides[side];
    const bare = trim ? trimmed(code) : code;
    return foldCase ? bare.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : bare;
  }

  #refuse(place: Place, message: string, hint = ""): void {
    this.#problems.push(rulesProblem(place, message, hint));
  }
}

/** Whether a rule says how values are compared, and not only what codes mean. */
function isOfValues({ type, tolerance, toleranceBy, signedBy }: ColumnRule): boolean {
  return type !== null || tolerance !== null || toleranceBy !== null || signedBy !== null;
}
