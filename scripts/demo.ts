// `npm run demo`: builds ./recon, makes two small ledgers with known breaks in data/demo and reconciles them.
import { join } from "node:path";
import { build } from "./build";
import { root } from "./processes";

await build();
show(
  ["generate", "data/demo", "--rows", "20000", "--seed", "7", "--order", "shuffled"].concat([
    "--breaks",
    "12",
    "--missing",
    "4",
    "--duplicates",
    "3",
    "--benign",
    "200",
    "--quoted",
    "10",
  ]),
);
const exitCode = show([
  "data/demo/internal.csv",
  "data/demo/external.csv",
  "--key",
  "trade_id",
  "--breaks",
  "data/demo/breaks.jsonl",
]);
console.log(`\nexit status ${exitCode}: there are breaks, as there should be`);
process.exit(
  exitCode === 1 && show(["generate", "--score", "data/demo/truth.jsonl", "data/demo/breaks.jsonl"]) === 0 ? 0 : 1,
);

/** Runs ./recon as one would type it. */
function show(args: string[]): number {
  console.log(`\n$ ./recon ${args.join(" ")}`);
  return Bun.spawnSync([join(root, "recon"), ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exitCode;
}
