// FIX logs as a venue, a broker and an order system leave them, each reconciled with its CSV ledger by the whole program: cut
// tails, rotated files that overlap, one ExecID of two senders, sides that spell values differently.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();

interface Fill {
  sequence?: number;
  sender?: string;
  price?: string;
  quantity?: string;
  /** ExecType, and fields in front of it. */
  type?: string;
  more?: string;
}

function report(id: string, { sequence = 1, sender = "VENUE", price = "10.5", quantity = "100", ...rest }: Fill = {}) {
  const body =
    `35=8|34=${sequence}|49=${sender}|52=20260302-14:30:01.123|56=FIRM|17=${id}|${rest.more ?? ""}` +
    `31=${price}|32=${quantity}|54=1|55=ABC|60=20260302-14:30:01.123|75=20260302|150=${rest.type ?? "F"}|`;
  const text = `8=FIX.4.4|9=${body.length}|${body}`.replaceAll("|", "\x01");
  const sum = Buffer.from(text, "latin1").reduce((total, byte) => total + byte, 0) % 256;
  return `${text}10=${String(sum).padStart(3, "0")}\x01\n`;
}

async function reconcile(files: Record<string, string>, ...args: string[]) {
  using scratch = scratchFolder();
  for (const [name, text] of Object.entries(files)) await Bun.write(join(scratch.path, name), text);
  const { exitCode, stdout } = await runCommand([recon, ...args, "--json"], { cwd: scratch.path });
  return { exitCode, ...JSON.parse(Buffer.from(stdout).toString()) };
}

const fills = "exec_id,price,quantity\nE1,10.50,100\nE2,10.5,100\n";

test("a cut tail is an error, also under warn, and a rejected row where that is asked for", async () => {
  const files = { "a.csv": fills, "b.log": (report("E1") + report("E2", { sequence: 2 })).slice(0, -40) };
  for (const how of [[], ["--fix-checks", "warn"]]) {
    const found = await reconcile(files, "a.csv", "b.log", ...how);
    expect(found).toMatchObject({ exitCode: 2, errors: [{ code: "truncated", path: "b.log", line: 2 }] });
  }
  expect(await reconcile(files, "a.csv", "b.log", "--on-bad-row", "reject")).toMatchObject({
    exitCode: 1,
    matched: 1,
    breaks: { total: 2, missing_external: 1, rejected: 1 },
    external: { rows: 2 },
  });
});

test("rotated files that overlap: repeats are dropped, a bust finds its fill in the file before", async () => {
  const second = report("E2", { sequence: 2 });
  const bust = report("B2", { sequence: 3, type: "H", more: "19=E2|" });
  const files = { "a.csv": "exec_id,price\nE1,10.5\n", "b.1.log": report("E1") + second, "b.2.log": second + bust };
  expect(await reconcile(files, "a.csv", "b.*.log")).toMatchObject({
    exitCode: 0,
    matched: 1,
    external: { fix: { messages: 4, executions: 1, repeats: 1, busts: 1, orphans: 0, conflicts: 0 } },
  });
});

test("one ExecID twice: a conflict from one sender, two executions from two", async () => {
  const other = { sequence: 2, price: "10.6" };
  const one = { "a.csv": "exec_id,price\nE1,10.5\n", "b.log": report("E1") + report("E1", other) };
  expect(await reconcile(one, "a.csv", "b.log", "--key", "exec_id")).toMatchObject({
    exitCode: 1,
    matched: 1,
    breaks: { total: 1, conflict: 1 },
  });
  const log = report("E1") + report("E1", { ...other, sender: "ALT" });
  const two = { "a.csv": "exec_id,price\nE1,10.5\nE1,10.6\n", "b.log": log };
  expect(await reconcile(two, "a.csv", "b.log", "--key", "exec_id")).toMatchObject({ exitCode: 0, matched: 2 });
  expect(await reconcile(two, "b.log", "b.log")).toMatchObject({ exitCode: 0, matched: 2 });
});

test("a fill that is sent again after a correction under its own ExecID is a repeat", async () => {
  const correction = report("E1", { sequence: 2, price: "10.6", type: "G", more: "19=E1|" });
  const files = { "a.csv": "exec_id,price\nE1,10.6\n", "b.log": report("E1") + correction + report("E1") + correction };
  expect(await reconcile(files, "a.csv", "b.log", "--key", "exec_id")).toMatchObject({
    exitCode: 0,
    matched: 1,
    external: { fix: { messages: 4, executions: 1, repeats: 2, corrections: 1, conflicts: 0 } },
  });
});

test("numbers, dates and local times as the CSV side spells them", async () => {
  const rules =
    'key = ["exec_id"]\n[internal]\ndecimal = ","\nthousands = "."\ndate_format = "dd/MM/yyyy"\ntimezone = "Asia/Tokyo"\n';
  for (const time of ["2026-03-02 23:30:01.123", "02/03/2026 23:30:01.123", "20260302-14:30:01.123"]) {
    const csv = `exec_id;price;quantity;trade_date;transact_time\nE1;10,50;1.000;02/03/2026;${time}\n`;
    const files = { "a.csv": csv, "b.log": report("E1", { quantity: "1000" }), "recon.toml": rules };
    expect(await reconcile(files, "a.csv", "b.log", "-c", "recon.toml")).toMatchObject({ exitCode: 0, matched: 1 });
  }
});

test("long values, many and unknown tags", async () => {
  const more = `58=${"x=".repeat(40_000)}|${Array.from({ length: 400 }, (_, i) => `${5001 + i}=v|`).join("")}`;
  const files = { "a.csv": fills, "b.log": report("E1", { more }) + report("E2", { sequence: 2 }) };
  expect(await reconcile(files, "a.csv", "b.log")).toMatchObject({ exitCode: 0, matched: 2 });
});

test("names that are no columns, and options for CSV, are refused in words", async () => {
  const files = { "a.csv": fills, "b.log": report("E1") };
  const refusals: [string, ...string[]][] = [
    ['did you mean "LastPx"?', "--compare", "price=LastPxx"],
    ['there is no column "LastPxx"', "--compare", "LastPxx=LastPx"],
    ['"nosuch" names no column of a FIX log', "--key", "exec_id=nosuch"],
    ["--external-columns is for CSV", "--external-columns", "a,b"],
    ["--external-delimiter is for CSV", "--external-delimiter", ";"],
    ["--external-encoding is for CSV", "--external-encoding", "windows-1252"],
  ];
  for (const [expected, ...args] of refusals) {
    const { exitCode, errors } = await reconcile(files, "a.csv", "b.log", ...args);
    expect([args, exitCode]).toEqual([args, 2]);
    expect(`${errors[0].message} ${errors[0].hint}`).toContain(expected);
  }
});

test("the audit takes a bust back from the order of its fill, also where either names none or another", async () => {
  const bust = (target: string, more: string) =>
    report(`B${target}`, { sequence: 2, type: "H", more: `14=0|19=${target}|${more}` });
  const fill = (id: string, sequence: number, more: string) => report(id, { sequence, more: `14=100|${more}` });
  const logs = {
    "fills without an order":
      ["E1", "E2", "E3", "E4", "E5"].map((id) => fill(id, 1, "")).join("") + bust("E5", "37=O1|"),
    "a bust without one": fill("E1", 1, "37=O1|") + bust("E1", "") + fill("E2", 3, "37=O1|"),
    "a bust under another": fill("E1", 1, "37=O1|") + bust("E1", "37=O2|") + fill("E2", 3, "37=O1|"),
  };
  for (const [name, log] of Object.entries(logs)) {
    const { exitCode, busts, findings } = await reconcile({ "b.log": log }, "fix", "b.log");
    expect([name, exitCode, busts, findings]).toEqual([name, 0, 1, []]);
  }
});

test("a ledger with messages in a column is not taken for a log, and a log with delimiters not for a ledger", async () => {
  const message = report("E1").trimEnd();
  const tables = {
    last: `exec_id,price,raw\nE1,999,${message}\n`,
    first: `raw,exec_id,price\n${message},E1,999\n`,
    quoted: `day 3\r\n"exec_id";"raw";"price"\r\n"E1";"${message}";999\r\n`,
    printed: `exec_id\traw\tprice\nE1\t${message.replaceAll("\x01", "|")}\t999\n`,
  };
  const files = { "a.csv": "exec_id,price\nE1,10.5\n" };
  for (const [name, text] of Object.entries(tables)) {
    const both = { ...files, [name]: text };
    const line = name === "quoted" ? 3 : 2;
    expect(await reconcile(both, "a.csv", name)).toMatchObject({
      exitCode: 2,
      errors: [{ code: "format", path: name, line }],
    });
    expect(await reconcile(both, "a.csv", name, "--external-format", "fix")).toMatchObject({ exitCode: 0, matched: 1 });
    if (name === "quoted") continue; // its first line is a letterhead
    const csv = ["--external-format", "csv", "--key", "exec_id", "--compare", "price"];
    expect(await reconcile(both, "a.csv", name, ...csv)).toMatchObject({ exitCode: 1, breaks: { mismatch: 1 } });
  }
  const logs = {
    plain: `connected, session up\n${message}\n`,
    piped: `INFO|engine|session created\nINFO|engine|${message}\n`,
    timed: `09:00:00,123|INFO|start\n09:00:01,456|INFO|${message}\n`,
    named: `quickfix, started\nquickfix, recv ${message}\n`,
  };
  for (const [name, text] of Object.entries(logs)) {
    expect(await reconcile({ ...files, [name]: text }, "a.csv", name)).toMatchObject({ exitCode: 0, matched: 1 });
  }
});
