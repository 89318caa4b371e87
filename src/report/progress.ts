// Progress on standard error: a bar on a terminal, or one JSON object a line. Used by the commands.
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { Phase } from "../generated/abi";
import type { JobProgress } from "../engine/engine";
import { grouped } from "./numbers";
import { safe } from "./terminal-safe";

export type ProgressMode = "auto" | "never" | "json";

const quick_ms = 1000;
const redraw_ms = 100;
const bar_width = 30;
const phaseNames = Object.fromEntries(Object.entries(Phase).map(([name, number]) => [number, name]));

/** Where a run is. `done` of `total` units belong to the phase; a total of 0 is not known yet. */
interface Position {
  phase: string;
  done: number;
  total: number;
  rows: number;
  breaks: number;
}

/** Shows nothing for work that takes less than a second. Disposing takes the bar away. */
export class Progress implements Disposable {
  readonly #form: "bar" | "json" | null;
  readonly #started_ms = performance.now();
  #shown_ms = -Infinity;
  #shownPhase = "";
  #barVisible = false;

  constructor(mode: ProgressMode, quiet: boolean) {
    const terminal = isatty(2) && process.env.TERM !== "dumb";
    this.#form = quiet || mode === "never" ? null : mode === "json" ? "json" : terminal ? "bar" : null;
  }

  /** For engine jobs. */
  readonly job = ({ phase, ...rest }: JobProgress): void => this.#update({ phase: phaseNames[phase] ?? "", ...rest });

  /** For what happens before the engine runs. */
  readonly preparation = (text: string, done: number, total: number): void =>
    this.#update({ phase: text, done, total, rows: 0, breaks: 0 });

  [Symbol.dispose](): void {
    if (this.#barVisible) say("\r\x1b[K");
  }

  #update(position: Position): void {
    if (this.#form === null) return;
    const now_ms = performance.now();
    const newPhase = position.phase !== this.#shownPhase;
    if (now_ms - this.#shown_ms < redraw_ms && !(this.#form === "json" && newPhase)) return;
    const elapsed_ms = now_ms - this.#started_ms;
    if (this.#form === "bar" && elapsed_ms < quick_ms) return;
    this.#shown_ms = now_ms;
    this.#shownPhase = position.phase;
    if (this.#form === "json") return say(`${JSON.stringify({ ...position, elapsedMs: Math.round(elapsed_ms) })}\n`);
    this.#barVisible = true;
    say(`\r${barText(position, elapsed_ms)}\x1b[K`);
  }
}

function barText({ phase, done, total, rows, breaks }: Position, elapsed_ms: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const filled = Math.round(share * bar_width);
  const bar = "█".repeat(filled) + "░".repeat(bar_width - filled);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  const counts = rows > 0 ? `  ${grouped(rows)} rows${breaks > 0 ? `, ${grouped(breaks)} breaks` : ""}` : "";
  return `${bar} ${percent} %  ${safe(phase)}${counts}  ${(elapsed_ms / 1000).toFixed(0)} s`;
}

/** Progress is never worth failing for. */
function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {}
}
