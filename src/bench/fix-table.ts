// The document of `recon bench fix` as rows of text. Used by cli/bench.ts and scripts/benchmarks.ts.
import type { FixBenchDocument } from "./fix";
import { aligned, ratioHead, ratioRows, type Cells } from "./table";
import { machineText } from "./machine";
import { bytesText, grouped } from "../report/numbers";

export const parserHead: Cells = [
  ...["message", "parser", "verified", "ns a message", "p50", "p99", "four fields", "allocations"],
];
export const bulkHead: Cells = ["log", "threads", "messages", "throughput", "messages/s"];

export function parserRows({ parsers }: FixBenchDocument): Cells[] {
  return parsers.map(({ parser, message, checked, batchNs, p50Ns, p99Ns, fourFieldsNs, allocations }) => [
    message,
    parser,
    checked ? "yes" : "no",
    ...[batchNs, p50Ns, p99Ns, fourFieldsNs].map((ns) => ns.toFixed(1)),
    allocations.toFixed(allocations === 0 ? 0 : 1),
  ]);
}

export function bulkRows({ bulk }: FixBenchDocument): Cells[] {
  return bulk.map(({ parser, threads, messages, bytesPerSecond, messagesPerSecond }) => [
    parser,
    String(threads),
    grouped(messages),
    `${bytesText(bytesPerSecond)}/s`,
    grouped(messagesPerSecond),
  ]);
}

export function fixCircumstances({ machine, version, commit, rows, reps }: FixBenchDocument): string[] {
  return [
    machineText(machine),
    `recon ${version} ${commit}, batches of 4,096 different messages on one pinned core, a log of ${grouped(rows)} ` +
      `executions, ${reps} repetitions, page cache warm; all parsers read the same values`,
  ];
}

export function fixTerminalTable(document: FixBenchDocument): string {
  return [
    aligned([parserHead, ...parserRows(document)], 3),
    aligned([bulkHead, ...bulkRows(document)], 1),
    aligned([ratioHead, ...ratioRows(document)], 1),
    fixCircumstances(document).join("\n"),
  ]
    .map((text) => `${text}\n`)
    .join("\n");
}
