// recon INTERNAL EXTERNAL: open, run, check, publish, report.
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { applyRules, ledgerContext, pairOptions, pairSpec, runSettings } from "./ledger-options";
import type { Values } from "./options";
import { settle } from "./settings";
import { problem, ReconError, Stopped } from "../errors";
import type { Note, RunResult, SideCounts } from "../generated/abi";
import { openPair, type OpenedPair } from "../ledger/ledger";
import { jsonReport } from "../report/json";
import { counted } from "../report/numbers";
import { openDescriptor, OutputFile } from "../report/output-file";
import { Progress } from "../report/progress";
import type { Report } from "../report/report";
import { writeOut } from "../report/standard-output";
import { paintFor, terminalReport } from "../report/terminal";
import { safe } from "../report/terminal-safe";

export async function execute(invocation: Invocation): Promise<number> {
  const started_ms = performance.now();
  const { operands } = invocation;
  const [internal, external] = operands;
  if (internal === undefined || external === undefined || operands.length > 2) {
    throw usage(
      `two ledgers are needed, not ${operands.length}`,
      "recon INTERNAL EXTERNAL [options]; see recon --help",
    );
  }
  const { values, rules } = await settle(invocation);
  const options = pairOptions(values, internal, external, rules);
  if (values.json && writesToStandardOutput(values))
    throw usage("--json and an output file cannot both write to standard output");

  using interruption = new Interruption();
  const { signal } = interruption;
  using outputs = await Outputs.create(values);
  const settings = runSettings(values);
  let progress: Progress | undefined = new Progress(values.progress, values.quiet ?? false);
  try {
    const context = ledgerContext(values, signal, progress.preparation);
    using opened = await openPair(options, context);
    outputs.refuseInputs(opened);
    using pair = await applyRules(opened, rules, options, settings, context);
    const spec = { ...pairSpec(pair), ...settings, ...outputs.spec, limit: shownLimit(values) };
    const result = await context.engine.run({ run: spec }, { signal, onProgress: progress.job });
    // A ledger that changed explains everything else that may be wrong.
    pair.internal.verifyUnchanged();
    pair.external.verifyUnchanged();
    checkResult(result, pair, values);
    outputs.publish();
    progress[Symbol.dispose]();
    progress = undefined;

    const total = Object.values(result.breaks).reduce((sum, count) => sum + count, 0);
    const report: Report = {
      pair,
      result,
      notes: [...pair.notes, ...result.notes, ...rowNotes(result)],
      exitCode: total <= values.maxBreaks && result.controls.every(({ difference }) => difference === "0") ? 0 : 1,
      elapsed_ms: performance.now() - started_ms,
      total,
      breaksPath: values.breaks?.path ?? null,
      rejectsPath: values.rejects ?? null,
    };
    await say(report, values);
    return report.exitCode;
  } finally {
    progress?.[Symbol.dispose]();
  }
}

/** What else is to be said must then go elsewhere. */
function writesToStandardOutput({ breaks, rejects }: Values): boolean {
  return [breaks?.path, rejects].some((path) => path !== undefined && openDescriptor(path) === 1);
}

/** The breaks file and the rejects file, each only where one was asked for. */
class Outputs implements Disposable {
  readonly #files: OutputFile[] = [];
  readonly spec: { breaks_fd?: number; breaks_format?: "csv" | "jsonl"; rejects_fd?: number } = {};

  static async create({ breaks, rejects, mode }: Values): Promise<Outputs> {
    const outputs = new Outputs();
    if (breaks) {
      outputs.spec.breaks_fd = await outputs.#add(breaks.path, mode);
      outputs.spec.breaks_format = breaks.format;
    }
    if (rejects !== undefined) outputs.spec.rejects_fd = await outputs.#add(rejects, mode);
    return outputs;
  }

  async #add(path: string, mode: number): Promise<number> {
    const file = await OutputFile.create(path, mode);
    if (this.#files.some((other) => other.collides(file))) throw usage("--breaks and --rejects name the same file");
    this.#files.push(file);
    return file.fd;
  }

  refuseInputs({ internal, external }: OpenedPair): void {
    const path = [...internal.paths, ...external.paths].find((input) =>
      this.#files.some((file) => file.replaces(input)),
    );
    if (path !== undefined) throw problem("usage", "this ledger would be overwritten by an output file", { path });
  }

  /** All of them reach the disk before the first one takes its place. */
  publish(): void {
    for (const file of this.#files) file.sync();
    for (const file of this.#files) file.publish();
  }

  [Symbol.dispose](): void {
    for (const file of this.#files) file[Symbol.dispose]();
  }
}

function shownLimit({ json, quiet, limit }: Values): number {
  return json || quiet ? 0 : limit;
}

/** Throws unless the result is a whole one that adds up. */
function checkResult(result: RunResult, pair: OpenedPair, values: Values): void {
  if (result.outcome === "failed") throw failure(result, values);
  checkAccounting(result, pair);
  for (const side of ["internal", "external"] as const) {
    const { rows } = result[side];
    if (rows >= values.minRows) continue;
    const message = `the ${side} ledger has ${counted(rows, "row")}, --min-rows asks for ${values.minRows}`;
    throw problem("too_few_rows", message);
  }
}

/** The engine knows its output files as descriptors only. */
function failure({ errors, error_count }: RunResult, { breaks, rejects }: Values): Error {
  if (errors[0]?.code === "closed_pipe") return new Stopped(141);
  const paths = [breaks?.path, rejects].filter((path) => path !== undefined);
  const outputs = paths.map((path) => (path === "-" ? "standard output" : path)).join(" or ");
  const named = errors.map((error) => (error.code === "write" ? { ...error, path: outputs } : error));
  return new ReconError(named, error_count);
}

/** The accounting identity, once more and in the other language: every row of both sides is in exactly one class. */
function checkAccounting({ internal, external, matched, breaks }: RunResult, pair: OpenedPair): void {
  const classes = ({ matched, mismatch, missing, duplicate, missing_key, rejected }: SideCounts) =>
    matched + mismatch + missing + duplicate + missing_key + rejected;
  const accounts: [string, number, number][] = [["rejected", internal.rejected + external.rejected, breaks.rejected]];
  const sides = { internal, external };
  for (const [side, other] of [
    ["internal", "external"],
    ["external", "internal"],
  ] as const) {
    const rows = sides[side];
    accounts.push([`rows of the ${side} ledger`, rows.rows, classes(rows)]);
    // Where rows are folded, many of them are one break.
    if (pair[side].group !== null) continue;
    accounts.push(
      [`matched ${side} rows`, rows.matched, matched],
      [`mismatched ${side} rows`, rows.mismatch, breaks.mismatch],
      [`missing_${other}`, rows.missing, breaks[`missing_${other}`]],
      [`duplicate_${side}`, rows.duplicate, breaks[`duplicate_${side}`]],
    );
  }
  if (pair.internal.group === null && pair.external.group === null)
    accounts.push(["missing_key", internal.missing_key + external.missing_key, breaks.missing_key]);
  for (const [what, one, other] of accounts) {
    if (one !== other)
      throw problem("internal", `internal error: the accounts do not balance: ${what}: ${one} and ${other}`);
  }
}

function rowNotes({ internal, external }: RunResult): Note[] {
  if (internal.rows > 0 || external.rows > 0) return [];
  return [{ code: "no_rows", message: "there are no rows in either ledger" }];
}

async function say(report: Report, values: Values): Promise<void> {
  const taken = writesToStandardOutput(values);
  if (values.json) await writeOut(jsonReport(report));
  else if (!values.quiet && !taken) await writeOut(terminalReport(report, paintFor(1)));
  if (values.quiet) return;
  // The summary says what was decided about headers. The rest comes behind what may find its reader gone, which is to end quietly.
  for (const { code, message } of report.notes) if (code !== "header") console.error(`recon: note: ${safe(message)}`);
  if (taken) console.error(terminalReport(report, paintFor(2)).trimEnd());
}
