// What is said when there is no verdict: text on standard error, and the JSON document where one was asked for.
import { ReconError, Stopped, problem } from "../errors";
import type { ErrorItem } from "../generated/abi";
import { inputName } from "../ledger/source";
import { writeOut } from "./standard-output";
import { safe } from "./terminal-safe";

/** Says what went wrong and returns the exit status. Never throws. */
export async function reportFailure(error: unknown, json: boolean): Promise<number> {
  if (error instanceof Stopped) return error.exitCode;
  const failure = error instanceof ReconError ? error : internalError(error);
  console.error(errorText(failure));
  if (!json) return 2;
  const document = {
    schemaVersion: 1,
    status: "error",
    exitCode: 2,
    errorCount: failure.total,
    errors: failure.items,
  };
  try {
    await writeOut(`${JSON.stringify(document, null, 2)}\n`);
  } catch (second) {
    return second instanceof Stopped ? second.exitCode : 2;
  }
  return 2;
}

/** `recon: PATH:LINE:COLUMN: MESSAGE` for each problem, its hint under it, and how many more there are. */
export function errorText({ items, total }: ReconError): string {
  const lines = items.flatMap((item, i) => {
    const repeated = items[i + 1]?.hint === item.hint;
    return [
      `recon: ${errorPlace(item)}${safe(item.message)}`,
      ...(item.hint && !repeated ? [`  hint: ${safe(item.hint)}`] : []),
    ];
  });
  if (total > items.length) lines.push(`recon: and ${total - items.length} more`);
  return lines.join("\n");
}

/** `PATH:LINE:COLUMN: `, as far as it is known. */
export function errorPlace({ path, line, column }: ErrorItem): string {
  if (path === "") return "";
  return `${safe(inputName(path))}:${line > 0 ? `${line}:${column > 0 ? `${column}:` : ""}` : ""} `;
}

function internalError(error: unknown): ReconError {
  const text = error instanceof Error ? error.message : String(error);
  return problem("internal", `internal error: ${text}`, { hint: "this is a fault of recon; please report it" });
}
