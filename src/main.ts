// argv to command to exit status, nothing else.
import { version } from "../package.json";
import { parseArguments } from "./cli/arguments";
import { commands } from "./cli/commands";

const argv = process.argv.slice(2);

async function main(): Promise<number> {
  if (argv.length === 0) {
    console.error((await import("./cli/help")).helpText("run").trimEnd());
    return 2;
  }
  const invocation = parseArguments(argv);
  const { help, version: wantsVersion } = invocation.values;
  if (!help && !wantsVersion) return await (await commands[invocation.command].load()).execute(invocation);
  const { writeOut } = await import("./report/standard-output");
  await writeOut(help ? (await import("./cli/help")).helpText(invocation.command) : `recon ${version}\n`);
  return 0;
}

/** Whatever went wrong is said once and ends with the exit status that belongs to it, never with 1. */
async function fail(error: unknown): Promise<never> {
  const { reportFailure } = await import("./report/errors");
  process.exit(await reportFailure(error, argv.includes("--json")));
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
main().then((exitCode) => process.exit(exitCode), fail);
