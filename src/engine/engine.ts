// The engine as the rest of the program sees it: jobs, transcoding, files in memory. Loaded when a command needs it.
import type {
  BenchResult,
  BenchSpec,
  FixResult,
  FixSpec,
  FoldResult,
  FoldSpec,
  GenerateResult,
  GenerateSpec,
  JobSpec,
  RunResult,
  RunSpec,
  SampleResult,
  SampleSpec,
} from "../generated/abi";
import { runJob, type JobOptions } from "./job";
import { loadLibrary, memoryFile, type Library } from "./library";

export type { JobOptions } from "./job";
export type { JobProgress } from "./library";

/** The encodings that are not UTF-8, by the numbers of `recon_transcode`. */
const transcoded = { "windows-1252": 0, "iso-8859-1": 1, "utf-16le": 2, "utf-16be": 3 } as const;
export type TranscodedEncoding = keyof typeof transcoded;

/** Holds the loaded library. Any number of jobs may run at once; none is tied to this object's life. */
export class Engine {
  readonly #library: Library;

  private constructor(library: Library) {
    this.#library = library;
  }

  /** Throws a ReconError when the library cannot be loaded. */
  static load(): Engine {
    return new Engine(loadLibrary());
  }

  /** Runs one job. Rejects with a ReconError if the engine refuses it, with the signal's reason if it was aborted. */
  run(spec: { run: RunSpec }, options?: JobOptions): Promise<RunResult>;
  run(spec: { sample: SampleSpec }, options?: JobOptions): Promise<SampleResult>;
  run(spec: { generate: GenerateSpec }, options?: JobOptions): Promise<GenerateResult>;
  run(spec: { fold: FoldSpec }, options?: JobOptions): Promise<FoldResult>;
  run(spec: { fix: FixSpec }, options?: JobOptions): Promise<FixResult>;
  run(spec: { bench: BenchSpec }, options?: JobOptions): Promise<BenchResult>;
  run(spec: JobSpec, options: JobOptions = {}): Promise<unknown> {
    return runJob(this.#library, spec, options);
  }

  /** Whole units of `input` as UTF-8. `output` holds three bytes for each byte of `input`; what follows `consumed` is cut. */
  transcode(
    encoding: TranscodedEncoding,
    input: Uint8Array,
    output: Uint8Array,
  ): { written: number; consumed: number } {
    return this.#library.transcode(transcoded[encoding], input, output);
  }

  /** A new file in memory, as a descriptor that the caller closes. */
  memoryFile(name: string): number {
    return memoryFile(name);
  }
}
