// `recon bench fix` on a small log: the parsers agree, the document has its shape. Times are not looked at.
import { afterAll, expect, test } from "bun:test";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();
const scratch = scratchFolder();
afterAll(() => scratch[Symbol.dispose]());

const options = ["--rows", "2000", "--reps", "1", "--threads", "2", "--quiet"];

test("both parsers on both messages, and over a log", async () => {
  const said = await runCommand([recon, "bench", "fix", ...options, "--json"], { cwd: scratch.path, env: {} });
  expect(said).toMatchObject({ exitCode: 0, stderr: "" });
  const { parsers, bulk, ratios } = JSON.parse(new TextDecoder().decode(said.stdout));
  expect(parsers.map(({ parser, message, checked }: Record<string, unknown>) => [message, checked, parser])).toEqual(
    ["ExecutionReport", "NewOrderSingle"].flatMap((message) =>
      [true, false].flatMap((checked) => ["recon", "conventional"].map((parser) => [message, checked, parser])),
    ),
  );
  for (const { parser, batchNs, p50Ns, p99Ns, fourFieldsNs, allocations } of parsers) {
    for (const time of [batchNs, p50Ns, p99Ns, fourFieldsNs]) expect(time).toBeGreaterThan(0);
    expect(allocations > 0).toBe(parser === "conventional");
  }
  expect(bulk.map(({ parser, threads }: Record<string, unknown>) => [parser, threads])).toEqual([
    ["recon", 1],
    ["recon", 2],
    ["conventional", 1],
  ]);
  expect(new Set(bulk.map(({ messages }: Record<string, unknown>) => messages)).size).toBe(1);
  expect(ratios).toHaveLength(6);
});
