// Fails when a generated file is not what its source says, and leaves it as it should be. Run by check.ts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "./docs";
import { notices, noticesPath } from "./notices";
import { root, run, zig } from "./processes";

const boundaryPath = join(root, "src/generated/abi.ts");
const boundary = readFileSync(boundaryPath, "utf8");
await run("abi", [zig(), "build", "abi"]);
const stale = readFileSync(boundaryPath, "utf8") === boundary ? [] : [boundaryPath];
for (const [path, text] of [...pages(), [noticesPath, await notices()] as const]) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  await Bun.write(path, text);
  stale.push(path);
}
if (stale.length > 0) throw new Error(`stale, and now written anew: ${stale.join(", ")}`);
