// From option values to what the ledger folder and the engine need. Used by the commands that read ledgers.
import { usage } from "./arguments";
import type { Values } from "./options";
import { count } from "./value-kinds";
import { Engine } from "../engine/engine";
import { memoryBudget, temporaryFolder, usableCores } from "../engine/machine";
import type { RunSpec } from "../generated/abi";
import type { LedgerContext, OpenedPair, OpenLedger, PairOptions, SideOptions } from "../ledger/ledger";
import { noRules, type Rules } from "../rules/rules";

/** How one side is to be read: what was typed for the side wins over what was typed for both. */
export function sideOptions(values: Values, side: "internal" | "external", path: string): SideOptions {
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
  };
}

/** Throws a usage error where the values cannot go together. */
export function pairOptions(values: Values, internal: string, external: string): PairOptions {
  if (internal === "-" && external === "-") throw usage("only one of the two ledgers can be standard input");
  return {
    internal: sideOptions(values, "internal", internal),
    external: sideOptions(values, "external", external),
    key: values.key ?? null,
    compare: values.compare ?? null,
    ignore: values.ignore ?? [],
  };
}

/** What opening needs besides the options. Loads the engine. */
export function ledgerContext(
  values: Values,
  signal: AbortSignal,
  progress?: LedgerContext["progress"],
): LedgerContext {
  const context = { engine: Engine.load(), signal, tempDirectory: temporaryFolder(values.temp) };
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

/** The members of a RunSpec that say what is compared, and how it is read. Throws where rules do not fit the columns. */
export async function pairSpec({ internal, external, key, compare }: OpenedPair, rules: Rules, options: PairOptions) {
  if (rules === noRules)
    return { internal: internal.spec, external: external.spec, key, compare } satisfies Partial<RunSpec>;
  const { Translation } = await import("../rules/translate");
  const names = (ledger: OpenLedger, { trim, foldCase }: SideOptions) => ({
    path: ledger.paths[0] as string,
    names: ledger.columns,
    trim,
    foldCase,
  });
  const sides = { internal: names(internal, options.internal), external: names(external, options.external) };
  const translation = new Translation(rules, sides, [...(options.key ?? []), ...(options.compare ?? [])]);
  const comparison = translation.comparison(key, compare);
  const hasTimes = comparison.compare.some(({ type }) => type === "timestamp");
  const spec = {
    internal: { ...internal.spec, ...translation.reading("internal", hasTimes) },
    external: { ...external.spec, ...translation.reading("external", hasTimes) },
    key,
    ...comparison,
  } satisfies Partial<RunSpec>;
  translation.finish();
  return spec;
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
