import { afterEach, beforeEach, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OutputFile } from "./output-file";

let folder: string;
beforeEach(() => void (folder = fs.mkdtempSync(join(tmpdir(), "recon-output-"))));
afterEach(() => fs.rmSync(folder, { recursive: true }));
const read = (name: string) => fs.readFileSync(join(folder, name), "utf8");

test("nothing is there until it is published, then all of it with its mode", async () => {
  using file = await OutputFile.create(join(folder, "breaks.csv"), 0o640);
  fs.writeSync(file.fd, "new\n");
  expect(fs.readdirSync(folder)).toEqual([]);
  file.sync();
  file.publish();
  expect(fs.readdirSync(folder)).toEqual(["breaks.csv"]);
  expect(read("breaks.csv")).toBe("new\n");
  expect(fs.statSync(join(folder, "breaks.csv")).mode & 0o777).toBe(0o640);
});

test("the old file stays unless the new one is published", async () => {
  fs.writeFileSync(join(folder, "breaks.csv"), "old\n");
  {
    using file = await OutputFile.create(join(folder, "breaks.csv"), 0o600);
    fs.writeSync(file.fd, "new\n");
  }
  expect(fs.readdirSync(folder)).toEqual(["breaks.csv"]);
  expect(read("breaks.csv")).toBe("old\n");
});

test("a link is followed, not replaced", async () => {
  fs.writeFileSync(join(folder, "real.csv"), "old\n");
  fs.symlinkSync("real.csv", join(folder, "link.csv"));
  using file = await OutputFile.create(join(folder, "link.csv"), 0o600);
  fs.writeSync(file.fd, "new\n");
  file.publish();
  expect(fs.lstatSync(join(folder, "link.csv")).isSymbolicLink()).toBe(true);
  expect(read("real.csv")).toBe("new\n");
});

test("it knows which files it would replace, by any name", async () => {
  fs.writeFileSync(join(folder, "a.csv"), "");
  fs.linkSync(join(folder, "a.csv"), join(folder, "b.csv"));
  using file = await OutputFile.create(join(folder, "a.csv"), 0o600);
  using same = await OutputFile.create(join(folder, "..", folder.split("/").at(-1)!, "a.csv"), 0o600);
  using other = await OutputFile.create(join(folder, "c.csv"), 0o600);
  expect(file.replaces(join(folder, "b.csv"))).toBe(true);
  expect(file.replaces(join(folder, "c.csv"))).toBe(false);
  expect(file.collides(same)).toBe(true);
  expect(file.collides(other)).toBe(false);
});

test("folders and missing folders are refused with their path", async () => {
  expect(OutputFile.create(folder, 0o600)).rejects.toThrow("it is a folder");
  expect(OutputFile.create(join(folder, "no/breaks.csv"), 0o600)).rejects.toThrow("no such file or directory");
});
