// `recon generate --format fix`: the log is well-formed, has what a broker's log has, does not depend on threads, and recon
// finds its breaks.
import { afterAll, expect, test } from "bun:test";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();
const scratch = scratchFolder();
afterAll(() => scratch[Symbol.dispose]());

async function generate(folder: string, ...options: string[]): Promise<string> {
  const path = `${scratch.path}/${folder}`;
  const wanted = ["--rows", "20000", "--order", "shuffled", "--breaks", "7", "--missing", "3", "--duplicates", "2"];
  const command = [recon, "generate", path, "--format", "fix", "--quiet", ...wanted, ...options];
  const { exitCode } = await runCommand(command, { cwd: scratch.path, env: {} });
  expect(exitCode).toBe(0);
  return path;
}

function fieldsOf(message: string): Map<string, string> {
  const pieces = message.split("\x01").slice(0, -1);
  return new Map(pieces.map((piece) => [piece.slice(0, piece.indexOf("=")), piece.slice(piece.indexOf("=") + 1)]));
}

test("every message has its body length, its checksum and the next sequence number", async () => {
  const log = await Bun.file(`${await generate("whole")}/external.fix.log`).text();
  const types = new Map<string, number>();
  let next = 1;
  for (const message of log.split("\n").slice(0, -1)) {
    const fields = fieldsOf(message);
    const [body, trailer] = [message.indexOf("\x01", 10) + 1, message.lastIndexOf("10=")];
    expect(Number(fields.get("9"))).toBe(trailer - body);
    const sum = new TextEncoder().encode(message.slice(0, trailer)).reduce((total, byte) => total + byte, 0);
    expect(Number(fields.get("10"))).toBe(sum % 256);
    if (fields.get("43") !== "Y") expect(Number(fields.get("34"))).toBe(next++);
    const kind = fields.get("43") === "Y" ? "resent" : `${fields.get("35")}${fields.get("150") ?? ""}`;
    types.set(kind, (types.get(kind) ?? 0) + 1);
  }
  expect([...types.keys()].sort()).toEqual(["0", "80", "8F", "8G", "8H", "resent"]);
});

test("same seed, same bytes, whatever the threads", async () => {
  const [one, three] = [await generate("one", "--threads", "1"), await generate("three", "--threads", "3")];
  for (const name of ["internal.csv", "external.fix.log", "truth.jsonl"]) {
    expect(await Bun.file(`${three}/${name}`).bytes()).toEqual(await Bun.file(`${one}/${name}`).bytes());
  }
});

test.each(["sequential", "uuid"])("recon finds what is true and nothing else, %s ids", async (ids) => {
  const folder = await generate(`scored-${ids}`, "--ids", ids, "--benign", "5");
  const breaks = `${folder}/breaks.jsonl`;
  const options = { cwd: folder, env: {} };
  const ran = await runCommand([recon, "internal.csv", "external.fix.log", "--breaks", breaks, "--quiet"], options);
  expect(ran).toMatchObject({ exitCode: 1, stderr: "" });
  const scored = await runCommand([recon, "generate", "--score", "truth.jsonl", breaks, "--json"], options);
  expect(JSON.parse(new TextDecoder().decode(scored.stdout))).toMatchObject({
    status: "perfect",
    real: 15,
    detected: 15,
    false: 0,
  });
  const audited = await runCommand([recon, "fix", "external.fix.log", "--quiet"], options);
  expect(audited).toMatchObject({ exitCode: 0, stderr: "" });
});
