// The text of a proposed rules file: what was decided as members, what is only likely as comments. Pure; used by
// `recon init` and `recon inspect`.
import type { ColumnPair } from "../ledger/columns";
import type { Look } from "./look";

/** One side as it was read, and what its columns look like. */
export interface SideDraft {
  side: "internal" | "external";
  path: string;
  delimiter: number;
  /** Null for none. */
  quote: number | null;
  header: boolean;
  /** From --columns. */
  columns: string[] | null;
  /** From --encoding. */
  encoding: string | null;
  trim: boolean;
  foldCase: boolean;
  names: string[];
  looks: Look[];
  /** Of the sampled rows, by column. */
  values: string[][];
}

/** A compared column. `declared` are members that were asked for, such as `type = "decimal"`. */
export interface ColumnDraft {
  pair: ColumnPair;
  internal: number;
  external: number;
  declared: string[];
  /** Whether a type may be proposed beside them. */
  open: boolean;
}

export interface PairDraft {
  internal: SideDraft;
  external: SideDraft;
  key: ColumnPair[];
  otherKeys: ColumnPair[][];
  compare: ColumnDraft[];
  /** Columns whose names are alike; not compared. */
  alike: ColumnPair[];
  /** Columns that only one side has, by side. */
  onlyIn: { internal: string[]; external: string[] };
  /** Other members that were asked for. */
  members: string[];
}

export function pairText(draft: PairDraft): string {
  const { internal, external } = draft;
  const rows = Math.max(internal.values[0]?.length ?? 0, external.values[0]?.length ?? 0);
  const sections = [
    [
      `# Rules for ${comment(internal.path)} and ${comment(external.path)}, to be used with recon INTERNAL EXTERNAL --config FILE.`,
      `# Written by recon init from the first rows of each side (${rows} at most). What stands behind a # has no effect:`,
      "# proposals, to be checked by someone who knows the ledgers.",
    ],
    ["# Rows with the same key are the same trade.", ...keyLines(draft)],
    compareLines(draft),
    draft.members,
    sideSection(internal),
    sideSection(external),
    ...draft.compare.map((column) => columnSection(column, internal, external)),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function keyLines({ key, otherKeys }: PairDraft): string[] {
  const others = otherKeys.slice(0, 5).map(pairsText);
  return [
    `key = ${pairsText(key)}`,
    ...others.map((text) => `# key = ${text}   # no two rows of a side share it either`),
  ];
}

function compareLines({ compare, alike, onlyIn }: PairDraft): string[] {
  const compared = compare.map(({ pair }) => `  ${onePair(pair)},`);
  const proposed = alike.map((pair) => `  # ${onePair(pair)},   # names that are alike`);
  const lists = (["internal", "external"] as const).flatMap((side) =>
    onlyIn[side].length === 0 ? [] : [`# Only ${side} has: ${comment(onlyIn[side].join(", "))}`],
  );
  // No list at all is for every column of the same name, of which there is none.
  if (compared.length === 0)
    return [
      "# None has the same name on both sides.",
      "# compare = [",
      ...proposed.map((line) => `#${line.replace("# ", "")}`),
      "# ]",
      ...lists,
    ];
  return ["# Columns that are compared.", "compare = [", ...compared, ...proposed, "]", ...lists];
}

function pairsText(pairs: readonly ColumnPair[]): string {
  return `[${pairs.map(onePair).join(", ")}]`;
}

function onePair({ internal, external }: ColumnPair): string {
  if (internal === external) return tomlText(internal);
  return `{ internal = ${tomlText(internal)}, external = ${tomlText(external)} }`;
}

/** The table of one side, header line included. */
export function sideSection(side: SideDraft): string[] {
  const { delimiter, quote, header, columns, encoding, trim, foldCase } = side;
  return [
    `[${side.side}]   # ${comment(side.path)}`,
    `delimiter = ${tomlText(delimiter === 9 ? "tab" : String.fromCharCode(delimiter))}`,
    ...(quote === 34 ? [] : [`quote = ${quote === null ? '"none"' : tomlText(String.fromCharCode(quote))}`]),
    `header = "${header ? "yes" : "no"}"`,
    ...(columns === null ? [] : [`columns = [${columns.map(tomlText).join(", ")}]`]),
    ...(encoding === null ? [] : [`encoding = "${encoding}"`]),
    ...(trim ? ["trim = true"] : []),
    ...(foldCase ? ["fold_case = true"] : []),
    ...dateLines(side),
    ...zoneLines(side),
    ...numberLines(side),
    ...nullLines(side),
  ];
}

/** The one format that all dates of a side are in, if they are not in the default ones. */
function dateFormatOf({ looks }: SideDraft): string | null {
  const others = looks.filter(({ dateFormats }) => dateFormats.length > 0).map(({ dateFormats }) => dateFormats);
  const common = others
    .slice(1)
    .reduce((left, formats) => left.filter((one) => formats.includes(one)), others[0] ?? []);
  return common.length === 1 ? common[0]! : null;
}

function dateLines(side: SideDraft): string[] {
  const format = dateFormatOf(side);
  const seen = side.looks.flatMap(({ dateFormats }, i) => (dateFormats.length > 0 ? [i] : []));
  if (seen.length === 0) return [];
  if (format !== null) return [`date_format = "${format}"   # ${exampleOf(side, seen[0]!)}`];
  return seen.map((i) => {
    const [first, ...others] = side.looks[i]!.dateFormats;
    const or = others.map((other) => `or "${other}": `).join("");
    return `# date_format = "${first}"   # ${or}${exampleOf(side, i)}`;
  });
}

function zoneLines(side: SideDraft): string[] {
  const at = side.looks.findIndex(({ type, zoned }) => type === "timestamp" && !zoned);
  return at < 0 ? [] : [`# timezone = "Europe/London"   # whichever it is: ${exampleOf(side, at)}, without a zone`];
}

function numberLines(side: SideDraft): string[] {
  const at = side.looks.findIndex(({ numberFormat }) => numberFormat.length > 0);
  return at < 0 ? [] : side.looks[at]!.numberFormat.map((member) => `# ${member}   # ${exampleOf(side, at)}`);
}

function nullLines({ looks }: SideDraft): string[] {
  const words = [...new Set(looks.flatMap(({ nulls }) => nulls))];
  return words.length === 0
    ? []
    : [`# null = [${words.map(tomlText).join(", ")}]   # if these stand for an empty value`];
}

function exampleOf({ names, values }: SideDraft, column: number): string {
  // The longest value shows most.
  const longest = values[column]!.reduce((a, b) => (b.length > a.length ? b : a), "");
  return `${comment(names[column]!)} holds ${comment(longest.slice(0, 40))}`;
}

function columnSection(column: ColumnDraft, internal: SideDraft, external: SideDraft): string[] {
  const lines = [...column.declared, ...(column.open ? typeLines(column, internal, external) : [])];
  const codes = codeLines(internal.values[column.internal]!, external.values[column.external]!);
  if (lines.length + codes.length === 0) return [];
  const header = `[columns.${bareOrQuoted(column.pair.internal)}]`;
  return [lines.some((line) => !line.startsWith("#")) ? header : `# ${header}`, ...lines, ...codes];
}

/** A type where every value of both sides fits it, else what is missing for one. */
function typeLines({ internal, external }: ColumnDraft, ours: SideDraft, theirs: SideDraft): string[] {
  const sides = [
    { look: ours.looks[internal]!, side: ours },
    { look: theirs.looks[external]!, side: theirs },
  ];
  const filled = sides.filter(({ look }) => look.type !== "empty");
  const types = new Set(filled.map(({ look }) => look.type));
  const [type] = types;
  const numbers = filled.filter(({ look }) => look.numberFormat.length > 0);
  if (numbers.length > 0 && filled.every(({ look }) => look.type === "decimal" || look.numberFormat.length > 0))
    return ['# type = "decimal"   # once both sides say how they write numbers'];
  if (type === undefined || types.size > 1 || type === "text") return [];
  const isRead = filled.every(({ look, side }) => isReadable(look, dateFormatOf(side)));
  if (isRead)
    return [
      `type = "${type}"`,
      ...(type === "decimal" ? ['# tolerance = "0.01"   # or "5bps", "0.1%", "5bps max 1.00"'] : []),
    ];
  return [`# type = "${type}"   # once both sides say how they write it`];
}

function isReadable(look: Look, dateFormat: string | null): boolean {
  if (look.type === "timestamp") return look.zoned;
  if (look.type !== "date") return true;
  return dateFormat === null ? look.dateFormats.length === 0 : look.dateFormats.includes(dateFormat);
}

/** As many different codes as a map is written for. */
const codes_max = 12;

function codeLines(internal: string[], external: string[]): string[] {
  const [ours, theirs] = [codesOf(internal), codesOf(external)];
  const few = (codes: string[]) => codes.length > 0 && codes.length <= codes_max;
  if (!few(ours) || !few(theirs) || ours.some((code) => theirs.includes(code))) return [];
  if (internal.length <= 2 * ours.length) return [];
  const entries = theirs.map((code) => `${tomlText(code)} = "…"`).join(", ");
  return [`# external_map = { ${entries} }   # internal has ${comment(ours.join(", "))}`];
}

function codesOf(values: string[]): string[] {
  return [...new Set(values)].filter((value) => value !== "").sort();
}

/** A text as a basic string. */
export function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\x7f", "\\u007f");
}

function bareOrQuoted(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : tomlText(name);
}

/** What may stand in a comment: no control characters. */
function comment(text: string): string {
  return text.replace(/\p{Cc}/gu, "�");
}
