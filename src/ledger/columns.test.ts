import { expect, test } from "bun:test";
import { pairColumns, type ColumnChoice, type SideColumns } from "./columns";
import { ReconError } from "../errors";

const side = (name: "internal" | "external", names: string, rest: Partial<SideColumns> = {}): SideColumns => ({
  side: name,
  path: `${name}.csv`,
  line: 1,
  names: names.split(","),
  noHeaderBecause: null,
  undecodable: new Set(),
  ...rest,
});

const pairs = (text: string | undefined) =>
  text?.split(",").map((pair) => {
    const [internal, external] = pair.split("=") as [string, string | undefined];
    return { internal, external: external ?? internal };
  }) ?? null;

interface Options {
  key?: string;
  compare?: string;
  ignore?: string;
}

function choose(internal: string | SideColumns, external: string | SideColumns, options: Options = {}) {
  const choice: ColumnChoice = {
    key: pairs(options.key),
    compare: pairs(options.compare),
    ignore: options.ignore?.split(",") ?? [],
  };
  return pairColumns(
    typeof internal === "string" ? side("internal", internal) : internal,
    typeof external === "string" ? side("external", external) : external,
    choice,
  );
}

/** `name:internal:external` for each column, key first. */
function paired(...of: Parameters<typeof choose>): string {
  const { key, compare } = choose(...of);
  const text = (columns: typeof key) => columns.map((c) => `${c.name}:${c.internal}:${c.external}`).join(" ");
  return `${text(key)} | ${text(compare)}`;
}

function refused(...of: Parameters<typeof choose>) {
  try {
    choose(...of);
  } catch (error) {
    if (error instanceof ReconError) return error.items;
    throw error;
  }
  throw new Error("not refused");
}

const noteCodes = (...of: Parameters<typeof choose>) => choose(...of).notes.map(({ code }) => code);

test("the first internal column is the key, the others both have are compared in internal order", () => {
  expect(paired("id,price,qty", "qty,id,price")).toBe("id:0:1 | price:1:2 qty:2:0");
});

test("keys and compared columns of other names", () => {
  expect(paired("id,px,qty", "ref,qty,price", { key: "id=ref" })).toBe("id:0:0 | qty:2:1");
  expect(paired("id,px", "ref,price", { key: "id=ref", compare: "px=price" })).toBe("id:0:0 | px:1:1");
});

test("a composite key", () => {
  expect(paired("a,b,qty", "b,a,qty", { key: "b,a" })).toBe("b:1:0 a:0:1 | qty:2:2");
});

test("ignored columns are not compared", () => {
  expect(paired("id,px,qty", "id,px,qty", { ignore: "px" })).toBe("id:0:0 | qty:2:2");
});

test("columns that one side has are noted", () => {
  const { notes } = choose("id,px,book", "id,px,desk,venue");
  expect(notes.map(({ message }) => message)).toEqual([
    "only internal.csv has book: not compared",
    "only external.csv has desk, venue: not compared",
  ]);
  expect(noteCodes("id,px,book", "id,px", { ignore: "book" })).toEqual([]);
});

test("nothing left to compare is noted", () => {
  expect(noteCodes("id", "id")).toEqual(["keys_only"]);
});

test("an ignored name that no side has is noted", () => {
  expect(noteCodes("id,px", "id,px", { ignore: "price" })).toEqual(["columns"]);
});

test("a name that is there twice: refused where it is compared by default, addressed by number", () => {
  expect(refused("id,qty,qty", "id,qty")).toMatchObject([{ code: "columns", path: "internal.csv", line: 1 }]);
  expect(refused("id,qty", "id,qty,qty")[0]).toMatchObject({ path: "external.csv" });
  expect(refused("id,id,qty", "id,qty")[0]?.message).toContain('"id"');
  expect(refused("id,a,a", "id,a,a", { compare: "a" })).toHaveLength(2);
  expect(paired("id,qty,qty", "id,qty", { compare: "qty[2]=qty" })).toBe("id:0:0 | qty[2]:2:1");
  expect(paired("id,qty,qty", "id,other")).toBe("id:0:0 | ");
  expect(paired("id,id,qty", "id,qty", { key: "id[2]=id" })).toBe("id[2]:1:0 | qty:2:1");
});

test("--ignore of a name that is there twice", () => {
  expect(paired("id,qty,qty,px", "id,qty,px", { ignore: "qty" })).toBe("id:0:0 | px:3:2");
  expect(paired("id,qty,qty", "id,qty", { ignore: "qty[1]" })).toBe("id:0:0 | qty[2]:2:1");
  expect(paired("id,qty,qty", "id,qty,qty", { ignore: "qty[1]" })).toBe("id:0:0 | qty[2]:2:2");
});

test("a column that is really called qty[2]", () => {
  expect(paired("id,qty,qty[2]", "id,qty,qty[2]", { compare: "qty[2]" })).toBe("id:0:0 | qty[2]:2:2");
});

test("a number beyond the columns of that name", () => {
  expect(refused("id,qty,qty", "id,qty", { compare: "qty[3]=qty" })[0]?.message).toContain('"qty[3]"');
});

test("what is not there is refused with what is, on both sides at once", () => {
  const items = refused("id,px", "id,px", { key: "trade", compare: "price" });
  expect(items.map(({ path }) => path)).toEqual(["internal.csv", "external.csv", "internal.csv", "external.csv"]);
  expect(items[0]?.message).toBe('there is no column "trade"; there are id, px');
});

test("the default key must be on the other side", () => {
  const [item] = refused("trade_id,px", "Trade ID,px");
  expect(item).toMatchObject({ path: "external.csv", hint: 'did you mean "Trade ID"? --key trade_id=Trade ID' });
  expect(item?.message).toContain("the key unless --key says otherwise");
});

test.each([
  ["trade_id", "TradeId", true],
  ["trade_id", "trade_di", true],
  ["quantity", "quantty", true],
  ["px", "qx", false],
  ["price", "amount", false],
])("%s is near %s: %p", (asked, there, near) => {
  const [item] = refused(`${asked},q`, `${there},q`);
  expect(item?.hint.includes("did you mean")).toBe(near);
});

test("why there are no names is said", () => {
  const external = side("external", "c1,c2", { line: 0, noHeaderBecause: '"10.5" in it is a number' });
  const [item] = refused("id,px", external);
  expect(item).toMatchObject({ line: 0, hint: "--external-columns names the columns of a file without a header" });
  expect(item?.message).toContain('read without a header: "10.5" in it is a number');
});

test("a column that is named twice, or compared and ignored", () => {
  expect(refused("id,px", "id,px", { compare: "px,px" })[0]?.message).toContain("twice");
  expect(refused("id,px", "id,px", { key: "id,id" })[0]?.message).toContain("twice");
  expect(refused("id,px", "id,px", { compare: "px", ignore: "px" })[0]?.message).toContain("--ignore");
});

test("names that cannot be read are refused only where they are needed", () => {
  const internal = side("internal", "id,Pr\ufffd,Ca\ufffd", { undecodable: new Set([1, 2]) });
  const external = side("external", "id,Pr\ufffd", { undecodable: new Set([1]) });
  expect(refused(internal, external)[0]).toMatchObject({ code: "encoding", path: "internal.csv" });
  expect(paired(internal, side("external", "id,px"))).toBe("id:0:0 | ");
});

test("many names are cut in messages", () => {
  const names = Array.from({ length: 50 }, (_, at) => `column${at}`).join(",");
  expect(refused(names, names, { key: "other" })[0]?.message).toContain("column19 and 30 more");
});
