// The executable alone: an empty folder, an empty environment, no temporary folder, no files of the current folder read.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { listing } from "./started";

const built = requireExecutable();
// Neither under /tmp, which some tests cover, nor where execution is forbidden, as under /dev/shm of many containers.
const places = ["/dev/shm", homedir(), join(import.meta.dir, "..", "..")].filter(
  (place) => !/^\/(var\/)?tmp\b/.test(place),
);
const scratch = scratchFolder(places.find(allowsExecution) ?? tmpdir());
const at = (name: string) => join(scratch.path, name);
const recon = at("recon");
const cwd = scratch.path;
afterAll(() => scratch[Symbol.dispose]());
beforeAll(() => {
  copyFileSync(built, recon);
  writeFileSync(at("internal.csv"), "trade_id,price\nT1,10.5\nT2,1\n");
  writeFileSync(at("external.csv"), "trade_id,price\nT1,10.50\nT2,2\n");
});

function allowsExecution(place: string): boolean {
  using folder = scratchFolder(place);
  const script = join(folder.path, "script");
  writeFileSync(script, "#!/bin/sh\n", { mode: 0o755 });
  try {
    return Bun.spawnSync([script]).exitCode === 0;
  } catch {
    return false;
  }
}

test("runs from an empty folder with nothing beside it and an empty environment", async () => {
  mkdirSync(at("empty"));
  copyFileSync(recon, at("empty/recon"));
  const env = ["env", "-i"];
  const options = { cwd: at("empty") };
  expect((await runCommand([...env, "./recon", "--version"], options)).exitCode).toBe(0);
  const done = await runCommand([...env, "./recon", "../internal.csv", "../external.csv"], options);
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 1 });
  expect(listing(at("empty"))).toEqual(["recon"]);
});

for (const level of ["v2", "v3"]) {
  test(`RECON_CPU=${level}`, async () => {
    const done = await runCommand([recon, "internal.csv", "external.csv"], { cwd, env: { RECON_CPU: level } });
    expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 1 });
  });
}

test(".env and bunfig.toml of the current folder are not read", async () => {
  const folder = at("hostile");
  mkdirSync(folder);
  writeFileSync(join(folder, "ran.ts"), 'await Bun.write("ran", "");\nprocess.exit(77);\n');
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./ran.ts"]\n');
  for (const name of [".env", ".env.local", ".env.production", ".env.development"])
    writeFileSync(join(folder, name), "RECON_CPU=nonsense\nRECON_CHUNK_BYTES=nonsense\nBUN_INSPECT_PRELOAD=./ran.ts\n");
  writeFileSync(join(folder, "recon.toml"), "nonsense\n");
  const before = listing(folder);
  const done = await runCommand([recon, "../internal.csv", "../external.csv", "--json"], { cwd: folder });
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 1 });
  expect(listing(folder)).toEqual(before);
  // The same text as real variables is noticed, or the test above would prove nothing.
  const told = await runCommand([recon, "../internal.csv", "../external.csv"], {
    cwd: folder,
    env: { RECON_CHUNK_BYTES: "nonsense" },
  });
  expect(told.exitCode).toBe(2);
});

test("no folder for temporary files: read-only /tmp and /var/tmp, no TMPDIR", async () => {
  const hide = "mount -t tmpfs -o ro none /tmp && mount -t tmpfs -o ro none /var/tmp";
  const inside = (script: string) =>
    runCommand(["unshare", "--mount", "sh", "-c", `${hide} && ${script}`, "sh", recon], {
      cwd,
      env: { TMPDIR: undefined },
    });
  const allowed = await inside("true");
  if (allowed.exitCode !== 0) {
    console.error(`not tested: no mount namespace here: ${allowed.stderr.trim()}`);
    return;
  }
  const plain = await inside('"$1" internal.csv external.csv');
  expect({ exitCode: plain.exitCode, stderr: plain.stderr }).toMatchObject({ exitCode: 1 });
  const spooled = await inside('cat external.csv | "$1" internal.csv -');
  expect({ exitCode: spooled.exitCode, stderr: spooled.stderr }).toMatchObject({ exitCode: 1 });
  const missing = await runCommand([recon, "internal.csv", "external.csv"], {
    cwd,
    env: { TMPDIR: "/no/such/folder" },
  });
  expect({ exitCode: missing.exitCode, stderr: missing.stderr }).toMatchObject({ exitCode: 1 });
});

test("folders for temporary files that forbid execution", async () => {
  const hide = "mount -t tmpfs -o noexec none /tmp && mount -t tmpfs -o noexec none /var/tmp";
  const script = `${hide} || exit 99; "$1" internal.csv external.csv; status=$?; ls -A /tmp /var/tmp; exit $status`;
  const done = await runCommand(["unshare", "--mount", "sh", "-c", script, "sh", recon], { cwd });
  if (done.exitCode === 99 || done.stderr.startsWith("unshare:")) {
    console.error(`not tested: no mount namespace here: ${done.stderr.trim()}`);
    return;
  }
  expect({ exitCode: done.exitCode, stderr: done.stderr }).toMatchObject({ exitCode: 1 });
  expect(Buffer.from(done.stdout).toString()).toEndWith("/tmp:\n\n/var/tmp:\n");
});

test("start time of --version is shown", async () => {
  const times_ms: number[] = [];
  for (let i = 0; i < 11; i++) {
    const began = performance.now();
    expect((await runCommand([recon, "--version"], { cwd })).exitCode).toBe(0);
    times_ms.push(performance.now() - began);
  }
  times_ms.sort((a, b) => a - b);
  const shown = [times_ms[0], times_ms[5], times_ms[10]].map((time) => (time as number).toFixed(1));
  console.error(`recon --version: best ${shown[0]} ms, median ${shown[1]} ms, worst ${shown[2]} ms`);
});
