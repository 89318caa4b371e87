// From names to places: key columns, compared columns, what is left out, and the messages for names that are not there,
// are there twice or are nearly right. Pure; used by ledger.ts.
import { editDistance } from "../edit-distance";
import { problem, ReconError } from "../errors";
import type { ColumnSpec, ErrorItem, Note } from "../generated/abi";
import type { Place, Placed } from "../rules/rules";
import { note, type LedgerErrorCode } from "./codes";
import { inputName } from "./source";

/** A column by the names of both sides; `name[2]` is the second column of that name. */
export interface ColumnPair {
  internal: string;
  external: string;
  /** Where a rules file names it. */
  place?: Place;
}

/** The columns of one side as they were found. */
export interface SideColumns {
  side: "internal" | "external";
  path: string;
  /** Line of the header, 0 where there is none. */
  line: number;
  names: string[];
  /** Why there is no header, null where there is one or an option decided. */
  noHeaderBecause: string | null;
  /** Places of names that are not valid UTF-8. */
  undecodable: Set<number>;
  /** All columns of the file, where `names` are those of its folded rows. */
  folded?: { from: string[] };
}

export interface ColumnChoice {
  key: ColumnPair[] | null;
  compare: ColumnPair[] | null;
  ignore: string[];
}

export interface PairedColumns {
  key: ColumnSpec[];
  compare: ColumnSpec[];
  notes: Note[];
}

/** Throws one ReconError that holds everything wrong with the names. */
export function pairColumns(internal: SideColumns, external: SideColumns, choice: ColumnChoice): PairedColumns {
  return new Pairing(internal, external, choice).result();
}

interface Refusal {
  hint?: string;
  pair?: ColumnPair | undefined;
}

class Pairing {
  readonly #problems: ErrorItem[] = [];
  readonly #notes: Note[] = [];

  constructor(
    private readonly internal: SideColumns,
    private readonly external: SideColumns,
    private readonly choice: ColumnChoice,
  ) {}

  result(): PairedColumns {
    const key = this.#named("--key", this.choice.key ?? this.#defaultKey());
    const compare = this.choice.compare === null ? this.#shared(key) : this.#compared(this.choice.compare);
    this.#noteUnknownIgnored();
    if (this.#problems.length > 0) throw new ReconError(this.#problems);
    if (compare.length === 0) this.#notes.push(note("keys_only", "no column was left to compare: only keys were"));
    return { key, compare, notes: this.#notes };
  }

  /** The internal side's first column, which the other side must have too. */
  #defaultKey(): ColumnPair[] {
    const first = this.internal.names[0] as string;
    return [{ internal: first, external: first }];
  }

  #compared(pairs: ColumnPair[]): ColumnSpec[] {
    const compare = this.#named("--compare", pairs);
    const ignored = { internal: this.#ignored(this.internal), external: this.#ignored(this.external) };
    for (const { name, ...places } of compare) {
      if (!ignored.internal.has(places.internal) && !ignored.external.has(places.external)) continue;
      this.#refuse("columns", this.internal, `column ${quote(name)} is named by --compare and by --ignore`);
    }
    return compare;
  }

  #named(option: string, pairs: ColumnPair[]): ColumnSpec[] {
    const found: ColumnSpec[] = [];
    const taken = new Set<number>();
    for (const pair of pairs) {
      const internal = this.#place(this.internal, pair, option);
      const external = this.#place(this.external, pair, option);
      if (internal === null || external === null) continue;
      if (taken.has(internal)) {
        this.#refuse("columns", this.internal, `column ${quote(pair.internal)} is named twice by ${option}`, { pair });
      }
      taken.add(internal);
      found.push({ name: pair.internal, internal, external });
    }
    return found;
  }

  #place(side: SideColumns, pair: ColumnPair, option: string): number | null {
    const name = pair[side.side];
    const places = placesOf(side.names, name);
    if (places.length > 1) this.#refuseRepeated(side, name, option, pair);
    else if (places.length === 0) this.#refuseMissing(side, pair, option);
    else if (this.#isReadable(side, places[0] as number)) return places[0] as number;
    return null;
  }

  /** Every column of both sides that is neither key nor ignored, in internal order. */
  #shared(key: ColumnSpec[]): ColumnSpec[] {
    const internal = remaining(this.internal, [...key.map((part) => part.internal), ...this.#ignored(this.internal)]);
    const external = remaining(this.external, [...key.map((part) => part.external), ...this.#ignored(this.external)]);
    const shared: ColumnSpec[] = [];
    for (const [name, places] of internal) {
      const others = external.get(name);
      if (others === undefined) continue;
      if (places.length > 1) this.#refuseRepeated(this.internal, name, "--compare");
      else if (others.length > 1) this.#refuseRepeated(this.external, name, "--compare");
      else shared.push(...this.#sharedColumn(places[0] as number, others[0] as number));
    }
    this.#noteOneSided(
      this.internal,
      [...internal.keys()].filter((name) => !external.has(name)),
    );
    this.#noteOneSided(
      this.external,
      [...external.keys()].filter((name) => !internal.has(name)),
    );
    return shared;
  }

  #sharedColumn(internal: number, external: number): ColumnSpec[] {
    const readable = [this.#isReadable(this.internal, internal), this.#isReadable(this.external, external)];
    return readable.every(Boolean) ? [{ name: addressOf(this.internal, internal), internal, external }] : [];
  }

  #ignored(side: SideColumns): Set<number> {
    return new Set(this.choice.ignore.flatMap((name) => ignoredPlaces(side, name)));
  }

  #isReadable(side: SideColumns, place: number): boolean {
    if (!side.undecodable.has(place)) return true;
    this.#refuse("encoding", side, `the name of column ${place + 1} is not valid in the encoding it is read in`, {
      hint: `--${side.side}-encoding windows-1252, if that is what the file is written in`,
    });
    return false;
  }

  #refuseRepeated(side: SideColumns, name: string, option: string, pair?: ColumnPair): void {
    const count = side.names.filter((other) => other === name).length;
    this.#refuse(
      "columns",
      side,
      `column ${quote(name)} is there ${count} times, so its name alone does not tell which`,
      {
        pair,
        hint: `${option} "${name}[1]" is the first of them, --ignore ${name} leaves all of them out`,
      },
    );
  }

  #refuseMissing(side: SideColumns, pair: ColumnPair, option: string): void {
    const name = pair[side.side];
    const isDefault = option === "--key" && this.choice.key === null;
    const role = isDefault ? ", the key unless --key says otherwise" : "";
    if (side.folded?.from.includes(name)) return this.#refuseUnfolded(side, name);
    const unread = side.noHeaderBecause === null ? "" : ` (read without a header: ${side.noHeaderBecause})`;
    this.#refuse(
      "columns",
      side,
      `there is no column ${quote(name)}${role}; there are ${listed(side.names)}${unread}`,
      {
        pair,
        hint: this.#hintForMissing(side, pair, option),
      },
    );
  }

  #refuseUnfolded(side: SideColumns, name: string): void {
    const group = `[group.${side.side}]`;
    this.#refuse(
      "columns",
      side,
      `column ${quote(name)} is neither by, sum nor vwap of ${group}, so folded rows have none`,
      {
        hint: `add it to by or sum of ${group}, or to vwap = { ${name} = WEIGHT }`,
      },
    );
  }

  #hintForMissing(side: SideColumns, pair: ColumnPair, option: string): string {
    const near = nearest(pair[side.side], side.names);
    if (pair.place !== undefined) {
      if (near !== null) return `did you mean ${quote(near)}?`;
      return '{ internal = "NAME", external = "NAME" } names a column that is called differently on the two sides';
    }
    if (near !== null) {
      const internal = nearestOrSame(this.internal, pair.internal);
      const external = nearestOrSame(this.external, pair.external);
      return `did you mean ${quote(near)}? ${option} ${internal === external ? internal : `${internal}=${external}`}`;
    }
    if (side.line === 0) return `--${side.side}-columns names the columns of a file without a header`;
    return `${option} INTERNAL=EXTERNAL names a column that is called differently on the two sides`;
  }

  /** At the header, or where a rules file names the column. */
  #refuse(code: LedgerErrorCode, side: SideColumns, message: string, { hint = "", pair }: Refusal = {}): void {
    const place = pair?.place;
    if (place === undefined) this.#problems.push({ code, path: side.path, line: side.line, column: 0, message, hint });
    else {
      const { path, line, column, member } = place;
      this.#problems.push({
        code,
        path,
        line,
        column,
        message: `${member}: ${inputName(side.path)}: ${message}`,
        hint,
      });
    }
  }

  #noteOneSided(side: SideColumns, names: string[]): void {
    if (names.length > 0)
      this.#notes.push(note("columns", `only ${inputName(side.path)} has ${listed(names)}: not compared`));
  }

  #noteUnknownIgnored(): void {
    for (const name of this.choice.ignore) {
      const known = [this.internal, this.external].some((side) => ignoredPlaces(side, name).length > 0);
      if (!known) this.#notes.push(note("columns", `--ignore: no side has a column ${quote(name)}`));
    }
  }
}

/** The place of a column that a rule names on one side. Throws `columns` with the names that are there. */
export function rulePlace(side: SideColumns, { value: name, place }: Placed<string>): number {
  const [found, another] = placesOf(side.names, name);
  if (found !== undefined && another === undefined) return found;
  const near = nearest(name, side.names);
  const hint =
    found !== undefined ? `"${name}[1]" is the first of them` : near === null ? "" : `did you mean ${quote(near)}?`;
  const what = found !== undefined ? `has several columns ${quote(name)}` : `has no column ${quote(name)}`;
  const message = `${place.member}: ${inputName(side.path)} ${what}; there are ${listed(side.names)}`;
  throw problem("columns", message, { path: place.path, line: place.line, column: place.column, hint });
}

/** `name` of `name[2]` with the number, null for a name that has none. */
export function splitAddress(reference: string): { name: string; number: number } | null {
  const parts = /^(.+)\[([1-9]\d*)\]$/s.exec(reference);
  return parts === null ? null : { name: parts[1] as string, number: Number(parts[2]) };
}

/** Places of a name; a column that is really called `x[1]` comes first. */
export function placesOf(names: string[], reference: string): number[] {
  const exact = placesOfName(names, reference);
  const address = splitAddress(reference);
  if (exact.length > 0 || address === null) return exact;
  return placesOfName(names, address.name).slice(address.number - 1, address.number);
}

/** The places of every name, made once per side: a file may have tens of thousands of columns. */
const placesByName = new WeakMap<string[], Map<string, number[]>>();

function placesOfName(names: string[], name: string): number[] {
  let places = placesByName.get(names);
  if (places === undefined) {
    places = Map.groupBy(names.keys(), (place) => names[place] as string);
    placesByName.set(names, places);
  }
  return places.get(name) ?? [];
}

/** A number addresses only where the name is there more than once: `--ignore px[1]` leaves a lone `px` alone. */
function ignoredPlaces(side: SideColumns, reference: string): number[] {
  const exact = placesOfName(side.names, reference);
  const address = splitAddress(reference);
  if (exact.length > 0 || address === null || placesOfName(side.names, address.name).length < 2) return exact;
  return placesOf(side.names, reference);
}

/** Places that are not in `used`, by name, in order. */
function remaining(side: SideColumns, used: Iterable<number>): Map<string, number[]> {
  const taken = new Set(used);
  const free = side.names.map((name, place) => ({ name, place })).filter(({ place }) => !taken.has(place));
  const byName = Map.groupBy(free, ({ name }) => name);
  return new Map([...byName].map(([name, columns]) => [name, columns.map(({ place }) => place)]));
}

function addressOf(side: SideColumns, place: number): string {
  const name = side.names[place] as string;
  const places = placesOfName(side.names, name);
  return places.length === 1 ? name : `${name}[${places.indexOf(place) + 1}]`;
}

/** A name or value in a message. */
export function quote(text: string): string {
  return `"${text}"`;
}

/** At most this many names in one message. */
const listed_max = 20;

export function listed(names: string[]): string {
  const more = names.length - listed_max;
  return names.slice(0, listed_max).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function nearestOrSame(side: SideColumns, name: string): string {
  return placesOf(side.names, name).length > 0 ? name : (nearest(name, side.names) ?? name);
}

/** The one name that differs only in case, blanks and punctuation, or else by at most two letters. */
export function nearest(name: string, names: string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const same = names.find((other) => plain(other) === plain(name) && plain(name) !== "");
  if (same !== undefined) return same;
  const allowed = Math.min(2, Math.floor(name.length / 3));
  const byDistance = names.map((other) => ({ other, edits: editDistance(plain(name), plain(other)) }));
  const best = byDistance.sort((a, b) => a.edits - b.edits)[0];
  return best !== undefined && best.edits <= allowed ? best.other : null;
}
