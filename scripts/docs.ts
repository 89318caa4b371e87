// Writes docs/reference.md and docs/recon.schema.json from what the program itself is made of: commands, options, exit
// statuses, codes; members of a rules file. Run by `bun scripts/docs.ts`; fresh.ts fails when one is stale.
import { join } from "node:path";
import { commands } from "../src/cli/commands";
import { exitStatuses } from "../src/cli/help";
import { hasSides, isRequired, optionsOf, type CommandName, type Option } from "../src/cli/options";
import { ledgerErrors, ledgerNotes } from "../src/ledger/codes";
import { jsonSchema } from "../src/rules/members";
import { root } from "./processes";

/** What each generated page holds, by its path. */
export function pages(): Map<string, string> {
  return new Map([
    [join(root, "docs/reference.md"), reference()],
    [join(root, "docs/recon.schema.json"), `${JSON.stringify(jsonSchema(), null, 2)}\n`],
  ]);
}

function reference(): string {
  const sections = (Object.keys(commands) as CommandName[]).map(commandSection);
  return [
    "# Reference\n\nWritten by `bun scripts/docs.ts` from the definitions in `src/`. Do not edit.\n",
    ...sections,
    `## Exit status\n\n${table(["exit", "when"], exitStatuses)}`,
    `## Codes of errors in opening a ledger\n\n${table(["code", "meaning"], Object.entries(ledgerErrors))}`,
    `## Codes of notes\n\n${table(["code", "meaning"], Object.entries(ledgerNotes))}`,
  ].join("\n");
}

function commandSection(name: CommandName): string {
  const { usage, summary, examples } = commands[name];
  const rows = optionsOf(name).map(([, option]) => [spelling(name, option), option.help, without(name, option)]);
  const fence = "```";
  return [
    `## recon ${name}: ${summary}\n`,
    `${fence}sh\n${[...usage, "", ...examples].join("\n")}\n${fence}\n`,
    table(["option", "meaning", "default"], rows),
  ].join("\n");
}

/** A star marks what exists per side. */
function spelling(command: CommandName, option: Option): string {
  const short = option.short ? `, \`-${option.short}\`` : "";
  const value = option.value ? ` ${option.value}` : "";
  return `\`--${option.name}${value}\`${short}${hasSides(command, option) ? " \\*" : ""}`;
}

function without(command: CommandName, option: Option): string {
  if (isRequired(command, option)) return "required";
  return option.default === undefined ? (option.otherwise ?? (option.value ? "none" : "off")) : `\`${option.default}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return `${[line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}

if (import.meta.main) for (const [path, text] of pages()) await Bun.write(path, text);
