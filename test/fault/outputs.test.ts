// Full disks and closed pipes: exit 2 or 141, no new file, the old one untouched.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, constants, mkdirSync, openSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { listing, mountSmall, openNamedPipe, start, writeLedger } from "./started";

const recon = requireExecutable();
const scratch = scratchFolder();
const at = (name: string) => join(scratch.path, name);
const cwd = scratch.path;
afterAll(() => scratch[Symbol.dispose]());
beforeAll(() => {
  writeLedger(at("internal.csv"), 20_000, "10.5");
  writeLedger(at("external.csv"), 20_000, "10.6");
});

for (const name of ["breaks.jsonl", "breaks.csv"]) {
  test(`full disk under ${name}`, async () => {
    const folder = at(`small-${name}`);
    mkdirSync(folder);
    using mounted = mountSmall(folder, "256k");
    if (mounted === null) return;
    writeFileSync(join(folder, name), "old\n");
    const done = await runCommand([recon, "internal.csv", "external.csv", "--json", "--breaks", join(folder, name)], {
      cwd,
    });
    expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 2 });
    expect(done.stderr).toContain(name);
    expect(JSON.parse(Buffer.from(done.stdout).toString())).toMatchObject({ status: "error", exitCode: 2 });
    expect(listing(folder)).toEqual([name]);
    expect(readFileSync(join(folder, name), "utf8")).toBe("old\n");
  });
}

test("full disk where standard input is spooled", async () => {
  const folder = at("small-temp");
  mkdirSync(folder);
  using mounted = mountSmall(folder, "128k");
  if (mounted === null) return;
  const args = [recon, "internal.csv", "-", "--temp", folder, "--breaks", at("spooled.jsonl")];
  const done = await runCommand(args, { cwd, stdin: at("external.csv") });
  // A redirected file is seekable, and may well be read in place.
  expect(done.exitCode === 1 || done.exitCode === 2).toBe(true);
  const piped = await runCommand(["sh", "-c", 'cat external.csv | "$@"', "sh", ...args], { cwd });
  expect({ exitCode: piped.exitCode, stderr: piped.stderr }).toMatchObject({ exitCode: 2 });
  expect(listing(folder)).toEqual([]);
});

test("a device that is full", async () => {
  symlinkSync("/dev/full", at("full.csv"));
  const done = await runCommand([recon, "internal.csv", "external.csv", "--breaks", "full.csv"], { cwd });
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 2 });
  expect(statSync(at("full.csv")).isCharacterDevice()).toBe(true);
});

for (const args of [["--json"], [], ["--breaks", "-"]]) {
  test(`standard output full: ${args.join(" ") || "summary"}`, async () => {
    const full = openSync("/dev/full", "w");
    const done = await start(["internal.csv", "external.csv", ...args], { cwd, stdout: full }).finished;
    closeSync(full);
    expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 2 });
    expect(done.stderr).not.toBe("");
  });

  test(`standard output closed by its reader: ${args.join(" ") || "summary"}`, async () => {
    const path = at(`closed-${args.join("")}`);
    const both = openNamedPipe(path);
    const writer = openSync(path, constants.O_WRONLY);
    closeSync(both);
    const done = await start(["internal.csv", "external.csv", ...args], { cwd, stdout: writer }).finished;
    closeSync(writer);
    expect({ exitCode: done.exitCode, signal: done.signal, stderr: done.stderr }).toEqual({
      exitCode: 141,
      signal: null,
      stderr: "",
    });
  });
}

test("head -c 1 closes the pipe in the middle of the breaks", async () => {
  const script = '{ "$1" internal.csv external.csv --breaks -; echo $? > status; } | head -c 1';
  const done = await runCommand(["sh", "-c", script, "sh", recon], { cwd });
  expect(readFileSync(at("status"), "utf8").trim()).toBe("141");
  expect(done.stderr).toBe("");
});

test("a breaks file in a folder that is not there", async () => {
  const done = await runCommand([recon, "internal.csv", "external.csv", "--breaks", "nowhere/breaks.csv"], { cwd });
  expect(done.exitCode).toBe(2);
  expect(done.stderr).toContain("nowhere");
});

test("output files are mode 0600, or --mode", async () => {
  const run = (...args: string[]) => runCommand([recon, "internal.csv", "external.csv", ...args], { cwd });
  expect((await run("--breaks", "private.csv")).exitCode).toBe(1);
  expect(statSync(at("private.csv")).mode & 0o777).toBe(0o600);
  expect((await run("--breaks", "shared.csv", "--mode", "0644")).exitCode).toBe(1);
  expect(statSync(at("shared.csv")).mode & 0o777).toBe(0o644);
});
