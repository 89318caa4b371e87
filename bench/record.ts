// `bun run bench:record harness|peers [OPTION…]`: builds ./recon, runs the benchmark with these options and keeps what
// it says as a line in bench/results/.
import { join } from "node:path";
import { append, type Kind, type Recorded } from "./results";
import { build, commit } from "../scripts/build";
import { root } from "../scripts/processes";

const recon = join(root, "recon");
const commands: Record<Kind, string[]> = {
  harness: [recon, "bench", "--json"],
  peers: [process.execPath, join(root, "bench/peers/run.ts"), "--json", "--recon", recon],
};

const [kind, ...options] = process.argv.slice(2);
if (kind !== "harness" && kind !== "peers") throw new Error("bench:record takes harness or peers, and their options");
await build();
const { exitCode, stdout } = Bun.spawnSync([...commands[kind], ...options], { cwd: root, stderr: "inherit" });
if (exitCode !== 0) process.exit(exitCode);
const document = JSON.parse(stdout.toString());
const run = { kind, recorded: new Date().toISOString(), commit: await commit(), document } as Recorded;
console.log(append(run));
