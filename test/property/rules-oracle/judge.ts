// Runs the executable on a random pair under its rules file, lists what differs from the oracle of rules, and makes a pair
// that differs smaller. Used by rules-oracle.test.ts.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, type Finished } from "../../executable";
import { environmentOf, printfText, shorter, type Way } from "../judge";
import { reconcile, type Break, type Inputs, type Result, type Verdict } from "./oracle";
import { sides } from "./rules";

const breakTypes = [
  "mismatch",
  "missing_external",
  "missing_internal",
  "duplicate_internal",
  "duplicate_external",
  "missing_key",
  "rejected",
];

function argumentsOf(way: Way): string[] {
  const memory = way.memory === null ? [] : ["--memory", way.memory];
  const run = ["--threads", String(way.threads), "--plan", way.plan, ...memory];
  return ["internal.csv", "external.csv", "-c", "recon.toml", ...run, "--json", "--breaks", "breaks.jsonl"];
}

interface ErrorItem {
  code: string;
  path: string;
  line: number;
}

type Document_ = Record<string, unknown> & { breaks?: Record<string, number>; errors?: ErrorItem[] };

/** What differs from the oracle; empty if nothing does, null where the contract is silent. */
export async function judge(inputs: Inputs, way: Way, folder: string): Promise<string[] | null> {
  const expected = reconcile(inputs);
  if (expected.kind === "unspecified") return null;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const side of sides) writeFileSync(join(folder, inputs[side].path), inputs[side].bytes);
  writeFileSync(join(folder, "recon.toml"), inputs.rules);
  const done = await runCommand([requireExecutable(), ...argumentsOf(way)], { cwd: folder, env: environmentOf(way) });
  const exitCode = expected.kind === "error" ? 2 : expected.exitCode;
  if (done.exitCode !== exitCode)
    return [`exit ${done.exitCode}, expected ${exitCode}${reasonOf(expected)}; ${done.stderr.slice(0, 600)}`];
  const document: Document_ = JSON.parse(Buffer.from(done.stdout).toString("utf8"));
  if (expected.kind === "error") return errorDifferences(expected, document, done);
  const file = join(folder, "breaks.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : ["{}"];
  return verdictDifferences(
    expected,
    document,
    lines.map((line) => JSON.parse(line)),
  );
}

const reasonOf = (expected: Result) => (expected.kind === "error" ? ` (${expected.why})` : "");

const shownErrors_max = 20;

function errorDifferences(
  { places }: Result & { kind: "error" },
  { errors = [] }: Document_,
  { stderr }: Finished,
): string[] {
  if (errors.length === 0 || stderr === "") return ["exit 2 without an error"];
  if (places === null) return [];
  const expected = places.slice(0, shownErrors_max).map(({ path, line }) => `${path}:${line}`);
  const found = errors.map(({ path, line }) => `${path}:${line}`);
  return different("errors", expected, found);
}

function verdictDifferences(expected: Verdict, document: Document_, breaks: Record<string, unknown>[]): string[] {
  const ofTypes = breakTypes.map((type) => [type, expected.breaks.filter((item) => item.type === type).length]);
  const got = (member: string) => document[member] as Record<string, unknown>;
  return [
    ...different("matched", expected.matched, document.matched),
    ...sides.flatMap((side) => different(side, expected[side], picked(got(side), Object.keys(expected[side])))),
    ...different("breaks", Object.fromEntries(ofTypes), picked(got("breaks"), breakTypes)),
    ...different("columns", expected.columns, document.columns),
    ...different("controls", sorted(expected.controls), sorted(document.controls as unknown[])),
    ...different("count of breaks", expected.breaks.length, breaks.length),
    ...expected.breaks.flatMap((item, i) => different(`break ${i + 1}`, item, bare(breaks[i]))),
  ];
}

const picked = (from: Record<string, unknown> = {}, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]]));
const sorted = (items: unknown[]) => items.map((item) => JSON.stringify(item)).sort();

/** Without its number and, of a rejected row, the program's own words. */
function bare(item: Record<string, unknown> = {}): Partial<Break> {
  const { break: number, reason, ...rest } = item;
  return rest as Partial<Break>;
}

function different(what: string, expected: unknown, got: unknown): string[] {
  return Bun.deepEquals(expected, got)
    ? []
    : [`${what}: got ${JSON.stringify(got)}\n  expected ${JSON.stringify(expected)}`];
}

// ------------------------------------------------------------------------------------------------------------ smaller

const runs_max = 400;

/** The smallest inputs found that still differ. */
export async function shrink(inputs: Inputs, way: Way, found: string[], folder: string): Promise<Inputs> {
  const kindOf = ([text = ""]: string[]) => text.split(/[:;]/)[0];
  let best = inputs;
  let runs = 0;
  const differs = async (candidate: Inputs) => {
    if (runs >= runs_max) return false;
    runs += 1;
    try {
      const now = (await judge(candidate, way, folder)) ?? [];
      // A rules file that lost a line may be wrong, which the oracle would not see.
      return now.length > 0 && kindOf(now) === kindOf(found) && !now.some((text) => text.includes("recon.toml"));
    } catch {
      return false;
    }
  };
  for (let smaller = true; smaller;) {
    smaller = false;
    for (const candidate of candidatesOf(best)) {
      if (!(await differs(candidate))) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

function* candidatesOf(inputs: Inputs): Generator<Inputs> {
  for (const side of sides)
    for (const bytes of shorter(inputs[side].bytes))
      if (headerOf(bytes) === headerOf(inputs[side].bytes)) yield { ...inputs, [side]: { ...inputs[side], bytes } };
  const lines = inputs.rules.split("\n");
  for (const i of lines.keys()) yield { ...inputs, rules: lines.toSpliced(i, 1).join("\n") };
}

const headerOf = (bytes: Uint8Array) => /^.*\bid\b.*\n/m.exec(Buffer.from(bytes).toString("latin1"))?.[0];

/** Shell commands that repeat a run. */
export function reproduction(inputs: Inputs, way: Way): string {
  const file = (path: string, bytes: Uint8Array) => `printf '${printfText(bytes)}' > ${path}`;
  const environment = Object.entries(environmentOf(way)).map(([name, value]) => `${name}=${value}`);
  return [
    "cd $(mktemp -d)",
    ...sides.map((side) => file(inputs[side].path, inputs[side].bytes)),
    file("recon.toml", new TextEncoder().encode(inputs.rules)),
    `${environment.join(" ")} recon ${argumentsOf(way).join(" ")}`,
  ].join("\n");
}
