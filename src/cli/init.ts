// recon init: a commented rules file for a pair of ledgers. What the options said is in it; beyond them only what every
// sampled value fits. Everything else is a comment.
import { existsSync, fstatSync, statSync, writeFileSync } from "node:fs";
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { ledgerContext, pairOptions } from "./ledger-options";
import type { Values } from "./options";
import { problem } from "../errors";
import { pairColumns, type ColumnPair } from "../ledger/columns";
import { openSides, type LedgerContext, type OpenedSides, type PairOptions } from "../ledger/ledger";
import { sampleColumns } from "../ledger/sampled-values";
import { OutputFile, openDescriptor } from "../report/output-file";
import { writeOut } from "../report/standard-output";
import { safe } from "../report/terminal-safe";
import { correspond, keyCandidates, type Correspondence } from "../rules/correspondence";
import { pairText, tomlText, type ColumnDraft, type PairDraft, type SideDraft } from "../rules/draft";
import { lookOf } from "../rules/look";
import { noRules, type SideMember, type Tolerance } from "../rules/rules";

/** Types and keys are proposed from this many rows of each side. */
const sampled_rows = 10_000;
const defaultPath = "recon.toml";

/** Exit status 0 once the file is written. A file that is already there is refused, never replaced. */
export async function execute({ operands, values, typed }: Invocation): Promise<number> {
  const [internal, external] = operands;
  if (internal === undefined || external === undefined || operands.length > 2)
    throw usage(`two ledgers are needed, not ${operands.length}`, "recon init INTERNAL EXTERNAL [options]");
  const path = targetOf(values);
  refuseExisting(path);
  const options = pairOptions(values, internal, external, noRules);
  using interruption = new Interruption();
  const context = ledgerContext(values, interruption.signal);
  using sides = await openSides(options, context);
  const draft = await draftOf(sides, options, typed, context);
  sides.internal.verifyUnchanged();
  sides.external.verifyUnchanged();
  const text = pairText(draft);
  await checkText(path, text);
  if (path === "-" && !values.json) await writeOut(text);
  else if (path !== "-") await writeFile(path, text, values);
  if (values.json) await writeOut(document(path, draft, text));
  return 0;
}

/** `recon init A B >recon.toml` has made an empty file of that name already, which is then written to. */
function targetOf({ output = defaultPath, json }: Values): string {
  if (openDescriptor(output) !== null) return "-";
  const target = statSync(output, { throwIfNoEntry: false });
  if (target === undefined || json) return output;
  const standardOutput = fstatSync(1);
  return target.dev === standardOutput.dev && target.ino === standardOutput.ino ? "-" : output;
}

function refuseExisting(path: string): void {
  if (path === "-" || !existsSync(path)) return;
  throw problem("usage", "this file is already there and is not replaced", {
    path,
    hint: "--output FILE writes another one, --output - writes to standard output",
  });
}

async function writeFile(path: string, text: string, { mode, quiet }: Values): Promise<void> {
  using file = await OutputFile.create(path, mode);
  writeFileSync(file.fd, text);
  file.sync();
  file.publish();
  if (!quiet) console.error(`recon: ${safe(path)} is written; check it, then use --config ${safe(path)}`);
}

/** What is written must be readable. */
async function checkText(path: string, text: string): Promise<void> {
  const { readRules } = await import("../rules/load");
  readRules(path, text);
}

async function draftOf(
  sides: OpenedSides,
  options: PairOptions,
  typed: Partial<Values>,
  context: LedgerContext,
): Promise<PairDraft> {
  const internal = await sideDraft("internal", sides, options, context);
  const external = await sideDraft("external", sides, options, context);
  const names = (pair: Correspondence): ColumnPair => ({
    internal: internal.names[pair.internal]!,
    external: external.names[pair.external]!,
  });
  const pairs = correspond(internal.names, external.names);
  const candidates = keyCandidates(pairs, { internal: internal.values, external: external.values });
  const [key, ...otherKeys] = options.key ? [options.key] : candidates.map((candidate) => candidate.map(names));
  if (key === undefined) throw noKey(pairs.length > 0, sides);
  const isKey = (pair: ColumnPair) =>
    key.some((part) => part.internal === pair.internal || part.external === pair.external);
  const isIgnored = (pair: ColumnPair) => options.ignore.some((name) => [pair.internal, pair.external].includes(name));
  const free = pairs.filter((pair) => !isKey(names(pair)) && !isIgnored(names(pair)));
  // Without options the run would not even begin where the first column is called otherwise: then likely pairs are taken.
  const takesAlike = options.key === null && options.compare === null && pairs[0]?.alike !== false;
  const chosen = options.compare ?? free.filter(({ alike }) => takesAlike || !alike).map(names);
  const { compare } = pairColumns(sides.columns.internal, sides.columns.external, { key, compare: chosen, ignore: [] });
  const named = [...key, ...chosen];
  const left = free
    .filter(({ alike }) => alike)
    .map(names)
    .filter((pair) => !named.some((other) => sharesName(other, pair)));
  const onlyIn = (side: SideMember, all: string[]) =>
    all.filter((name) => ![...named, ...left].some((pair) => pair[side] === name) && !options.ignore.includes(name));
  return {
    internal,
    external,
    key,
    otherKeys,
    compare: chosen.map((pair, i) => columnDraft(pair, compare[i]!, typed)),
    alike: left,
    onlyIn: { internal: onlyIn("internal", internal.names), external: onlyIn("external", external.names) },
    members: generalMembers(typed),
  };
}

function sharesName(a: ColumnPair, b: ColumnPair): boolean {
  return a.internal === b.internal || a.external === b.external;
}

function noKey(havePairs: boolean, sides: OpenedSides) {
  const { internal, external } = sides.columns;
  const seen = `${internal.names.slice(0, 20).join(", ")} and ${external.names.slice(0, 20).join(", ")}`;
  const message = havePairs
    ? "no column that both sides have, and no two of them, tell the rows apart"
    : `no column of one side is called like one of the other: ${seen}`;
  return problem("columns", message, {
    path: external.path,
    hint: "--key INTERNAL=EXTERNAL says what a row is found by",
  });
}

async function sideDraft(
  side: SideMember,
  sides: OpenedSides,
  options: PairOptions,
  context: LedgerContext,
): Promise<SideDraft> {
  const ledger = sides[side];
  const values = await sampleColumns(ledger, sampled_rows, context);
  const { delimiter, header, columns: names } = ledger;
  return { ...options[side], delimiter, header, names, looks: values.map(lookOf), values };
}

/** What was typed about a column goes in as it was typed. */
function columnDraft(
  pair: ColumnPair,
  { internal, external }: { internal: number; external: number },
  typed: Partial<Values>,
): ColumnDraft {
  const type = typed.type?.find(({ column }) => column === pair.internal);
  const tolerance = typed.tolerance?.find(({ column }) => column === pair.internal);
  const declared = [
    ...(type === undefined ? [] : [`type = "${type.value}"`]),
    ...(tolerance === undefined ? [] : [`tolerance = "${toleranceText(tolerance.value)}"`]),
  ];
  return { pair, internal, external, declared, open: declared.length === 0 };
}

function toleranceText({ type, spec: { amount, unit, cap } }: Tolerance): string {
  if (unit === "absolute") return amount + { decimal: "", timestamp: "s", date: "d" }[type];
  return `${amount}${unit === "bps" ? "bps" : "%"}${cap == null ? "" : ` max ${cap}`}`;
}

function generalMembers({ ignore, onBadRow, unique }: Partial<Values>): string[] {
  return [
    ...(ignore === undefined ? [] : [`ignore = [${ignore.map(tomlText).join(", ")}]`]),
    ...(onBadRow === undefined ? [] : [`on_bad_row = "${onBadRow}"`]),
    ...(unique ? ["unique = true"] : []),
  ];
}

function document(path: string, { key, compare }: PairDraft, text: string): string {
  const columns = compare.map(({ pair }) => pair);
  const written = {
    schemaVersion: 1,
    status: "written",
    exitCode: 0,
    path,
    key,
    compare: columns,
    rules: text,
    errors: [],
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}
