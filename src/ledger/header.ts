// Whether the first record of each side is a header: a pure decision over sampled records. Used by ledger.ts.
import { quote, splitAddress } from "./columns";

/** How a first record is to be read: by its look, or as the option says. */
export type HeaderMode = "auto" | "yes" | "no";

/** What is known of one side. */
export interface HeaderEvidence {
  path: string;
  mode: HeaderMode;
  /** Names from `--columns`. */
  columns: string[] | null;
  first: string[];
  /** The record behind the first one, of each file that has one and begins alike. */
  seconds: string[][];
  /** Names of key and compared columns that were given for this side. */
  wanted: string[];
}

/** `reason` completes "… because …"; null where an option decided. */
export interface HeaderDecision {
  header: boolean;
  reason: string | null;
}

/** A side of its own. Where nothing shows what the first record is, `header` is null. */
interface OpenDecision {
  header: boolean | null;
  reason: string | null;
}

/** Decisions for both sides; null where neither side shows anything and an option must tell. */
export function decideHeaders(
  internal: HeaderEvidence,
  external: HeaderEvidence,
): { internal: HeaderDecision; external: HeaderDecision } | null {
  const alone = { internal: decideAlone(internal), external: decideAlone(external) };
  if (alone.internal.header === null && alone.external.header === null) return null;
  return {
    internal: decideBeside(internal, alone.internal, external, alone.external),
    external: decideBeside(external, alone.external, internal, alone.internal),
  };
}

/** The decision for a ledger without a partner: names that nothing speaks against are taken as a header. */
export function decideHeader(side: HeaderEvidence): HeaderDecision {
  const { header, reason } = decideAlone(side);
  return header === null ? { header: true, reason: "all its fields are text" } : { header, reason };
}

function decideAlone(side: HeaderEvidence): OpenDecision {
  if (side.mode !== "auto") return { header: side.mode === "yes", reason: null };
  if (side.columns !== null) return { header: false, reason: null };
  const against = dataInFirstRecord(side.first);
  if (against !== null) return { header: false, reason: against };
  const named = side.first.find((name) => side.wanted.some((wanted) => names(wanted, name)));
  if (named !== undefined) return { header: true, reason: `it names the column ${quote(named)}` };
  const number = numberUnderText(side);
  return number === null ? { header: null, reason: null } : { header: true, reason: number };
}

/** Names that both sides have count only where the partner shows by something else that it has names. */
function decideBeside(
  side: HeaderEvidence,
  alone: OpenDecision,
  partner: HeaderEvidence,
  partnerAlone: OpenDecision,
): HeaderDecision {
  if (alone.header !== null) return { header: alone.header, reason: alone.reason };
  const partnerNames = partner.columns ?? (partnerAlone.header ? partner.first : []);
  const shared = side.first.find((name) => partnerNames.includes(name));
  if (shared !== undefined) return { header: true, reason: `it shares the name ${quote(shared)} with ${partner.path}` };
  return { header: false, reason: `nothing shows that it is one, and it shares no name with ${partner.path}` };
}

/** What shows that the record is data, or null. One empty last field is set aside: some headers end in a delimiter. */
function dataInFirstRecord(first: string[]): string | null {
  const fields = first.length > 1 && isBlank(first.at(-1) as string) ? first.slice(0, -1) : first;
  if (fields.some(isBlank)) return "one of its fields is empty";
  for (const field of fields) {
    const kind = valueKind(field);
    if (kind !== null) return `${quote(field)} in it is a ${kind}`;
  }
  return null;
}

/** `px` and `px[2]` both name `px`. */
function names(reference: string, name: string): boolean {
  return reference === name || splitAddress(reference)?.name === name;
}

function numberUnderText(side: HeaderEvidence): string | null {
  for (const second of side.seconds) {
    const at = second.findIndex((field, at) => at < side.first.length && valueKind(field) === "number");
    if (at >= 0) return `${quote(second[at] as string)} stands under ${quote(side.first[at] as string)}`;
  }
  return null;
}

const time = String.raw`\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?`;
const zone = String.raw`( ?(Z|[+-]\d{2}(:?\d{2})?))?`;
const kinds: [kind: "number" | "date" | "time", pattern: RegExp][] = [
  ["number", /^[+-]?[.,]*\d[\d.,]*([eE][+-]?\d+)?$/],
  ["date", new RegExp(String.raw`^\d+[-/.]\d+[-/.]\d+([T ]${time}${zone})?$`)],
  ["date", /^\d{4}-(\d{2}|\d{3}|W\d{2}(-\d)?)$/],
  ["date", new RegExp(String.raw`^\d{8}T\d{2,6}([.,]\d+)?${zone}$`)],
  ["date", /^\d{8}-\d/],
  ["time", new RegExp(`^${time}${zone}$`)],
];

/** What a field is if it is no name: a number, a date or a time. Blanks around it do not count. */
export function valueKind(field: string): "number" | "date" | "time" | null {
  const text = field.trim();
  return kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
}

function isBlank(field: string): boolean {
  return field.trim() === "";
}
