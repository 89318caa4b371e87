// Rules files that are read, and every kind of wrong one with its place and words.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ReconError } from "../errors";
import { readRules } from "./load";
import { namedColumns, noRules } from "./rules";

const read = (text: string) => readRules("r.toml", text);

/** `LINE:COLUMN MESSAGE | HINT` of each problem. */
function faults(text: string): string[] {
  try {
    read(text);
  } catch (error) {
    if (!(error instanceof ReconError)) throw error;
    return error.items.map((item) => {
      expect(item).toMatchObject({ code: "rules", path: "r.toml" });
      return `${item.line}:${item.column} ${item.message}${item.hint === "" ? "" : ` | ${item.hint}`}`;
    });
  }
  return [];
}

describe("read", () => {
  test("an empty file, a mark, comments, CRLF", () => {
    for (const text of ["", "\uFEFF", "# nothing\r\n", "[columns]\n"]) {
      expect(read(text)).toEqual({ options: {}, internal: {}, external: {}, rules: noRules });
    }
    expect(read("\uFEFFunique = true\r\nlimit = 3\r\n").options).toEqual({ unique: true, limit: 3 });
  });

  test("every option under its name with _, as the option's own parser reads it", () => {
    const file = read(`
      key = ["trade_id", { internal = "a,b", external = "c=d" }]
      compare = ["price"]
      ignore = ["note"]
      format = "csv"
      delimiter = "tab"
      quote = "none"
      header = "yes"
      encoding = "utf-16le"
      trim = true
      fold_case = false
      on_bad_row = "reject"
      rejects = "rejects.csv"
      unique = true
      breaks = "b.jsonl"
      limit = 0
      max_breaks = 1_000
      min_rows = 0x10
      threads = 2
      pin = false
      memory = "2GiB"
      plan = "hash"
      temp = "/tmp"
      mode = "0640"
      [external]
      columns = ["a", "b,c"]
      delimiter = ";"
      trim = false
    `);
    expect(file.options).toMatchObject({
      ignore: ["note"],
      format: "csv",
      delimiter: 9,
      quote: null,
      header: "yes",
      encoding: "utf-16le",
      trim: true,
      foldCase: false,
      onBadRow: "reject",
      rejects: "rejects.csv",
      unique: true,
      breaks: { path: "b.jsonl", format: "jsonl" },
      limit: 0,
      maxBreaks: 1000,
      minRows: 16,
      threads: 2,
      pin: false,
      memory: 2 * 1024 ** 3,
      plan: "hash",
      temp: "/tmp",
      mode: 0o640,
    });
    expect(file.options.key).toEqual([
      { internal: "trade_id", external: "trade_id", place: { path: "r.toml", line: 2, column: 14, member: "key[0]" } },
      { internal: "a,b", external: "c=d", place: { path: "r.toml", line: 2, column: 26, member: "key[1]" } },
    ]);
    expect(file.internal).toEqual({});
    expect(file.external).toEqual({ columns: ["a", "b,c"], delimiter: 59, trim: false });
    expect(read("memory = 1000").options).toEqual({ memory: 1000 });
  });

  test("how a side is read", () => {
    const { internal, external } = read(`
      [internal]
      decimal = ","
      thousands = " "
      negative = "accounting"
      currency = ["€", "EUR"]
      timezone = "Asia/Tokyo"
      date_format = "dd/MM/yyyy"
      null = ["NULL", '\\N']
      header_match = "trade_id"
      stop_at = "*** END"
      trailer = "TRL,{count},{sum:amount}"
      where = [{ column = "status", in = ["FILLED", ""] }]
      [external]
      thousands = ","
      [[external.where]]
      column = "a"
      in = ["1"]
      [[external.where]]
      column = "b"
      in = ["2"]
    `).rules;
    expect(internal.number).toEqual({ decimal: 44, thousands: 32, negative: "accounting", currency: ["€", "EUR"] });
    expect(internal.timezone).toEqual({
      value: "Asia/Tokyo",
      place: { path: "r.toml", line: 7, column: 18, member: "internal.timezone" },
    });
    expect(internal.dateFormat?.value).toBe("dd/MM/yyyy");
    expect(internal.nulls).toEqual(["NULL", "\\N"]);
    expect(internal.headerMatch?.value).toBe("trade_id");
    expect(internal.stopAt?.value).toBe("*** END");
    expect(internal.trailer?.text).toBe("TRL,{count},{sum:amount}");
    expect(internal.where.map(({ column, values }) => [column.value, values])).toEqual([["status", ["FILLED", ""]]]);
    expect(external.number).toEqual({ decimal: 46, thousands: 44, negative: "plain", currency: [] });
    expect(external.where.map(({ column }) => column.place)).toEqual([
      { path: "r.toml", line: 17, column: 16, member: "external.where[0].column" },
      { path: "r.toml", line: 20, column: 16, member: "external.where[1].column" },
    ]);
  });

  test("rules of columns, groups and totals", () => {
    const { columns, external, controls } = read(`
      [columns.price]
      type = "decimal"
      tolerance = "5bps max 1.00"
      tolerance_by = { column = "currency", JPY = "1", USD = "0.01" }
      [columns.side]
      map = { B = "BUY" }
      external_map = { "1" = "BUY", "2" = "SELL" }
      [columns."a.b"]
      signed_by = { column = "side", negative = ["SELL", "SSHT"], positive = ["BUY"], on = "internal" }
      [group.external]
      by = ["order_id"]
      sum = ["quantity"]
      vwap = { price = "quantity" }
      [controls]
      sum = ["amount"]
      by = "currency"
    `).rules;
    expect(columns.map(({ name }) => name)).toEqual(["price", "side", "a.b"]);
    const [price, side, signed] = columns;
    expect(price?.tolerance?.value).toEqual({ type: "decimal", spec: { amount: "5", unit: "bps", cap: "1.00" } });
    expect(price?.toleranceBy?.column.value).toBe("currency");
    expect(price?.toleranceBy?.cases.map(({ value, tolerance }) => [value, tolerance.value.spec.amount])).toEqual([
      ["JPY", "1"],
      ["USD", "0.01"],
    ]);
    expect(side?.maps.internal?.value).toEqual([{ from: "B", to: "BUY" }]);
    expect(side?.maps.external?.value).toHaveLength(2);
    expect(signed?.signedBy).toMatchObject({ negative: ["SELL", "SSHT"], positive: ["BUY"], on: "internal" });
    expect(signed?.signedBy?.place).toEqual({
      path: "r.toml",
      line: 10,
      column: 19,
      member: 'columns."a.b".signed_by',
    });
    expect(external.group?.by.map(({ value }) => value)).toEqual(["order_id"]);
    expect(external.group?.vwap.map(({ price, weight }) => [price.value, weight.value])).toEqual([
      ["price", "quantity"],
    ]);
    expect(controls?.by?.value).toBe("currency");
  });
});

describe("refused", () => {
  const cases: [string, string[]][] = [
    ["key = [\n", ["2:1 this is not TOML: unspecified values are invalid"]],
    ["limit = 1\nlimit = 2\n", ["2:1 this is not TOML: defining a key multiple times is invalid"]],
    ["max_break = 3", ["1:1 max_break: unknown member | did you mean max_breaks?"]],
    ["\nmax-breaks = 3", ["2:1 max-breaks: unknown member | did you mean max_breaks?"]],
    ['decimal = ","', ["1:1 decimal: unknown member | decimal belongs under [internal] or [external]"]],
    ['tolerance = "1"', ["1:1 tolerance: unknown member | tolerance belongs under [columns.NAME]"]],
    [
      "[internal]\nby = 1",
      ["2:1 internal.by: unknown member | by belongs under [group.internal], [group.external] or [controls]"],
    ],
    ["[internal]\nunique = true", ["2:1 internal.unique: unknown member | unique belongs at the top of the file"]],
    ["json = true", ["1:1 json: unknown member | --json is for the command line only"]],
    [
      "[columns.p]\ntyp = 1\nkind = 2",
      [
        "2:1 columns.p.typ: unknown member | did you mean type?",
        "3:1 columns.p.kind: unknown member | known here: type, tolerance, tolerance_by, map, internal_map, external_map, signed_by",
      ],
    ],
    [
      "__proto__ = 1\nconstructor = 2",
      [
        expect.stringContaining("1:1 __proto__: unknown member") as unknown as string,
        expect.stringContaining("2:1 constructor: unknown member") as unknown as string,
      ],
    ],
    ['key = "id"', ['1:7 key: expected a list of column names, not "id"']],
    ["key = []", ["1:7 key: expected a list of column names, not an empty list"]],
    [
      'key = ["a", 1, ""]',
      [
        "1:13 key[1]: expected the name of a column, or a table with internal, external, not 1",
        '1:16 key[2]: expected the name of a column, not ""',
      ],
    ],
    ['key = ["a", { internal = "b" }]', ["1:13 key[1]: external is missing"]],
    ['key = ["a", { internal = "b", external = "a" }]', ['1:7 key: column "a" is named twice']],
    ["unique = 1", ["1:10 unique: expected true or false, not 1"]],
    ['limit = "3"', ['1:9 limit: expected a whole number, not "3"']],
    ["limit = 1.0", ["1:9 limit: expected a whole number, not a number with a fraction"]],
    ["threads = 0", ['1:11 threads: expected a whole number from 1 to 256, not "0"']],
    ["memory = -1", ['1:10 memory: expected a size such as 2GiB, 512MB or a number of bytes, not "-1"']],
    ['delimiter = ";;"', ['1:13 delimiter: expected one byte, or tab, not ";;"']],
    ["header = true", ['1:10 header: expected "auto", "yes" or "no", not true']],
    ['format = "xml"', ['1:10 format: expected "auto", "csv" or "fix", not "xml"']],
    ['columns = ["a"]', ["1:11 columns: expected a table for each column, such as [columns.price], not a list"]],
    ['[internal]\ndelimiter = ";"\nquote = ";"', ["1:2 internal: delimiter and quote are the same byte"]],
    ["internal = 5", [expect.stringContaining("1:12 internal: expected a table with ") as unknown as string]],
    [
      '[internal]\ndecimal = "1"',
      [expect.stringContaining("2:11 internal.decimal: expected one ASCII character") as unknown as string],
    ],
    [
      '[internal]\nthousands = "-"',
      [expect.stringContaining("2:13 internal.thousands: expected one ASCII") as unknown as string],
    ],
    ['[internal]\ndecimal = ","\nthousands = ","', ["3:13 internal.thousands: the thousands mark is the decimal mark"]],
    [
      '[internal]\nthousands = "."',
      [
        `2:13 internal.thousands: the thousands mark is the decimal mark | the decimal mark is "." if decimal does not say otherwise`,
      ],
    ],
    [
      '[internal]\ncurrency = ["5$"]',
      [expect.stringContaining("2:13 internal.currency[0]: expected a currency mark that") as unknown as string],
    ],
    ['[internal]\ncurrency = ["$", "."]', ['2:12 internal.currency: the currency mark "." is a mark within numbers']],
    ['[internal]\nnegative = "brackets"', ['2:12 internal.negative: expected "plain" or "accounting", not "brackets"']],
    [
      '[internal]\ntimezone = "Asia/Tokio"',
      [
        '2:12 internal.timezone: expected a time zone such as Europe/London, UTC or +09:00, not "Asia/Tokio" (did you mean Asia/Tokyo?)',
      ],
    ],
    [
      '[internal]\ntimezone = "+9"',
      ['2:12 internal.timezone: expected a time zone such as Europe/London, UTC or +09:00, not "+9"'],
    ],
    ['[internal]\nnull = "NULL"', ['2:8 internal.null: expected a list of texts, not "NULL"']],
    ['[internal]\ntrailer = "TRL,{rows}"', ['2:11 internal.trailer: expected {count} or {sum:COLUMN}, not "{rows}"']],
    [
      '[internal]\ntrailer = "{count}"',
      [expect.stringContaining("2:11 internal.trailer: expected a control record that begins") as unknown as string],
    ],
    ['[internal]\nwhere = [{ column = "s" }]', ["2:10 internal.where[0]: in is missing"]],
    [
      '[internal]\nwhere = [{ column = "s", in = [] }]',
      ["2:31 internal.where[0].in: expected a list of texts, not an empty list"],
    ],
    [
      '[columns.p]\ntype = "number"',
      ['2:8 columns.p.type: expected "auto", "text", "decimal", "timestamp" or "date", not "number"'],
    ],
    [
      "[columns.p]\ntolerance = 0.01",
      [expect.stringContaining("2:13 columns.p.tolerance: expected an amount (0.01), ") as unknown as string],
    ],
    ['[columns.p]\ntolerance_by = { JPY = "1" }', ["2:16 columns.p.tolerance_by: column is missing"]],
    [
      '[columns.p]\ntolerance_by = { column = "c" }',
      ['2:16 columns.p.tolerance_by: no value has a tolerance, as in { column = "currency", JPY = "1" }'],
    ],
    [
      "[columns.p]\nmap = {}",
      ['2:7 columns.p.map: expected a table of codes such as { "1" = "BUY" }, not an empty table'],
    ],
    ['[columns.p]\nmap = { "" = "x" }', ['2:9 columns.p.map."": an empty value stays empty and cannot be mapped']],
    ['[columns.p]\nmap = { a = "x", a = "y" }', ["2:18 this is not TOML: defining a key multiple times is invalid"]],
    [
      '[columns.p]\nsigned_by = { column = "s", negative = ["S"], positive = ["B", "S"] }',
      ['2:13 columns.p.signed_by: the code "S" is both negative and positive'],
    ],
    ['[group.external]\nsum = ["q"]', ["1:8 group.external: by is missing"]],
    ['[group.external]\nby = ["q"]\nsum = ["q"]', ['3:8 group.external.sum[0]: column "q" is named twice']],
    ["[group.extern]", ["1:8 group.extern: unknown member | did you mean external?"]],
    ['[controls]\nby = "c"', ["1:2 controls: sum is missing"]],
    ["[state]\ncarry = false", [expect.stringContaining("1:2 state: unknown member") as unknown as string]],
  ];
  test.each(cases)("%j", (text, expected) => expect(faults(text)).toEqual(expected));

  test("everything at once, by line", () => {
    expect(faults("a = 1\n[columns.p]\ntype = 2\n[internal]\nb = 3\n")).toHaveLength(3);
  });
});

test("every column that a rule names, for the decision about the header", () => {
  const { rules } = read(`
    [internal]
    where = [{ column = "a", in = ["1"] }]
    [columns.b]
    tolerance_by = { column = "c", JPY = "1" }
    signed_by = { column = "d", negative = ["S"], positive = ["B"] }
    [group.external]
    by = ["e"]
    sum = ["f"]
    vwap = { g = "h" }
    [controls]
    sum = ["i"]
    by = "j"
  `);
  expect(namedColumns(rules).sort()).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
});

test("whatever is done to a file, it is read or refused with a line", () => {
  const whole = `key = ["id", { internal = "a", external = "b" }]
max_breaks = 3
[internal]
decimal = ","
timezone = "Asia/Tokyo"
where = [{ column = "s", in = ["F", ""] }]
[columns."p,q"]
tolerance = "5bps max 1.00"
tolerance_by = { column = "c", JPY = "1" }
[columns.side]
external_map = { "1" = "BUY" }
signed_by = { column = "s", negative = ["S"], positive = ["B"], on = "internal" }
[group.external]
by = ["o"]
vwap = { price = "q" }
[controls]
sum = ["x"]
`;
  const pieces = whole.match(/\w+|\s|./gs) as string[];
  const change = fc.record({
    at: fc.nat(pieces.length - 1),
    removed: fc.nat(3),
    put: fc.oneof(
      fc.constantFrom(...pieces, "", "[[", "]]", "{", "}", "=", '"', "'", "\\", "1.5", "true"),
      fc.string(),
    ),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const changed = [...pieces];
      for (const { at, removed, put } of changes) changed.splice(at, removed, put);
      try {
        read(changed.join(""));
      } catch (error) {
        if (!(error instanceof ReconError)) throw error;
        for (const { code, path, line, column, message } of error.items) {
          expect([code, path]).toEqual(["rules", "r.toml"]);
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(message).not.toContain("undefined");
        }
      }
    }),
    { numRuns: 3000 },
  );
});
