// `bun run bench:record KIND [OPTION…]`: builds ./recon, runs the benchmark with these options and keeps what
// it says as a line in bench/results/.
import { join } from "node:path";
import { append, type Kind, type Recorded } from "./results";
import { build, commit } from "../scripts/build";
import { root } from "../scripts/processes";

const recon = join(root, "recon");
const commands: Record<Kind, string[]> = {
  harness: [recon, "bench", "--json"],
  fix: [recon, "bench", "fix", "--json"],
  peers: script("peers/run.ts", "--recon", recon),
  scaling: script("scaling.ts", "--no-build"),
  parts: script("run.ts", "--no-build"),
};

const [kind = "", ...options] = process.argv.slice(2);
if (!isKind(kind)) throw new Error(`bench:record takes ${Object.keys(commands).join(", ")}, and their options`);
await build();
const { exitCode, stdout } = Bun.spawnSync([...commands[kind], ...options], { cwd: root, stderr: "inherit" });
if (exitCode !== 0) process.exit(exitCode);
const document = JSON.parse(stdout.toString());
const run = { kind, recorded: new Date().toISOString(), commit: await commit(), document } as Recorded;
console.log(append(run));

function script(name: string, ...options: string[]): string[] {
  return [process.execPath, join(root, "bench", name), "--json", ...options];
}

function isKind(name: string): name is Kind {
  return Object.hasOwn(commands, name);
}
