import { expect, test } from "bun:test";
import { commands } from "./commands";
import { helpText } from "./help";
import { parseArguments } from "./arguments";
import { hasSides, isRequired, options, optionsOf, type CommandName, type Option } from "./options";

const names = Object.keys(commands) as CommandName[];

for (const command of names) {
  test(`help of ${command} has every option, default and example`, () => {
    const text = helpText(command).replace(/\s+/g, " ");
    for (const [, option] of optionsOf(command)) {
      expect(text).toContain(`--${option.name}${option.value ? ` ${option.value}` : ""}`);
      const without = option.default ?? option.otherwise;
      const after = isRequired(command, option) ? " (required)" : without === undefined ? "" : ` (default: ${without})`;
      expect(text).toContain(option.help + after);
      // Brackets within or beside brackets are hard to read.
      expect(`${option.help}${after}`).not.toMatch(/\([^)]*\(|\) \(/);
    }
    for (const example of commands[command].examples) expect(text).toContain(example);
  });

  test(`help of ${command} fits 100 columns, but for examples`, () => {
    const lines = helpText(command)
      .split("\n")
      .filter((line) => !line.startsWith("  recon "));
    expect(lines.filter((line) => [...line].length > 100)).toEqual([]);
  });
}

test("help of run has the other commands and the exit statuses", () => {
  const text = helpText("run");
  for (const name of names.filter((name) => name !== "run")) expect(text).toContain(`recon ${name}`);
  for (const status of ["0 ", "1 ", "2 ", "130, 143, 129, 141"]) expect(text).toContain(`\n  ${status}`);
});

test("options are defined once: no name or letter twice in a command, every default parses", () => {
  for (const command of names) {
    const spelled = optionsOf(command).flatMap(([, option]) => [
      option.name,
      ...(option.short ? [option.short] : []),
      ...(hasSides(command, option) ? [`internal-${option.name}`, `external-${option.name}`] : []),
    ]);
    expect(new Set(spelled).size).toBe(spelled.length);
  }
  for (const option of Object.values(options as Record<string, Option>)) {
    if (option.default !== undefined) option.parse(option.default);
  }
});

test("examples are accepted as they stand", () => {
  for (const example of names.flatMap((name) => commands[name].examples)) {
    const words = example
      .replace(/^.*\| /, "")
      .match(/'[^']*'|\S+/g)!
      .map((word) => word.replace(/^'|'$/g, ""));
    expect(words[0]).toBe("recon");
    parseArguments(words.slice(1));
  }
});
