// What this process may use of the machine: cores, memory, a folder for temporary files. Used by the commands.
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { freemem } from "node:os";
import { dirname, join } from "node:path";
import { problem } from "../errors";

/** Cores by affinity, or fewer where a cgroup's quota gives less time than that. At least 1. */
export function usableCores(): number {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read("/proc/self/status") ?? "")?.[1];
  const allowed = list === undefined ? navigator.hardwareConcurrency : countRanges(list);
  return Math.max(1, Math.min(allowed, Math.ceil(Math.min(...cgroups("cpu").map(quotaCores)))));
}

/** Three quarters of the memory that is free for use, in bytes, inside any cgroup limit. */
export function memoryBudget(): number {
  const free_kib = /^MemAvailable:\s*(\d+) kB$/m.exec(read("/proc/meminfo") ?? "")?.[1];
  const free = free_kib === undefined ? freemem() : Number(free_kib) * 1024;
  return Math.max(1, Math.floor((Math.min(free, ...cgroups("memory").map(unusedMemory)) * 3) / 4));
}

/** The folder for spooled streams and partitions; null means memory. A folder that was named must be usable. */
export function temporaryFolder(named: string | undefined): string | null {
  if (named !== undefined) {
    if (isWritableFolder(named)) return named;
    throw problem("usage", `--temp takes a folder that can be written to, not ${JSON.stringify(named)}`);
  }
  const candidates = [process.env.TMPDIR, "/var/tmp"];
  return candidates.find((path) => path !== undefined && path !== "" && isWritableFolder(path)) ?? null;
}

function isWritableFolder(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** `0-3,8` is five. */
export function countRanges(list: string): number {
  const sizes = list.split(",").map((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return last! - first! + 1;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The folders of this process's cgroup for a controller and of all above it, in version 1 and 2. */
function cgroups(controller: "cpu" | "memory"): string[] {
  const folders: string[] = [];
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined || (names !== "" && !names!.split(",").includes(controller))) continue;
    const root = names === "" ? "/sys/fs/cgroup" : `/sys/fs/cgroup/${names}`;
    for (let at = path; ; at = dirname(at)) {
      folders.push(join(root, at));
      if (at === "/" || at === ".") break;
    }
  }
  return folders;
}

function quotaCores(folder: string): number {
  const [quota, period] = (read(join(folder, "cpu.max")) ?? "max").split(" ").map(Number);
  if (quota! > 0 && period! > 0) return quota! / period!;
  const older = [read(join(folder, "cpu.cfs_quota_us")), read(join(folder, "cpu.cfs_period_us"))].map(Number);
  return older[0]! > 0 && older[1]! > 0 ? older[0]! / older[1]! : Infinity;
}

function unusedMemory(folder: string): number {
  const limit = Number(read(join(folder, "memory.max")) ?? read(join(folder, "memory.limit_in_bytes")));
  const used = Number(read(join(folder, "memory.current")) ?? read(join(folder, "memory.usage_in_bytes")));
  return limit > 0 && used >= 0 ? Math.max(0, limit - used) : Infinity;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
