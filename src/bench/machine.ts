// The machine that a benchmark ran on, for its report. Used by the harness and by the developer benchmarks in bench/.
import { readFileSync } from "node:fs";
import { arch, cpus, release, totalmem } from "node:os";

export interface Machine {
  cpu: string;
  cores: number;
  memoryBytes: number;
  kernel: string;
  arch: string;
  /** What the kernel says about huge pages for tables: `always`, `madvise` or `never`. */
  hugePages: string;
}

export function describeMachine(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() || "unknown",
    cores: all.length,
    memoryBytes: totalmem(),
    kernel: release(),
    arch: arch(),
    hugePages: hugePages(),
  };
}

/** One line. */
export function machineText({ cpu, cores, memoryBytes, kernel, arch, hugePages }: Machine): string {
  const gibibytes = (memoryBytes / 2 ** 30).toFixed(1);
  return `${cpu}, ${cores} cores, ${gibibytes} GiB, Linux ${kernel} ${arch}, huge pages ${hugePages}`;
}

function hugePages(): string {
  try {
    return /\[(\w+)\]/.exec(readFileSync("/sys/kernel/mm/transparent_hugepage/enabled", "utf8"))?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}
