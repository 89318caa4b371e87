// Builds ./recon: the Zig library, then the executable with the library inside. Run by `bun run build`; demo.ts and
// check.ts call it. Zig's own cache makes an unchanged library cheap.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { capture, root, run, zig } from "./processes";

/** Throws if a step fails. */
export async function build(): Promise<void> {
  await run("library", [zig(), "build", "--release=fast"]);
  await run("executable", [
    process.execPath,
    "build",
    "--compile",
    "--minify",
    "--bytecode",
    "--format=esm",
    // Keeps what a command does not use out of its start-up.
    "--splitting",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--define",
    `RECON_COMMIT=${JSON.stringify(await commit())}`,
    "src/main.ts",
    "--outfile",
    "recon",
  ]);
  if (!existsSync(join(root, "recon"))) throw new Error("the build left no ./recon");
}

/** What is built: the commit, with a plus where the tree has changes; empty outside of a repository. */
export async function commit(): Promise<string> {
  if (Bun.which("git") === null) return "";
  const { exitCode, text } = await capture(["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]);
  return exitCode === 0 ? text.trim() : "";
}

if (import.meta.main) await build();
