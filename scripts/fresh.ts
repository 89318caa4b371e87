// Fails when a generated file is not what its source says, and leaves it as it should be. Run by check.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reference, referencePath } from "./docs";
import { root, run, zig } from "./processes";

const boundaryPath = join(root, "src/generated/abi.ts");
const boundary = readFileSync(boundaryPath, "utf8");
await run("abi", [zig(), "build", "abi"]);
const page = readFileSync(referencePath, "utf8");
await Bun.write(referencePath, reference());

const stale = [
  ...(readFileSync(boundaryPath, "utf8") === boundary ? [] : [boundaryPath]),
  ...(reference() === page ? [] : [referencePath]),
];
if (stale.length > 0) throw new Error(`stale, and now written anew: ${stale.join(", ")}`);
