// One engine job as a promise: start, poll, cancel, result, release. Used by engine.ts only.
import type { Library, JobProgress } from "./library";
import type { JobSpec } from "../generated/abi";

export interface JobOptions {
  /** Aborting cancels the job; the promise then rejects with the signal's reason once all threads have ended. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: JobProgress) => void) | undefined;
}

/** A job that is over at once is asked without a pause, a short one often, so that nobody waits for the clock; a long
    one less, so that it is left alone. */
const busy_ms = 1;
const eager_ms = 100;

/** Runs a job to its end and returns its result document. File descriptors in `spec` stay open until then. */
export async function runJob(library: Library, spec: JobSpec, { signal, onProgress }: JobOptions): Promise<unknown> {
  signal?.throwIfAborted();
  const handle = library.start(new TextEncoder().encode(JSON.stringify(spec)));
  const cancel = () => library.cancel(handle);
  signal?.addEventListener("abort", cancel);
  try {
    const started_ms = performance.now();
    for (let progress = library.poll(handle); progress !== null; progress = library.poll(handle)) {
      const elapsed_ms = performance.now() - started_ms;
      if (elapsed_ms < busy_ms) continue;
      onProgress?.(progress);
      await Bun.sleep(elapsed_ms < eager_ms ? 1 : 5);
    }
    signal?.throwIfAborted();
    return JSON.parse(library.result(handle));
  } finally {
    signal?.removeEventListener("abort", cancel);
    library.release(handle);
  }
}
