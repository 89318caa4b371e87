// recon explain: everything about the rows of some keys, matched or broken, and where a key that is not there may hide.
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { ledgerContext, pairOptions, pairSpec, runSettings } from "./ledger-options";
import { problem, ReconError } from "../errors";
import { openPair } from "../ledger/ledger";
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

/** Rows whose key is not the one asked for but would be with `option`; null where no option makes it so. */
interface NearMiss {
  found: Break;
  why: string;
  option: string | null;
}

/** Exit status 0 if every key was found and all its rows match, else 1; a key that is nowhere is an error. */
export async function execute({ operands, values }: Invocation): Promise<number> {
  const [internal, external, ...keyTexts] = operands;
  if (internal === undefined || external === undefined || keyTexts.length === 0) {
    throw usage(
      "recon explain takes two ledgers and at least one key",
      "recon explain INTERNAL EXTERNAL --key COLS KEY…",
    );
  }
  if (values.key === undefined) throw usage("recon explain needs --key");
  const keys = keyTexts.map((text) => keyParts(text, values.key!.length));

  using interruption = new Interruption();
  const { signal } = interruption;
  const context = ledgerContext(values, signal);
  using pair = await openPair(pairOptions(values, internal, external), context);
  const settings = { ...runSettings(values), limit: pairs_max };
  const find = async (wanted: string[][], loosely: boolean): Promise<Break[]> => {
    const spec = { ...pairSpec(pair), ...settings, only_keys: wanted };
    if (loosely) {
      spec.internal = { ...spec.internal, trim: true, fold_case: true };
      spec.external = { ...spec.external, trim: true, fold_case: true };
    }
    const result = await context.engine.run({ run: spec }, { signal });
    pair.internal.verifyUnchanged();
    pair.external.verifyUnchanged();
    if (result.outcome === "failed") throw new ReconError(result.errors, result.error_count);
    return result.shown.map((text) => JSON.parse(text) as Break);
  };

  const exact = await find(keys, false);
  const folds = { trim: pair.internal.spec.trim === true, fold: pair.internal.spec.fold_case === true };
  const explanations = keys.map((key): Explanation => {
    const wanted = folded(key, folds);
    return { key, pairs: exact.filter((found) => folded(partsOf(found), folds) === wanted), nearMisses: [] };
  });
  const incomplete = explanations.filter(({ pairs }) => !pairs.some(({ internal, external }) => internal && external));
  if (incomplete.length > 0) {
    const loose = await find(
      incomplete.flatMap(({ key }) => variants(key)),
      true,
    );
    for (const explanation of incomplete) explanation.nearMisses = nearMissesOf(explanation.key, loose);
  }

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

const isMatched = ({ type }: Break) => type === "matched";
const partsOf = ({ key }: Break) => Object.values(key);

/** A key of one column is taken as it is; one of several is a CSV record. */
export function keyParts(text: string, columns: number): string[] {
  if (columns === 1) return [text];
  const parts = [...`,${text}`.matchAll(/,(?:"((?:[^"]|"")*)"(?=,|$)|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
  );
  if (parts.length === columns) return parts;
  throw usage(`the key ${JSON.stringify(text)} has ${parts.length} parts, --key names ${columns} columns`);
}

/** A key as it is compared with these options, as one text. */
function folded(parts: string[], { trim, fold }: { trim: boolean; fold: boolean }): string {
  const trimmed = trim ? parts.map((part) => part.replace(/^[\t-\r ]+|[\t-\r ]+$/g, "")) : parts;
  const same = fold ? trimmed.map((part) => part.replace(/[A-Z]/g, (letter) => letter.toLowerCase())) : trimmed;
  return JSON.stringify(same);
}

/** The key, and the same number without and with more leading zeros. */
function variants(key: string[]): string[][] {
  const plain = key.map((part) => part.trim().toLowerCase());
  const padded = Array.from({ length: zeros_max }, (_, zeros) => plain.map((part) => withZeros(part, zeros)));
  const unique = new Map([plain, ...padded].map((parts) => [JSON.stringify(parts), parts]));
  return [...unique.values()];
}

function withZeros(part: string, zeros: number): string {
  return /^\d+$/.test(part) ? "0".repeat(zeros) + part.replace(/^0+(?=\d)/, "") : part;
}

const ways: [trim: boolean, fold: boolean, why: string, option: string][] = [
  [true, false, "blanks around it", "--trim"],
  [false, true, "upper and lower case", "--fold-case"],
  [true, true, "blanks and case", "--trim --fold-case"],
];

function nearMissesOf(key: string[], found: Break[]): NearMiss[] {
  const isVariant = new Set(variants(key).map((parts) => JSON.stringify(parts)));
  return found.flatMap((candidate): NearMiss[] => {
    const parts = partsOf(candidate);
    if (!isVariant.has(folded(parts, { trim: true, fold: true }))) return [];
    const [, , why = "leading zeros", option = null] =
      ways.find(([trim, fold]) => folded(parts, { trim, fold }) === folded(key, { trim, fold })) ?? [];
    return JSON.stringify(parts) === JSON.stringify(key) && !(candidate.internal && candidate.external)
      ? []
      : [{ found: candidate, why, option }];
  });
}

function keyText(names: string[], key: string[]): string {
  return key.map((part, i) => `${safeValue(names[i]!)}=${safeValue(part)}`).join(", ");
}

function explanationText(explanations: Explanation[], names: string[], paint: Paint): string {
  const lines = explanations.flatMap(({ key, pairs, nearMisses }) => [
    paint("strong", keyText(names, key)),
    ...(pairs.length === 0 ? ["  no row has exactly this key"] : pairs.flatMap((pair) => breakLines(pair, paint))),
    ...nearMisses.flatMap(({ found, why, option }) => [
      `  near miss: ${why}${option === null ? "" : `, ${option} would join them`}`,
      ...breakLines(found, paint).slice(0, 1),
    ]),
    "",
  ]);
  return `${lines.join("\n")}\n`.replace(/\n\n$/, "\n");
}

function explanationDocument(explanations: Explanation[], names: string[], exitCode: number): string {
  const keys = explanations.map(({ key, pairs, nearMisses }) => ({
    key: Object.fromEntries(names.map((name, i) => [name, key[i]])),
    pairs,
    nearMisses: nearMisses.map(({ found, why, option }) => ({ ...found, why, option })),
  }));
  const status = exitCode === 0 ? "reconciled" : "breaks";
  return `${JSON.stringify({ schemaVersion: 1, status, exitCode, keys, errors: [] }, null, 2)}\n`;
}
