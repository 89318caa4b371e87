// Random ledgers under random rules files: the program must print what an oracle says that reads the same three texts.
// SEED=n repeats a run of the test, ROUNDS=n changes how many pairs are tried.
import { expect, test } from "bun:test";
import { requireExecutable, scratchFolder } from "../executable";
import { cpuLevels, randomWay } from "./judge";
import { Random } from "./ledgers";
import { judge, reproduction, shrink } from "./rules-oracle/judge";
import { randomInputs } from "./rules-oracle/random-rules";

requireExecutable();
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 60);
const levels = cpuLevels();

test(`${rounds} pairs under random rules, SEED=${seed}`, async () => {
  using scratch = scratchFolder();
  let judged = 0;
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round);
    const inputs = randomInputs(random);
    const way = randomWay(random, random.pick(levels));
    const found = await judge(inputs, way, scratch.path);
    if (found === null) continue;
    judged += 1;
    if (found.length === 0) continue;
    const small = await shrink(inputs, way, found, scratch.path);
    const still = (await judge(small, way, scratch.path)) ?? [];
    throw new Error(
      [
        `SEED=${seed + round} ROUNDS=1`,
        ...found.slice(0, 3).map((text) => text.slice(0, 600)),
        "--- smaller:",
        ...still.slice(0, 8).map((text) => text.slice(0, 1500)),
        reproduction(small, way),
      ].join("\n"),
    );
  }
  expect(judged).toBeGreaterThan(rounds / 2);
}, 3_600_000);
