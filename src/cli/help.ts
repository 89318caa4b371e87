// Help as text, written from commands.ts and options.ts. Used by main.ts; scripts/docs.ts uses the descriptions.
import { commands } from "./commands";
import { hasSides, isRequired, optionsOf, type CommandName, type Option } from "./options";

/** What scripts rely on. */
export const exitStatuses = [
  ["0", "reconciled: no break, or no more than --max-breaks"],
  ["1", "there are breaks"],
  ["2", "the job could not be done"],
  ["130, 143, 129, 141", "stopped by SIGINT, SIGTERM, SIGHUP, or a closed pipe"],
] as const;

/** Everything about one command; for `run` also what other commands there are. */
export function helpText(command: CommandName): string {
  const { usage, summary, examples } = commands[command];
  const others = (Object.keys(commands) as CommandName[]).filter((name) => name !== "run");
  const sided = optionsOf(command).some(([, option]) => hasSides(command, option));
  const sections = [
    `recon: ${summary}`,
    section("Usage", usage),
    command === "run" &&
      section("Ledgers", [
        "a path, - for standard input (one of the two), or a quoted glob; gzip and zstd are recognised",
      ]),
    section("Examples", examples),
    section(
      "Options",
      columns(optionsOf(command).map(([, option]) => [spelling(command, option), describe(command, option)])),
    ),
    sided && "* also for one side: --internal-…, --external-…, which win over the option for both",
    command === "run" &&
      section("Other commands", columns(others.map((name) => [`recon ${name}`, commands[name].summary]))),
    command === "run" && section("Exit status", columns(exitStatuses)),
  ];
  return sections.filter((text) => text !== false).join("\n\n") + "\n";
}

/** `-k, --key COLS`, with a star where the option exists per side. */
function spelling(command: CommandName, option: Option): string {
  const short = option.short ? `-${option.short}, ` : "";
  return `${short}--${option.name}${option.value ? ` ${option.value}` : ""}${hasSides(command, option) ? " *" : ""}`;
}

/** The help of an option with what holds without it. */
function describe(command: CommandName, option: Option): string {
  if (isRequired(command, option)) return `${option.help} (required)`;
  const without = option.default ?? option.otherwise;
  return without === undefined ? option.help : `${option.help} (default: ${without})`;
}

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => indent + line).join("\n")}`;
}

/** Of a whole line. */
const width = 100;
const indent = "  ";

/** Names on the left, texts wrapped on the right. */
function columns(rows: readonly (readonly [name: string, text: string])[]): string[] {
  const left = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, text]) =>
    wrap(text, width - indent.length - left).map((line, i) => (i === 0 ? name : "").padEnd(left) + line),
  );
}

function wrap(text: string, limit: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= limit) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
