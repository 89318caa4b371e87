// Random FIX logs against the slow reader (fix-oracle.ts): the audit's counts and findings, and the reconciliation of a log with the
// ledger of its own executions, in several ways. SEED=n repeats a run, ROUNDS=n changes how many logs are tried.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { isNumber, readLogs, tradeDate, value, type ReadOptions, type Reading, type Report } from "./fix-oracle";
import { randomLogs } from "./fix-logs";
import { Random } from "./ledgers";

const recon = requireExecutable();
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 150);
const workers = 2;

test(`${rounds} random logs, SEED=${seed}`, async () => {
  using scratch = scratchFolder();
  const failures: string[] = [];
  let next = 0;
  let executions = 0;
  let defects = 0;
  const work = async (folder: string) => {
    while (next < rounds && failures.length === 0) {
      const round = next++;
      const random = new Random(seed + round);
      const logs = randomLogs(random);
      const options: ReadOptions = {
        checks: random.pick(["fail", "fail", "warn"]),
        multileg: random.pick(["legs", "legs", "summary", "all"]),
      };
      const paths = logs.map((_, i) => `${i}.log`);
      await Promise.all(logs.map((text, i) => Bun.write(join(folder, paths[i]!), Buffer.from(text, "latin1"))));
      const reading = readLogs(logs, options);
      executions += reading.executions.length;
      defects += reading.defects.length;
      const env = { RECON_CHUNK_BYTES: String(random.pick([64, 300, 1 << 20])) };
      const how = [
        "--fix-checks",
        options.checks,
        "--fix-multileg",
        options.multileg,
        "--threads",
        random.pick(["1", "3"]),
      ];
      const found = [
        ...(await auditDiffers(folder, paths, reading, how, env)),
        ...(logs.some((text) => text !== "") ? await runDiffers(folder, paths, reading, how, env) : []),
      ];
      if (found.length > 0)
        failures.push(`SEED=${seed + round} ROUNDS=1 ${how.join(" ")} ${env.RECON_CHUNK_BYTES}\n${found.join("\n")}`);
    }
  };
  const folders = Array.from({ length: workers }, (_, i) => join(scratch.path, `worker-${i}`));
  await Promise.all(folders.map(work));
  console.error(`fix: SEED=${seed}, ${next} logs, ${executions} executions, ${defects} defects`);
  expect(failures).toEqual([]);
  if (rounds >= 100) expect(Math.min(executions, defects)).toBeGreaterThan(rounds / 4);
}, 600_000);

async function json(folder: string, args: string[], env: Record<string, string>) {
  const { exitCode, stdout, stderr } = await runCommand([recon, ...args, "--json"], { cwd: folder, env });
  return { exitCode, stderr, document: JSON.parse(Buffer.from(stdout).toString() || "null") };
}

/** What `recon fix` says otherwise than the slow reader. */
async function auditDiffers(
  folder: string,
  paths: string[],
  reading: Reading,
  how: string[],
  env: Record<string, string>,
) {
  const { exitCode, document, stderr } = await json(folder, ["fix", ...paths, ...how], env);
  if (reading.messages + reading.defects.length === 0)
    return exitCode === 2 ? [] : [`audit of no message: exit ${exitCode}`];
  if (exitCode === 2) return [`audit: ${stderr}`];
  const { messages, executions, repeats, busts, corrections, orphans, conflicts, warnings, findings } = document;
  const codes = ["bad_checksum", "bad_body_length", "bad_tag", "bad_data_length", "truncated", "bad_row"];
  const defects = findings
    .filter(
      ({ code, message }: { code: string; message: string }) =>
        codes.includes(code) && !message.endsWith("read all the same"),
    )
    .map(({ code, path, line }: { code: string; path: string; line: number }) => `${code} ${path}:${line}`);
  const actual = {
    total: messages.total,
    byType: messages.byType,
    executions,
    repeats,
    busts,
    corrections,
    orphans,
    conflicts,
    warnings,
    defects,
  };
  const expected = {
    total: reading.messages,
    byType: Object.fromEntries(Object.entries(reading.byType).sort()),
    executions: reading.executions.length,
    repeats: reading.repeats,
    busts: reading.busts,
    corrections: reading.corrections,
    orphans: reading.orphans.length,
    conflicts: reading.conflicts.length,
    warnings: reading.warnings,
    defects: reading.defects.map(({ code, file, line }) => `${code} ${paths[file]}:${line}`),
  };
  return Bun.deepEquals(actual, expected)
    ? []
    : [`audit: ${JSON.stringify(actual)}\nexpected: ${JSON.stringify(expected)}`];
}

/** Reconciles the log with a ledger of what the slow reader found in it: nothing may break but what is no execution. */
async function runDiffers(
  folder: string,
  paths: string[],
  reading: Reading,
  how: string[],
  env: Record<string, string>,
) {
  const pattern = paths.length === 1 ? paths[0]! : "*.log";
  // Damage that only warns can leave a price that is none.
  const priced = ({ report }: { report: Report }) => isNumber.test(value(report.fields, "31") || "0");
  const executions = reading.executions.filter(priced);
  const unpriced = reading.executions.filter((one) => !priced(one));
  const rows = executions.map(({ report, root }) => [
    value(report.fields, "49") ?? "",
    tradeDate(report),
    root,
    ...["55", "54", "32", "31", "96", "37"].map((tag) => value(report.fields, tag) ?? ""),
    party(report),
  ]);
  const header = "sender,trade_date,exec_id,symbol,side,quantity,price,RawData,order_id,clearing";
  const csv = [header, ...rows.map((row) => row.map(quoted).join(","))].join("\n");
  await Bun.write(join(folder, "internal.csv"), Buffer.from(`${csv}\n`, "latin1"));
  const compare = "symbol,side,quantity,price,RawData,order_id,clearing=448[452=4]";
  const args = [
    "internal.csv",
    pattern,
    "--header",
    "yes",
    "--external-format",
    "fix",
    "--key",
    "sender,trade_date,exec_id",
  ];
  const { exitCode, document, stderr } = await json(
    folder,
    [...args, "--compare", compare, "--on-bad-row", "reject", "--breaks", "breaks.jsonl", ...how],
    env,
  );
  if (reading.messages + reading.defects.length === 0)
    return exitCode === 2 ? [] : [`run without a message: exit ${exitCode}`];
  if (exitCode === 2) return [`run: ${stderr}`];
  const breaks = (await Bun.file(join(folder, "breaks.jsonl")).text())
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const actual = breaks.map(
    (one: { type: string; external: { path: string; line: number } | null }) =>
      `${one.type} ${one.external?.path}:${one.external?.line}`,
  );
  const place = ({ file, line }: { file: number; line: number }) => `${paths[file]}:${line}`;
  const expected = [
    ...reading.defects.map((defect) => `rejected ${place(defect)}`),
    ...unpriced.map(({ report }) => `rejected ${place(report)}`),
    ...reading.orphans.map((report) => `orphan ${place(report)}`),
    ...reading.conflicts.map((report) => `conflict ${place(report)}`),
  ];
  const same = Bun.deepEquals(actual.toSorted(), expected.toSorted()) && document.matched === executions.length;
  return same
    ? []
    : [
        `run: ${JSON.stringify(actual)}, ${document.matched} matched\nexpected: ${JSON.stringify(expected)}, ${executions.length}`,
      ];
}

/** PartyID of the party with role 4. */
function party({ fields }: Report): string {
  let id = "";
  for (const [tag, text] of fields) {
    if (tag === "448") id = text;
    if (tag === "452" && text === "4") return id;
  }
  return "";
}

function quoted(text: string): string {
  return /[",\r\n]|^ /.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
