// A rules file, from its path to options and rules. Loaded only where there is one. Used by cli/settings.ts.
import { readFile } from "node:fs/promises";
import type { OptionId } from "../cli/options";
import { fileProblem, problem, ReconError } from "../errors";
import type { ErrorItem } from "../generated/abi";
import { file, numberFormat, optionValues, type ColumnRead, type FileRead, type SideRead } from "./members";
import { noRules, noSideRules, type ColumnRule, type GroupRule, type Place, type Rules, type SideRules } from "./rules";
import { Cursor } from "./shape";
import { parseToml } from "./toml";

/** What a file says in place of options, for both sides and for one, and beyond them. */
export interface RulesFile {
  options: FileOptions;
  internal: FileOptions;
  external: FileOptions;
  rules: Rules;
}

/** Values as the option's own parser gives them. */
export type FileOptions = Partial<Record<OptionId, unknown>>;

/** Throws a ReconError that holds everything wrong with the file, in the order of its lines. */
export async function loadRules(path: string): Promise<RulesFile> {
  return readRules(path, await textOf(path));
}

export function readRules(path: string, text: string): RulesFile {
  const problems: ErrorItem[] = [];
  const read = file.read(new Cursor(path, parseToml(path, text.replace(/^\uFEFF/, "")), "", problems));
  if (problems.length > 0) throw inOrder(problems);
  const { internal = {}, external = {} } = read as FileRead;
  return {
    options: optionValues(read as FileRead, false),
    internal: optionValues(internal, true),
    external: optionValues(external, true),
    rules: rulesOf(read as FileRead),
  };
}

async function textOf(path: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw fileProblem(path, "read the rules file", error);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw problem("rules", "a rules file is TOML, in UTF-8; this is not UTF-8", { path });
  }
}

function inOrder(problems: ErrorItem[]): ReconError {
  return new ReconError(problems.sort((a, b) => a.line - b.line || a.column - b.column));
}

function rulesOf({ internal = {}, external = {}, columns = [], group = {}, controls }: FileRead): Rules {
  return {
    ...noRules,
    columns: columns.map(({ name, value }) => columnRule(name.value, value)),
    internal: sideRules(internal, group.internal),
    external: sideRules(external, group.external),
    controls: controls === undefined ? null : { sum: controls.sum, by: controls.by ?? null },
  };
}

function sideRules(read: SideRead, group: GroupRule | undefined): SideRules {
  const { trailer } = read;
  return {
    ...noSideRules,
    number: numberFormat(read),
    dateFormat: read.date_format ?? null,
    timezone: read.timezone ?? null,
    nulls: read.null ?? [],
    headerMatch: read.header_match ?? null,
    stopAt: read.stop_at ?? null,
    trailer: trailer === undefined ? null : { place: trailer.place, text: trailer.value },
    where: (read.where ?? []).map(({ column, in: values }) => ({ column, values })),
    group: group ?? null,
  };
}

function columnRule(name: string, read: ColumnRead & { place: Place }): ColumnRule {
  return {
    name,
    place: read.place,
    type: read.type ?? null,
    tolerance: read.tolerance ?? null,
    toleranceBy: read.tolerance_by ?? null,
    maps: {
      internal: read.internal_map ?? read.map ?? null,
      external: read.external_map ?? read.map ?? null,
    },
    signedBy: read.signed_by ?? null,
  };
}
