// The built executable as one types it: standard output, standard error and exit status of small runs, whole.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { requireExecutable, runCommand, scratchFolder } from "../executable";

const recon = requireExecutable();
const scratch = scratchFolder();
const cwd = scratch.path;
const at = (name: string) => join(cwd, name);
afterAll(() => scratch[Symbol.dispose]());
beforeAll(() => {
  writeFileSync(at("internal.csv"), "trade_id,price,quantity\nT1,10.50,100\nT2,11,200\nT3,12,300\n");
  writeFileSync(at("external.csv"), "trade_id,price,quantity\nT1,10.5,100\nT2,11.25,200\nT4,13,400\n");
  writeFileSync(at("bad.csv"), "trade_id,price,quantity\nT1,10.5,100\nT2,11.25\nT4,13,400,x\n");
});

interface Said {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

async function run(...args: string[]): Promise<Said> {
  const { exitCode, stdout, stderr } = await runCommand([recon, ...args], { cwd, env: { NO_COLOR: "" } });
  return { exitCode, stdout: new TextDecoder().decode(stdout), stderr };
}

/** What differs from run to run. */
const steady = (text: string) =>
  text.replace(/in [\d.]+ s, [\d.]+ [kMG]? ?rows\/s, (\w+) plan \(.+\), \d+ threads?/g, "in TIME, $1 plan");

describe("what recon says about itself", () => {
  test("--version", async () => {
    expect(await run("--version")).toEqual({ exitCode: 0, stdout: `recon ${version}\n`, stderr: "" });
  });

  test("--version starts in under 15 ms", () => {
    const times_ms = Array.from({ length: 15 }, () => {
      const started_ms = performance.now();
      Bun.spawnSync([recon, "--version"], { cwd });
      return performance.now() - started_ms;
    });
    expect(Math.min(...times_ms)).toBeLessThan(15);
  });

  for (const args of [["--help"], ["-h"], ["inspect", "--help"], ["explain", "-h"], ["generate", "--help"]]) {
    test(args.join(" "), async () => {
      const said = await run(...args);
      expect(said).toMatchObject({ exitCode: 0, stderr: "" });
      expect(said.stdout).toContain("Options:");
      expect(said.stdout).toContain("Examples:");
    });
  }
});

describe("without ledgers", () => {
  test("nothing at all shows the usage and is an error", async () => {
    const said = await run();
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain("Usage:\n  recon INTERNAL EXTERNAL");
  });

  test("help is --help", async () => {
    expect(await run("help")).toEqual(await run("--help"));
    expect(await run("help", "explain")).toEqual(await run("explain", "--help"));
  });
});

describe("summary", () => {
  test("with breaks", async () => {
    const said = await run("internal.csv", "external.csv", "--key", "trade_id", "--plan", "hash");
    expect(said.exitCode).toBe(1);
    expect(steady(said.stdout)).toBe(`BREAKS  3 breaks

  internal  internal.csv  3 rows  57 B  csv, ",", header
  external  external.csv  3 rows  59 B  csv, ",", header

  matched             1
  mismatch            1
  missing_external    1
  missing_internal    1
  duplicate_internal  0
  duplicate_external  0
  missing_key         0
  rejected            0

  column    mismatches  sum of differences  equal by value only
  price              1                0.25                    1
  quantity           0                                        0

3 breaks:
  mismatch  trade_id=T2  internal.csv:3 external.csv:3
      price  11 → 11.25  difference 0.25
  missing_external  trade_id=T3  internal.csv:4
      price=12  quantity=300
  missing_internal  trade_id=T4  external.csv:4
      price=13  quantity=400

6 rows in TIME, hash plan
`);
    expect(said.stderr).toBe("");
  });

  test("without", async () => {
    const said = await run("internal.csv", "internal.csv");
    expect(said).toMatchObject({ exitCode: 0 });
    expect(said.stdout).toStartWith("RECONCILED  3 rows on both sides, no break\n");
    expect(said.stderr).toContain("recon: note: ");
  });

  test("the plan, and why", async () => {
    const { stdout } = await run("internal.csv", "external.csv");
    expect(stdout).toMatch(/rows\/s, merge plan \(both sides strictly ascending by key\), \d+ threads?\n$/);
  });

  test("--limit limits what is shown and nothing else", async () => {
    const said = await run("internal.csv", "external.csv", "--limit", "1", "--breaks", "limited.jsonl");
    expect(said.stdout).toContain("first 1 of 3 breaks:");
    expect(said.stdout).toContain("all breaks: limited.jsonl");
    expect(readFileSync(at("limited.jsonl"), "utf8").trim().split("\n").length).toBe(3);
  });

  test("--max-breaks", async () => {
    const said = await run("internal.csv", "external.csv", "--max-breaks", "3");
    expect(said.exitCode).toBe(0);
    expect(said.stdout).toStartWith("RECONCILED  3 breaks, within --max-breaks\n");
    expect(await run("internal.csv", "external.csv", "--max-breaks", "2")).toMatchObject({ exitCode: 1 });
  });

  test("--quiet", async () => {
    expect(await run("internal.csv", "external.csv", "-q")).toEqual({ exitCode: 1, stdout: "", stderr: "" });
    expect((await run("internal.csv", "nowhere.csv", "-q")).stderr).toBe("recon: nowhere.csv: no such file\n");
  });

  test("values cannot reach the terminal", async () => {
    writeFileSync(at("escape.csv"), "trade_id,price,quantity\nT1,\x1b[2J\u202e,100\n");
    const said = await run("escape.csv", "external.csv");
    expect(said.stdout).not.toContain("\x1b");
    expect(said.stdout).toContain("\\x1b[2J\\u202e");
  });
});

describe("files", () => {
  test("--breaks - is CSV on standard output, the summary goes to standard error", async () => {
    const said = await run("internal.csv", "external.csv", "--breaks", "-");
    expect(said.exitCode).toBe(1);
    expect(said.stdout)
      .toBe(`break,type,trade_id,internal_line,external_line,column,internal_value,external_value,difference
1,mismatch,T2,3,3,price,11,11.25,0.25
2,missing_external,T3,4,,,,,
3,missing_internal,T4,,4,,,,
`);
    expect(said.stderr).toStartWith("BREAKS  3 breaks\n");
    expect((await run("internal.csv", "external.csv", "--breaks", "/dev/stdout")).stdout).toBe(said.stdout);
  });

  test("an output that is an input, by any name, is refused and untouched", async () => {
    symlinkSync("external.csv", at("link.csv"));
    const before = readFileSync(at("external.csv"), "utf8");
    for (const path of ["external.csv", "./external.csv", "link.csv", at("external.csv")]) {
      const said = await run("internal.csv", "external.csv", "--breaks", path);
      expect(said).toMatchObject({ exitCode: 2, stdout: "" });
      expect(said.stderr).toContain("overwritten");
    }
    expect(readFileSync(at("external.csv"), "utf8")).toBe(before);
  });

  test("two outputs in one place are refused", async () => {
    const said = await run("internal.csv", "external.csv", "--breaks", "same.csv", "--rejects", "./same.csv");
    expect(said).toMatchObject({ exitCode: 2, stderr: "recon: --breaks and --rejects name the same file\n" });
  });

  test("an error leaves no file and keeps the old one", async () => {
    mkdirSync(at("out"));
    writeFileSync(at("out/old.csv"), "old\n");
    const args = ["internal.csv", "bad.csv", "--breaks", "out/old.csv", "--rejects", "out/new.csv", "--min-rows", "9"];
    expect(await run(...args)).toMatchObject({ exitCode: 2 });
    expect(readdirSync(at("out"))).toEqual(["old.csv"]);
    expect(readFileSync(at("out/old.csv"), "utf8")).toBe("old\n");
  });

  test("rejected rows", async () => {
    const said = await run("internal.csv", "bad.csv", "--rejects", "rejects.csv");
    expect(said.exitCode).toBe(1);
    expect(said.stdout).toContain("rejected rows: rejects.csv");
    const [head, ...rows] = readFileSync(at("rejects.csv"), "utf8").trim().split("\n");
    expect(head).toBe("path,line,code,message,record");
    expect(rows.length).toBe(2);
    expect(rows[0]).toStartWith("bad.csv,3,bad_row,");
  });
});

describe("errors", () => {
  test("bad rows: path, line, what is wrong, what to do", async () => {
    const said = await run("internal.csv", "bad.csv");
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toMatch(/^recon: bad\.csv:3(:\d+)?: .*\nrecon: bad\.csv:4(:\d+)?: .*/);
  });

  test("--json prints the document for every error, usage too", async () => {
    for (const args of [
      ["internal.csv", "bad.csv"],
      ["internal.csv", "nowhere.csv"],
      ["internal.csv"],
      ["internal.csv", "external.csv", "--zebra"],
      ["internal.csv", "external.csv", "--threads", "0"],
      ["-", "-"],
      ["bench", "zebra"],
      ["internal.csv", "external.csv", "--breaks", "breaks.txt"],
      ["internal.csv", "external.csv", "--breaks", "-"],
      ["inspect", "nowhere.csv"],
      ["explain", "internal.csv", "external.csv", "T1"],
      ["generate"],
    ]) {
      const said = await run(...args, "--json");
      expect(said.exitCode).toBe(2);
      const document = JSON.parse(said.stdout);
      expect(document).toMatchObject({ schemaVersion: 1, status: "error", exitCode: 2 });
      expect(document.errors.length).toBeGreaterThan(0);
      expect(document).not.toHaveProperty("matched");
      expect(document).not.toHaveProperty("breaks");
      expect(said.stderr).toStartWith("recon: ");
    }
  });

  test("standard input is called by its name, and - in the document", async () => {
    const args = [recon, "-", "internal.csv", "--json"];
    const { stdout, stderr } = await runCommand(args, { cwd, stdin: at("bad.csv") });
    expect(stderr).toContain("recon: standard input (-):3: 2 fields where 3 are expected\n");
    expect(JSON.parse(new TextDecoder().decode(stdout)).errors[0]).toMatchObject({ path: "-", line: 3 });
  });

  test("an environment in which nothing can be compiled at run time", async () => {
    const { exitCode, stderr } = await runCommand([recon, "internal.csv", "external.csv"], {
      cwd,
      env: { BUN_JSC_useJIT: "0" },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toStartWith("recon: cannot load the engine: ");
    expect(stderr).toContain("MemoryDenyWriteExecute=");
  });

  test("a file size limit, for everything that is written", async () => {
    const rows = Array.from({ length: 150_000 }, (_, i) => `T${i},${i},a value that takes some room\n`);
    writeFileSync(at("long.csv"), `trade_id,price,text\n${rows.join("")}`);
    const limited = async (limit_kib: number, command: string) => {
      const words = ["bash", "-c", `ulimit -f ${limit_kib}; ${command.replaceAll("recon ", `'${recon}' `)}`];
      const { exitCode, stderr } = await runCommand(words, { cwd });
      expect([command, exitCode, stderr.includes("internal error")]).toEqual([command, 2, false]);
      return stderr;
    };
    const reason = "the file is too large";
    expect(await limited(1, "recon long.csv internal.csv")).toContain(`cannot load the engine: ${reason}`);
    expect(await limited(4096, "recon long.csv internal.csv --limit 1000000 >large.txt")).toContain(
      `cannot write to standard output: ${reason}`,
    );
    expect(await limited(4096, "recon long.csv internal.csv --breaks large.csv -q")).toStartWith("recon: large.csv: ");
    expect(await limited(4096, "cat long.csv | recon - internal.csv")).toContain(`temporary copy cannot be written`);
    expect(await limited(4096, "recon generate large --rows 200000")).toStartWith("recon: large: cannot write");
    const spilling = "recon long.csv internal.csv --memory 1 --plan hash --temp .";
    expect(await limited(4096, spilling)).toMatch(
      /^recon: \.: cannot write a temporary file here: .*\n  hint: .*--temp/,
    );
    expect(readdirSync(cwd)).not.toContain("large.csv");
  });

  test("--min-rows", async () => {
    const said = await run("internal.csv", "external.csv", "--min-rows", "4");
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain("--min-rows");
  });
});

describe("--json", () => {
  test("the document of a run", async () => {
    const said = await run("internal.csv", "external.csv", "--key", "trade_id", "--plan", "hash", "--json");
    const document = JSON.parse(said.stdout);
    expect(document.phases).toMatchObject({ scan: expect.any(Number), planReason: expect.any(String) });
    expect(document).toMatchObject({
      schemaVersion: 1,
      status: "breaks",
      exitCode: 1,
      internal: {
        paths: ["internal.csv"],
        format: "csv",
        bytes: 57,
        rows: 3,
        matched: 1,
        mismatch: 1,
        missing: 1,
        duplicate: 0,
        missing_key: 0,
        rejected: 0,
        ignored: 0,
        distinctKeys: 3,
        header: true,
        delimiter: ",",
        columns: ["trade_id", "price", "quantity"],
      },
      matched: 1,
      breaks: { total: 3, mismatch: 1, missing_external: 1, missing_internal: 1, rejected: 0 },
      columns: {
        price: { mismatches: 1, sumOfDifferences: "0.25", equalByValue: 1 },
        quantity: { mismatches: 0, sumOfDifferences: "0", equalByValue: 0 },
      },
      hints: [],
      plan: "hash",
      errors: [],
    });
  });

  test("--progress json", async () => {
    const { stderr } = await run("internal.csv", "external.csv", "--progress", "json");
    for (const line of stderr
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("{"))) {
      expect(JSON.parse(line)).toMatchObject({ phase: expect.any(String), done: expect.any(Number) });
    }
  });
});

describe("inspect", () => {
  test("text", async () => {
    const said = await run("inspect", "internal.csv");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    expect(said.stdout).toStartWith(`internal.csv
  format          csv, delimiter ",", header
  size            57 B
  rows            3
  bad rows        0
  key candidates  trade_id  price  quantity
  columns, with types guessed from the first 3 rows:
    trade_id  text
    price     decimal
    quantity  decimal
`);
  });

  test("bad rows, each with its place", async () => {
    const said = await run("inspect", "bad.csv");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    expect(said.stdout).toContain(`  rows            3
  bad rows        2
  key candidates  trade_id  price  quantity
    bad.csv:3: 2 fields where 3 are expected
    bad.csv:4: 4 fields where 3 are expected
  columns, with types guessed from the first 1 row:
`);
    const { stdout } = await run("inspect", "bad.csv", "--json");
    expect(JSON.parse(stdout).files[0]).toMatchObject({ rows: 3, rejected: 2, badRows: [{ line: 3 }, { line: 4 }] });
  });

  test("of many bad rows 20 are listed, and a quote that never closes is an error", async () => {
    writeFileSync(at("many.csv"), `trade_id,price\n${"T\n".repeat(30)}`);
    const { stdout } = await run("inspect", "many.csv");
    expect(stdout.match(/many\.csv:\d+: /g)?.length).toBe(20);
    expect(stdout).toContain("    and 10 more\n");
    writeFileSync(at("open.csv"), 'trade_id,price\nT\nT1,"2\n');
    expect(await run("inspect", "open.csv")).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("a pair of columns where none is unique alone", async () => {
    writeFileSync(at("pairs.csv"), "day,seq,qty\n2026-03-02,1,5\n2026-03-02,2,5\n2026-03-03,1,5\n");
    const { stdout } = await run("inspect", "pairs.csv", "--json");
    expect(JSON.parse(stdout).files[0]).toMatchObject({
      rows: 3,
      types: { day: "date", seq: "decimal", qty: "decimal" },
      keyCandidates: [["day", "seq"]],
    });
  });
});

describe("explain", () => {
  const explain = (...keys: string[]) => run("explain", "internal.csv", "external.csv", "--key", "trade_id", ...keys);

  test("a matched key, with the rule for every column", async () => {
    const said = await explain("T1");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    expect(said.stdout).toContain("matched  trade_id=T1  internal.csv:2 external.csv:2");
    expect(said.stdout).toMatch(/price +10\.50 = 10\.5 +the same number/);
    expect(said.stdout).toMatch(/quantity +100 = 100 +the same bytes/);
  });

  test("a broken one", async () => {
    const said = await explain("T2");
    expect(said.exitCode).toBe(1);
    expect(said.stdout).toMatch(/price +11 → 11\.25 +difference 0\.25/);
  });

  test("near misses", async () => {
    writeFileSync(at("padded.csv"), 'trade_id,price,quantity\n"T1 ",10.5,100\n t2,11,200\n0012,1,1\n');
    const near = async (key: string) => {
      const said = await run("explain", "padded.csv", "external.csv", "--key", "trade_id", key, "--json");
      return [said.exitCode, JSON.parse(said.stdout).keys?.[0].nearMisses];
    };
    expect(await near("T1")).toMatchObject([1, [{ option: "--trim", internal: { path: "padded.csv", line: 2 } }]]);
    expect(await near("T2")).toMatchObject([1, [{ option: "--trim --fold-case", internal: { line: 3 } }]]);
    expect(await near("12")).toMatchObject([1, [{ option: null, why: "leading zeros", internal: { line: 4 } }]]);
  });

  test("near misses name what really joins both sides", async () => {
    writeFileSync(at("lower.csv"), 'trade_id,price\nabc,1\n"t5 ",2\n07,1\nonly,1\n');
    writeFileSync(at("upper.csv"), "trade_id,price\nABC,1\nT5,3\n7,1\n");
    const near = async (...keys: string[]) => {
      const { stdout } = await run("explain", "lower.csv", "upper.csv", "-k", "trade_id", ...keys);
      return stdout.split("\n").slice(stdout.split("\n").findIndex((line) => line.includes("near miss")));
    };
    expect(await near("abc")).toEqual([
      "  near miss: upper and lower case, --fold-case would join them",
      "  would match  trade_id=abc  lower.csv:2 upper.csv:2",
      "",
    ]);
    expect(await near("T5")).toEqual([
      "  near miss: blanks and case, --trim --fold-case would join them",
      "  would be a mismatch  trade_id=t5   lower.csv:3 upper.csv:3",
      "",
    ]);
    expect(await near("7")).toEqual([
      "  near miss: leading zeros, which no option ignores",
      "  missing_external  trade_id=07  lower.csv:4",
      "",
    ]);
    expect(await near("Only")).toEqual([
      "  near miss: upper and lower case, --fold-case would find this row",
      "  missing_external  trade_id=only  lower.csv:5",
      "",
    ]);
  });

  test("a side that is trimmed by its own option", async () => {
    writeFileSync(at("blank.csv"), 'trade_id,price\n"T7 ",1\n');
    const args = ["internal.csv", "blank.csv", "-k", "trade_id", "--external-trim", "T7"];
    expect((await run("explain", ...args)).stdout).toContain("  missing_internal  trade_id=T7   blank.csv:2\n");
  });

  test("a mapped key, as it is compared and as a file spells it", async () => {
    writeFileSync(at("venues.csv"), "venue,px\nXLON,1\n");
    writeFileSync(at("codes.csv"), "mic,px\nL,1\nP,2\n");
    writeFileSync(
      at("codes.toml"),
      'key = [{ internal = "venue", external = "mic" }]\n[columns.venue]\nexternal_map = { L = "XLON", P = "XPAR" }\n',
    );
    for (const [key, seen] of [
      ["XLON", "matched  venue=XLON  venues.csv:2 codes.csv:2"],
      ["L", "matched  venue=XLON  venues.csv:2 codes.csv:2"],
      ["XPAR", "missing_internal  venue=P  codes.csv:3"],
      ["P", "missing_internal  venue=P  codes.csv:3"],
    ] as const)
      expect((await run("explain", "venues.csv", "codes.csv", "-c", "codes.toml", key)).stdout).toContain(seen);
  });

  test("a key that is nowhere", async () => {
    const said = await explain("T9");
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain("trade_id=T9");
  });
});

describe("generate", () => {
  test("the breaks that were put in are found, all and no others", async () => {
    const options = ["--rows", "5000", "--breaks", "20", "--missing", "10", "--duplicates", "5", "--benign", "100"];
    for (const order of ["same", "shuffled"]) {
      const made = await run("generate", order, "--seed", "3", "--order", order, "--quoted", "10", ...options);
      expect(made).toMatchObject({ exitCode: 0, stderr: "" });
      const [internal, external] = [`${order}/internal.csv`, `${order}/external.csv`];
      const said = await run(internal, external, "--key", "trade_id", "--breaks", `${order}/breaks.jsonl`, "-q");
      expect(said).toMatchObject({ exitCode: 1, stderr: "" });
      const score = await run("generate", "--score", `${order}/truth.jsonl`, `${order}/breaks.jsonl`);
      expect(score.stdout).toMatch(/^detection rate +100\.00 %.*\nfalse-break rate +0\.00 %/);
      expect(score.exitCode).toBe(0);
    }
  });

  test("--json", async () => {
    const { stdout } = await run("generate", "document", "--rows", "10", "--duplicates", "2", "--json");
    const [internal, external] = ["internalRows", "externalRows"].map((name) => JSON.parse(stdout)[name]);
    expect([JSON.parse(stdout).errors, internal + external]).toEqual([[], 22]);
    const scored = await run("generate", "--score", "document/truth.jsonl", "document/truth.jsonl", "--json");
    expect(JSON.parse(scored.stdout).errors).toEqual([]);
  });

  test("same seed, same bytes, whatever the threads", async () => {
    for (const [name, threads] of [
      ["one", "1"],
      ["three", "3"],
    ] as const) {
      await run("generate", name, "--rows", "3000", "--seed", "9", "--breaks", "7", "--threads", threads);
    }
    for (const file of ["internal.csv", "external.csv", "truth.jsonl"]) {
      expect(readFileSync(at(`one/${file}`)).equals(readFileSync(at(`three/${file}`)))).toBe(true);
    }
  });
});

test("a file of 20,000 columns", async () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `c${i}`);
  writeFileSync(at("wide.csv"), [names, names.map(() => "1")].map((row) => row.join(",")).join("\n"));
  expect(await run("wide.csv", "wide.csv", "-q")).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});
