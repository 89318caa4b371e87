// Whether a file is a FIX log. Used by ledger/ledger.ts on every file, so it loads nothing else.
import { readSync } from "node:fs";
import type { FileSpec } from "../generated/abi";

const sniffed_bytes = 256 * 1024;
const messageStart = /8=FIX[A-Za-z0-9.]{0,11}(?:\x01|\||;|\t|\^A|\^|<SOH>)9=\d/;
const checkSum = /(?:\x01|\||;|\t|\^A|\^|<SOH>)10=\d{3}(?:\x01|\||;|\t|\^A|\^|<SOH>)?/;
const delimiters = [",", "\t", ";", "|"];

/** `table`: lines of columns, of which one holds messages. `line` is that of the first message. */
export type Detected = { format: "csv" } | { format: "fix" } | { format: "table"; line: number };

/**
 * By the first message start in the first part of the file: log engines write times and names in front of messages.
 * A ledger may also have messages in a column of its own, under a header; `delimiter` is a byte that was asked for.
 */
export function detectFormat({ fd, start = 0, size }: FileSpec, delimiter: number | null): Detected {
  const head = Buffer.alloc(Math.min(sniffed_bytes, size - start));
  const text = head.toString("latin1", 0, readSync(fd, head, 0, head.length, start));
  const at = messageStart.exec(text)?.index;
  if (at === undefined) return { format: "csv" };
  const lines = text.slice(0, at).split("\n");
  const before = lines.pop() as string;
  const message = text.slice(at).split("\n", 1)[0] as string;
  const tried = delimiter === null ? delimiters : [String.fromCharCode(delimiter)];
  const isTable = tried.some((by) => isField(before, message, by) && lines.some((line) => isHeader(line, before, by)));
  return isTable ? { format: "table", line: lines.length + 1 } : { format: "fix" };
}

/** Whether the message that stands behind `before` is one field of several. */
function isField(before: string, message: string, delimiter: string): boolean {
  const fields = before.split(delimiter);
  if (!/^\s*"?$/.test(fields.at(-1) as string)) return false;
  const sum = checkSum.exec(message);
  const behind = sum === null ? "" : message.slice(sum.index + sum[0].length);
  if (fields.length > 1) return true;
  const end = behind.indexOf(delimiter);
  return end >= 0 && /^"?\s*$/.test(behind.slice(0, end));
}

/** Whether a line names at least the columns up to the one with the message; another line of a log repeats what is in it. */
function isHeader(line: string, before: string, delimiter: string): boolean {
  const row = before.split(delimiter).slice(0, -1);
  const names = line.split(delimiter).map((field) => field.trim().replace(/^"(.*)"$/, "$1"));
  if (names.length < 2 || names.length <= row.length || row.some((field, place) => field === names[place]))
    return false;
  return names.every((name) => /^(?:[^\W\d]|[^\x00-\x7f])/.test(name));
}
