// The documents against the program: every example marked `console` is run as it stands, in order, in a copy of data/
// and docs/examples, and must print what it shows; options, error codes and links named in a page must exist.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { plannedOptions } from "../../src/cli/options";
import { ledgerErrors, ledgerNotes } from "../../src/ledger/codes";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const root = join(import.meta.dir, "..", "..");
const recon = requireExecutable();
const pages = ["README.md", "docs/architecture.md", "docs/fix.md", "docs/operations.md", "docs/rules.md"];
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Example {
  /** Of the fence. */
  line: number;
  steps: { command: string; expected: string }[];
}

for (const page of pages) {
  const scratch = scratchFolder();
  const folder = join(scratch.path, "work");
  beforeAll(() => {
    const binaries = join(scratch.path, "bin");
    mkdirSync(binaries);
    symlinkSync(recon, join(binaries, "recon"));
    for (const part of ["data", "docs/examples"]) {
      // What `npm run demo` and the benchmark leave there is not ours, and large.
      const isSample = (path: string) => !/\/data\/(bench|demo|large)$/.test(path);
      cpSync(join(root, part), join(folder, part), { recursive: true, filter: isSample });
    }
  });
  afterAll(() => scratch[Symbol.dispose]());

  for (const { line, steps } of examplesOf(read(page))) {
    test(`${page}:${line}`, async () => {
      const outputs = await runShell(
        steps.map(({ command }) => command),
        folder,
        join(scratch.path, "bin"),
      );
      for (const [i, { command, expected }] of steps.entries()) {
        const printed = `$ ${command}\n${outputs[i]}`;
        // The comparison of texts is only made for the difference that it shows.
        if (!pattern(`$ ${command}\n${expected}`).test(printed)) expect(printed).toBe(`$ ${command}\n${expected}`);
      }
    });
  }

  test(`${page}: options, links`, () => {
    const text = read(page);
    const known = new Set(read("docs/reference.md").match(/(?<![\w-])--[a-z][a-z-]*/g));
    const isKnown = (option: string) => {
      const bare = option.replace(/^--(internal-|external-)?/, "");
      return known.has(option) || known.has(`--${bare}`) || plannedOptions.includes(bare);
    };
    const prose = text.replace(/^```(?!console).*?^```$/gms, "");
    expect((prose.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []).filter((option) => !isKnown(option))).toEqual([]);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });
}

test("README.md has the options as they are defined", () => {
  const rows = (text: string) => text.split("\n").filter((line) => line.startsWith("| `-"));
  const reference = read("docs/reference.md")
    .split("\n## ")
    .find((section) => section.startsWith("recon run"));
  expect(rows(read("README.md"))).toEqual(rows(reference as string));
});

test("docs/operations.md names every error code, docs/architecture.md every note", () => {
  const sources = [...new Bun.Glob("{src,zig}/**/*.{ts,zig}").scanSync(root)].filter(
    (path) => !path.includes(".test."),
  );
  const patterns = [/problem\(\s*"(\w+)"/g, /\.code = "(\w+)"/g, /error\.\w+ => "([a-z]+)",/g, /else => "([a-z]+)",/g];
  const found = sources.flatMap((path) =>
    patterns.flatMap((each) => [...read(path).matchAll(each)].map(([, code]) => code as string)),
  );
  const notes = new Set([...Object.keys(ledgerNotes), "no_rows", "large_group"]);
  const codes = new Set(
    [...Object.keys(ledgerErrors), ...found].filter((code) => code === "header" || !notes.has(code)),
  );
  const named = (page: string) => new Set([...read(page).matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code));
  const missing = (all: Set<string>, page: string) => [...all].filter((code) => !named(page).has(code));
  expect(missing(codes, "docs/operations.md")).toEqual([]);
  expect(missing(notes, "docs/architecture.md")).toEqual([]);
});

test("docs/rules.md names every member of a rules file", () => {
  const text = read("docs/rules.md");
  const named = new Set(text.match(/[a-z_]+/g));
  const members = [...read("docs/recon.schema.json").matchAll(/^ *"(\w+)": \{\n *"description"/gm)].map(
    ([, name]) => name,
  );
  expect(members.length).toBeGreaterThan(40);
  expect(members.filter((name) => !named.has(name as string))).toEqual([]);
});

/** Blocks fenced as `console`: lines that begin with `$ ` are commands, what follows each is its output. */
function examplesOf(text: string): Example[] {
  return [...text.matchAll(/^```console\n(.*?)^```$/gms)].map(({ 1: block, index }) => ({
    line: text.slice(0, index).split("\n").length,
    steps: (block as string)
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        // A command that ends in a backslash goes on in the next line.
        const [command] = /^(?:.*\\\n)*.*\n/.exec(step) as RegExpExecArray;
        return { command: command.slice(0, -1), expected: step.slice(command.length) };
      }),
  }));
}

/** A line that is only `…` stands for any lines, a `…` in a line for anything in it. */
function pattern(text: string): RegExp {
  const lines = text.split(/^…\n/m).map((part) => part.split("…").map(RegExp.escape).join("[^\\n]*"));
  return new RegExp(`^${lines.join("(?:[^\\n]*\\n)*?")}$`);
}

/** Runs the commands in one shell, so that `$?` is what a reader would see; returns what each printed. */
async function runShell(commands: string[], cwd: string, binaries: string): Promise<string[]> {
  const mark = "\x1e";
  const script = commands.map((command) => `${command}\nkept=$?; printf '${mark}'; (exit $kept)`).join("\n");
  const env = { PATH: `${binaries}:${process.env.PATH}`, LC_ALL: "C.UTF-8", NO_COLOR: "1" };
  const { stdout } = await runCommand(["bash", "-c", `exec 2>&1\n${script}\n`], { cwd, env });
  return new TextDecoder().decode(stdout).split(mark).slice(0, -1);
}
