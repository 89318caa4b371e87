// Rules against the columns of two ledgers: places, types, and what is said where they do not fit.
import { describe, expect, test } from "bun:test";
import { ReconError } from "../errors";
import type { ColumnSpec } from "../generated/abi";
import { checkTypes } from "./column-types";
import { readRules } from "./load";
import { Translation, type SideNames } from "./translate";

const side = (path: string, names: string, folds: Partial<SideNames> = {}): SideNames => ({
  path,
  names: names.split(","),
  compared: names.split(","),
  trim: false,
  foldCase: false,
  ...folds,
});
const ours = side("ours.csv", "id,venue,side,price,qty,ccy,td,ts");
const theirs = side("theirs.csv", "ts,td,qty,px,mic,id,ccy,status");
const pairs = [
  { internal: "venue", external: "mic" },
  { internal: "price", external: "px" },
];
const key: ColumnSpec[] = [
  { name: "id", internal: 0, external: 5 },
  { name: "venue", internal: 1, external: 4 },
];
const compare: ColumnSpec[] = [
  { name: "price", internal: 3, external: 3 },
  { name: "qty", internal: 4, external: 2 },
  { name: "ccy", internal: 5, external: 6 },
  { name: "td", internal: 6, external: 1 },
  { name: "ts", internal: 7, external: 0 },
];

function translate(toml: string, internal = ours, external = theirs) {
  const { rules } = readRules("r.toml", toml);
  checkTypes(rules);
  const translation = new Translation(rules, { internal, external }, pairs);
  const comparison = translation.comparison(key, compare);
  const spec = {
    internal: translation.reading("internal", true),
    external: translation.reading("external", true),
    ...comparison,
    column: (name: string) => comparison.compare.find((column) => column.name === name),
  };
  translation.finish();
  return spec;
}

function faults(toml: string, internal = ours, external = theirs): string[] {
  try {
    translate(toml, internal, external);
  } catch (error) {
    if (!(error instanceof ReconError)) throw error;
    return error.items.map(({ line, message, hint }) => `${line} ${message}${hint === "" ? "" : ` | ${hint}`}`);
  }
  return [];
}

describe("types", () => {
  const typeOf = (toml: string) => translate(`[columns.price]\n${toml}`).column("price")?.type;

  test("what is declared, or what the other rules ask for", () => {
    expect(typeOf('type = "text"')).toBe("text");
    expect(typeOf("")).toBe("auto");
    expect(typeOf('tolerance = "0.01"')).toBe("decimal");
    expect(typeOf('type = "auto"\ntolerance = "5bps"')).toBe("decimal");
    expect(typeOf('tolerance = "500ms"')).toBe("timestamp");
    expect(typeOf('tolerance = "1d"')).toBe("date");
    expect(typeOf('tolerance_by = { column = "ccy", JPY = "1" }')).toBe("decimal");
    expect(typeOf('signed_by = { column = "side", negative = ["S"], positive = ["B"] }')).toBe("decimal");
    expect(translate("").column("price")).toEqual(compare[0] as ColumnSpec);
  });

  test("rules of one column that do not go together", () => {
    const fault = (toml: string) => faults(`[columns.price]\n${toml}`)[0];
    expect(fault('type = "text"\ntolerance = "0.01"')).toBe(
      '3 columns.price.tolerance: a tolerance in numbers does not fit column "price": it is declared text | a tolerance in numbers makes a column decimal',
    );
    expect(fault('type = "timestamp"\ntolerance = "1d"')).toContain("is declared timestamp | a day of 24 hours is 24h");
    expect(fault('type = "decimal"\ntolerance = "2s"')).toContain("a tolerance in times does not fit");
    expect(fault('type = "date"\ntolerance = "5bps"')).toContain("a tolerance that is a share does not fit");
    expect(fault('tolerance = "1d"\ntolerance_by = { column = "ccy", JPY = "1" }')).toContain(
      "its other rules make date",
    );
    expect(fault('type = "text"\nsigned_by = { column = "side", negative = ["S"], positive = ["B"] }')).toContain(
      "a sign does not fit",
    );
  });

  test("key columns have none", () => {
    expect(faults('[columns.id]\ntype = "decimal"')).toEqual([
      '2 columns.id.type: "id" is a key column: keys are compared as bytes, after --trim, --fold-case and maps',
    ]);
    expect(faults('[columns.venue]\ntype = "auto"\ntolerance = "1"')[0]).toStartWith("3 columns.venue.tolerance:");
    expect(faults('[columns.id]\ntype = "text"')).toEqual([]);
  });
});

describe("places", () => {
  test("columns go by the internal name on both sides", () => {
    const spec = translate(`
      [columns.venue]
      map = { XLON = "L" }
      [columns.price]
      tolerance_by = { column = "ccy", JPY = "1", USD = "0.01" }
      [controls]
      sum = ["price"]
      by = "ccy"
    `);
    expect(spec.internal.maps).toEqual([{ column: 1, codes: [{ from: "XLON", to: "L" }] }]);
    expect(spec.external.maps).toEqual([{ column: 4, codes: [{ from: "XLON", to: "L" }] }]);
    expect(spec.column("price")?.tolerance_by?.column).toBe(5);
    expect(spec.controls).toEqual([{ name: "price", internal: 3, external: 3, by: { internal: 5, external: 6 } }]);
  });

  test("a side's map wins over that of both; one of both leaves out a side without the column", () => {
    const spec = translate(
      '[columns.venue]\nmap = { a = "A" }\nexternal_map = { b = "B" }\n[columns.side]\nmap = { "1" = "B" }',
    );
    expect(spec.internal.maps.map(({ column, codes }) => [column, codes[0]?.to])).toEqual([
      [1, "A"],
      [2, "B"],
    ]);
    expect(spec.external.maps.map(({ column, codes }) => [column, codes[0]?.to])).toEqual([[4, "B"]]);
  });

  test("a sign is taken on every side that has the column, or on one", () => {
    const signs = (rule: string, external = theirs) => {
      const spec = translate(
        `[columns.qty]\nsigned_by = { ${rule}, negative = ["S"], positive = ["B"] }`,
        ours,
        external,
      );
      return [spec.internal.signs, spec.external.signs].map(([sign]) => (sign ? [sign.column, sign.by] : null));
    };
    expect(signs('column = "side"')).toEqual([[4, 2], null]);
    expect(signs('column = "status"')).toEqual([null, [2, 7]]);
    expect(signs('column = "ccy"')).toEqual([
      [4, 5],
      [2, 6],
    ]);
    expect(signs('column = "ccy", on = "external"')).toEqual([null, [2, 6]]);
  });

  test("filters go by the names of their own file, or by the internal name", () => {
    const spec = translate(
      '[external]\nwhere = [{ column = "px", in = ["1"] }, { column = "mic", in = ["a"] }]\n[internal]\nwhere = [{ column = "td", in = [""] }]',
    );
    expect(spec.external.where).toEqual([
      { column: 3, in: ["1"] },
      { column: 4, in: ["a"] },
    ]);
    expect(spec.internal.where).toEqual([{ column: 6, in: [""] }]);
  });

  test("formats, and a zone only where there are times", () => {
    const { rules } = readRules("r.toml", '[internal]\ntimezone = "+09:00"\ndate_format = "dd/MM/yyyy"\nnull = ["-"]');
    const translation = new Translation(rules, { internal: ours, external: theirs }, []);
    expect(translation.reading("internal", true)).toEqual({
      number: { decimal: 46, thousands: null, negative: "plain", currency: [] },
      date_format: "dd/MM/yyyy",
      zone: { name: "+09:00", offset_s: 32400, changes: [] },
      nulls: ["-"],
      maps: [],
      signs: [],
      where: [],
    });
    expect(translation.reading("internal", false).zone).toBeNull();
    expect(translation.reading("external", true).zone).toBeNull();
  });
});

describe("rules of one column", () => {
  test("may not be said twice, whatever the name", () => {
    expect(faults('[columns.price]\ntype = "decimal"\n[columns."price[1]"]\ntype = "text"')).toEqual([
      '3 columns."price[1]": the column has rules already, as "price"',
    ]);
    expect(faults('[columns.venue]\nexternal_map = { a = "b" }\n[columns.mic]\nexternal_map = { a = "c" }')).toEqual([
      "3 columns.mic: another rule has a map for this column already",
    ]);
    expect(faults('[columns.qty]\nsigned_by = { column = "qty", negative = ["S"], positive = ["B"] }')[0]).toContain(
      'column "qty" cannot give itself a sign',
    );
  });

  test("hold for every way of naming it", () => {
    expect(translate('[columns."price[1]"]\ntype = "decimal"').column("price")?.type).toBe("decimal");
  });

  test("that have nothing to compare are noted", () => {
    expect(translate('[columns.side]\ntype = "text"\n[columns.price]\ntype = "decimal"').notes).toEqual([
      { code: "columns", message: 'column "side" is not compared: its type and tolerance are not used' },
    ]);
    expect(translate('[columns.side]\ninternal_map = { a = "b" }').notes).toEqual([]);
  });
});

describe("columns that are not there", () => {
  const theirNames = "there are ts, td, qty, px, mic, id, ccy, status";
  const ourNames = "there are id, venue, side, price, qty, ccy, td, ts";

  test.each([
    [
      '[columns.prise]\ntype = "decimal"',
      [`2 columns.prise.type: ours.csv has no column "prise"; ${ourNames} | did you mean "price"?`],
    ],
    [
      '[columns.px]\ntype = "decimal"',
      [
        `2 columns.px.type: ours.csv has no column "px"; ${ourNames} | rules go by the name in the internal ledger: price`,
      ],
    ],
    [
      '[columns.price]\ntolerance_by = { column = "currency", JPY = "1" }',
      [`2 columns.price.tolerance_by.column: ours.csv has no column "currency"; ${ourNames}`],
    ],
    [
      '[columns.qty]\nsigned_by = { column = "way", negative = ["S"], positive = ["B"] }',
      [`2 columns.qty.signed_by.column: ours.csv has no column "way"; ${ourNames}`],
    ],
    [
      '[columns.qty]\nsigned_by = { column = "side", negative = ["S"], positive = ["B"], on = "external" }',
      [`2 columns.qty.signed_by.column: theirs.csv has no column "side"; ${theirNames}`],
    ],
    [
      '[columns.side]\nexternal_map = { "1" = "B" }',
      [`2 columns.side.external_map: theirs.csv has no column "side"; ${theirNames}`],
    ],
    [
      '[external]\nwhere = [{ column = "state", in = ["F"] }]',
      [`2 external.where[0].column: theirs.csv has no column "state"; ${theirNames}`],
    ],
    [
      '[controls]\nsum = ["price", "fee"]',
      [
        `2 controls.sum[1]: ours.csv has no column "fee"; ${ourNames}`,
        `2 controls.sum[1]: theirs.csv has no column "fee"; ${theirNames}`,
      ],
    ],
  ])("%j", (toml, expected) => expect(faults(toml)).toEqual(expected));

  test("a name that is there twice", () => {
    const twice = side("ours.csv", "id,px,px");
    expect(faults('[internal]\nwhere = [{ column = "px", in = ["1"] }]', twice)).toEqual([
      '2 internal.where[0].column: column "px" is there 2 times in ours.csv | "px[1]" is the first of them',
    ]);
    expect(faults('[internal]\nwhere = [{ column = "px[2]", in = ["1"] }]', twice)).toEqual([]);
  });
});

test("codes that are one once letters are folded", () => {
  const folding = side("ours.csv", "id,venue,side,price,qty,ccy,td,ts", { foldCase: true, trim: true });
  const signs = '[columns.qty]\nsigned_by = { column = "side", negative = ["S"], positive = ["s "] }';
  expect(faults(signs)).toEqual([]);
  expect(faults(signs, folding)[0]).toContain('the code "s " is both negative and positive once');
  const map = '[columns.side]\ninternal_map = { A = "1", a = "2" }';
  expect(faults(map)).toEqual([]);
  expect(faults(map, folding)[0]).toContain('the code "a" is there twice once');
  expect(faults('[columns.side]\ninternal_map = { A = "1", a = "1" }', folding)).toEqual([]);
});
