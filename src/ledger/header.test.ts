import { expect, test } from "bun:test";
import { decideHeader, decideHeaders, valueKind, type HeaderEvidence } from "./header";

const side = (path: string, records: string[], rest: Partial<HeaderEvidence> = {}): HeaderEvidence => {
  const [first, ...seconds] = records.map((record) => record.split(","));
  return { path, mode: "auto", columns: null, first: first as string[], seconds, wanted: [], ...rest };
};

/** `yes`, `no` for each side, or `ask`. */
function decided(internal: HeaderEvidence, external: HeaderEvidence): string {
  const decisions = decideHeaders(internal, external);
  if (decisions === null) return "ask";
  return [decisions.internal, decisions.external].map(({ header }) => (header ? "yes" : "no")).join(" ");
}

type Row = [what: string, internal: string[], external: string[], wanted: string[], expected: string];
const table: Row[] = [
  ["a named key", ["id,name", "a,b"], ["id,name", "a,b"], ["id"], "yes yes"],
  ["a named key, no rows", ["id,name"], ["id,name"], ["id"], "yes yes"],
  ["an addressed key", ["id,id", "a,b"], ["id,id", "a,b"], ["id[2]"], "yes yes"],
  ["a column really called id[2]", ["id[2],x", "a,b"], ["id[2],x", "a,b"], ["id[2]"], "yes yes"],
  ["numbers under names", ["id,qty", "a,1"], ["id,qty", "a,2"], [], "yes yes"],
  ["a number under a name on one side, names agree", ["id,qty", "a,1"], ["id,qty", "a,x"], [], "yes yes"],
  ["the same, no rows on the other side", ["id,qty"], ["id,qty", "a,1"], [], "yes yes"],
  ["a number on one side, no name agrees", ["id,qty", "a,1"], ["ref,amount", "a,x"], [], "yes no"],
  ["headerless text that begins with the same trade", ["T1,ABC", "T2,DEF"], ["T1,ABC", "T2,DEF"], [], "ask"],
  ["text on both sides, nothing in common", ["T1,ABC", "T2,DEF"], ["T3,GHI", "T4,JKL"], [], "ask"],
  ["the named key is nowhere", ["ref,name", "a,b"], ["ref,name", "a,b"], ["id"], "ask"],
  ["numbers in the first records", ["T1,10.5", "T2,11"], ["T1,10.5", "T2,11"], [], "no no"],
  ["a number in one first record, text in the other", ["T1,10.5"], ["T1,ABC", "T2,DEF"], [], "no no"],
  ["a date in the first records", ["T1,2026-03-02"], ["T1,2026-03-02"], [], "no no"],
  ["an empty field", ["id,,qty", "a,b,1"], ["id,,qty", "a,b,1"], ["id"], "no no"],
  ["a blank field", ["id, ,qty", "a,b,1"], ["id, ,qty", "a,b,1"], ["id"], "no no"],
  ["one empty last field", ["id,qty,", "a,1,"], ["id,qty", "a,1"], [], "yes yes"],
  ["two empty last fields", ["id,qty,,", "a,1,,"], ["id,qty,,", "a,1,,"], [], "no no"],
  ["header against data", ["id,qty", "a,1"], ["a,1", "b,2"], [], "yes no"],
  ["a numeric name", ["id,2026", "a,1"], ["id,2026", "a,1"], ["id"], "no no"],
  ["one column, header only", ["id"], ["id"], ["id"], "yes yes"],
];
for (const [what, internal, external, wanted, expected] of table) {
  test(what, () => {
    expect(decided(side("i.csv", internal, { wanted }), side("e.csv", external, { wanted }))).toBe(expected);
    const turned = decided(side("e.csv", external, { wanted }), side("i.csv", internal, { wanted }));
    expect(turned).toBe(expected.split(" ").reverse().join(" "));
  });
}

test("an option decides", () => {
  const data = side("i.csv", ["T1,10.5"], { mode: "yes" });
  const names = side("e.csv", ["id,qty", "a,1"], { mode: "no" });
  expect(decided(data, names)).toBe("yes no");
});

test("an option on one side is evidence for names on the other", () => {
  expect(decided(side("i.csv", ["id,name"], { mode: "yes" }), side("e.csv", ["ref,name"]))).toBe("yes yes");
  expect(decided(side("i.csv", ["id,name"], { mode: "no" }), side("e.csv", ["id,name"]))).toBe("no no");
});

test("--columns means no header, and its names are evidence for the other side", () => {
  const columns = ["id", "name"];
  expect(decided(side("i.csv", ["T1,ABC"], { columns }), side("e.csv", ["id,other"]))).toBe("no yes");
  expect(decided(side("i.csv", ["T1,ABC"], { columns }), side("e.csv", ["T1,ABC"]))).toBe("no no");
  expect(decided(side("i.csv", ["x,y"], { columns, mode: "yes" }), side("e.csv", ["x,y"], { columns }))).toBe("yes no");
});

test("each side is asked for its own name of a key", () => {
  const internal = side("i.csv", ["trade,name", "a,b"], { wanted: ["trade"] });
  expect(decided(internal, side("e.csv", ["ref,text", "a,b"], { wanted: ["ref"] }))).toBe("yes yes");
});

test("a record further on counts where the files of a pattern begin alike", () => {
  const files = side("i*.csv", ["id,qty", "a,b", "a,1"]);
  expect(decided(files, side("e.csv", ["id,qty"]))).toBe("yes yes");
});

test("what was seen is said", () => {
  const decisions = decideHeaders(side("i.csv", ["id,qty", "a,1"]), side("e.csv", ["T1,10.5"]));
  expect(decisions?.internal.reason).toBe('"1" stands under "qty"');
  expect(decisions?.external.reason).toBe('"10.5" in it is a number');
});

test("a ledger of its own", () => {
  expect(decideHeader(side("i.csv", ["id,name", "a,b"])).header).toBe(true);
  expect(decideHeader(side("i.csv", ["id,1", "a,b"])).header).toBe(false);
  expect(decideHeader(side("i.csv", ["id,name"], { mode: "no" })).header).toBe(false);
});

const numbers = ["0", "-1", "+1.5", "1,000.50", "1.000,50", ".5", "5.", "1e5", "1E-5", "20260302", " 7 ", "007"];
const dates = [
  "2026-03-02",
  "02/03/2026",
  "2/3/26",
  "2026-03-02T14:30:01.123Z",
  "2026-03-02 14:30+01:00",
  "2026-W10-1",
];
const moreDates = ["20260302-14:30:01.123", "20260302T143001Z", "2026-03", "02/03/2026 14:30"];
const times = ["9:30", "14:30", "14:30:01", "14:30:01.123456", "14:30Z"];
const texts = ["", "id", "T1", "1A", "0x1F", "NaN", "-", ".", "1e", "e5", "5%", "$5", "(5)", "12-34", "a-b-c", "BRK.B"];
test.each(numbers)("%s is a number", (text) => expect(valueKind(text)).toBe("number"));
test.each([...dates, ...moreDates])("%s is a date", (text) => expect(valueKind(text)).toBe("date"));
test.each(times)("%s is a time", (text) => expect(valueKind(text)).toBe("time"));
test.each(texts)("%s is text", (text) => expect(valueKind(text)).toBeNull());
