// recon generate: a pair of ledgers with known breaks, made by the engine; and --score, which is score.ts.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { usage, type Invocation } from "./arguments";
import { Interruption } from "./interruption";
import { scoreBreaks } from "./score";
import { Engine } from "../engine/engine";
import { usableCores } from "../engine/machine";
import { fileProblem, ReconError } from "../errors";
import { bytesText, counted } from "../report/numbers";
import { OutputFile } from "../report/output-file";
import { Progress } from "../report/progress";
import { writeOut } from "../report/standard-output";
import { safe } from "../report/terminal-safe";

export async function execute({ operands, values }: Invocation): Promise<number> {
  if (values.score) return scoreBreaks(operands, values);
  const [folder] = operands;
  if (folder === undefined || operands.length > 1) throw usage(`generate takes one folder, not ${operands.length}`);

  using interruption = new Interruption();
  makeFolder(folder);
  using files = new DisposableStack();
  const create = async (name: string) => files.use(await OutputFile.create(join(folder, name), values.mode));
  const [internal, external, truth] = [
    await create("internal.csv"),
    await create(values.generateFormat === "fix" ? "external.fix.log" : "external.csv"),
    await create("truth.jsonl"),
  ];
  const spec = {
    internal_fd: internal.fd,
    external_fd: external.fd,
    truth_fd: truth.fd,
    rows: values.rows,
    seed: values.seed,
    order: values.order,
    ids: values.ids,
    format: values.generateFormat,
    header: values.noHeader !== true,
    breaks: values.breakCount,
    missing: values.missing,
    duplicates: values.duplicates,
    benign: values.benign,
    quoted_percent: values.quoted,
    threads: values.threads ?? usableCores(),
  };
  using progress = new Progress(values.progress, values.quiet ?? false);
  const { signal } = interruption;
  const result = await Engine.load().run({ generate: spec }, { signal, onProgress: progress.job });
  if (result.outcome === "failed") {
    // The engine knows its output files as descriptors only.
    throw new ReconError(result.errors.map((error) => (error.code === "write" ? { ...error, path: folder } : error)));
  }
  const outputs = [internal, external, truth];
  for (const file of outputs) file.sync();
  for (const file of outputs) file.publish();

  const { internal_rows, external_rows, breaks, benign, bytes } = result;
  if (values.json) {
    const document = {
      schemaVersion: 1,
      status: "generated",
      exitCode: 0,
      folder,
      internalRows: internal_rows,
      externalRows: external_rows,
      breaks,
      benign,
      bytes,
      errors: [],
    };
    await writeOut(`${JSON.stringify(document, null, 2)}\n`);
  } else if (!values.quiet) {
    await writeOut(
      `${safe(folder)}: ${counted(internal_rows, "internal row")}, ${counted(external_rows, "external row")}, ` +
        `${bytesText(bytes)}; ${counted(breaks, "break")} and ${counted(benign, "benign difference")} in truth.jsonl\n`,
    );
  }
  return 0;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw fileProblem(path, "make this folder", error);
  }
}
