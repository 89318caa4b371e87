// The one place that writes to standard output. Used by the report folder and by commands.
import { Stopped, writeProblem } from "../errors";

/** Writes all of it. A reader that has gone stops the program quietly, anything else is a ReconError. */
export async function writeOut(text: string): Promise<void> {
  const writer = Bun.stdout.writer();
  try {
    // Both are waited for: the end does not tell of a write that was cut short.
    await writer.write(text);
    await writer.end();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") throw new Stopped(141);
    throw writeProblem("", "write to standard output", error);
  }
}
