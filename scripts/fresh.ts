// Fails when src/generated/abi.ts is not what zig/abi.zig says, and leaves it as it should be. Run by check.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, zig } from "./processes";

const path = join(root, "src/generated/abi.ts");
const before = readFileSync(path, "utf8");
await run("abi", [zig(), "build", "abi"]);
if (readFileSync(path, "utf8") !== before) throw new Error("src/generated/abi.ts was stale; it has been written anew");
