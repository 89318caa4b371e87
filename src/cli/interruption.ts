// Signals: the first one cancels what runs, and the program ends with 128 plus its number. Used by the commands.
import { constants } from "node:os";
import { Stopped } from "../errors";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Work that does not come back by then is left where it is: whoever sent the signal waits a second at most. */
const patience_ms = 500;

/** While one exists, signals abort `signal` with a Stopped as the reason instead of killing the process. */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();

  constructor() {
    for (const name of signals) process.on(name, this.#stop);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const name of signals) process.off(name, this.#stop);
  }

  readonly #stop = (name: (typeof signals)[number]): void => {
    const exitCode = 128 + constants.signals[name];
    this.#controller.abort(new Stopped(exitCode));
    setTimeout(() => process.exit(exitCode), patience_ms).unref();
  };
}
