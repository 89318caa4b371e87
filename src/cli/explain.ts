// recon explain: everything about the rows of some keys, matched or broken, and where a key that is not there may hide.
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { applyRules, ledgerContext, pairOptions, pairSpec, runSettings } from "./ledger-options";
import { settle } from "./settings";
import { problem, ReconError } from "../errors";
import type { ColumnSpec, LedgerSpec, RunSpec, ValueType } from "../generated/abi";
import { openPair, trimmed, type LedgerContext, type OpenedPair } from "../ledger/ledger";
import type { SideMember } from "../rules/rules";
import { counted } from "../report/numbers";
import type { Break } from "../report/report";
import { writeOut } from "../report/standard-output";
import { breakLines, paintFor, type Paint } from "../report/terminal";
import { safeValue } from "../report/terminal-safe";

const pairs_max = 1000;
const zeros_max = 12;

interface Explanation {
  /** The key as it was asked for. */
  key: string[];
  pairs: Break[];
  nearMisses: NearMiss[];
}

/** Rows that have the key only under a rule. `option` applies it; null where no option does. */
interface NearMiss {
  found: Break;
  why: string;
  option: string | null;
}

/** How both sides are read beyond what their own options say, and which keys count as the one asked for. */
interface Rule {
  why: string;
  option: string | null;
  trim: boolean;
  fold: boolean;
  spellings(key: string[]): string[][];
}

const asGiven: Rule = { why: "", option: null, trim: false, fold: false, spellings: (key) => [key] };
/** The least first: what one joins is not looked for with the next. */
const rules: readonly Rule[] = [
  { ...asGiven, why: "blanks around it", option: "--trim", trim: true },
  { ...asGiven, why: "upper and lower case", option: "--fold-case", fold: true },
  { ...asGiven, why: "blanks and case", option: "--trim --fold-case", trim: true, fold: true },
  { ...asGiven, why: "leading zeros", spellings: withLeadingZeros },
];

/** Exit status 0 if every key was found and all its rows match, else 1; a key that is nowhere is an error. */
export async function execute(invocation: Invocation): Promise<number> {
  const [internal, external, ...keyTexts] = invocation.operands;
  if (internal === undefined || external === undefined || keyTexts.length === 0) {
    throw usage("explain takes two ledgers and at least one key", "recon explain INTERNAL EXTERNAL --key COLS KEY…");
  }
  const { values, rules: declared } = await settle(invocation);
  const keys = keyTexts.map((text) => keyParts(text, values.key!.length));
  const options = pairOptions(values, internal, external, declared);

  using interruption = new Interruption();
  const context = ledgerContext(values, interruption.signal);
  const settings = runSettings(values);
  using opened = await openPair(options, context);
  using pair = await applyRules(opened, declared, options, settings, context);
  const spec = { ...pairSpec(pair), ...settings };
  const explanations = await explain(keys, pair, spec, context);
  const names = pair.key.map(({ name }) => name);
  const nowhere = explanations.filter(({ pairs, nearMisses }) => pairs.length + nearMisses.length === 0);
  if (nowhere.length > 0) {
    const missing = nowhere.map(({ key }) => keyText(names, key)).join("; ");
    throw problem("not_found", `no row of either ledger has the key ${missing}`);
  }
  const exitCode = explanations.every(({ pairs }) => pairs.length > 0 && pairs.every(isMatched)) ? 0 : 1;
  if (values.json) await writeOut(explanationDocument(explanations, names, exitCode));
  else if (!values.quiet) await writeOut(explanationText(explanations, names, paintFor(1)));
  return exitCode;
}

async function explain(
  keys: string[][],
  pair: OpenedPair,
  { internal, external, ...settings }: RunSpec,
  { engine, signal }: LedgerContext,
): Promise<Explanation[]> {
  /** All rows that have one of the keys under a rule. */
  const find = async (wanted: string[][], rule: Rule): Promise<Break[]> => {
    const sides = {
      internal: { ...internal, ...reading(internal, rule) },
      external: { ...(external as LedgerSpec), ...reading(external as LedgerSpec, rule) },
    };
    const only_keys = wanted.flatMap((key) => readings(key, rule));
    const run = { ...settings, ...sides, only_keys, limit: pairs_max };
    const result = await engine.run({ run }, { signal });
    pair.internal.verifyUnchanged();
    pair.external.verifyUnchanged();
    if (result.outcome === "failed") throw new ReconError(result.errors, result.error_count);
    const found = result.shown.map((text) => JSON.parse(text) as Break);
    for (const one of found) nameRules(one, settings.compare, sides);
    return found;
  };
  /** What a key may be once it is read: as it is, or as one of the sides would read it. */
  const readings = (key: string[], rule: Rule): string[][] =>
    rule
      .spellings(key)
      .flatMap((spelling) => [spelling, ...sideNames.map((side) => readKey(spelling, pair, side, rule))]);
  /** Those of one of the keys. A break has the key of its internal row, if there is one. */
  const ofKey = (found: Break[], key: string[], rule: Rule): Break[] =>
    found.filter((one) => {
      const side = one.internal ? "internal" : "external";
      const how = reading(pair[side].spec, rule);
      const own = folded(readKey(Object.values(one.key), pair, side, rule), how);
      return readings(key, rule).some((spelling) => folded(spelling, how) === own);
    });

  const exact = await find(keys, asGiven);
  const explanations = keys.map((key): Explanation => ({ key, pairs: ofKey(exact, key, asGiven), nearMisses: [] }));
  for (const rule of rules) {
    const open = explanations.filter(({ pairs, nearMisses }) => !isJoined(pairs) && !isJoined(foundBy(nearMisses)));
    if (open.length === 0) break;
    const wanted = open.map(({ key }) => key);
    const found = await find(wanted, rule);
    for (const explanation of open) addNearMisses(explanation, rule, ofKey(found, explanation.key, rule));
  }
  return explanations;
}

/** Adds, to each column of a pair, the rules that made its values. */
function nameRules(found: Break, compare: ColumnSpec[], sides: Record<SideMember, LedgerSpec>): void {
  if (!isPair(found)) return;
  for (const { name, internal, external, type = "auto" } of compare) {
    const column = found.columns[name];
    if (column === undefined) continue;
    column.internalRules = appliedRules(sides.internal, internal, type, column.internal, column.internalValue);
    column.externalRules = appliedRules(sides.external, external, type, column.external, column.externalValue);
  }
}

/** What of a side's rules had a part in a value, in the order they are applied. `raw` is as the file has it. */
export function appliedRules(
  spec: LedgerSpec,
  place: number,
  type: ValueType,
  raw: string | null,
  value = "",
): string[] {
  if (raw === null || raw === "") return [];
  const bare = spec.trim ? trimmed(raw) : raw;
  const same = spec.fold_case ? lowerCase(bare) : bare;
  const rules = [...(bare === raw ? [] : ["trim"]), ...(same === bare ? [] : ["fold-case"])];
  if (value === "" && same !== "") return [...rules, "null"];
  if (spec.maps?.some(({ column }) => column === place)) rules.push("map");
  const sign = spec.signs?.find(({ column }) => column === place);
  if (sign !== undefined) rules.push("signed_by");
  const { decimal = 46, thousands = null, negative = "plain", currency = [] } = spec.number ?? {};
  const isOwnFormat = decimal !== 46 || thousands !== null || negative !== "plain" || currency.length > 0;
  if (type === "decimal" && isOwnFormat && same !== value) rules.push("number format");
  if (type === "timestamp" && spec.zone && !hasZone(same)) rules.push(`timezone ${spec.zone.name}`);
  if (type === "date" && spec.date_format) rules.push(`date_format ${spec.date_format}`);
  return rules;
}

/** The FIX form is UTC without saying so. */
function hasZone(time: string): boolean {
  return /(Z|[+-]\d{2}(:?\d{2})?)$/.test(time.slice(10)) || /^\d{8}-/.test(time);
}

const isMatched = ({ type }: Break) => type === "matched";
const isPair = ({ internal, external }: Break) => internal !== null && external !== null;
const isJoined = (found: Break[]) => found.some(isPair);
const foundBy = (nearMisses: NearMiss[]) => nearMisses.map(({ found }) => found);
const placesOf = ({ internal, external }: Break) => JSON.stringify([internal, external]);

/** What is already there is no news; lone rows give way to a rule that joins both sides. */
function addNearMisses(explanation: Explanation, { why, option }: Rule, found: Break[]): void {
  const known = new Set([...explanation.pairs, ...foundBy(explanation.nearMisses)].map(placesOf));
  const news = found.filter((one) => !known.has(placesOf(one))).map((one): NearMiss => ({ found: one, why, option }));
  if (isJoined(foundBy(news))) explanation.nearMisses = news;
  else explanation.nearMisses.push(...news);
}

/** A key of one column is taken as it is; one of several is a CSV record. */
export function keyParts(text: string, columns: number): string[] {
  if (columns === 1) return [text];
  const parts = [...`,${text}`.matchAll(/,(?:"((?:[^"]|"")*)"(?=,|$)|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
  );
  if (parts.length === columns) return parts;
  throw usage(`the key ${JSON.stringify(text)} has ${counted(parts.length, "part")}, --key names ${columns} columns`);
}

type Reading = Pick<LedgerSpec, "trim" | "fold_case">;

/** How a side is read under a rule. */
function reading({ trim = false, fold_case = false }: LedgerSpec, rule: Rule): Reading {
  return { trim: trim || rule.trim, fold_case: fold_case || rule.fold };
}

const sideNames = ["internal", "external"] as const;

/** What null words and value maps of a side make of a key that it has; a code without a meaning stays. */
function readKey(parts: string[], { key, ...pair }: OpenedPair, side: SideMember, rule: Rule): string[] {
  const { spec } = pair[side];
  const how = reading(spec, rule);
  const isSame = (a: string, b: string) => folded([a], how) === folded([b], how);
  return parts.map((part, i) => {
    if (spec.nulls?.some((word) => isSame(word, part))) return "";
    const codes = spec.maps?.find(({ column }) => column === key[i]![side])?.codes ?? [];
    return codes.find(({ from }) => isSame(from, part))?.to ?? part;
  });
}

/** A key as it is compared, as one text. */
function folded(parts: string[], { trim, fold_case }: Reading): string {
  const kept = trim ? parts.map(trimmed) : parts;
  const same = fold_case ? kept.map(lowerCase) : kept;
  return JSON.stringify(same);
}

function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The same numbers with other leading zeros. */
function withLeadingZeros(key: string[]): string[][] {
  const padded = Array.from({ length: zeros_max }, (_, zeros) => key.map((part) => withZeros(part, zeros)));
  return [...new Map(padded.map((parts) => [JSON.stringify(parts), parts])).values()];
}

function withZeros(part: string, zeros: number): string {
  return /^\d+$/.test(part) ? "0".repeat(zeros) + part.replace(/^0+(?=\d)/, "") : part;
}

function keyText(names: string[], key: string[]): string {
  return key.map((part, i) => `${safeValue(names[i]!)}=${safeValue(part)}`).join(", ");
}

function explanationText(explanations: Explanation[], names: string[], paint: Paint): string {
  const lines = explanations.flatMap(({ key, pairs, nearMisses }) => [
    paint("strong", keyText(names, key)),
    ...(pairs.length === 0 ? ["  no row has exactly this key"] : pairs.flatMap((pair) => breakLines(pair, paint))),
    ...nearMisses.flatMap((nearMiss) => nearMissLines(nearMiss, paint)),
    "",
  ]);
  return `${lines.join("\n")}\n`.replace(/\n\n$/, "\n");
}

function nearMissLines({ found, why, option }: NearMiss, paint: Paint): string[] {
  const effect = isPair(found) ? "would join them" : "would find this row";
  const type = option === null ? found.type : (conditional[found.type] ?? found.type);
  const [head = ""] = breakLines({ ...found, type }, paint);
  return [`  near miss: ${why}, ${option === null ? "which no option ignores" : `${option} ${effect}`}`, head];
}

/** What a pair would be with an option that was not given. */
const conditional: Record<string, string> = { matched: "would match", mismatch: "would be a mismatch" };

function explanationDocument(explanations: Explanation[], names: string[], exitCode: number): string {
  const keys = explanations.map(({ key, pairs, nearMisses }) => ({
    key: Object.fromEntries(names.map((name, i) => [name, key[i]])),
    pairs,
    nearMisses: nearMisses.map(({ found, why, option }) => ({ ...found, why, option })),
  }));
  const status = exitCode === 0 ? "reconciled" : "breaks";
  return `${JSON.stringify({ schemaVersion: 1, status, exitCode, keys, errors: [] }, null, 2)}\n`;
}
