// One file of a ledger as the engine reads it: an open, seekable descriptor with UTF-8 in it, either the file itself or
// its spooled copy. Used by ledger.ts.
import { closeSync, readSync } from "node:fs";
import type { FileSpec, Note } from "../generated/abi";
import { fault, note } from "./codes";
import { compressionOf } from "./decompress";
import { encodingOf, mark_bytes, utf8MarkLength, type Encoding } from "./encoding";
import { inputName, openSource, type Source } from "./source";
import { spool, type LedgerContext } from "./spool";

export class DataFile implements Disposable {
  readonly source: Source;
  readonly notes: Note[];
  /** Behind the byte order mark. */
  readonly spec: FileSpec;
  #spooled: number | null;

  private constructor(source: Source, spooled: { fd: number; size: number } | null, notes: Note[]) {
    const { fd, size } = spooled ?? source;
    this.source = source;
    this.notes = notes;
    this.spec = { fd, path: source.path, size, start: markLength(fd), line: 1 };
    this.#spooled = spooled?.fd ?? null;
  }

  /** Spools what cannot be read in place. Throws a ReconError, or the signal's reason. */
  static async open(path: string, declared: Encoding | null, context: LedgerContext): Promise<DataFile> {
    const source = await openSource(path, context.signal);
    try {
      if (isReadable(source, declared)) return new DataFile(source, null, []);
      const spooled = await spool(source, declared, context);
      return new DataFile(source, spooled, overruledNotes(path, spooled.overruled));
    } catch (error) {
      source[Symbol.dispose]();
      throw error;
    }
  }

  /** Throws `empty` for a file of no bytes or of a mark only. */
  refuseEmpty(): void {
    if (this.spec.size === this.spec.start) throw fault("empty", this.spec.path, "the file is empty", emptyHint);
  }

  [Symbol.dispose](): void {
    if (this.#spooled !== null) closeSync(this.#spooled);
    this.#spooled = null;
    this.source[Symbol.dispose]();
  }
}

/** For every kind of emptiness. */
export const emptyHint = { hint: "an empty file is a failed delivery; a ledger without rows still has its header" };

function isReadable(source: Source, declared: Encoding | null): boolean {
  if (!source.seekable) return false;
  const head = source.head(mark_bytes);
  if (compressionOf(head) !== null) return false;
  const { encoding, overruled } = encodingOf(head, declared, source.path);
  return encoding === "utf-8" && overruled === null;
}

function markLength(fd: number): number {
  const head = new Uint8Array(mark_bytes);
  return utf8MarkLength(head.subarray(0, readSync(fd, head, 0, head.length, 0)));
}

function overruledNotes(path: string, overruled: Encoding | null): Note[] {
  if (overruled === null) return [];
  return [
    note(
      "encoding",
      `${inputName(path)}: its byte order mark says otherwise than --encoding ${overruled}, and was followed`,
    ),
  ];
}
