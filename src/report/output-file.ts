// Files that a run leaves behind: written without a name, or under a temporary one, beside their target, and put in
// its place only when everything is known to be right. Used by the commands.
import * as fs from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileProblem, problem, writeProblem } from "../errors";
import { libc } from "../engine/library";
import { openUnnamed } from "../unnamed-file";

/** One output. The engine writes to `fd`, which this object closes. */
export class OutputFile implements Disposable {
  readonly fd: number;
  /** Where it will be; null for what is written directly. */
  readonly #target: string | null;
  /** The name it has until then, where the file system has no unnamed files. */
  #temporary: string | null;

  private constructor(fd: number, target: string | null, temporary: string | null) {
    this.fd = fd;
    this.#target = target;
    this.#temporary = temporary;
    if (temporary !== null) process.on("exit", this.#removeTemporary);
  }

  /** `-` is standard output. Pipes, devices and open descriptors are written directly, everything else is replaced. */
  static async create(path: string, mode: number): Promise<OutputFile> {
    const descriptor = openDescriptor(path);
    if (descriptor !== null) return new OutputFile(descriptor, null, null);
    try {
      const target = fs.existsSync(path) ? fs.realpathSync(path) : resolve(path);
      const existing = fs.statSync(target, { throwIfNoEntry: false });
      if (existing?.isDirectory()) throw problem("io", "cannot write to it: it is a folder", { path });
      // Opening a pipe waits for its reader, so it must not hold up signals.
      if (existing && !existing.isFile()) return new OutputFile((await open(target, "w")).fd, null, null);
      return OutputFile.#beside(target, mode);
    } catch (error) {
      throw "items" in (error as object) ? error : fileProblem(path, "write to it", error);
    }
  }

  static #beside(target: string, mode: number): OutputFile {
    const unnamed = openUnnamed(dirname(target), mode);
    const temporary = unnamed === null ? temporaryName(target) : null;
    const fd = unnamed ?? fs.openSync(temporary!, "wx+", mode);
    const file = new OutputFile(fd, target, temporary);
    fs.fchmodSync(fd, mode);
    return file;
  }

  /** Whether a path leads to the file that this output would replace. */
  replaces(path: string): boolean {
    if (this.#target === null) return false;
    if (resolve(path) === this.#target) return true;
    const [mine, other] = [this.#target, path].map((name) => fs.statSync(name, { throwIfNoEntry: false }));
    return mine !== undefined && other !== undefined && mine.dev === other.dev && mine.ino === other.ino;
  }

  /** Whether both end up in the same place. */
  collides(other: OutputFile): boolean {
    return this.#target === null ? this.fd === other.fd : other.replaces(this.#target);
  }

  /** Brings everything written to the disk. */
  sync(): void {
    if (this.#target === null) return;
    this.#attempt(() => fs.fsyncSync(this.fd));
  }

  /** Puts the file in its target's place, in one step. */
  publish(): void {
    const target = this.#target;
    if (target === null) return;
    this.#attempt(() => {
      if (this.#temporary === null) this.#nameIt(temporaryName(target));
      fs.renameSync(this.#temporary!, target);
      this.#temporary = null;
      const folder = fs.openSync(dirname(target), "r");
      fs.fsyncSync(folder);
      fs.closeSync(folder);
    });
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#removeTemporary);
    this.#removeTemporary();
    if (this.fd > 2) fs.closeSync(this.fd);
  }

  #nameIt(temporary: string): void {
    const [currentFolder, followLink] = [-100, 0x400];
    const path = (text: string) => new TextEncoder().encode(`${text}\0`);
    const { linkat } = libc();
    if (linkat(currentFolder, path(`/proc/self/fd/${this.fd}`), currentFolder, path(temporary), followLink) !== 0) {
      throw new Error(`no file could be made in ${dirname(temporary)}`);
    }
    this.#temporary = temporary;
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      throw writeProblem(this.#target!, "write to it", error);
    }
  }

  readonly #removeTemporary = (): void => {
    if (this.#temporary !== null) fs.rmSync(this.#temporary, { force: true });
    this.#temporary = null;
  };
}

function temporaryName(target: string): string {
  return join(dirname(target), `.${basename(target)}.${process.pid}.recon`);
}

/** The descriptor that a path such as `/dev/stdout` stands for: opening it anew would begin at the file's start. */
export function openDescriptor(path: string): number | null {
  if (path === "-" || path === "/dev/stdout") return 1;
  if (path === "/dev/stderr") return 2;
  const number = /^\/(?:dev|proc\/self)\/fd\/([0-9]+)$/.exec(path)?.[1];
  return number === undefined ? null : Number(number);
}
