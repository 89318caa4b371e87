import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "./score";

test("found, missed, made up and benign", async () => {
  const folder = mkdtempSync(join(tmpdir(), "recon-score-"));
  const write = (name: string, rows: [type: string, key: string][]) => {
    writeFileSync(join(folder, name), rows.map(([type, id]) => `${JSON.stringify({ type, key: { id } })}\n`).join(""));
    return join(folder, name);
  };
  const truth = write("truth.jsonl", [
    ["mismatch", "T1"],
    ["mismatch", "T2"],
    ["missing_internal", "T3"],
    ["duplicate_internal", "T4"],
    ["benign", "T5"],
    ["benign", "T6"],
  ]);
  const breaks = write("breaks.jsonl", [
    ["mismatch", "T1"],
    ["missing_external", "T3"],
    ["duplicate_internal", "T4"],
    ["duplicate_internal", "T4"],
    ["mismatch", "T5"],
  ]);
  expect(await compare(truth, breaks)).toEqual({
    real: 4,
    detected: 2,
    benign: 2,
    benignReported: 1,
    reported: 5,
    false: 3,
  });
  expect(await compare(truth, truth)).toMatchObject({ detected: 4, false: 2 });
  rmSync(folder, { recursive: true });
  expect(compare(truth, breaks)).rejects.toThrow("no such file");
});
