// What a rules file says of whole ledgers, run from end to end: where records begin and end, trailers, filters, control
// totals, folded rows, and what recon explain shows of rules.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();

interface Said {
  exitCode: number | null;
  stderr: string;
  /** The document of `--json`. */
  document: any;
  breaks: any[];
}

/** Runs recon on files that are made for it; `recon.toml` is the rules file. */
async function run(files: Record<string, string | Uint8Array>, args: string[], env = {}): Promise<Said> {
  using scratch = scratchFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(scratch.path, name), content);
  const command = [recon, ...args, "--config", "recon.toml", "--json"];
  const isRun = args[0] !== "explain";
  if (isRun) command.push("--breaks", "breaks.jsonl");
  const { exitCode, stdout, stderr } = await runCommand(command, { cwd: scratch.path, env });
  const path = join(scratch.path, "breaks.jsonl");
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  return {
    exitCode,
    stderr,
    document: JSON.parse(new TextDecoder().decode(stdout)),
    breaks: lines.map((line) => JSON.parse(line)),
  };
}

const pair = ["a.csv", "b.csv"];
const plain = "id,amt\nT1,1\nT2,2\n";

describe("where records begin and end", () => {
  const rules = 'key = ["id"]\n[internal]\nheader_match = "amt"\nstop_at = "*** END"\n';
  const dressed = 'Report, of "id"\r\n\r\nid;amt\r\nT1;1\r\n\r\nT2;2\r\n*** END OF REPORT\r\ngarbage "\r\n\r\nT9;9';

  test("preamble and what is behind a stop line are ignored and counted", async () => {
    const { exitCode, document } = await run({ "a.csv": dressed, "b.csv": plain, "recon.toml": rules }, pair);
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({
      matched: 2,
      internal: { rows: 2, ignored: 7, header: true, delimiter: ";", columns: ["id", "amt"] },
    });
  });

  test("also of streams and in other encodings", async () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(dressed, "utf16le")]);
    for (const content of [gzipSync(dressed), utf16]) {
      const { document } = await run({ "a.csv": content, "b.csv": plain, "recon.toml": rules }, pair);
      expect(document).toMatchObject({ matched: 2, internal: { rows: 2, ignored: 7 } });
    }
  });

  test("lines are those of the file", async () => {
    const files = { "a.csv": dressed.replace("T2;2", "T2;3"), "b.csv": plain, "recon.toml": rules };
    expect((await run(files, pair)).breaks).toMatchObject([
      { type: "mismatch", internal: { line: 6 }, external: { line: 3 } },
    ]);
  });

  test("a header that is nowhere is an error", async () => {
    const { exitCode, document } = await run(
      { "a.csv": plain, "b.csv": plain, "recon.toml": rules.replace("amt", "Amt") },
      pair,
    );
    expect(exitCode).toBe(2);
    expect(document.errors).toMatchObject([
      { code: "header", path: "a.csv", message: expect.stringContaining('"Amt"') },
    ]);
  });

  test("every file of a pattern has its own", async () => {
    const files = {
      "a1.csv": "x\nid,amt\nT1,1\n*** END\n",
      "a2.csv": "x\ny\nid,amt\nT2,2\n",
      "b.csv": plain,
      "recon.toml": rules,
    };
    expect((await run(files, ["a*.csv", "b.csv"])).document).toMatchObject({ matched: 2, internal: { ignored: 4 } });
  });
});

describe("control trailers", () => {
  const rules = 'key = ["id"]\n[internal]\ntrailer = "TRL,{count},{sum:amt}"\n';
  const judge = (internal: string, more = "") =>
    run({ "a.csv": internal, "b.csv": plain, "recon.toml": rules + more }, pair);

  test("one that holds is no row", async () => {
    for (const trailer of ["TRL,2,3", "TRL,02,3.00\r\n\r\n", '"TRL","2","3"\n']) {
      expect((await judge(`${plain}${trailer}`)).document).toMatchObject({ matched: 2, internal: { rows: 2 } });
    }
    expect((await judge("id,amt\nTRL,0,0\n")).document).toMatchObject({ internal: { rows: 0 } });
  });

  test("in front of a stop line", async () => {
    const { document } = await judge(`${plain}TRL,2,3\n\nEND\nx\n`, 'stop_at = "END"\n');
    expect(document).toMatchObject({ matched: 2, internal: { rows: 2, ignored: 3 } });
  });

  test("it counts filtered and rejected rows", async () => {
    const filtered = await judge(`${plain}T3,4\nTRL,3,7\n`, 'where = [{ column = "id", in = ["T1", "T2"] }]\n');
    expect(filtered.document).toMatchObject({ matched: 2, internal: { rows: 2, filtered: 1 } });
    const rejected = await run({ "a.csv": `${plain}T3\nTRL,3,3\n`, "b.csv": plain, "recon.toml": rules }, [
      ...pair,
      "--on-bad-row",
      "reject",
    ]);
    expect(rejected.document).toMatchObject({ matched: 2, internal: { rows: 3, rejected: 1 } });
  });

  const wrong: [why: string, text: string, line: number][] = [
    ["another count", `${plain}TRL,3,3\n`, 4],
    ["another sum", `${plain}TRL,2,3.01\n`, 4],
    ["no trailer", plain, 3],
    ["rows behind it", `id,amt\nT1,1\nTRL,1,1\nT2,2\n`, 4],
    ["a field less", `${plain}TRL,2\n`, 4],
    ["no number", `${plain}TRL,two,3\n`, 4],
    ["cut within it", `${plain}TR`, 4],
  ];
  test.each(wrong)("%s", async (_, text, line) => {
    const { exitCode, document, stderr } = await judge(text);
    expect(exitCode).toBe(2);
    expect(document.errors[0]).toMatchObject({ code: "trailer", path: "a.csv", line });
    expect(stderr).toContain(`a.csv:${line}`);
    expect(stderr.toLowerCase()).toContain("trailer");
  });

  test("a sum of a column that is not there", async () => {
    const { exitCode, stderr } = await run(
      { "a.csv": `${plain}TRL,2,3\n`, "b.csv": plain, "recon.toml": rules.replace("sum:amt", "sum:amount") },
      pair,
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain("recon.toml:3");
    expect(stderr).toContain("id, amt");
  });

  test("each file of a pattern has its own", async () => {
    const files = {
      "a1.csv": "id,amt\nT1,1\nTRL,1,1\n",
      "a2.csv": "id,amt\nT2,2\nTRL,1,5\n",
      "b.csv": plain,
      "recon.toml": rules,
    };
    const { document } = await run(files, ["a*.csv", "b.csv"]);
    expect(document.errors).toMatchObject([{ code: "trailer", path: "a2.csv", line: 3 }]);
  });
});

test("equal bytes that both sides read to the same value are not equal by value only", async () => {
  const files = {
    "a.csv": "id,at\nT1,2026-03-02T09:30:00Z\nT2,2026-03-02T10:00:00\n",
    "b.csv": "id,at\nT1,2026-03-02T09:30:00Z\nT2,2026-03-02T01:00:00\n",
    "recon.toml": '[internal]\ntimezone = "+09:00"\n[external]\ntimezone = "UTC"\n[columns.at]\ntype = "timestamp"\n',
  };
  const { document } = await run(files, pair);
  expect(document.columns.at).toMatchObject({ mismatches: 0, equalByValue: 1 });
});

describe("control totals", () => {
  test("keep the values they are by, also where nothing was to add", async () => {
    const rows = Array.from({ length: 8 }, (_, i) => `T${i},C${i % 5},${i % 5 === 4 ? "" : i},1\n`);
    const ledger = `id,ccy,a,b\n${rows.join("")}TRL,8,24\n`;
    const trailer = 'trailer = "TRL,{count},{sum:a}"\n';
    const rules = `[internal]\n${trailer}[external]\n${trailer}[columns.a]\ntype = "decimal"\n[columns.b]\ntype = "decimal"\n[controls]\nsum = ["a", "b"]\nby = "ccy"\n`;
    const args = [...pair, "--threads", "1"];
    const { document } = await run({ "a.csv": ledger, "b.csv": ledger, "recon.toml": rules }, args, {
      RECON_CHUNK_BYTES: "64",
    });
    const labels = document.controls.map(({ column, by }: { column: string; by: string }) => column + by);
    expect(labels).toEqual(["aC0", "aC1", "aC2", "aC3", "aC4", "bC0", "bC1", "bC2", "bC3", "bC4"]);
  });

  test("by currency, and a difference alone makes exit status 1", async () => {
    const files = {
      "a.csv": "id,amt,ccy\nT1,1.10,EUR\nT2,2,USD\n",
      "b.csv": "id,amt,ccy\nT1,1.1,EUR\nT2,2.01,USD\n",
      "recon.toml": 'key = ["id"]\n[columns.amt]\ntolerance = "0.01"\n[controls]\nsum = ["amt"]\nby = "ccy"\n',
    };
    const { exitCode, document } = await run(files, pair);
    expect(exitCode).toBe(1);
    expect(document).toMatchObject({
      status: "breaks",
      breaks: { total: 0 },
      columns: { amt: { tolerated: 1, sumOfTolerated: "0.01", equalByValue: 1 } },
      controls: [
        { column: "amt", by: "EUR", internal: "1.1", external: "1.1", difference: "0" },
        { column: "amt", by: "USD", internal: "2", external: "2.01", difference: "0.01" },
      ],
    });
  });
});

describe("folded rows", () => {
  const files = {
    "a.csv": "order,qty,price\nO1,300,10.02\nO2,300,10\nO3,1,1\n",
    "b.csv":
      "Ord;fill;Qty;Px;st\nO1;1;1.000;10,00;F\nO1;2;-700;9,99;F\nO2;1;100;10,00;F\nO1;3;7;1;X\nO2;2;200;10,01;F\n;1;1;1;F\n",
    "recon.toml": `key = [{ internal = "order", external = "Ord" }]
compare = [{ internal = "qty", external = "Qty" }, { internal = "price", external = "Px" }]
[external]
decimal = ","
thousands = "."
where = [{ column = "st", in = ["F"] }]
[group.external]
by = ["Ord"]
sum = ["Qty"]
vwap = { Px = "Qty" }
`,
  };

  test("sums and averages are compared exactly, members are listed", async () => {
    const { exitCode, document, breaks } = await run(files, pair);
    expect(exitCode).toBe(1);
    expect(document.external).toMatchObject({
      rows: 5,
      matched: 0,
      mismatch: 4,
      missing_key: 1,
      filtered: 1,
      distinctKeys: 2,
    });
    expect(document.columns.price).toEqual({ mismatches: 2, equalByValue: 0, tolerated: 0 });
    expect(breaks).toMatchObject([
      {
        type: "mismatch",
        external: {
          path: "b.csv",
          line: 2,
          members: [
            { path: "b.csv", line: 2 },
            { path: "b.csv", line: 3 },
          ],
        },
        columns: { price: { internal: "10.02", external: "~10.023333333333", difference: "~0.003333333333" } },
      },
      {
        external: { path: "b.csv", line: 4, members: [{ line: 4 }, { line: 6 }] },
        columns: { price: { external: "~10.006666666666", difference: "~0.006666666666" } },
      },
      { type: "missing_external", internal: { path: "a.csv", line: 4 } },
      { type: "missing_key", external: { line: 7 } },
    ]);
    expect(document.notes).toContainEqual({ code: "grouped", message: expect.stringContaining("fill, st") });
  });

  test("in a memory file, with any number of threads and tiny chunks, with the same bytes", async () => {
    const first = await run(files, pair);
    for (const threads of ["1", "3"]) {
      const { breaks } = await run(files, [...pair, "--threads", threads, "--temp", "."], { RECON_CHUNK_BYTES: "16" });
      expect(breaks).toEqual(first.breaks);
    }
  });

  test("both sides may be folded", async () => {
    const rules = 'key = ["o"]\n[group.internal]\nby = ["o"]\nsum = ["q"]\n[group.external]\nby = ["o"]\nsum = ["q"]\n';
    const both = { "a.csv": "o,x,q\nA,1,1\nA,2,2\nB,1,5\n", "b.csv": "o,q\nB,5\nA,3\n", "recon.toml": rules };
    const { exitCode, document } = await run(both, pair);
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({
      matched: 2,
      internal: { rows: 3, matched: 3 },
      external: { rows: 2, matched: 2 },
    });
  });

  const refused: [why: string, from: string, to: string, said: string[]][] = [
    ["a key that is not in by", 'by = ["Ord"]', 'by = ["fill"]', ['"Ord"', "by"]],
    [
      "a compared column that is not folded",
      'external = "Px" }]',
      'external = "Px" }, { internal = "qty", external = "fill" }]',
      ["named twice"],
    ],
    ["a column that is not there", 'sum = ["Qty"]', 'sum = ["Quantity"]', ["recon.toml:9", "Ord, fill, Qty, Px, st"]],
  ];
  test.each(refused)("refused: %s", async (_, from, to, said) => {
    const { exitCode, stderr } = await run({ ...files, "recon.toml": files["recon.toml"].replace(from, to) }, pair);
    expect(exitCode).toBe(2);
    for (const text of said) expect(stderr).toContain(text);
  });

  test("a compared column that is neither by, sum nor vwap says what to add", async () => {
    const rules = files["recon.toml"].replace(
      '{ internal = "price", external = "Px" }',
      '{ internal = "price", external = "fill" }',
    );
    const { stderr } = await run({ ...files, "recon.toml": rules }, pair);
    expect(stderr).toContain('"fill" is neither by, sum nor vwap of [group.external]');
    expect(stderr).toContain("add it to by or sum");
  });

  test("a signed column of by needs its code in by", async () => {
    const signed = (by: string) => ({
      "a.csv": "o,s,q\nA,S,1\nA,S,1\n",
      "b.csv": "o,q\nA,-1\n",
      "recon.toml": `key = ["o"]\n[columns.q]\nsigned_by = { column = "s", negative = ["S"], positive = ["B"] }\n[group.internal]\nby = ${by}\n`,
    });
    const { exitCode, stderr } = await run(signed('["o", "q"]'), pair);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("whose code is not in by");
    expect((await run(signed('["o", "q", "s"]'), pair)).document).toMatchObject({ exitCode: 0, matched: 1 });
  });

  test("numbers of by, sum and vwap are in one number format", async () => {
    const german = {
      "a.csv": "o;px;q;avg\nA;1.234,50;1.000,5;2,5\nA;1.234,50;0,25;2,5\n",
      "b.csv": "o,px,q,avg\nA,1234.5,1000.75,2.5\n",
      "recon.toml":
        'key = ["o"]\n[internal]\ndecimal = ","\nthousands = "."\n[columns.px]\ntype = "decimal"\n[group.internal]\nby = ["o", "px"]\nsum = ["q"]\nvwap = { avg = "q" }\n',
    };
    expect((await run(german, pair)).document).toMatchObject({ exitCode: 0, internal: { matched: 2 } });
  });

  test("bad rows are those of the ledger", async () => {
    const bad = { ...files, "b.csv": files["b.csv"].replace("O2;1;100", "O2;1;10O") };
    const { exitCode, document } = await run(bad, pair);
    expect(exitCode).toBe(2);
    expect(document.errors).toMatchObject([{ code: "bad_row", path: "b.csv", line: 4 }]);
    const rejected = await run(bad, [...pair, "--on-bad-row", "reject"]);
    expect(rejected.document).toMatchObject({ exitCode: 1, external: { rows: 5, rejected: 1 } });
    expect(rejected.breaks.at(-2)).toMatchObject({ type: "rejected", external: { path: "b.csv", line: 4 } });
  });
});

test("explain finds a mapped key by what it stands for and by what the file has", async () => {
  const files = {
    "a.csv": "id,v\nA,1\n",
    "b.csv": "id,v\n1,1\n3,1\n",
    "recon.toml": 'key = ["id"]\n[columns.id]\nexternal_map = { "1" = "A", "3" = "C" }\n',
  };
  for (const [key, type] of [
    ["A", "matched"],
    ["1", "matched"],
    ["C", "missing_internal"],
    ["3", "missing_internal"],
  ] as const) {
    const { document } = await run(files, ["explain", ...pair, key]);
    expect(document.keys).toMatchObject([{ key: { id: key }, pairs: [{ type }] }]);
  }
});

test("explain shows what rules made of values, and how they compare", async () => {
  const files = {
    "a.csv": 'id,side,px,qty,note,d\nA,1,10.50,"1.000,5",NULL,02/01/2026\n',
    "b.csv": "id,side,px,qty,note,d\nA,BUY,10.51,-1000.5,,2026-01-02\n",
    "recon.toml": `key = ["id"]
[internal]
decimal = ","
thousands = "."
null = ["NULL"]
date_format = "dd/MM/yyyy"
[columns.side]
internal_map = { "1" = "BUY", "2" = "SELL" }
[columns.px]
type = "text"
[columns.qty]
tolerance = "5bps max 1.00"
signed_by = { column = "side", negative = ["BUY"], positive = ["SELL"], on = "internal" }
[columns.d]
type = "date"
`,
  };
  const { exitCode, document } = await run(files, ["explain", ...pair, "A"]);
  expect(exitCode).toBe(1);
  expect(document.keys[0].pairs[0].columns).toMatchObject({
    side: { internal: "1", internalValue: "BUY", internalRules: ["map"], how: "equal_bytes" },
    px: { columnType: "text", how: "differs" },
    qty: {
      internalValue: "-1000.5",
      internalRules: ["signed_by", "number format"],
      how: "equal_by_value",
      tolerance: { amount: "5", unit: "bps", max: "1", bound: "0.50025" },
    },
    note: { internal: "NULL", internalValue: "", internalRules: ["null"], how: "equal_bytes" },
    d: { columnType: "date", how: "equal_by_value", internalRules: ["date_format dd/MM/yyyy"] },
  });
});
