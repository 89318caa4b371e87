// `npm test` and `bun run check`: builds everything, then types, format, generated files, the Zig tests and the Bun
// tests (which hold the cases). Ends with the sum of all steps, `N passed, N failed`.
import { build } from "./build";
import { capture, zig, type Output } from "./processes";

interface Step {
  title: string;
  command: string[];
  /** Tests that passed and failed, read from the output; without it the step itself counts as one. */
  count?: (output: Output) => Count;
}

interface Count {
  passed: number;
  failed: number;
}

const bun = process.execPath;

const steps: Step[] = [
  { title: "types", command: [bun, "check", "--no-script"] },
  { title: "format", command: [bun, "fmt", "--check", "src", "scripts", "test", "bench"] },
  { title: "zig format", command: [zig(), "build", "fmt"] },
  { title: "generated files are fresh", command: [bun, "scripts/fresh.ts"] },
  { title: "zig tests, Debug", command: [zig(), "build", "test", "--summary", "all"], count: zigCount },
  {
    title: "zig tests, ReleaseSafe",
    command: [zig(), "build", "test", "--release=safe", "--summary", "all"],
    count: zigCount,
  },
  { title: "bun tests", command: [bun, "test"], count: bunCount },
];

const total: Count = { passed: 0, failed: 0 };
await check("build", async () => {
  await build();
  return { passed: 1, failed: 0 };
});
for (const { title, command, count } of steps) {
  await check(title, async () => {
    const output = await capture(command);
    const counted = (count ?? (() => ({ passed: 1, failed: 0 })))(output);
    // A step that fails without a failing test has failed all the same.
    const failed = output.exitCode !== 0 ? Math.max(1, counted.failed) : counted.failed;
    if (failed > 0) console.log(output.text);
    return { passed: count || failed === 0 ? counted.passed : 0, failed };
  });
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed > 0 ? 1 : 0);

async function check(title: string, step: () => Promise<Count>): Promise<void> {
  console.log(`== ${title}`);
  const started_ms = performance.now();
  let count: Count;
  try {
    count = await step();
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
    count = { passed: 0, failed: 1 };
  }
  total.passed += count.passed;
  total.failed += count.failed;
  const seconds = ((performance.now() - started_ms) / 1000).toFixed(1);
  console.log(`   ${count.passed} passed, ${count.failed} failed (${seconds} s)`);
}

/** From `3/5 tests passed`, one such line a test program. */
function zigCount({ text }: Output): Count {
  const [, passed = "0", all = "0"] = /(\d+)\/(\d+) tests passed/.exec(text) ?? [];
  return { passed: Number(passed), failed: Number(all) - Number(passed) };
}

/** From ` 12 pass` and ` 1 fail`. */
function bunCount({ text }: Output): Count {
  const number = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(text)?.[1] ?? 0);
  return { passed: number("pass"), failed: number("fail") };
}
