import { expect, test } from "bun:test";
import { keyParts } from "./explain";

test("a key of one column is taken as it is", () => {
  expect(keyParts('a,"b"', 1)).toEqual(['a,"b"']);
});

test("a key of several columns is a CSV record", () => {
  expect(keyParts("T1,XLON", 2)).toEqual(["T1", "XLON"]);
  expect(keyParts('"A,1",XLON', 2)).toEqual(["A,1", "XLON"]);
  expect(keyParts('"say ""hi""",', 2)).toEqual(['say "hi"', ""]);
  expect(keyParts(",b,", 3)).toEqual(["", "b", ""]);
  expect(() => keyParts("T1", 2)).toThrow("has 1 part,");
});
