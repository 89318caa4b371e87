// From argv to a command with typed values, strictly: what is not in options.ts is refused. Used by main.ts.
import { editDistance } from "../edit-distance";
import { problem, type ReconError } from "../errors";
import {
  hasSides,
  isRequired,
  options,
  optionsOf,
  plannedOptions,
  type CommandName,
  type Option,
  type Values,
} from "./options";

export interface Invocation {
  command: CommandName;
  /** What is not an option, in order. */
  operands: string[];
  values: Values;
  /** What was typed for both sides: `values` without the defaults. */
  typed: Partial<Values>;
}

const commands: readonly string[] = [
  "run",
  "inspect",
  "explain",
  "init",
  "fix",
  "generate",
  "bench",
] satisfies CommandName[];
const plannedCommands = ["history"];

/** Throws a ReconError with code `usage` for anything that is not exactly as defined. */
export function parseArguments(argv: readonly string[]): Invocation {
  const first = argv[0] ?? "";
  if (plannedCommands.includes(first)) {
    throw usage(`the command ${first} is not in this version`, `for a file of that name write ./${first}`);
  }
  // `recon help inspect` is `recon inspect --help`.
  if (first === "help") return parseArguments([...argv.slice(1), "--help"]);
  const named = commands.includes(first);
  const command = named ? (first as CommandName) : "run";
  const parsed = parse(command, named ? argv.slice(1) : argv);
  const { help, version, config } = parsed.values;
  if (!help && !version && config === undefined) refuseMissing(command, parsed.values);
  return { command, ...parsed };
}

/** Throws where a required option has no value; with a rules file that is known only when it is read. */
export function refuseMissing(command: CommandName, values: Values): void {
  for (const [id, option] of optionsOf(command)) {
    if (isRequired(command, option) && values[id] === undefined)
      throw usage(`${command} needs --${option.name}`, `see recon ${command} --help`);
  }
}

/** One spelling of an option: `--internal-quote` writes to the internal side, `--quote` and `-q` to no side. */
interface Spelling {
  id: string;
  option: Option;
  side?: "internal" | "external";
}

function parse(command: CommandName, argv: readonly string[]): Omit<Invocation, "command"> {
  const spellings = spellingsOf(command);
  const operands: string[] = [];
  const typed = { internal: {}, external: {} } as Record<string, unknown> & Record<"internal" | "external", object>;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      operands.push(...rest.splice(0));
    } else if (!word.startsWith("-") || word === "-") {
      operands.push(word);
    } else {
      const [name, attached] = split(word);
      const spelling = spellings.get(name);
      if (!spelling) throw unknown(command, name, spellings);
      const text = valueText(name, spelling.option, attached, rest, spellings);
      const target = (spelling.side ? typed[spelling.side] : typed) as Record<string, unknown>;
      const value = parseValue(name, spelling.option, text);
      if (spelling.option.repeatable) target[spelling.id] = [...((target[spelling.id] as unknown[]) ?? []), value];
      else if (spelling.id in target) throw usage(`${name} is given twice`);
      else target[spelling.id] = value;
    }
  }
  const defaults = Object.entries(options as Record<string, Option>).flatMap(([id, option]) =>
    option.default === undefined ? [] : [[id, option.parse(option.default)]],
  );
  return { operands, values: { ...Object.fromEntries(defaults), ...typed } as Values, typed };
}

function spellingsOf(command: CommandName): Map<string, Spelling> {
  const found = new Map<string, Spelling>();
  for (const [id, option] of optionsOf(command)) {
    found.set(`--${option.name}`, { id, option });
    if (option.short) found.set(`-${option.short}`, { id, option });
    if (!hasSides(command, option)) continue;
    for (const side of ["internal", "external"] as const) found.set(`--${side}-${option.name}`, { id, option, side });
  }
  return found;
}

/** `--name=value` and `-kvalue` carry their value with them. */
function split(word: string): [name: string, attached: string | undefined] {
  if (!word.startsWith("--")) return [word.slice(0, 2), word.length > 2 ? word.slice(2) : undefined];
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function valueText(
  name: string,
  option: Option,
  attached: string | undefined,
  rest: string[],
  spellings: Map<string, Spelling>,
): string {
  if (option.value === undefined) {
    if (attached === undefined) return "";
    if (name.startsWith("--")) throw usage(`${name} takes no value`);
    throw usage(`unknown option ${name}${attached}`, `${name} takes no value, and short options are written apart`);
  }
  if (attached !== undefined) return attached;
  const next = rest[0];
  if (next === undefined || next.startsWith("--") || spellings.has(next)) {
    throw usage(`${name} needs a value`, `write ${name} ${option.value}, or ${name}=${option.value}`);
  }
  rest.shift();
  return next;
}

function parseValue(name: string, option: Option, text: string): unknown {
  if (option.value !== undefined && text === "") throw usage(`${name} needs a value that is not empty`);
  try {
    return option.parse(text);
  } catch (error) {
    throw usage(`${name} takes ${(error as Error).message}`);
  }
}

function unknown(command: CommandName, name: string, spellings: Map<string, Spelling>): ReconError {
  const bare = name.replace(/^--(internal-|external-)?/, "");
  if (plannedOptions.includes(bare)) return usage(`${name} is not in this version of recon`);
  const nearest = [...spellings.keys()]
    .filter((known) => known.startsWith("--"))
    .map((known) => ({ known, edits: editDistance(name, known) }))
    .sort((a, b) => a.edits - b.edits)[0];
  const near = nearest && nearest.edits <= 2 ? `did you mean ${nearest.known}?` : `see recon ${command} --help`;
  return usage(`unknown option ${name}`, near);
}

export function usage(message: string, hint = ""): ReconError {
  return problem("usage", message, { hint });
}
