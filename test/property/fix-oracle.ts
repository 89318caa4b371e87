// A slow, obvious reader of FIX logs, written from the contract and the standard alone: what the engine is held against.
// Text is one character a byte (latin1). Shares nothing with src/ or zig/.

export interface Report {
  file: number;
  line: number;
  fields: [tag: string, value: string][];
}

export interface Defect {
  code: string;
  file: number;
  line: number;
}

export interface Reading {
  messages: number;
  byType: Record<string, number>;
  warnings: number;
  /** Garbled messages, in log order. */
  defects: Defect[];
  /** Effective executions: the report that gives the values, and the ExecID that the chain began with. */
  executions: { report: Report; root: string }[];
  repeats: number;
  busts: number;
  corrections: number;
  orphans: Report[];
  conflicts: Report[];
}

export interface ReadOptions {
  checks: "fail" | "warn";
  multileg: "legs" | "summary" | "all";
}

const separators = ["\x01", "|", ";", "\t", "^A", "^", "<SOH>"];
/** Length fields with the data fields that they announce. */
const dataOf: Record<string, string> = { "93": "89", "90": "91", "95": "96", "212": "213", "348": "349", "354": "355" };
const frame = new Set(
  "8 9 35 49 56 115 128 90 91 34 50 142 57 143 116 144 129 145 43 97 52 122 212 213 347 369 370 627 628 629 630 1128 1129 1156 93 89 10".split(
    " ",
  ),
);

export function readLogs(logs: string[], options: ReadOptions): Reading {
  const reading: Reading = {
    messages: 0,
    byType: {},
    warnings: 0,
    defects: [],
    executions: [],
    repeats: 0,
    busts: 0,
    corrections: 0,
    orphans: [],
    conflicts: [],
  };
  const reports: Report[] = [];
  logs.forEach((text, file) => readAll(text, 0, text.length, { text, file, options, reading, reports, line: null }));
  applyLifecycle(reports, reading);
  return reading;
}

interface State {
  text: string;
  file: number;
  options: ReadOptions;
  reading: Reading;
  reports: Report[];
  /** Of the envelope that is being read. */
  line: number | null;
}

function readAll(text: string, from: number, to: number, state: State): void {
  let at = from;
  for (;;) {
    const start = nextStart(text, at, to);
    if (start === null) return;
    const line = state.line ?? text.slice(0, start.at).split("\n").length;
    const found = readMessage(text, start, to, state.options);
    if (typeof found === "string") {
      state.reading.defects.push({ code: found, file: state.file, line });
      at = start.at + 1;
      continue;
    }
    at = found.end;
    if (found.warned) state.reading.warnings++;
    state.reading.messages++;
    const named = value(found.fields, "35") ?? "";
    // Choice: no standard has longer types; they are counted together.
    const type = named.length > 8 ? "other" : named;
    state.reading.byType[type] = (state.reading.byType[type] ?? 0) + 1;
    if (type === "8") takeReport({ file: state.file, line, fields: found.fields }, state);
    const envelope = found.places.find(({ tag }) => tag === "213");
    if (envelope && state.line === null) readAll(text, envelope.from, envelope.to, { ...state, line });
  }
}

interface Start {
  at: number;
  separator: string;
  digits: string;
  behind: number;
}

function nextStart(text: string, from: number, to: number): Start | null {
  for (let at = text.indexOf("8=FIX", from); at >= 0 && at < to; at = text.indexOf("8=FIX", at + 1)) {
    let place = at + 5;
    while (place < to && place - at < 16 && /[A-Za-z0-9.]/.test(text[place]!)) place++;
    const separator = separators.find((one) => text.startsWith(one, place) && place + one.length <= to);
    if (separator === undefined) continue;
    const digits = /^9=(\d+)/.exec(text.slice(place + separator.length, to))?.[1];
    if (digits === undefined) continue;
    return { at, separator, digits, behind: place + separator.length + 2 + digits.length };
  }
  return null;
}

interface Message {
  end: number;
  fields: [string, string][];
  places: { tag: string; from: number; to: number }[];
  warned: boolean;
}

function readMessage(text: string, start: Start, to: number, { checks }: ReadOptions): Message | string {
  const { separator: sep, at } = start;
  let warned = false;
  let body = bodyEnd(text, start, to);
  if (body === null) {
    body = laterCheckSum(text, start, to);
    if (body === null) return "truncated";
    if (checks === "fail") return "bad_body_length";
    warned = true;
  }
  const digits = /^\d{0,3}/.exec(text.slice(body + 3, to))![0];
  const behind = body + 3 + digits.length;
  const ended = text.startsWith(sep, behind) && behind + sep.length <= to;
  const over = ended || behind === to || text[behind] === "\n" || text[behind] === "\r";
  const stated = digits.length === 3 && over && Number(digits) <= 255 ? Number(digits) : null;
  const end = ended ? behind + sep.length : behind;
  const fields = splitFields(text, at, body, end, sep);
  const sums = typeof fields === "string" ? [] : sumsOf(text, at, body, sep, fields.inner, fields.inData);
  if (typeof fields !== "string" || sep === "\x01") {
    const right = sep === "\x01" ? [sumOf(text.slice(at, body))] : sums;
    if (stated === null || !right.includes(stated)) {
      if (checks === "fail") return "bad_checksum";
      warned = true;
    }
  } else if (stated === null && checks === "fail") return "bad_checksum";
  if (typeof fields === "string") return fields;
  return { end, fields: fields.fields, places: fields.places, warned };
}

function bodyEnd(text: string, { separator: sep, behind, digits }: Start, to: number): number | null {
  if (!text.startsWith(sep, behind)) return null;
  const first = behind + sep.length;
  const length = Number(digits);
  if (length > to) return null;
  let place = first;
  for (let i = 0; i < length; i++) place += text.startsWith(sep, place) && place + sep.length <= to ? sep.length : 1;
  if (place < first + sep.length || place + 3 > to) return null;
  return text.startsWith(`${sep}10=`, place - sep.length) ? place : null;
}

function laterCheckSum(text: string, start: Start, to: number): number | null {
  const limit = nextStart(text, start.at + 1, to)?.at ?? to;
  const { separator: sep } = start;
  for (let at = text.indexOf(`${sep}10=`, start.behind); at >= 0; at = text.indexOf(`${sep}10=`, at + 1)) {
    const sum = at + sep.length;
    if (sum + 6 > limit) return null;
    const behind = sum + 6;
    if (!/^\d{3}$/.test(text.slice(sum + 3, behind))) continue;
    const ended = text.startsWith(sep, behind) && behind + sep.length <= limit;
    if (behind === to || ended || text[behind] === "\n" || text[behind] === "\r") return sum;
  }
  return null;
}

function splitFields(text: string, at: number, body: number, end: number, sep: string) {
  const fields: [string, string][] = [];
  const places: Message["places"] = [];
  let inner = 0;
  let inData = 0;
  let announced = null as { tag: string; length: number } | null;
  for (let place = at; place < end;) {
    let stop: number = text.indexOf(sep, place);
    if (stop < 0 || stop > end - 1) stop = end;
    const tag = /^(\d+)=/.exec(text.slice(place, stop))?.[1];
    if (tag !== undefined && (tag.startsWith("0") || Number(tag) > 2147483647)) return "bad_tag";
    if (tag === undefined) {
      if (sep === "\x01" || fields.length === 0) return "bad_tag";
      const last = places.at(-1)!;
      last.to = stop;
      fields.at(-1)![1] = text.slice(last.from, stop);
      if (place < body) inner++;
      place = stop + sep.length;
      continue;
    }
    const from = place + tag.length + 1;
    if (announced?.tag === tag) {
      const data: number = unitsBehind(text, from, announced.length, end, sep);
      if (data >= body || !text.startsWith(sep, data)) return "bad_data_length";
      inData += text.slice(from, data).split(sep).length - 1;
      stop = data;
    }
    fields.push([tag, text.slice(from, stop)]);
    places.push({ tag, from, to: stop });
    announced = null;
    const dataTag: string | undefined = dataOf[tag];
    if (dataTag !== undefined) {
      const length = text.slice(from, stop);
      if (!/^\d{1,9}$/.test(length)) return "bad_data_length";
      announced = { tag: dataTag, length: Number(length) };
    }
    place = stop + sep.length;
  }
  return { fields, places, inner, inData };
}

/** So many bytes further, a separator counting as one. */
function unitsBehind(text: string, from: number, units: number, end: number, sep: string): number {
  let at = from;
  for (let i = 0; i < units && at <= end; i++) at += text.startsWith(sep, at) ? sep.length : 1;
  return at;
}

function sumOf(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i);
  return sum % 256;
}

/** With the separators inside data as SOH, or as themselves. */
function sumsOf(text: string, at: number, body: number, sep: string, inner: number, inData: number): number[] {
  const raw = sumOf(text.slice(at, body));
  const all = text.slice(at, body).split(sep).length - 1;
  const each = 1 - sumOf(sep);
  const mod = (n: number) => ((n % 256) + 256) % 256;
  return [mod(raw + each * (all - inner)), mod(raw + each * (all - inner - inData))];
}

export function value(fields: [string, string][], tag: string): string | undefined {
  return fields.find(([one]) => one === tag)?.[1];
}

export function tradeDate({ fields }: Report): string {
  return value(fields, "75") ?? (value(fields, "60") ?? "").slice(0, 8);
}

export const isNumber = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?$/;

function takeReport(report: Report, { options, reading, reports }: State): void {
  const get = (tag: string) => value(report.fields, tag);
  if (get("20") === "3" || get("150") === "I") return;
  if (options.multileg === "legs" && get("442") === "3") return;
  if (options.multileg === "summary" && get("442") === "2") return;
  const kind = kindOf(report);
  if (kind !== "bust") {
    const quantity = get("32");
    if (quantity === undefined && kind === "fill") return;
    if (quantity !== undefined && !isNumber.test(quantity)) {
      reading.defects.push({ code: "bad_row", file: report.file, line: report.line });
      return;
    }
    if (kind === "fill" && (quantity!.startsWith("-") || !/[1-9]/.test(quantity!.replace(/[eE].*/, "")))) return;
  }
  reports.push(report);
}

function kindOf({ fields }: Report): "fill" | "bust" | "correction" {
  if (value(fields, "20") === "1" || value(fields, "150") === "H") return "bust";
  if (value(fields, "20") === "2" || value(fields, "150") === "G") return "correction";
  return "fill";
}

function applyLifecycle(reports: Report[], reading: Reading): void {
  interface Execution {
    root: string;
    report: Report;
    busted: boolean;
  }
  const seen: { report: Report; execution: Execution | null }[] = [];
  const get = (report: Report, tag: string) => value(report.fields, tag) ?? "";
  const content = (report: Report) => JSON.stringify(report.fields.filter(([tag]) => !frame.has(tag)));
  const all: Execution[] = [];
  for (const report of reports) {
    const kind = kindOf(report);
    const id = get(report, "17");
    const same = seen.filter(
      ({ report: other }) =>
        id !== "" &&
        get(other, "17") === id &&
        get(other, "49") === get(report, "49") &&
        tradeDate(other) === tradeDate(report),
    );
    if (same.some(({ report: other }) => content(other) === content(report))) {
      reading.repeats++;
      continue;
    }
    const refersToItself = kind !== "fill" && get(report, "19") === id;
    if (same.some(({ report: other }) => !(refersToItself && kindOf(other) === "fill"))) {
      reading.conflicts.push(report);
      continue;
    }
    if (kind === "fill") {
      const execution = { root: id, report, busted: false };
      all.push(execution);
      seen.push({ report, execution });
      continue;
    }
    const reference = value(report.fields, "19");
    const known = seen.filter(
      ({ report: other, execution }) =>
        execution !== null &&
        reference !== undefined &&
        get(other, "17") === reference &&
        get(other, "49") === get(report, "49"),
    );
    const target = known.findLast(({ report: other }) => tradeDate(other) === tradeDate(report)) ?? known.at(-1);
    seen.push({ report, execution: target?.execution ?? null });
    if (target === undefined || target.execution!.busted) {
      reading.orphans.push(report);
      continue;
    }
    if (kind === "bust") {
      target.execution!.busted = true;
      reading.busts++;
    } else {
      target.execution!.report = report;
      reading.corrections++;
    }
  }
  reading.executions = all.filter(({ busted }) => !busted);
}
