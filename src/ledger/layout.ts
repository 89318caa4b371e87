// From sampled records and the header decision to how one side is read: names, width, and where its rows begin in each
// file. Pure; used by ledger.ts.
import { ReconError } from "../errors";
import type { FileSpec, Note, SampleRecord, SampleResult } from "../generated/abi";
import { fault, note } from "./codes";
import type { SideColumns } from "./columns";
import type { Trailer } from "./extent";
import type { TrailerRule } from "../rules/rules";
import type { HeaderDecision, HeaderEvidence, HeaderMode } from "./header";

/** One side with the first records of each of its files. */
export interface SampledSide {
  side: "internal" | "external";
  /** How the ledger is called in notes: its path, or its pattern. */
  label: string;
  header: HeaderMode;
  columns: string[] | null;
  delimiter: number;
  files: SampledFile[];
}

/** The part of a file that holds its records. `ignored` counts the lines that are left out in front of it and behind. */
export interface SampledFile {
  spec: FileSpec;
  sample: SampleResult;
  ignored: number;
  trailer: { found: Trailer; rule: TrailerRule } | null;
}

export interface Layout {
  header: boolean;
  columns: SideColumns;
  /** One empty unnamed column stands behind the named ones. */
  trailing: boolean;
  /** As sampled, now beginning at the first row. */
  files: FileSpec[];
  /** Blank lines in front of where the files now begin. */
  ignored: number;
  notes: Note[];
}

/** What the header decision looks at. Throws if the first record is needed and malformed. */
export function evidenceOf(side: SampledSide, wanted: string[]): HeaderEvidence {
  const first = fieldsOf(firstRecord(side));
  return {
    path: side.label,
    mode: side.header,
    columns: side.columns,
    first,
    seconds: side.files.flatMap(({ sample }) => {
      const [own, second] = sample.records;
      return own && second && sameFields(fieldsOf(own), first) ? [fieldsOf(second)] : [];
    }),
    wanted,
  };
}

/** Throws where files have other headers, or `--columns` has another number of names than the header. */
export function layOut(side: SampledSide, decision: HeaderDecision): Layout {
  const headerNotes = decision.reason === null ? [] : [note("header", headerText(side.label, decision))];
  const layout = decision.header ? layOutWithHeader(side) : layOutWithoutHeader(side, decision);
  const trailing = `${side.label}: the last column has no name and is empty; it was left out`;
  return {
    ...layout,
    header: decision.header,
    notes: [...headerNotes, ...(layout.trailing ? [note("trailing_column", trailing)] : [])],
  };
}

export function headerText(label: string, { header, reason }: HeaderDecision): string {
  const what = header ? "the first record is a header" : "the first record is data, not a header";
  return `${label}: ${what}${reason === null ? "" : `: ${reason}`}`;
}

type Places = Omit<Layout, "header" | "notes">;

function layOutWithHeader(side: SampledSide): Places {
  refuseOtherHeaders(side);
  const record = firstRecord(side);
  const all = fieldsOf(record);
  const trailing = all.length > 1 && all.at(-1) === "";
  const named = trailing ? all.slice(0, -1) : all;
  if (side.columns !== null && side.columns.length !== named.length) {
    throw fault("columns", pathOf(side), `--columns has ${side.columns.length} names, the header ${named.length}`, {
      line: record.line,
      hint: "with --header yes, --columns renames every column of the header",
    });
  }
  const undecodable = record.fields.flatMap(({ utf8 }, place) => (utf8 || side.columns !== null ? [] : [place]));
  const files = side.files.map(behindHeader);
  return {
    trailing,
    columns: {
      side: side.side,
      path: pathOf(side),
      line: record.line,
      names: side.columns ?? named.map((name, place) => (name === "" ? placeName(place) : name)),
      noHeaderBecause: null,
      undecodable: new Set(undecodable),
    },
    files: files.map(({ file }) => file),
    ignored: files.reduce((sum, { ignored }) => sum + ignored, 0),
  };
}

/** The engine reads, and counts, from behind the mark. */
function layOutWithoutHeader(side: SampledSide, { reason }: HeaderDecision): Places {
  const fields = fieldsOf(side.columns === null ? firstRecord(side) : firstSound(side));
  return {
    trailing: side.columns !== null && fields.length === side.columns.length + 1 && fields.at(-1) === "",
    columns: {
      side: side.side,
      path: pathOf(side),
      line: 0,
      names: side.columns ?? fields.map((_, place) => placeName(place)),
      noHeaderBecause: reason,
      undecodable: new Set(),
    },
    files: side.files.map(({ spec }) => spec),
    ignored: 0,
  };
}

/** Rows begin at the second record, or where the header ends if there is none. */
function behindHeader({ spec, sample }: SampledSide["files"][number]): { file: FileSpec; ignored: number } {
  const [header, second] = sample.records as [SampleRecord, SampleRecord | undefined];
  if (second === undefined) {
    return { file: { ...spec, start: header.end, line: header.line + 1 }, ignored: sample.ignored_before };
  }
  return { file: { ...spec, start: second.start, line: second.line }, ignored: sample.ignored };
}

function refuseOtherHeaders(side: SampledSide): void {
  const header = fieldsOf(firstRecord(side));
  for (const { spec, sample } of side.files.slice(1)) {
    const record = sample.records[0] as SampleRecord;
    const fields = record.problem === null ? fieldsOf(record) : [];
    if (sameFields(fields, header)) continue;
    throw fault(
      "header",
      spec.path,
      `its header is not that of ${pathOf(side)}: ${shown(fields)}, not ${shown(header)}`,
      {
        line: record.line,
        hint: "all files of a pattern are one ledger and need the same header",
      },
    );
  }
}

/** The first record of the first file. Its problem is thrown unless `--columns` makes the record a row like others. */
function firstRecord(side: SampledSide): SampleRecord {
  const record = side.files[0]?.sample.records[0] as SampleRecord;
  const mayBeDamaged = side.columns !== null && side.header !== "yes";
  if (record.problem !== null && !mayBeDamaged) {
    const hint = record.problem.hint || `--${side.side}-columns names the columns where the first record is damaged`;
    throw new ReconError([{ ...record.problem, hint }]);
  }
  return record;
}

function firstSound(side: SampledSide): SampleRecord {
  const records = side.files.flatMap(({ sample }) => sample.records);
  return records.find(({ problem }) => problem === null) ?? (records[0] as SampleRecord);
}

function pathOf(side: SampledSide): string {
  return side.files[0]?.spec.path as string;
}

function fieldsOf(record: SampleRecord): string[] {
  return record.fields.map(({ text }) => text);
}

function sameFields(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((field, place) => field === b[place]);
}

/** The name of a column that has none. */
function placeName(place: number): string {
  return `c${place + 1}`;
}

/** A record in a message, not longer than it is useful. */
export function shown(fields: string[]): string {
  const text = fields.join(" | ");
  return `"${text.length > 120 ? `${text.slice(0, 120)}…` : text}"`;
}
