// Runs the cases in this folder against the executable: every case is copied to a fresh folder and its runs are
// executed there, in order. Used as a command (`bun test/cases/run.ts [--only C01,C07]`) and by cases.test.ts.
//
// case.json: `setup` names a shell file that makes large inputs; `runs` is a list of
//   args       the command line; the runner adds `--json`, and `--breaks FILE.jsonl` for a reconciliation
//   env        variables to set
//   exit       exit status, 0 if not given
//   json       must be contained in the document on standard output
//   breaks     the objects of the breaks file: all of them, in this order, each containing what is given
//   stderr     texts that must appear on standard error, whatever their case
//   sameAs     number of an earlier run with the same breaks file and document (but for times, threads and plan)
// Contained: members that are given are there with this value, elements that are given appear in this order, `[]` asks
// for an empty list. Numbers are compared exactly and with their type: 1, 1.0 and "1" are three values.
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder, type Finished } from "../executable";

/** Parts of the contract that are not delivered yet. This is the only way for a case not to be run. */
export const partsNotDelivered: Record<string, string> = {
  state: "state between runs",
};
const partsDelivered = ["core", "rules", "fix"];

const limit_ms = 60_000;
const commandsWithoutBreaks = ["bench", "generate", "inspect", "explain", "init", "fix", "history"];
const varyingMembers = ["elapsedMs", "phases", "threads", "plan"];
const accountingTerms = ["matched", "mismatch", "missing", "duplicate", "missing_key", "rejected"];
const statusOfExit: Record<number, string> = { 0: "reconciled", 1: "breaks", 2: "error" };
const caseMembers = ["id", "part", "title", "why", "source", "setup", "runs"];
const runMembers = ["note", "args", "env", "exit", "json", "breaks", "stderr", "sameAs"];

type Json = null | boolean | string | bigint | Fraction | Json[] | { [name: string]: Json };
interface Fraction {
  /** A number that is not written as an integer, as it was written. */
  fraction: string;
}
type JsonObject = { [name: string]: Json };

interface CaseRun {
  note?: string;
  args: string[];
  env?: Record<string, string>;
  exit?: bigint;
  json?: Json;
  breaks?: Json[];
  stderr?: string[];
  sameAs?: bigint;
}

export interface Case {
  id: string;
  part: string;
  title: string;
  setup?: string;
  runs: CaseRun[];
  folder: string;
}

interface Outcome {
  document: string;
  breaks: string | null;
}

/** All cases in name order. Throws if one has a part or a member that this runner does not know. */
export function loadCases(): Case[] {
  const names = readdirSync(import.meta.dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map((entry) => loadCase(join(import.meta.dir, entry.name))).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Why the case is not run, or null if it is. */
export function notDelivered(case_: Case): string | null {
  if (partsDelivered.includes(case_.part)) return null;
  return `part ${case_.part} not delivered: ${partsNotDelivered[case_.part]}`;
}

function loadCase(folder: string): Case {
  const case_ = {
    ...(parseJson(readFileSync(join(folder, "case.json"), "utf8")) as object),
    folder,
  } as unknown as Case;
  const refuse = (what: string) => new Error(`${folder}/case.json: ${what}`);
  if (!partsDelivered.includes(case_.part) && !(case_.part in partsNotDelivered)) throw refuse(`part ${case_.part}?`);
  for (const member of Object.keys(case_)) if (![...caseMembers, "folder"].includes(member)) throw refuse(`${member}?`);
  for (const run of case_.runs)
    for (const member of Object.keys(run)) if (!runMembers.includes(member)) throw refuse(`runs.${member}?`);
  return case_;
}

/** One line per failing run; empty if the case passed. */
export async function runCase(case_: Case): Promise<string[]> {
  using scratch = scratchFolder();
  const cwd = join(scratch.path, "case");
  cpSync(case_.folder, cwd, { recursive: true });
  if (case_.setup !== undefined) {
    const made = await runCommand(["sh", case_.setup], { cwd, timeout_ms: limit_ms });
    if (made.exitCode !== 0) return [`${case_.id} setup: exit ${made.exitCode}: ${made.stderr.trim()}`];
  }
  const failures: string[] = [];
  const earlier: (Outcome | null)[] = [];
  for (const [index, run] of case_.runs.entries()) {
    const { found, outcome } = await checkRun(run, index + 1, earlier, cwd, scratch.path);
    earlier.push(outcome);
    const note = run.note === undefined ? "" : ` (${run.note})`;
    if (found.length > 0) failures.push(`${case_.id} run ${index + 1}${note}: ${found.join("; ")}`);
  }
  return failures;
}

async function checkRun(run: CaseRun, number: number, earlier: (Outcome | null)[], cwd: string, scratch: string) {
  const reconciles = !commandsWithoutBreaks.includes(run.args[0] ?? "");
  const breaksFile = join(scratch, `breaks-${number}.jsonl`);
  const args = [...run.args, ...(reconciles ? ["--breaks", breaksFile] : []), "--json"];
  const done = await runCommand([requireExecutable(), ...args], { cwd, env: run.env, timeout_ms: limit_ms });
  const expectedExit = Number(run.exit ?? 0n);
  if (done.exitCode !== expectedExit) return { found: [wrongExit(done, expectedExit)], outcome: null };
  const breaksText = existsSync(breaksFile) ? readFileSync(breaksFile, "utf8") : null;
  let document: Json;
  let breaks: Json[] | null;
  try {
    document = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(done.stdout));
    breaks =
      breaksText === null
        ? null
        : breaksText
            .split("\n")
            .filter((line) => line !== "")
            .map(parseJson);
  } catch (error) {
    return { found: [`output is not valid: ${error}`], outcome: null };
  }
  const outcome = { document: show(withoutVarying(document), Infinity), breaks: breaksText };
  const found = reconciles ? contractDifferences(done, document, breaks) : [];
  if (run.json !== undefined) found.push(...differences(run.json, document, "json"));
  if (run.breaks !== undefined && breaks !== null) found.push(...breaksDifferences(run.breaks, breaks));
  const said = done.stderr.toLowerCase();
  for (const text of run.stderr ?? [])
    if (!said.includes(text.toLowerCase())) found.push(`standard error lacks ${text}`);
  if (run.sameAs !== undefined) {
    const other = earlier[Number(run.sameAs) - 1];
    if (outcome.document !== other?.document) found.push(`the JSON document is not that of run ${run.sameAs}`);
    if (outcome.breaks !== other?.breaks) found.push(`the breaks file is not that of run ${run.sameAs}`);
  }
  return { found, outcome };
}

function wrongExit(done: Finished, expected: number): string {
  const ended = done.exitCode === null ? `killed by ${done.signal}` : `exit ${done.exitCode}`;
  return `${ended}, expected exit ${expected}; standard error: ${done.stderr.trim().split("\n")[0]}`;
}

/** What holds for every reconciliation, whatever the case says. */
function contractDifferences(done: Finished, document: Json, breaks: Json[] | null): string[] {
  if (!isObject(document)) return ["no JSON object on standard output"];
  const exitCode = done.exitCode ?? -1;
  const found = differences({ exitCode: BigInt(exitCode), status: statusOfExit[exitCode] ?? null }, document, "json");
  if (exitCode === 2) {
    for (const member of ["matched", "breaks"]) if (member in document) found.push(`json.${member} although exit is 2`);
    if (!Array.isArray(document.errors) || document.errors.length === 0) found.push("json.errors: empty, exit is 2");
    if (breaks !== null) found.push("a breaks file was left although exit is 2");
    if (done.stderr.trim() === "") found.push("nothing on standard error although exit is 2");
    return found;
  }
  const counts = isObject(document.breaks ?? null) ? (document.breaks as JsonObject) : {};
  const total = sum(
    Object.entries(counts)
      .filter(([name]) => name !== "total")
      .map(([, value]) => value),
  );
  found.push(...differences({ total }, counts, "json.breaks (sum of its members)"));
  if (breaks === null) found.push("no breaks file was written");
  else if (BigInt(breaks.length) !== total)
    found.push(`breaks file: ${breaks.length} objects, the document says ${total}`);
  for (const name of ["internal", "external"]) {
    const side = document[name] as JsonObject;
    const missing = accountingTerms.filter((term) => !(term in side));
    if (missing.length > 0) found.push(`json.${name} lacks ${missing}`);
    const rows = sum(accountingTerms.map((term) => side[term] ?? null)) - sum([side.carried ?? null]);
    found.push(...differences({ rows }, side, `json.${name} (accounting identity)`));
  }
  return found;
}

function breaksDifferences(expected: Json[], actual: Json[]): string[] {
  const count = expected.length === actual.length ? [] : [`${actual.length} breaks, expected ${expected.length}`];
  return count.concat(expected.flatMap((item, i) => differences(item, actual[i] ?? null, `breaks[${i}]`)));
}

/** What of `expected` is not contained in `actual`. */
function differences(expected: Json, actual: Json, where: string): string[] {
  const wrong = [`${where}: expected ${show(expected)}, got ${show(actual)}`];
  if (isObject(expected)) {
    if (!isObject(actual)) return wrong;
    return Object.entries(expected).flatMap(([name, value]) =>
      name in actual
        ? differences(value, actual[name] as Json, `${where}.${name}`)
        : [`${where}.${name}: missing, expected ${show(value)}`],
    );
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || (expected.length === 0 && actual.length > 0)) return wrong;
    let next = 0;
    return expected.flatMap((item) => {
      while (next < actual.length) if (differences(item, actual[next++] as Json, "").length === 0) return [];
      return [`${where}: no ${show(item)} in ${show(actual)}`];
    });
  }
  return show(expected, Infinity) === show(actual, Infinity) ? [] : wrong;
}

/** JSON with every number kept exactly: integers as bigint, others as they were written. */
function parseJson(text: string): Json {
  const exact = (_: string, value: unknown, context: { source: string }) => {
    if (typeof value !== "number") return value;
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : { fraction: context.source };
  };
  return JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]) as Json;
}

/** A text that is equal for two values if and only if they are the same value of the same type. */
function show(value: Json, length = 100): string {
  const plain = (_: string, item: unknown) => (typeof item === "bigint" ? { integer: String(item) } : item);
  const text = (JSON.stringify(value, plain) ?? "nothing").replace(/\{"integer":"(-?\d+)"\}/g, "$1");
  return text.length <= length ? text : `${text.slice(0, length)}... (${text.length} characters)`;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutVarying(document: Json): Json {
  if (!isObject(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([name]) => !varyingMembers.includes(name)));
}

function sum(values: Json[]): bigint {
  return values.reduce<bigint>((total, value) => total + (typeof value === "bigint" ? value : 0n), 0n);
}

async function main(): Promise<number> {
  const only = process.argv[2] === "--only" ? process.argv[3]?.split(",") : undefined;
  const cases = loadCases().filter((case_) => only === undefined || only.includes(case_.id));
  let passed = 0;
  let failed = 0;
  for (const case_ of cases) {
    const reason = notDelivered(case_);
    if (reason !== null) {
      console.log(`${case_.id} not run: ${reason}`);
      continue;
    }
    const failures = await runCase(case_);
    for (const line of failures) console.log(line);
    if (failures.length === 0) passed += 1;
    else failed += 1;
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (passed + failed === 0) return 2;
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
