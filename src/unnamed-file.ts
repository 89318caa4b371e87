// Files without a name: they vanish with their last descriptor, however the process ends. Used for outputs until they
// are published, and for spooled ledgers.
import { constants, openSync } from "node:fs";

/** A descriptor to read and write; null where the file system has no such files. Other errors pass through. */
export function openUnnamed(folder: string, mode: number): number | null {
  // O_TMPFILE holds O_DIRECTORY, whose value depends on the processor; node:fs does not name the rest.
  const unnamed = constants.O_DIRECTORY | 0o20000000;
  try {
    return openSync(folder, unnamed | constants.O_RDWR, mode);
  } catch (error) {
    if (["EOPNOTSUPP", "EISDIR", "EINVAL"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
