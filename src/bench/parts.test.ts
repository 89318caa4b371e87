// The parts of the engine that `bun run bench` times: each runs and says how many rows it went over.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePair, openGenerated } from "./pairs";
import { Engine } from "../engine/engine";

const engine = Engine.load();
const folder = mkdtempSync(join(tmpdir(), "recon-parts-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["scan", "hash", "table", "decimal", "split"] as const)("%s", async (part) => {
  using opened = await openGenerated(engine, await makePair(engine, folder, "nominal", 20_000, 1));
  const [file] = opened.internal.spec.files;
  const result = await engine.run({ bench: { part, file: file!, rounds: 3 } });
  expect(result).toMatchObject({ outcome: "done", group: 20_000 });
  expect(result.samples_ns).toHaveLength(3);
});
