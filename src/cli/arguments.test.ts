import { describe, expect, test } from "bun:test";
import { ReconError } from "../errors";
import { parseArguments } from "./arguments";
import { sideOptions } from "./ledger-options";
import { plannedOptions } from "./options";

const values = (...argv: string[]) => parseArguments(argv).values;

function refusal(...argv: string[]): string {
  try {
    parseArguments(argv);
  } catch (error) {
    if (!(error instanceof ReconError)) throw error;
    const { code, message, hint } = error.items[0]!;
    expect(code).toBe("usage");
    return `${message} | ${hint}`;
  }
  throw new Error(`${argv.join(" ")} was accepted`);
}

describe("commands", () => {
  test("without a command it is run", () => {
    expect(parseArguments(["a.csv", "b.csv"])).toMatchObject({ command: "run", operands: ["a.csv", "b.csv"] });
    expect(parseArguments(["run", "a.csv", "b.csv"])).toMatchObject({ command: "run", operands: ["a.csv", "b.csv"] });
    expect(parseArguments(["inspect", "a.csv"])).toMatchObject({ command: "inspect", operands: ["a.csv"] });
  });

  test("later commands are refused by name", () => {
    for (const name of ["history"]) expect(refusal(name, "a.csv")).toContain(`command ${name}`);
  });

  test("help is --help of whatever follows", () => {
    expect(parseArguments(["help"])).toMatchObject({ command: "run", values: { help: true } });
    expect(parseArguments(["help", "explain"])).toMatchObject({ command: "explain", values: { help: true } });
  });

  test("what a command needs is asked for, but not by its help", () => {
    expect(refusal("explain", "a.csv", "b.csv", "T1")).toContain("explain needs --key");
    expect(values("explain", "--help").help).toBe(true);
  });

  test("an option belongs to its commands only", () => {
    expect(refusal("inspect", "a.csv", "--key", "id")).toContain("unknown option --key");
    expect(refusal("a.csv", "b.csv", "--rows", "3")).toContain("unknown option --rows");
    expect(values("generate", "dir", "--breaks", "3").breakCount).toBe(3);
  });
});

describe("spellings", () => {
  test("a value follows, or stands behind = or the short form", () => {
    for (const argv of [["--key", "id"], ["--key=id"], ["-k", "id"], ["-kid"]]) {
      expect(values("a", "b", ...argv).key).toEqual([{ internal: "id", external: "id" }]);
    }
  });

  test("- is an operand and a value, -- ends the options", () => {
    expect(parseArguments(["-", "b", "--breaks", "-"])).toMatchObject({
      operands: ["-", "b"],
      values: { breaks: { path: "-", format: "csv" } },
    });
    expect(parseArguments(["--", "--a", "-b"]).operands).toEqual(["--a", "-b"]);
  });

  test("options may stand anywhere", () => {
    expect(parseArguments(["--json", "a", "-q", "b"])).toMatchObject({
      operands: ["a", "b"],
      values: { json: true, quiet: true },
    });
  });

  test("a side's own option wins over that for both", () => {
    const typed = values(
      "a",
      "b",
      "--delimiter",
      ";",
      "--external-delimiter",
      "tab",
      "--internal-trim",
      "--quote",
      "none",
    );
    expect(sideOptions(typed, "internal", "a")).toMatchObject({
      delimiter: 0x3b,
      quote: null,
      trim: true,
      header: "auto",
    });
    expect(sideOptions(typed, "external", "b")).toMatchObject({
      delimiter: 9,
      quote: null,
      trim: false,
      foldCase: false,
    });
  });
});

describe("refused", () => {
  test("misspellings, with what was meant", () => {
    expect(refusal("a", "b", "--treads", "3")).toBe("unknown option --treads | did you mean --threads?");
    expect(refusal("a", "b", "--external-delimeter", ";")).toContain("did you mean --external-delimiter?");
    expect(refusal("a", "b", "--zebra")).toContain("see recon run --help");
    expect(refusal("a", "b", "-x")).toContain("unknown option -x");
  });

  test("options of later parts, by name and without a guess", () => {
    for (const name of plannedOptions) {
      expect(refusal("a", "b", `--${name}`, "x")).toBe(`--${name} is not in this version of recon | `);
    }
    expect(refusal("a", "b", "--internal-state", "x")).toContain("--internal-state is not in this version");
    expect(refusal("a", "b", "--format", "xml")).toContain(`--format takes auto, csv or fix, not "xml"`);
  });

  test("an option given twice", () => {
    expect(refusal("a", "b", "--limit", "1", "--limit=2")).toContain("--limit is given twice");
    expect(refusal("a", "b", "-k", "x", "--key", "y")).toContain("--key is given twice");
    expect(refusal("a", "b", "--json", "--json")).toContain("--json is given twice");
  });

  test("an option that may be given several times keeps the order", () => {
    const { type, tolerance } = parseArguments(["a", "b", "--type", "p=text", "--type=448[452=4]=date"]).values;
    expect(type).toEqual([
      { column: "p", value: "text" },
      { column: "448[452=4]", value: "date" },
    ]);
    expect(tolerance).toBeUndefined();
    expect(refusal("a", "b", "--type", "decimal")).toContain('--type takes COLUMN=TYPE, not "decimal"');
    expect(refusal("a", "b", "--type", "p=number")).toContain("--type takes auto, text, decimal, timestamp or date");
    expect(refusal("a", "b", "--tolerance", "p=5%%")).toContain("--tolerance takes an amount (0.01)");
  });

  test("a missing, empty or unwanted value", () => {
    expect(refusal("a", "b", "--key")).toContain("--key needs a value");
    expect(refusal("a", "b", "--key", "--json")).toContain("--key needs a value");
    expect(refusal("a", "b", "--key", "-q")).toContain("--key needs a value");
    expect(refusal("a", "b", "--key=")).toContain("--key needs a value");
    expect(refusal("a", "b", "--json=yes")).toContain("--json takes no value");
    expect(refusal("a", "b", "-qq")).toStartWith("unknown option -qq | -q takes no value");
  });

  test("values outside their kind", () => {
    for (const argv of [
      ["--threads", "0"],
      ["--threads", "257"],
      ["--threads", "1.5"],
      ["--threads", "-1"],
      ["--limit", "ten"],
      ["--max-breaks", "9007199254740993"],
      ["--memory", "0"],
      ["--memory", "2 elephants"],
      ["--delimiter", "ab"],
      ["--delimiter", "é"],
      ["--delimiter", "\n"],
      ["--quote", "both"],
      ["--header", "maybe"],
      ["--mode", "999"],
      ["--columns", "a,,b"],
      ["--key", "a,a"],
      ["--key", "a=x,b=x"],
      ["--compare", "=b"],
      ["--breaks", "breaks.txt"],
      ["--progress", "always"],
      ["--encoding", "latin1"],
    ]) {
      expect(refusal("a", "b", ...argv)).toContain(`${argv[0]} takes `);
    }
  });

  test("one byte as delimiter and quote", () => {
    expect(() => sideOptions(values("a", "b", "--delimiter", '"'), "internal", "a")).toThrow("same byte");
  });
});
