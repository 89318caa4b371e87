// Ledgers that are not there, not readable or not files: exit 2 and an error that names them. Pipes are read.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, closeSync, copyFileSync, existsSync, mkdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { hasOpen, mountSmall, openNamedPipe, start, until } from "./started";

const recon = requireExecutable();
const scratch = scratchFolder();
const at = (name: string) => join(scratch.path, name);
const cwd = scratch.path;
afterAll(() => scratch[Symbol.dispose]());
beforeAll(() => {
  writeFileSync(at("good.csv"), "trade_id,price\nT1,10.5\n");
  mkdirSync(at("folder.csv"));
});

const refused = [
  ["missing.csv", "a file that is not there"],
  ["good.csv/inside.csv", "a path through a file"],
  ["folder.csv", "a directory"],
  ["/dev/null", "a device that is empty"],
  ["", "an empty path"],
  ["no-such-*.csv", "a pattern without a file"],
] as const;

for (const [path, what] of refused) {
  for (const side of ["internal", "external"]) {
    test(`${what} as ${side}`, async () => {
      const ledgers = side === "internal" ? [path, "good.csv"] : ["good.csv", path];
      const done = await runCommand([recon, ...ledgers, "--json", "--breaks", "breaks.csv"], {
        cwd,
        timeout_ms: 10_000,
      });
      expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 2 });
      expect(done.stderr).toContain(path);
      expect(JSON.parse(Buffer.from(done.stdout).toString())).toMatchObject({ status: "error", exitCode: 2 });
      expect(existsSync(at("breaks.csv"))).toBe(false);
    });
  }
}

test("a device that never ends", async () => {
  // A small place to spool to, so that a program that tries to read it all cannot fill the disk.
  const folder = at("small");
  mkdirSync(folder);
  using mounted = mountSmall(folder, "1m");
  if (mounted === null) return;
  const done = await runCommand([recon, "good.csv", "/dev/zero", "--temp", folder], { cwd, timeout_ms: 10_000 });
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 2 });
});

test("a named pipe is read as a ledger", async () => {
  const pipe = openNamedPipe(at("ledger.pipe"));
  const run = start(["good.csv", "ledger.pipe", "--json"], { cwd });
  await until("the pipe is open", () => hasOpen(run.pid, at("ledger.pipe")) || !run.running());
  writeSync(pipe, "trade_id,price\nT1,10.50\n");
  closeSync(pipe);
  const done = await run.finished;
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(Buffer.from(done.stdout).toString())).toMatchObject({ matched: 1 });
});

test("a file that may not be read", async () => {
  if (process.getuid?.() === 0 && Bun.which("setpriv") === null) {
    console.error("not tested: root may read everything, and there is no setpriv to drop to another user");
    return;
  }
  const drop = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  chmodSync(scratch.path, 0o755);
  chmodSync(at("good.csv"), 0o644);
  writeFileSync(at("secret.csv"), "trade_id,price\nT1,10.5\n");
  chmodSync(at("secret.csv"), 0o000);
  // The tree that holds the executable may be closed to that user.
  copyFileSync(recon, at("recon"));
  chmodSync(at("recon"), 0o755);
  const readable = await runCommand([...drop, at("recon"), "good.csv", "good.csv"], { cwd });
  expect({ exitCode: readable.exitCode, stderr: readable.stderr }).toMatchObject({ exitCode: 0 });
  const done = await runCommand([...drop, at("recon"), "good.csv", "secret.csv"], { cwd });
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 2 });
  expect(done.stderr).toContain("secret.csv");
  const unwritable = await runCommand([...drop, at("recon"), "good.csv", "good.csv", "--breaks", "breaks.csv"], {
    cwd,
  });
  expect({ exitCode: unwritable.exitCode, stderr: unwritable.stderr }).toMatchObject({ exitCode: 2 });
  expect(unwritable.stderr).toContain("breaks.csv");
});
