// Every option, defined once: the parser (arguments.ts), help (help.ts) and the table in the docs (scripts/docs.ts)
// read this list, and the commands get their typed values from it.
import type { Encoding } from "../ledger/ledger";
import type { FixChecks, FixMultileg, GenerateFormat, Ids, OnBadRow, Order, Plan } from "../generated/abi";
import * as kind from "./value-kinds";

export type CommandName = "run" | "inspect" | "explain" | "init" | "fix" | "generate" | "bench";

/** `text` is what would be typed, `size` that or a whole number; lists are lists there. */
export type RulesForm = "flag" | "count" | "size" | "text" | "names" | "pairs";

export interface Option<T = unknown> {
  /** Without the dashes. */
  name: string;
  /** One letter. */
  short?: string;
  /** What help calls the value; an option without it is a flag. */
  value?: string;
  /** Exists three times where there are two ledgers: for both, and with `internal-` or `external-` in front for one. */
  sides?: true;
  commands: readonly CommandName[];
  /** Commands that do not run without it. */
  required?: readonly CommandName[];
  help: string;
  /** The value without the option, as it would be typed. */
  default?: string;
  /** What holds without the option where no value says it. Only shown. */
  otherwise?: string;
  /** May be given several times; the value is then the list of all. */
  repeatable?: true;
  /** How a rules file says it, under its name with `_` for `-`; an option without a form is not for rules files. */
  inRules?: RulesForm;
  /** Throws an Error whose message completes "--name takes …". */
  parse(text: string): T;
}

const ledgers = ["run", "inspect", "explain", "init"] as const;
/** What has two ledgers, and what settles how they are compared. */
const pairs = ["run", "explain", "init"] as const;
const verdicts = ["run", "explain"] as const;
const all = ["run", "inspect", "explain", "init", "fix", "generate", "bench"] as const;

/** As many as the engine starts. */
const threads_max = 256;

export const options = {
  config: {
    name: "config",
    short: "c",
    value: "FILE",
    commands: verdicts,
    help: "rules file; the command line wins over it",
    otherwise: "none; recon.toml is never picked up by itself",
    parse: kind.path,
  },
  key: {
    name: "key",
    short: "k",
    value: "COLS",
    commands: pairs,
    required: ["explain"],
    help: "key columns, comma separated; internal=external where names differ",
    otherwise: "the first column",
    inRules: "pairs",
    parse: kind.columnPairs,
  },
  compare: {
    name: "compare",
    value: "COLS",
    commands: pairs,
    help: "columns to compare, same form",
    otherwise: "every column both sides have that is neither key nor ignored",
    inRules: "pairs",
    parse: kind.columnPairs,
  },
  ignore: {
    name: "ignore",
    value: "COLS",
    commands: pairs,
    help: "columns never compared",
    inRules: "names",
    parse: kind.names,
  },
  type: {
    name: "type",
    value: "COL=TYPE",
    commands: pairs,
    help: "auto, text, decimal, timestamp or date: what values of the column are",
    otherwise: "auto",
    repeatable: true,
    parse: kind.columnType,
  },
  tolerance: {
    name: "tolerance",
    value: "COL=SPEC",
    commands: pairs,
    help: "how far two values may differ: 0.01, 5bps, 0.1%, 5bps max 1.00, 500ms, 2s, 1d; declares the type",
    repeatable: true,
    parse: kind.columnTolerance,
  },
  format: {
    name: "format",
    value: "F",
    sides: true,
    commands: ledgers,
    help: "auto, csv or fix",
    default: "auto",
    inRules: "text",
    parse: kind.choice(["auto", "csv", "fix"]),
  },
  fixChecks: {
    name: "fix-checks",
    value: "C",
    commands: [...ledgers, "fix"],
    help: "fail, or warn: read FIX messages with a wrong BodyLength or CheckSum all the same",
    default: "fail",
    inRules: "text",
    parse: kind.choice<FixChecks>(["fail", "warn"]),
  },
  fixMultileg: {
    name: "fix-multileg",
    value: "M",
    commands: [...ledgers, "fix"],
    help: "legs, summary or all: which reports of a multi-leg trade are executions",
    default: "legs",
    inRules: "text",
    parse: kind.choice<FixMultileg>(["legs", "summary", "all"]),
  },
  delimiter: {
    name: "delimiter",
    value: "C",
    sides: true,
    commands: ledgers,
    help: "one byte, or tab",
    otherwise: "detected among , tab ; |",
    inRules: "text",
    parse: kind.delimiter,
  },
  quote: {
    name: "quote",
    value: "C",
    sides: true,
    commands: ledgers,
    help: "one byte, or none",
    default: '"',
    inRules: "text",
    parse: kind.quote,
  },
  header: {
    name: "header",
    value: "H",
    sides: true,
    commands: ledgers,
    help: "auto, yes or no: whether the first record names the columns",
    default: "auto",
    inRules: "text",
    parse: kind.choice(["auto", "yes", "no"]),
  },
  columns: {
    name: "columns",
    value: "A,B,…",
    sides: true,
    commands: ledgers,
    help: "names for a file without a header; with --header yes, in place of the header's",
    otherwise: "c1,c2,…",
    inRules: "names",
    parse: kind.names,
  },
  encoding: {
    name: "encoding",
    value: "E",
    sides: true,
    commands: ledgers,
    help: "utf-8, windows-1252, iso-8859-1, utf-16le or utf-16be",
    otherwise: "utf-8; a UTF-16 byte order mark selects it",
    inRules: "text",
    parse: kind.choice<Encoding>(["utf-8", "windows-1252", "iso-8859-1", "utf-16le", "utf-16be"]),
  },
  trim: {
    name: "trim",
    sides: true,
    commands: ledgers,
    help: "drop blanks around keys, text values and quoted fields before they are used",
    inRules: "flag",
    parse: kind.flag,
  },
  foldCase: {
    name: "fold-case",
    sides: true,
    commands: ledgers,
    help: "treat A-Z as a-z in keys and text values",
    inRules: "flag",
    parse: kind.flag,
  },
  onBadRow: {
    name: "on-bad-row",
    value: "R",
    commands: pairs,
    help: "fail, or reject: count a malformed row as a break and go on",
    default: "fail",
    inRules: "text",
    parse: kind.choice<OnBadRow>(["fail", "reject"]),
  },
  rejects: {
    name: "rejects",
    value: "FILE",
    commands: ["run"],
    help: "where rejected rows go, with line and reason (implies --on-bad-row reject)",
    inRules: "text",
    parse: kind.text,
  },
  output: {
    name: "output",
    short: "o",
    value: "FILE",
    commands: ["init"],
    help: "where the rules file goes; - is standard output",
    otherwise: "recon.toml; a file that is already there is refused",
    parse: kind.text,
  },
  unique: {
    name: "unique",
    commands: pairs,
    help: "a key that occurs twice on one side is a break even if both sides agree",
    inRules: "flag",
    parse: kind.flag,
  },
  breaks: {
    name: "breaks",
    value: "FILE",
    commands: ["run"],
    help: "every break, .csv or .jsonl by extension; - is standard output (CSV; the summary then goes to standard error)",
    inRules: "text",
    parse: kind.breaksTarget,
  },
  limit: {
    name: "limit",
    value: "N",
    commands: ["run"],
    help: "breaks shown in the summary; files always have all",
    default: "10",
    inRules: "count",
    parse: kind.count(0, 1_000_000),
  },
  maxBreaks: {
    name: "max-breaks",
    value: "N",
    commands: ["run"],
    help: "up to N breaks still exit 0; the count is always shown",
    default: "0",
    inRules: "count",
    parse: kind.count(0),
  },
  minRows: {
    name: "min-rows",
    value: "N",
    commands: ["run"],
    help: "fewer rows on a side is an error",
    default: "0",
    inRules: "count",
    parse: kind.count(0),
  },
  rows: {
    name: "rows",
    value: "N",
    commands: ["generate"],
    help: "rows of the internal ledger, before --duplicates",
    default: "10000",
    parse: kind.count(0, 2 ** 40 - 1),
  },
  benchRows: {
    name: "rows",
    value: "N",
    commands: ["bench"],
    help: "rows of each ledger; with fix, executions in the log",
    default: "10000000",
    parse: kind.count(1),
  },
  reps: {
    name: "reps",
    value: "N",
    commands: ["bench"],
    help: "timed runs of each scenario, after one that is not timed",
    default: "5",
    parse: kind.count(1, 1000),
  },
  dir: {
    name: "dir",
    value: "DIR",
    commands: ["bench"],
    help: "where the generated ledgers are kept",
    default: "./data/bench",
    parse: kind.text,
  },
  seed: {
    name: "seed",
    value: "S",
    commands: ["generate"],
    help: "same seed, same bytes",
    default: "1",
    parse: kind.count(0),
  },
  order: {
    name: "order",
    value: "O",
    commands: ["generate"],
    help: "same, shuffled or disjoint: the external ledger's rows",
    default: "same",
    parse: kind.choice<Order>(["same", "shuffled", "disjoint"]),
  },
  ids: {
    name: "ids",
    value: "I",
    commands: ["generate"],
    help: "sequential or uuid trade ids",
    default: "sequential",
    parse: kind.choice<Ids>(["sequential", "uuid"]),
  },
  generateFormat: {
    name: "format",
    value: "F",
    commands: ["generate"],
    help: "csv, or fix: the external ledger as a log of ExecutionReports",
    default: "csv",
    parse: kind.choice<GenerateFormat>(["csv", "fix"]),
  },
  breakCount: {
    name: "breaks",
    value: "N",
    commands: ["generate"],
    help: "rows whose price or quantity differs",
    default: "0",
    parse: kind.count(0),
  },
  missing: {
    name: "missing",
    value: "N",
    commands: ["generate"],
    help: "rows left out on each side",
    default: "0",
    parse: kind.count(0),
  },
  duplicates: {
    name: "duplicates",
    value: "N",
    commands: ["generate"],
    help: "rows written twice on one side",
    default: "0",
    parse: kind.count(0),
  },
  benign: {
    name: "benign",
    value: "N",
    commands: ["generate"],
    help: "rows written differently that are equal, such as 1.10 for 1.1",
    default: "0",
    parse: kind.count(0),
  },
  quoted: {
    name: "quoted",
    value: "P",
    commands: ["generate"],
    help: "percent of the rows written with quoted fields",
    default: "0",
    parse: kind.count(0, 100),
  },
  noHeader: { name: "no-header", commands: ["generate"], help: "write no header record", parse: kind.flag },
  score: {
    name: "score",
    commands: ["generate"],
    help: "compare a truth file with a breaks file instead: recon generate --score TRUTH BREAKS",
    parse: kind.flag,
  },
  json: {
    name: "json",
    commands: all,
    help: "one JSON document on standard output instead of the summary",
    parse: kind.flag,
  },
  quiet: {
    name: "quiet",
    short: "q",
    commands: all,
    help: "no summary, notes or progress; errors still shown",
    parse: kind.flag,
  },
  threads: {
    name: "threads",
    value: "N",
    commands: ["run", "inspect", "explain", "fix", "generate", "bench"],
    help: `worker threads, at most ${threads_max}`,
    otherwise: "cores this process may use, by affinity and cgroup quota",
    inRules: "count",
    parse: kind.count(1, threads_max),
  },
  pin: {
    name: "pin",
    commands: verdicts,
    help: "pin each worker to one core, filling one NUMA node before the next",
    inRules: "flag",
    parse: kind.flag,
  },
  memory: {
    name: "memory",
    value: "N",
    commands: ["run", "inspect", "explain"],
    help: "most memory for tables, e.g. 2GiB; past it recon partitions to disk",
    otherwise: "3/4 of what is available",
    inRules: "size",
    parse: kind.size,
  },
  plan: {
    name: "plan",
    value: "P",
    commands: verdicts,
    help: "auto, hash or merge: force a plan, for tests and benchmarks",
    default: "auto",
    inRules: "text",
    parse: kind.choice<Plan>(["auto", "hash", "merge"]),
  },
  temp: {
    name: "temp",
    value: "DIR",
    commands: [...ledgers, "fix"],
    help: "where streams are spooled and partitions spill, in unnamed files",
    otherwise: "$TMPDIR, else /var/tmp, else memory",
    inRules: "text",
    parse: kind.text,
  },
  mode: {
    name: "mode",
    value: "OCTAL",
    commands: ["run", "init", "generate"],
    help: "mode of output files",
    default: "0600",
    inRules: "text",
    parse: kind.mode,
  },
  progress: {
    name: "progress",
    value: "P",
    commands: ["run", "generate"],
    help: "auto, never, or json: one JSON object a line on standard error",
    default: "auto",
    parse: kind.choice(["auto", "never", "json"]),
  },
  help: { name: "help", short: "h", commands: all, help: "this text", parse: kind.flag },
  version: { name: "version", commands: all, help: "the version", parse: kind.flag },
} as const satisfies Record<string, Option>;

export type OptionId = keyof typeof options;
type Parsed<I extends OptionId> = (typeof options)[I] extends { repeatable: true }
  ? ReturnType<(typeof options)[I]["parse"]>[]
  : ReturnType<(typeof options)[I]["parse"]>;
type SidedId = { [I in OptionId]: (typeof options)[I] extends { sides: true } ? I : never }[OptionId];

/** What was typed, parsed, with defaults filled in where an option has one. */
export type Values = {
  [I in OptionId]: (typeof options)[I] extends { default: string } ? Parsed<I> : Parsed<I> | undefined;
} & {
  /** What was typed for one side only. */
  internal: SideValues;
  external: SideValues;
};
export type SideValues = { [I in SidedId]?: Parsed<I> };

/** The options of one command, by id. */
export function optionsOf(command: CommandName): [OptionId, Option][] {
  const entries = Object.entries(options) as [OptionId, Option][];
  return entries.filter(([, option]) => option.commands.includes(command));
}

/** Whether the command takes the option per side too. */
export function hasSides(command: CommandName, option: Option): boolean {
  return option.sides === true && (pairs as readonly CommandName[]).includes(command);
}

export function isRequired(command: CommandName, { required = [] }: Option): boolean {
  return required.includes(command);
}

/** Options of parts that are not delivered yet: refused by their own name, never taken for a misspelling. */
export const plannedOptions: readonly string[] = ["as-of", "manifest", "metrics", "report", "state"];
