// recon generate --score TRUTH BREAKS: how many of the known breaks a run found, and how many it made up.
import { usage } from "./arguments";
import type { Values } from "./options";
import { fileProblem, problem } from "../errors";
import { counted, grouped } from "../report/numbers";
import { writeOut } from "../report/standard-output";

interface Score {
  /** Real breaks of the truth file, and how many of them the breaks file has. */
  real: number;
  detected: number;
  /** Benign differences of the truth file, and how many of them were reported as breaks. */
  benign: number;
  benignReported: number;
  reported: number;
  /** Reported breaks that are not in the truth file as breaks. */
  false: number;
}

/** Exit status 0 for a perfect score, 1 for any other. */
export async function scoreBreaks(operands: readonly string[], { json, quiet }: Values): Promise<number> {
  const [truth, breaks] = operands;
  if (truth === undefined || breaks === undefined || operands.length > 2) {
    throw usage("--score takes a truth file and a breaks file", "recon generate --score truth.jsonl breaks.jsonl");
  }
  const score = await compare(truth, breaks);
  const exitCode = score.detected === score.real && score.false === 0 ? 0 : 1;
  const detectionRate = rate(score.detected, score.real, 1);
  const falseBreakRate = rate(score.false, score.reported, 0);
  if (json) {
    const document = { schemaVersion: 1, status: exitCode === 0 ? "perfect" : "imperfect", exitCode, ...score };
    await writeOut(`${JSON.stringify({ ...document, detectionRate, falseBreakRate, errors: [] }, null, 2)}\n`);
  } else if (!quiet) {
    await writeOut(
      `detection rate    ${percent(detectionRate)}  ${grouped(score.detected)} of ${counted(score.real, "real break")} found\n` +
        `false-break rate  ${percent(falseBreakRate)}  ${grouped(score.false)} of ${counted(score.reported, "reported break")} not real, ` +
        `${grouped(score.benignReported)} of ${counted(score.benign, "benign difference")} among them\n`,
    );
  }
  return exitCode;
}

export async function compare(truthPath: string, breaksPath: string): Promise<Score> {
  const score: Score = { real: 0, detected: 0, benign: 0, benignReported: 0, reported: 0, false: 0 };
  const open = new Map<string, number>();
  const benign = new Set<string>();
  for await (const { type, key } of lines(truthPath)) {
    const keyText = JSON.stringify(Object.values(key));
    if (type === "benign") {
      score.benign++;
      benign.add(keyText);
    } else {
      score.real++;
      open.set(type + keyText, (open.get(type + keyText) ?? 0) + 1);
    }
  }
  for await (const { type, key } of lines(breaksPath)) {
    const keyText = JSON.stringify(Object.values(key));
    const left = open.get(type + keyText) ?? 0;
    score.reported++;
    if (left > 0) {
      score.detected++;
      open.set(type + keyText, left - 1);
    } else {
      score.false++;
      if (benign.has(keyText)) score.benignReported++;
    }
  }
  return score;
}

async function* lines(path: string): AsyncGenerator<{ type: string; key: Record<string, string> }> {
  let rest = "";
  let line = 0;
  const decoder = new TextDecoder();
  const parse = (text: string) => {
    line++;
    try {
      const { type, key } = JSON.parse(text);
      if (typeof type === "string" && typeof key === "object" && key !== null) return { type, key };
    } catch {}
    throw problem("bad_row", "this is not a line of a truth or breaks file (.jsonl)", { path, line });
  };
  try {
    for await (const part of Bun.file(path).stream()) {
      const pieces = (rest + decoder.decode(part, { stream: true })).split("\n");
      rest = pieces.pop()!;
      for (const piece of pieces) yield parse(piece);
    }
  } catch (error) {
    throw error instanceof Error && "code" in error ? fileProblem(path, "read it", error) : error;
  }
  if (rest !== "") yield parse(rest);
}

const rate = (part: number, whole: number, ofNothing: number) => (whole === 0 ? ofNothing : part / whole);
const percent = (share: number) => `${(share * 100).toFixed(2)} %`.padStart(8);
