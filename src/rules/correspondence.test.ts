import { describe, expect, test } from "bun:test";
import { correspond, keyCandidates, uniqueColumns } from "./correspondence";

describe("columns that correspond", () => {
  const names = (internal: string, external: string) => {
    const [ours, theirs] = [internal.split(","), external.split(",")];
    return correspond(ours, theirs).map(
      (pair) => `${ours[pair.internal]}${pair.alike ? "~" : "="}${theirs[pair.external]}`,
    );
  };
  test("by the same name first", () => {
    expect(names("id,qty,price", "price,id,Qty")).toEqual(["id=id", "qty~Qty", "price=price"]);
    expect(names("qty,Qty", "Qty")).toEqual(["Qty=Qty"]);
  });
  test("by names that mean the same", () => {
    expect(names("trade_id,venue,quantity,price", "TradeID,MIC,Qty,Px")).toEqual([
      "trade_id~TradeID",
      "venue~MIC",
      "quantity~Qty",
      "price~Px",
    ]);
  });
  test("never by a name that is there twice", () => {
    expect(names("id,px,px", "id,px")).toEqual(["id=id"]);
    expect(names("id,px", "Px,PX,id")).toEqual(["id=id"]);
  });
});

test("keys: the first column if it nearly identifies rows, else what does", () => {
  const both = (columns: string[][], names = columns.map((_, i) => `c${i}`), theirs = names) =>
    keyCandidates(correspond(names, theirs), { internal: columns, external: columns }).map((key) =>
      key.map((pair) => names[pair.internal]),
    );
  const nearly = [["1", "2", "3", "4", "5", "6", "7", "8", "9", "9"], [..."abcdefghij"]];
  expect(both(nearly)).toEqual([["c0"], ["c1"]]);
  expect(both(nearly, ["id", "x"], ["ID", "x"])).toEqual([["x"]]);
  expect(
    both([
      ["a", "a", "b"],
      ["1", "2", "1"],
    ]),
  ).toEqual([["c0", "c1"]]);
  expect(
    both([
      ["a", "a"],
      ["1", "1"],
    ]),
  ).toEqual([]);
  expect(
    both([
      ["a", "", "b"],
      ["1", "2", "3"],
    ]),
  ).toEqual([["c1"]]);
});

test("columns that no two rows share", () => {
  expect(
    uniqueColumns([
      ["a", "b"],
      ["1", "1"],
    ]),
  ).toEqual([[0]]);
  expect(
    uniqueColumns([
      ["a", "a"],
      ["1", "2"],
      ["", "x"],
    ]),
  ).toEqual([[1]]);
});
