// recon init: what it writes gives the same result as the options it was given.
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();
const data = join(import.meta.dir, "../../data");

async function run(cwd: string, args: string[]) {
  const finished = await runCommand([recon, ...args], { cwd });
  return { ...finished, stdout: new TextDecoder().decode(finished.stdout) };
}

/** What a run says, but for how and how fast it was done. */
async function verdict(cwd: string, args: string[]) {
  const { exitCode, stdout } = await run(cwd, [...args, "--json", "--breaks", "breaks.jsonl"]);
  const { elapsedMs, phases, threads, plan, notes, ...document } = JSON.parse(stdout);
  const breaks = existsSync(join(cwd, "breaks.jsonl")) ? readFileSync(join(cwd, "breaks.jsonl"), "utf8") : "";
  return { exitCode, document, breaks };
}

describe("a round trip on every pair of data/", () => {
  const pairs: [pair: string, options: string[]][] = [
    ["trades", []],
    ["trades", ["--key", "trade_id"]],
    ["trades", ["--key", "trade_id", "--ignore", "price", "--tolerance", "quantity=20"]],
    ["trades", ["--key", "symbol,side", "--unique", "--type", "price=text"]],
    ["broker", ["--key", "order=Order,venue=MIC"]],
    ["broker", ["--key", "order=Order,venue=MIC", "--compare", "quantity=Qty,price=Px"]],
    [
      "broker",
      ["-k", "order=Order,venue=MIC", "--compare", "price=Px", "--fold-case", "--tolerance", "price=10bps max 1.00"],
    ],
    ["damaged", []],
    ["damaged", ["--on-bad-row", "reject"]],
  ];
  test.each(pairs)("%s %j", async (pair, options) => {
    using scratch = scratchFolder();
    for (const side of ["internal", "external"])
      copyFileSync(join(data, pair, `${side}.csv`), join(scratch.path, `${side}.csv`));
    const files = ["internal.csv", "external.csv"];
    const asked = await verdict(scratch.path, [...files, ...options]);
    expect(await run(scratch.path, ["init", ...files, ...options])).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await verdict(scratch.path, [...files, "--config", "recon.toml"])).toEqual(asked);
  });
});

describe("what is proposed", () => {
  async function drafted(internal: string, external: string, ...options: string[]): Promise<string> {
    using scratch = scratchFolder();
    writeFileSync(join(scratch.path, "a.csv"), internal);
    writeFileSync(join(scratch.path, "b.csv"), external);
    const { exitCode, stdout, stderr } = await run(scratch.path, ["init", "a.csv", "b.csv", "-o", "-", ...options]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return stdout;
  }

  test("likely pairs of columns, where nothing is called the same", async () => {
    const text = await drafted("order,venue,qty\n1,A,5\n1,B,5\n2,B,5\n", "Order;MIC;Quantity\n1;A;5\n1;B;5\n2;B;6\n");
    expect(text).toContain(
      'key = [{ internal = "order", external = "Order" }, { internal = "venue", external = "MIC" }]',
    );
    expect(text).toContain('  { internal = "qty", external = "Quantity" },');
    expect(text).toContain('delimiter = ";"');
  });

  test("types where every value fits, else what is missing for them", async () => {
    const text = await drafted(
      'id,px,d,t,q,c\nA,1.5,31/12/2026,2026-01-01T10:00:00Z,"1.000,5",1\nB,2,01/12/2026,2026-01-01T10:00:00Z,NULL,2\nC,2,01/12/2026,2026-01-01T10:00:00Z,7,2\n',
      "id,px,d,t,q,c\nA,1.50,2026-12-31,2026-01-01T10:00,1000.5,BUY\nB,2,2026-12-01,2026-01-01T10:00,0,SELL\nC,2,2026-12-01,2026-01-01T10:00,7,SELL\n",
    );
    expect(text).toContain('[columns.px]\ntype = "decimal"');
    expect(text).toContain('date_format = "dd/MM/yyyy"   # d holds 31/12/2026');
    expect(text).toContain('[columns.d]\ntype = "date"');
    expect(text).toContain('# type = "timestamp"');
    expect(text).toContain('# timezone = "Europe/London"');
    expect(text).toContain('# null = ["NULL"]');
  });

  test("two formats that fit all dates are a comment", async () => {
    const text = await drafted("id,d\nA,02/01/2026\n", "id,d\nA,2026-01-02\n", "--header", "yes");
    expect(text).toContain('# date_format = "dd/MM/yyyy"   # or "MM/dd/yyyy": d holds 02/01/2026');
    expect(text).toContain('# [columns.d]\n# type = "date"');
  });

  test("names that need quotes, and control characters in them", async () => {
    const text = await drafted('id,"a ""b"".c",=x\nA,1,2\n', 'id,"a ""b"".c",=x\nA,1,2\n');
    expect(text).toContain('[columns."a \\"b\\".c"]');
  });
});

test("a file that is there is not replaced", async () => {
  using scratch = scratchFolder();
  for (const name of ["a.csv", "b.csv"]) writeFileSync(join(scratch.path, name), "id,x\n1,2\n");
  writeFileSync(join(scratch.path, "recon.toml"), "# mine\n");
  const { exitCode, stderr } = await run(scratch.path, ["init", "a.csv", "b.csv"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("recon.toml: this file is already there");
  expect(readFileSync(join(scratch.path, "recon.toml"), "utf8")).toBe("# mine\n");
  expect(await run(scratch.path, ["init", "a.csv", "b.csv", "-o", "other.toml", "-q"])).toMatchObject({
    exitCode: 0,
    stderr: "",
  });
  expect(statSync(join(scratch.path, "other.toml")).mode & 0o777).toBe(0o600);
});

test("nothing to find rows by is an error that says what to do", async () => {
  using scratch = scratchFolder();
  writeFileSync(join(scratch.path, "a.csv"), "id,x\nA,2\n");
  writeFileSync(join(scratch.path, "b.csv"), "no,y\nA,2\n");
  const { exitCode, stderr } = await run(scratch.path, ["init", "a.csv", "b.csv"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--key INTERNAL=EXTERNAL");
  expect(existsSync(join(scratch.path, "recon.toml"))).toBe(false);
});

test("--json says what was written", async () => {
  using scratch = scratchFolder();
  for (const name of ["a.csv", "b.csv"]) writeFileSync(join(scratch.path, name), "id,x\n1,2\n");
  const { stdout } = await run(scratch.path, ["init", "a.csv", "b.csv", "--header", "yes", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "written",
    exitCode: 0,
    path: "recon.toml",
    key: [{ internal: "id", external: "id" }],
    compare: [{ internal: "x", external: "x" }],
    rules: readFileSync(join(scratch.path, "recon.toml"), "utf8"),
  });
});
