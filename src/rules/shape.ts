// Shapes of a rules file's values: each is read with every fault noted at its line, and has a JSON Schema. members.ts
// puts the file together from them.
import { editDistance } from "../edit-distance";
import type { ErrorItem } from "../generated/abi";
import type { Place, Placed } from "./rules";
import type { TomlMember, TomlNode } from "./toml";

export type JsonSchema = { [keyword: string]: unknown };

export interface Shape<T> {
  /** Completes "expected …". */
  expected: string;
  schema: JsonSchema;
  /** Undefined where something is wrong, which the cursor then knows. */
  read(at: Cursor): T | undefined;
}

/** A value of the file, by its path from the top, and where faults are noted. */
export class Cursor {
  constructor(
    readonly file: string,
    readonly node: TomlNode,
    readonly member: string,
    readonly problems: ErrorItem[],
  ) {}

  get place(): Place {
    const { line, column } = this.node;
    return { path: this.file, line, column, member: this.member };
  }

  /** Of a member of this table. */
  inside(name: string, { node }: TomlMember): Cursor {
    const bare = /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
    return new Cursor(this.file, node, this.member === "" ? bare : `${this.member}.${bare}`, this.problems);
  }

  element(node: TomlNode, index: number): Cursor {
    return new Cursor(this.file, node, `${this.member}[${index}]`, this.problems);
  }

  /** At `where`, if what is wrong is another value than this. */
  refuse(message: string, hint = "", where: Place = this.place): undefined {
    const { line, column, member } = where;
    const subject = member === "" ? "" : `${member}: `;
    this.problems.push({ code: "rules", path: this.file, line, column, message: subject + message, hint });
    return undefined;
  }

  unexpected(expected: string): undefined {
    return this.refuse(`expected ${expected}, not ${described(this.node)}`);
  }
}

function described(node: TomlNode): string {
  switch (node.kind) {
    case "text":
      return JSON.stringify(node.text);
    case "flag":
      return String(node.flag);
    case "whole":
      return node.digits;
    case "list":
      return node.items.length === 0 ? "an empty list" : "a list";
    case "table":
      return node.members.size === 0 ? "an empty table" : "a table";
    case "other":
      return node.what;
  }
}

export const flag: Shape<boolean> = {
  expected: "true or false",
  schema: { type: "boolean" },
  read: (at) => (at.node.kind === "flag" ? at.node.flag : at.unexpected("true or false")),
};

/** A text that `parse` takes; its Error says what was expected instead. */
export function text<T>(expected: string, parse: (text: string) => T, keywords: JsonSchema = {}): Shape<T> {
  return {
    expected,
    schema: { type: "string", ...keywords },
    read: (at) => (at.node.kind === "text" ? parsed(at, at.node.text, parse) : at.unexpected(expected)),
  };
}

/** As `text`, of the digits of a whole number. */
export function whole<T>(expected: string, parse: (digits: string) => T): Shape<T> {
  return {
    expected,
    schema: { type: "integer", minimum: 0 },
    read: (at) => (at.node.kind === "whole" ? parsed(at, at.node.digits, parse) : at.unexpected(expected)),
  };
}

function parsed<T>(at: Cursor, text: string, parse: (text: string) => T): T | undefined {
  try {
    return parse(text);
  } catch (error) {
    return at.refuse(`expected ${(error as Error).message}`);
  }
}

/** Any text but the empty one. */
export function filled(expected: string): Shape<string> {
  const parse = (value: string) => {
    if (value !== "") return value;
    throw new Error(`${expected}, not ""`);
  };
  return text(expected, parse, { minLength: 1 });
}

export function choice<const T extends string>(names: readonly T[]): Shape<T> {
  const expected = `${names.slice(0, -1).map(quoted).join(", ")} or ${quoted(names.at(-1) as string)}`;
  return {
    expected,
    schema: { enum: names },
    read(at) {
      const { node } = at;
      const found = node.kind === "text" ? names.find((name) => name === node.text) : undefined;
      return found ?? at.unexpected(expected);
    },
  };
}

const quoted = (name: string) => JSON.stringify(name);

/** The shape that is for the kind of what is there. */
export function byKind<A, B>(first: [TomlNode["kind"], Shape<A>], second: [TomlNode["kind"], Shape<B>]): Shape<A | B> {
  const shapes = new Map<string, Shape<A | B>>([first, second]);
  const expected = `${first[1].expected}, or ${second[1].expected}`;
  return {
    expected,
    schema: { anyOf: [first[1].schema, second[1].schema] },
    read(at) {
      const shape = shapes.get(at.node.kind);
      return shape === undefined ? at.unexpected(expected) : shape.read(at);
    },
  };
}

/** At least one element. */
export function list<T>(of: Shape<T>, expected: string): Shape<T[]> {
  return {
    expected,
    schema: { type: "array", items: of.schema, minItems: 1 },
    read(at) {
      if (at.node.kind !== "list" || at.node.items.length === 0) return at.unexpected(expected);
      const items = at.node.items.map((node, i) => of.read(at.element(node, i)));
      return items.includes(undefined) ? undefined : (items as T[]);
    },
  };
}

export function placed<T>(of: Shape<T>): Shape<Placed<T>> {
  return map(of, (value, at) => ({ value, place: at.place }));
}

/** Undefined is a fault that `change` has noted. */
export function map<A, B>(of: Shape<A>, change: (value: A, at: Cursor) => B | undefined): Shape<B> {
  return {
    ...of,
    read(at) {
      const value = of.read(at);
      return value === undefined ? undefined : change(value, at);
    },
  };
}

/** What a member means is said in the JSON Schema and in the docs. */
export interface Member<T = unknown> {
  shape: Shape<T>;
  about: string;
  required?: true;
}

type Members = Record<string, Member>;
type ValueOf<M> = M extends Member<infer T> ? T : never;
export type Read<M extends Members> = {
  -readonly [K in keyof M as M[K] extends { required: true } ? K : never]: ValueOf<M[K]>;
} & { -readonly [K in keyof M as M[K] extends { required: true } ? never : K]?: ValueOf<M[K]> };

/** A table of known members. `elsewhere` says where a name belongs that is none of them. */
export function table<const M extends Members>(
  members: M,
  elsewhere: (name: string) => string | null = () => null,
): Shape<Read<M>> {
  const names = Object.keys(members);
  const required = names.filter((name) => members[name]?.required);
  const expected = `a table with ${(required.length > 0 ? required : names).join(", ")}`;
  return {
    expected,
    schema: tableSchema(members, required),
    read(at) {
      if (at.node.kind !== "table") return at.unexpected(expected);
      const { members: there } = at.node;
      const faults = at.problems.length;
      const read: Record<string, unknown> = {};
      for (const [name, member] of there) {
        const known = Object.hasOwn(members, name) ? members[name] : undefined;
        if (known === undefined) refuseUnknown(at, name, member, names, elsewhere(name));
        else read[name] = known.shape.read(at.inside(name, member));
      }
      for (const name of required) if (!there.has(name)) at.refuse(`${name} is missing`);
      return at.problems.length === faults ? (read as Read<M>) : undefined;
    },
  };
}

function tableSchema(members: Members, required: string[]): JsonSchema {
  const properties = Object.entries(members).map(([name, { shape, about }]) => [
    name,
    { description: about, ...shape.schema },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function refuseUnknown(at: Cursor, name: string, member: TomlMember, known: string[], elsewhere: string | null): void {
  const inner = at.inside(name, member);
  const near = known
    .map((other) => ({ other, edits: editDistance(name.toLowerCase().replaceAll("-", "_"), other) }))
    .sort((a, b) => a.edits - b.edits)[0];
  const close = near !== undefined && near.edits <= Math.max(1, Math.floor(name.length / 3));
  const hint = close ? `did you mean ${near.other}?` : (elsewhere ?? `known here: ${known.join(", ")}`);
  inner.refuse("unknown member", hint, { ...inner.place, line: member.line, column: member.column });
}

/** A table whose names are the user's own. */
export function named<T>(of: Shape<T>, expected: string, least = 1): Shape<{ name: Placed<string>; value: T }[]> {
  return {
    expected,
    schema: { type: "object", additionalProperties: of.schema, ...(least > 0 ? { minProperties: least } : {}) },
    read(at) {
      if (at.node.kind !== "table" || at.node.members.size < least) return at.unexpected(expected);
      const entries = [...at.node.members].map(([name, member]) => {
        const inner = at.inside(name, member);
        const value = of.read(inner);
        const place: Place = { ...inner.place, line: member.line, column: member.column };
        return value === undefined ? undefined : { name: { value: name, place }, value };
      });
      return entries.includes(undefined) ? undefined : (entries as { name: Placed<string>; value: T }[]);
    },
  };
}
