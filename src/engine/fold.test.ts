// Rows folded by the engine, held against a slow model in big integers: the same bytes for any number of threads, in
// memory and spilled.
import { afterAll, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import type { FoldSpec, LedgerSpec } from "../generated/abi";
import { Engine } from "./engine";

const engine = Engine.load();
const fds: number[] = [];
afterAll(() => fds.forEach((fd) => fs.closeSync(fd)));

function memoryFile(name: string, text = ""): number {
  const fd = engine.memoryFile(name);
  fds.push(fd);
  fs.writeSync(fd, text);
  return fd;
}

/** A ledger of the columns id, quantity, price and side in one file for each text. */
function ledger(texts: string[], rules: Partial<LedgerSpec> = {}): LedgerSpec {
  const files = texts.map((text, i) => ({
    fd: memoryFile(`${i}`, text),
    path: `${i}.csv`,
    size: Buffer.byteLength(text),
  }));
  return { files, delimiter: ",".charCodeAt(0), width: 4, ...rules };
}

const columns = {
  names: ["id", "quantity", "price", "side"],
  by: [0],
  sum: [1],
  vwap: [{ price: 2, weight: 1 }],
};

async function fold(spec: LedgerSpec, more: Partial<FoldSpec> = {}) {
  const fd = memoryFile("folded");
  const result = await engine.run({ fold: { ...columns, ledger: spec, output_fd: fd, threads: 1, ...more } });
  const { size } = fs.fstatSync(fd);
  const bytes = Buffer.alloc(size);
  fs.readSync(fd, bytes, 0, size, 0);
  return { result, lines: bytes.toString().split("\n").slice(0, -1) };
}

test("groups stand where their first rows stood, with sums, averages and the places of all rows", async () => {
  const { result, lines } = await fold(
    ledger(["B,100,10.00,x\nA,1,0.1,x\n\nB,100,10.02,x\n", '"B",100,10.04,x\n,5,5,x\nC,,1,x\nC,,,x\n"D,""1",-3,7,x\n']),
  );
  expect(lines).toEqual([
    'B,300,3006/300,"1,4,1:1"',
    'A,1,0.1/1,"2"',
    ',5,25/5,"1:2"',
    'C,,,"1:3,1:4"',
    '"D,""1",-3,21/3,"1:5"',
  ]);
  expect(result).toMatchObject({ outcome: "done", rows: 8, ignored: 1, filtered: 0, groups: 5 });
});

test("values are read under the rules of the ledger", async () => {
  const rules: Partial<LedgerSpec> = {
    number: { decimal: ",".charCodeAt(0), thousands: ".".charCodeAt(0), negative: "accounting", currency: [] },
    delimiter: ";".charCodeAt(0),
    fold_case: true,
    nulls: ["n/a"],
    where: [{ column: 3, in: ["b", "s"] }],
    signs: [{ column: 1, by: 3, negative: ["s"], positive: ["b"] }],
  };
  const text = "K;1.000;2,5;B\nk;400,5;2;s\nK;n/a;9;b\nK;1;1;other\nq;1;1;B\n";
  const { result, lines } = await fold(ledger([text], rules));
  expect(lines).toEqual(['K,"599,5","1699/599,5","1,2,3"', 'q,1,1/1,"5"']);
  expect(result).toMatchObject({ rows: 4, filtered: 1, groups: 2 });
});

test("bad rows, and groups whose weights add up to zero, are events", async () => {
  const { result, lines } = await fold(ledger(['A,x,1,"s"\nB,5,1,s\nB,-5,2,s\nA,1,1,s\nZ,1\n']));
  const none = "the rows of its group have no average price: quantity adds up to 0";
  expect(lines).toEqual([
    `,,,1,rejected,bad_row,"column quantity holds ""x"", which is no number in this side's format","A,x,1,""s"""`,
    `,,,2,rejected,bad_row,${none},"B,5,1,s"`,
    `,,,3,rejected,bad_row,${none},"B,-5,2,s"`,
    'A,1,1/1,"4"',
    ',,,5,rejected,bad_row,2 fields where 4 are expected,"Z,1"',
  ]);
  expect(result).toMatchObject({ outcome: "done", rows: 5 });
});

test("a quote that never closes, and a trailer that does not hold, end it", async () => {
  const open = await fold(ledger(['A,1,1,s\nB,"1,1,s\n']));
  expect(open.result).toMatchObject({
    outcome: "failed",
    error_count: 1,
    errors: [{ path: "0.csv", line: 2, column: 3 }],
  });
  const spec = ledger(["A,1,1,7\nB,2,1,8\n"]);
  spec.files[0]!.trailer = { line: 3, count: "2", sums: [{ column: 3, text: "15" }] };
  expect((await fold(spec)).result).toMatchObject({ outcome: "done" });
  spec.files[0]!.trailer = { line: 3, count: "3", sums: [{ column: 3, text: "14" }] };
  expect((await fold(spec)).result).toMatchObject({
    outcome: "failed",
    error_count: 2,
    errors: [{ line: 3 }, { line: 3 }],
  });
});

test("many rows come to what a slow model says, however they are read", async () => {
  let state = 12345;
  const random = (below: number) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % below;
  const groups = new Map<string, { lines: number[]; quantity: bigint; product: bigint }>();
  let text = "";
  for (let line = 1; line <= 30_000; line++) {
    const id = `K${random(9000)}`;
    const quantity = BigInt(random(1000) + 1);
    const price = BigInt(random(1_000_000));
    text += `${random(5) === 0 ? `"${id}"` : id},${quantity},${price}e-4,s\n`;
    const group = groups.get(id) ?? { lines: [], quantity: 0n, product: 0n };
    groups.set(id, group);
    group.lines.push(line);
    group.quantity += quantity;
    group.product += quantity * price;
  }
  const expected = [...groups].map(([id, { lines, quantity, product }]) => {
    const digits = `${product}`.padStart(5, "0");
    const fraction = digits.slice(-4).replace(/0+$/, "");
    const sum = digits.slice(0, -4) + (fraction === "" ? "" : `.${fraction}`);
    return `${id},${quantity},${sum}/${quantity},"${lines.join()}"`;
  });
  const spec = ledger([text]);
  const ids = (lines: string[]) => lines.map((line) => line.replaceAll('"', ""));
  for (const more of [{}, { threads: 3 }, { threads: 2, memory_bytes: 1, temp_directory: tmpdir() }]) {
    const { result, lines } = await fold(spec, more);
    expect(result).toMatchObject({ rows: 30_000, groups: groups.size });
    expect(ids(lines)).toEqual(ids(expected));
  }
});
