// From option values to what the ledger folder and the engine need. Used by the commands that read ledgers.
import { usage } from "./arguments";
import type { Values } from "./options";
import { count } from "./value-kinds";
import { Engine } from "../engine/engine";
import { memoryBudget, temporaryFolder, usableCores } from "../engine/machine";
import type { FoldResult, RunSpec } from "../generated/abi";
import type { Derived } from "../ledger/derived";
import { foldLedger, foldedTypes, type FoldSettings } from "../ledger/group";
import type { LedgerContext, OpenedPair, OpenLedger, PairOptions, RuledPair, SideOptions } from "../ledger/ledger";
import { namedColumns, noRules, type Rules, type SideMember } from "../rules/rules";

const csvOptions = ["delimiter", "quote", "header", "columns"] as const;

/** How one side is to be read: what was typed for the side wins over what was typed for both. */
export function sideOptions(
  values: Values,
  side: "internal" | "external",
  path: string,
  rules: Rules = noRules,
): SideOptions {
  const typed = { ...values, ...values[side] };
  const quote = typed.quote;
  const delimiter = typed.delimiter ?? null;
  if (delimiter !== null && delimiter === quote) {
    throw usage(
      `the ${side} ledger cannot have the same byte as delimiter and as quote`,
      "--quote none reads files without quotes",
    );
  }
  return {
    side,
    path,
    delimiter,
    quote,
    header: typed.header,
    columns: typed.columns ?? null,
    encoding: typed.encoding ?? null,
    trim: typed.trim ?? false,
    foldCase: typed.foldCase ?? false,
    format: typed.format,
    csvOptions: csvOptions.filter((name) => values[side][name] !== undefined),
    fix: { checks: values.fixChecks, multileg: values.fixMultileg },
    rules: rules[side],
  };
}

/** Throws a usage error where the values cannot go together. */
export function pairOptions(values: Values, internal: string, external: string, rules: Rules): PairOptions {
  if (internal === "-" && external === "-") throw usage("only one of the two ledgers can be standard input");
  return {
    internal: sideOptions(values, "internal", internal, rules),
    external: sideOptions(values, "external", external, rules),
    key: values.key ?? null,
    compare: values.compare ?? null,
    ignore: values.ignore ?? [],
    named: namedColumns(rules),
  };
}

/** What opening needs besides the options. Loads the engine. */
export function ledgerContext(
  values: Values,
  signal: AbortSignal,
  progress?: LedgerContext["progress"],
): LedgerContext {
  const context = {
    engine: Engine.load(),
    signal,
    tempDirectory: temporaryFolder(values.temp),
    threads: values.threads ?? usableCores(),
    ...hook("RECON_CHUNK_BYTES", "chunk_bytes", count(1, 2 ** 31 - 1)),
  };
  return progress ? { ...context, progress } : context;
}

/** The members of a RunSpec that come straight from the options. */
export function runSettings(values: Values) {
  return {
    on_bad_row: values.rejects === undefined ? values.onBadRow : "reject",
    unique: values.unique ?? false,
    threads: values.threads ?? usableCores(),
    pin: values.pin ?? false,
    memory_bytes: values.memory ?? memoryBudget(),
    plan: values.plan,
    temp_directory: temporaryFolder(values.temp),
    ...testHooks(),
  } satisfies Partial<RunSpec>;
}

/** Throws where rules do not fit the columns, and what is wrong with rows that are folded. */
export async function applyRules(
  pair: OpenedPair,
  rules: Rules,
  options: PairOptions,
  settings: FoldSettings,
  context: LedgerContext,
): Promise<RuledPair> {
  if (rules === noRules) return { ...pair, controls: [], [Symbol.dispose]: () => {} };
  const { Translation } = await import("../rules/translate");
  const names = (ledger: OpenLedger, { trim, foldCase }: SideOptions) => ({
    path: ledger.paths[0] as string,
    names: ledger.columns,
    compared: ledger.group?.names ?? ledger.columns,
    trim,
    foldCase,
  });
  const sides = { internal: names(pair.internal, options.internal), external: names(pair.external, options.external) };
  const translation = new Translation(rules, sides, [...(options.key ?? []), ...(options.compare ?? [])]);
  const { compare, controls, notes } = translation.comparison(pair.key, pair.compare);
  const hasTimes = compare.some(({ type }) => type === "timestamp");
  const readings = {
    internal: translation.reading("internal", hasTimes),
    external: translation.reading("external", hasTimes),
  };
  translation.finish();
  using folds = new DisposableStack();
  const ledger = async (side: SideMember): Promise<OpenLedger> => {
    const spec = { ...pair[side].spec, ...readings[side] };
    const { group } = pair[side];
    if (group === null) return { ...pair[side], spec };
    return foldedOf(pair[side], folds.use(await foldLedger(spec, group, foldSettings(settings), context)));
  };
  const [internal, external] = [await ledger("internal"), await ledger("external")];
  const opened = folds.move();
  const groups = { internal: internal.group, external: external.group };
  return {
    ...pair,
    internal,
    external,
    compare: foldedTypes(compare, groups),
    notes: [...pair.notes, ...notes],
    controls,
    [Symbol.dispose]: () => opened.dispose(),
  };
}

function foldSettings({ threads, memory_bytes, temp_directory }: FoldSettings): FoldSettings {
  return { threads, memory_bytes, temp_directory };
}

function foldedOf(ledger: OpenLedger, { spec, result }: Derived<FoldResult>): OpenLedger {
  return { ...ledger, spec, ignored: ledger.ignored + result.ignored, filtered: result.filtered };
}

/** The members of a RunSpec that say what is compared, and how it is read. */
export function pairSpec({ internal, external, key, compare, controls }: RuledPair) {
  return { internal: internal.spec, external: external.spec, key, compare, controls } satisfies Partial<RunSpec>;
}

/** For tests: tiny units of work, and hashes cut so short that they collide. */
function testHooks(): Pick<RunSpec, "chunk_bytes" | "hash_bits"> {
  return {
    ...hook("RECON_CHUNK_BYTES", "chunk_bytes", count(1, 2 ** 31 - 1)),
    ...hook("RECON_HASH_BITS", "hash_bits", count(0, 64)),
  };
}

function hook(variable: string, member: "chunk_bytes" | "hash_bits", parse: (text: string) => number) {
  const text = process.env[variable];
  if (text === undefined || text === "") return {};
  try {
    return { [member]: parse(text) };
  } catch (error) {
    throw usage(`the environment variable ${variable} takes ${(error as Error).message}`);
  }
}
