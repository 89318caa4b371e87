// recon bench: the benchmark harness from the command line. Signals end it at once: what runs cannot be asked to stop,
// and what it has open is unnamed.
import { version } from "../../package.json";
import { usage, type Invocation } from "./arguments";
import type { Values } from "./options";
import { runFixBench, type FixBenchDocument } from "../bench/fix";
import { fixTerminalTable } from "../bench/fix-table";
import { runBench, type BenchDocument } from "../bench/harness";
import { scenarios, type ScenarioId } from "../bench/scenarios";
import { terminalTable } from "../bench/table";
import { Engine } from "../engine/engine";
import { usableCores } from "../engine/machine";
import { writeOut } from "../report/standard-output";

/** Put in place by scripts/build.ts. */
declare const RECON_COMMIT: string;

export async function execute({ operands, values }: Invocation): Promise<number> {
  const options = {
    engine: Engine.load(),
    rows: values.benchRows,
    reps: values.reps,
    folder: values.dir,
    threads: values.threads ?? usableCores(),
    say: (text: string) => values.quiet || console.error(`recon: bench: ${text}`),
  };
  const built = { version, commit: typeof RECON_COMMIT === "undefined" ? "" : RECON_COMMIT };
  if (operands.includes("fix")) {
    if (operands.length > 1) throw usage("bench fix takes no other scenario", "recon bench fix");
    const document: FixBenchDocument = { ...(await runFixBench(options)), ...built };
    await show(values, document, () => fixTerminalTable(document));
  } else {
    const document: BenchDocument = { ...(await runBench({ ...options, ids: chosen(operands) })), ...built };
    await show(values, document, () => terminalTable(document));
  }
  return 0;
}

async function show({ json, quiet }: Values, document: object, table: () => string): Promise<void> {
  if (json) {
    const text = JSON.stringify({ schemaVersion: 1, status: "done", exitCode: 0, ...document }, null, 2);
    await writeOut(`${text}\n`);
  } else if (!quiet) {
    await writeOut(table());
  }
}

/** All scenarios, or those that were named, in the order of the table. */
function chosen(names: readonly string[]): ScenarioId[] {
  const ids = Object.keys(scenarios) as ScenarioId[];
  const unknown = names.find((name) => !ids.some((id) => id === name));
  if (unknown !== undefined) throw usage(`there is no scenario ${unknown}`, `scenarios: ${ids.join(", ")}, fix`);
  return names.length === 0 ? ids : ids.filter((id) => names.includes(id));
}
