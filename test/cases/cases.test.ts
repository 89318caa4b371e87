// Every case of a delivered part is one test; the others show as skipped with the part they wait for.
import { expect, test } from "bun:test";
import { requireExecutable } from "../executable";
import { loadCases, notDelivered, runCase } from "./run";

requireExecutable();

for (const case_ of loadCases()) {
  const reason = notDelivered(case_);
  const name = `${case_.id} ${case_.title}`;
  if (reason !== null) test.skip(`${name} (${reason})`, () => {});
  else test(name, async () => expect(await runCase(case_)).toEqual([]), 120_000);
}
