// What wins between the command line, the rules file and the defaults.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReconError } from "../errors";
import { parseArguments } from "./arguments";
import { sideOptions } from "./ledger-options";
import { settle } from "./settings";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "settings-"))));
afterAll(() => rmSync(folder, { recursive: true }));

async function settled(toml: string, ...options: string[]) {
  const path = join(folder, "r.toml");
  writeFileSync(path, toml);
  return settle(parseArguments(["a", "b", "-c", path, ...options]));
}

async function refusal(toml: string, ...options: string[]): Promise<string> {
  return settled(toml, ...options).then(
    () => "nothing",
    (error) => (error instanceof ReconError ? error.message : String(error)),
  );
}

describe("an option", () => {
  const delimiters = async (toml: string, ...options: string[]) => {
    const { values } = await settled(toml, ...options);
    return (["internal", "external"] as const).map((side) => sideOptions(values, side, "x").delimiter);
  };
  const [comma, semicolon, tab, pipe] = [44, 59, 9, 124];
  const file = 'delimiter = ","\n[internal]\ndelimiter = ";"';

  test("of one side wins over that of both, and the command line over the file", async () => {
    expect(await delimiters("")).toEqual([null, null]);
    expect(await delimiters('delimiter = ","')).toEqual([comma, comma]);
    expect(await delimiters(file)).toEqual([semicolon, comma]);
    expect(await delimiters(file, "--delimiter", "tab")).toEqual([tab, tab]);
    expect(await delimiters(file, "--internal-delimiter", "tab")).toEqual([tab, comma]);
    expect(await delimiters(file, "--external-delimiter", "tab")).toEqual([semicolon, tab]);
    expect(await delimiters(file, "--delimiter", "|", "--external-delimiter", "tab")).toEqual([pipe, tab]);
  });

  test("can be switched off for one side", async () => {
    const { values } = await settled("trim = true\n[external]\ntrim = false");
    expect(sideOptions(values, "internal", "x").trim).toBe(true);
    expect(sideOptions(values, "external", "x").trim).toBe(false);
  });

  test("has its default where nothing says otherwise", async () => {
    expect((await settled("limit = 3")).values).toMatchObject({ limit: 3, maxBreaks: 0, header: "auto" });
    expect((await settled("limit = 3", "--limit", "5")).values.limit).toBe(5);
  });

  test("--on-bad-row fail takes the file's rejects back", async () => {
    expect((await settled('rejects = "r.csv"')).values.rejects).toBe("r.csv");
    expect((await settled('rejects = "r.csv"', "--on-bad-row", "fail")).values.rejects).toBeUndefined();
  });

  test("that is required may be in the file", async () => {
    const explain = async (toml: string) => {
      const path = join(folder, "e.toml");
      writeFileSync(path, toml);
      return settle(parseArguments(["explain", "a", "b", "-c", path, "T1"]));
    };
    expect((await explain('key = ["id"]')).values.key?.[0]?.internal).toBe("id");
    expect(explain("")).rejects.toThrow("explain needs --key");
  });
});

describe("--type and --tolerance", () => {
  const price = async (toml: string, ...options: string[]) =>
    (await settled(toml, ...options)).rules.columns.find(({ name }) => name === "price");

  test("declare a column without any file", async () => {
    const { rules } = await settle(parseArguments(["a", "b", "--type", "td=date", "--tolerance", "price=5bps"]));
    expect(rules.columns.map(({ name, type, tolerance }) => [name, type?.value, tolerance?.value.spec.unit])).toEqual([
      ["td", "date", undefined],
      ["price", undefined, "bps"],
    ]);
  });

  test("win over the file's, whose other rules stay", async () => {
    const file =
      '[columns.price]\ntype = "decimal"\ntolerance = "1"\ntolerance_by = { column = "ccy", JPY = "1" }\nmap = { a = "b" }';
    expect((await price(file, "--type", "price=auto"))?.type?.value).toBe("auto");
    const amended = await price(file, "--tolerance", "price=2");
    expect(amended?.tolerance?.value.spec.amount).toBe("2");
    expect(amended?.toleranceBy).toBeNull();
    expect(amended?.type?.value).toBe("decimal");
    expect(amended?.maps.internal?.value).toEqual([{ from: "a", to: "b" }]);
  });

  test("must fit", async () => {
    const file = '[columns.price]\ntype = "date"';
    expect(await refusal(file, "--tolerance", "price=0.01")).toBe(
      '--tolerance: a tolerance in numbers does not fit column "price": it is declared date',
    );
    expect(await refusal("", "--type", "price=text", "--type", "price=auto")).toBe(
      '--type is given twice for column "price"',
    );
  });
});

test("a rules file that cannot be read", async () => {
  const path = join(folder, "nowhere.toml");
  expect(settle(parseArguments(["a", "b", "-c", path]))).rejects.toThrow("cannot read the rules file: no such file");
  expect(() => parseArguments(["a", "b", "-c", "-"])).toThrow('-c takes the path of a file, not "-"');
  writeFileSync(path, Buffer.from([0x6b, 0xff]));
  expect(settle(parseArguments(["a", "b", "-c", path]))).rejects.toThrow("this is not UTF-8");
});
