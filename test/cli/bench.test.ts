// `recon bench` on tiny ledgers: every scenario runs, everything agrees, the document has its shape. Times are not looked at.
import { afterAll, expect, test } from "bun:test";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();
const scratch = scratchFolder();
afterAll(() => scratch[Symbol.dispose]());

async function bench(...args: string[]) {
  const { exitCode, stdout, stderr } = await runCommand([recon, "bench", "--reps", "2", ...args], {
    cwd: scratch.path,
    env: { NO_COLOR: "" },
  });
  return { exitCode, stdout: new TextDecoder().decode(stdout), stderr };
}

test("all scenarios", async () => {
  const said = await bench("--rows", "2000", "--threads", "2", "--json", "--quiet");
  expect(said).toMatchObject({ exitCode: 0, stderr: "" });
  const document = JSON.parse(said.stdout);
  expect(document).toMatchObject({ reps: 2, rows: 2000, machine: { cores: expect.any(Number) } });
  const found = Object.fromEntries(
    document.scenarios.map(({ id, records, threads, breaks }: Record<string, unknown>) => [
      id,
      [records, threads, breaks],
    ]),
  );
  expect(found).toEqual({
    "baseline-a": [4000, 1, null],
    "baseline-b": [4000, 1, null],
    "baseline-c": [4000, 1, 5],
    nominal: [4000, 2, 5],
    "nominal-1t": [4000, 1, 5],
    "nominal-hash": [4000, 2, 5],
    "nominal-process": [4000, 2, 5],
    "baseline-c-shuffled": [4000, 1, 6],
    shuffled: [4000, 2, 6],
    "shuffled-1t": [4000, 1, 6],
    typed: [4000, 2, 6],
    respelled: [4000, 2, 6],
    disjoint: [4000, 2, 4000],
    floor: [null, 2, null],
  });
  for (const { medianMs, bestMs, worstMs, samplesMs, bytesPerSecond } of document.scenarios) {
    expect(samplesMs).toHaveLength(2);
    expect(bestMs).toBe(Math.min(...samplesMs));
    expect(worstMs).toBe(Math.max(...samplesMs));
    expect(medianMs).toBeCloseTo((bestMs + worstMs) / 2);
    expect(bytesPerSecond).toBeGreaterThan(0);
  }
  for (const { median, low, high } of document.ratios) {
    expect(low).toBeLessThanOrEqual(median);
    expect(high).toBeGreaterThanOrEqual(median);
  }
});

test("the pair is made once, and named scenarios are shown as a table", async () => {
  const said = await bench("nominal", "baseline-c", "--rows", "1000", "--dir", "pairs");
  expect(said.exitCode).toBe(0);
  expect(said.stdout).toContain("baseline-c / nominal");
  expect(said.stdout).not.toContain("shuffled");
  const { mtimeMs } = await Bun.file(`${scratch.path}/pairs/nominal-1000/internal.csv`).stat();
  await bench("nominal", "--rows", "1000", "--dir", "pairs");
  expect((await Bun.file(`${scratch.path}/pairs/nominal-1000/internal.csv`).stat()).mtimeMs).toBe(mtimeMs);
});

test("programs that disagree end with exit status 2", async () => {
  await bench("nominal", "--rows", "1000", "--dir", "broken");
  // Baseline C does not know quotes.
  const path = `${scratch.path}/broken/nominal-1000/internal.csv`;
  const text = await Bun.file(path).text();
  await Bun.write(path, text.replace(",BUY,", ',"BUY",'));
  const said = await bench("nominal", "--rows", "1000", "--dir", "broken", "--json");
  expect(said.exitCode).toBe(2);
  expect(JSON.parse(said.stdout)).toMatchObject({ status: "error", errors: [{ code: "bench_counts" }] });
});
