// The JSON Schema for editors against the reader: both are made from one definition, and must agree on what a file may hold.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ReconError } from "../errors";
import { readRules } from "./load";
import { jsonSchema } from "./members";

interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  items?: Schema;
}

test("docs/recon.schema.json is what the program reads by", () => {
  const path = join(import.meta.dir, "../../docs/recon.schema.json");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(jsonSchema());
});

test("every member has a description, and no table takes what it does not know", () => {
  const members: string[] = [];
  const walk = (schema: Schema, path: string): void => {
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      members.push(`${path}${name}`);
      expect(`${path}${name}: ${member.description ?? ""}`).toMatch(/: .{5}/);
      walk(member, `${path}${name}.`);
    }
    if (schema.properties !== undefined) expect(schema.additionalProperties).toBeDefined();
    for (const inner of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) walk(inner, path);
    if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties, `${path}NAME.`);
  };
  walk(jsonSchema() as Schema, "");
  for (const name of ["key", "internal.decimal", "external.where.column", "columns.NAME.tolerance_by.column"])
    expect(members).toContain(name);
});

test("a member of the wrong type is refused by both in the same places", () => {
  const refused = (text: string) => {
    try {
      readRules("r.toml", text);
      return false;
    } catch (error) {
      return error instanceof ReconError;
    }
  };
  const { properties } = jsonSchema() as Required<Schema>;
  for (const [name, { type, anyOf }] of Object.entries(properties)) {
    // No member is a date.
    expect(refused(`${name} = 2026-03-02`)).toBe(true);
    if (type !== "boolean") expect(refused(`${name} = true`)).toBe(true);
    if (type !== "integer" && anyOf === undefined) expect(refused(`${name} = 3`)).toBe(true);
  }
});
