// TOML to a tree in which every member knows its line. Used by load.ts; shape.ts reads the tree.
import { ParseError, parseTOML, type AST } from "toml-eslint-parser";
import { problem } from "../errors";

interface Located {
  /** 1-based, as `column`. */
  line: number;
  column: number;
}

export type TomlNode = Located &
  (
    | { kind: "text"; text: string }
    | { kind: "flag"; flag: boolean }
    /** `digits` as written without underscores. */
    | { kind: "whole"; digits: string }
    /** Numbers with a fraction, dates and times: the rules have no use for them. */
    | { kind: "other"; what: string }
    | { kind: "list"; items: TomlNode[] }
    | { kind: "table"; members: Map<string, TomlMember> }
  );
export type TomlTable = Extract<TomlNode, { kind: "table" }>;
/** Line and column are those of the name. */
export type TomlMember = Located & { node: TomlNode };

/** Throws a ReconError with code `rules` that names the line. */
export function parseToml(path: string, text: string): TomlTable {
  try {
    return treeOf(parseTOML(text, { tomlVersion: "1.1" }));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const message = `this is not TOML: ${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`;
    throw problem("rules", message, { path, line: error.lineNumber, column: error.column + 1 });
  }
}

function treeOf(program: AST.TOMLProgram): TomlTable {
  const top: TomlTable = { kind: "table", members: new Map(), line: 1, column: 1 };
  for (const part of program.body[0].body) {
    if (part.type === "TOMLKeyValue") addPair(top, part);
    else for (const pair of part.body.length > 0 ? part.body : [null]) addToTable(top, part, pair);
  }
  return top;
}

/** `resolvedKey` holds a number where the table is an element of a list. */
function addToTable(top: TomlTable, { resolvedKey, key }: AST.TOMLTable, pair: AST.TOMLKeyValue | null): void {
  let table = top;
  let names = 0;
  for (const [i, part] of resolvedKey.entries()) {
    if (typeof part === "number") continue;
    const place = placeOf(key.keys[names++] as AST.TOMLBare);
    const index = resolvedKey[i + 1];
    table = typeof index === "number" ? elementOf(table, part, index, place) : tableOf(table, part, place);
  }
  if (pair !== null) addPair(table, pair);
}

function addPair(table: TomlTable, { key, value }: AST.TOMLKeyValue): void {
  const last = key.keys.at(-1) as AST.TOMLBare | AST.TOMLQuoted;
  const inner = key.keys.slice(0, -1).reduce((outer, part) => tableOf(outer, nameOf(part), placeOf(part)), table);
  inner.members.set(nameOf(last), { ...placeOf(last), node: nodeOf(value) });
}

function tableOf(table: TomlTable, name: string, place: Located): TomlTable {
  const there = table.members.get(name)?.node;
  if (there?.kind === "table") return there;
  const made: TomlTable = { kind: "table", members: new Map(), ...place };
  table.members.set(name, { ...place, node: made });
  return made;
}

function elementOf(table: TomlTable, name: string, index: number, place: Located): TomlTable {
  const there = table.members.get(name)?.node;
  const items = there?.kind === "list" ? there.items : [];
  if (there === undefined) table.members.set(name, { ...place, node: { kind: "list", items, ...place } });
  items[index] ??= { kind: "table", members: new Map(), ...place };
  return items[index] as TomlTable;
}

function nodeOf(content: AST.TOMLContentNode): TomlNode {
  const place = placeOf(content);
  if (content.type === "TOMLArray") return { kind: "list", items: content.elements.map(nodeOf), ...place };
  if (content.type === "TOMLInlineTable") {
    const table: TomlTable = { kind: "table", members: new Map(), ...place };
    for (const pair of content.body) addPair(table, pair);
    return table;
  }
  if (content.kind === "string") return { kind: "text", text: content.value, ...place };
  if (content.kind === "boolean") return { kind: "flag", flag: content.value, ...place };
  if (content.kind === "integer") return { kind: "whole", digits: String(content.bigint), ...place };
  return { kind: "other", what: content.kind === "float" ? "a number with a fraction" : "a date or time", ...place };
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function placeOf({ loc }: { loc: AST.SourceLocation }): Located {
  return { line: loc.start.line, column: loc.start.column + 1 };
}
