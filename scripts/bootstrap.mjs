// Runs a script of this project with the Bun that its lock file names, on a machine that has only Node.js and npm.
// Used by `npm test` and `npm run demo`:  node scripts/bootstrap.mjs SCRIPT [ARGUMENT...]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bun = join(root, "node_modules/bun/bin/bun.exe");

if (!installed()) run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund"]);
// npm may have been told not to run install scripts; Bun's puts its binary in place.
if (!works(bun)) run(process.execPath, [join(root, "node_modules/bun/install.js")]);
process.exit(run(bun, process.argv.slice(2)));

/** Whether node_modules holds every package of the lock file that fits this machine, in the version named there. */
function installed() {
  const receipt = join(root, "node_modules/.package-lock.json");
  if (!existsSync(receipt)) return false;
  const there = JSON.parse(readFileSync(receipt, "utf8")).packages;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === "" || (entry.optional && !there[path]) || there[path]?.version === entry.version,
  );
}

function works(binary) {
  return spawnSync(binary, ["--version"]).status === 0;
}

/** Runs in the project's folder with its output shown; a failed installation ends everything with its status. */
function run(command, args) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) throw error;
  const code = status ?? (signal === "SIGINT" ? 130 : 2);
  if (command !== bun && code !== 0) process.exit(code);
  return code;
}
