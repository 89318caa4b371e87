// Whether a file is a FIX log. Used by ledger/ledger.ts on every file, so it loads nothing else.
import { readSync } from "node:fs";
import type { FileSpec } from "../generated/abi";

const sniffed_bytes = 256 * 1024;
const messageStart = /8=FIX[A-Za-z0-9.]{0,11}(?:\x01|\||;|\t|\^A|\^|<SOH>)9=\d/;

/** Whether a message starts in the first part of the file: log engines write times and names in front of messages. */
export function holdsFix({ fd, start = 0, size }: FileSpec): boolean {
  const head = Buffer.alloc(Math.min(sniffed_bytes, size - start));
  const length = readSync(fd, head, 0, head.length, start);
  return messageStart.test(head.toString("latin1", 0, length));
}
