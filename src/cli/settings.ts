// What a command works by: the command line over the rules file over the defaults. Used by the commands that take
// --config.
import { refuseMissing, usage, type Invocation } from "./arguments";
import { options, type Option, type OptionId, type SideValues, type Values } from "./options";
import type { ColumnValue } from "./value-kinds";
import { noColumnRule, noRules, type ColumnRule, type Place, type Rules } from "../rules/rules";
import { checkTypes } from "../rules/column-types";
import type { FileOptions, RulesFile } from "../rules/load";

export interface Settings {
  values: Values;
  rules: Rules;
}

/** Reads the rules file if there is one. Throws a ReconError for a wrong file or a required option that neither gives. */
export async function settle({ command, values, typed }: Invocation): Promise<Settings> {
  const file = values.config === undefined ? null : await (await import("../rules/load")).loadRules(values.config);
  const settled = file === null ? values : overFile(typed, values, file);
  refuseMissing(command, settled);
  const rules = withColumnOptions(file?.rules ?? noRules, values);
  checkTypes(rules);
  return { values: settled, rules };
}

/** For each option what wins: typed for the side, typed for both, the file's for the side, the file's for both. */
function overFile(typed: Partial<Values>, values: Values, file: RulesFile): Values {
  const side = (name: "internal" | "external"): SideValues => {
    const fromFile = Object.entries(file[name]).filter(([id]) => !(id in typed));
    return { ...Object.fromEntries(fromFile), ...values[name] };
  };
  const general = Object.entries(file.options as FileOptions).filter(([id]) => !(id in typed));
  // Rejected rows have a file only where they are rejected.
  const kept = typed.onBadRow === "fail" ? general.filter(([id]) => id !== "rejects") : general;
  return { ...values, ...Object.fromEntries(kept), internal: side("internal"), external: side("external") } as Values;
}

/** --type and --tolerance in place of what the rules say about the column; `tolerance_by` gives way with `tolerance`. */
function withColumnOptions(rules: Rules, { type = [], tolerance = [] }: Values): Rules {
  refuseRepeated("type", type);
  refuseRepeated("tolerance", tolerance);
  if (type.length + tolerance.length === 0) return rules;
  const columns = new Map(rules.columns.map((rule) => [rule.name, rule]));
  const amend = (name: string, place: Place, change: Partial<ColumnRule>) =>
    columns.set(name, { ...(columns.get(name) ?? { ...noColumnRule, name, place }), ...change });
  for (const { column, value } of type) {
    const place = optionPlace("type");
    amend(column, place, { type: { value, place } });
  }
  for (const { column, value } of tolerance) {
    const place = optionPlace("tolerance");
    amend(column, place, { tolerance: { value, place }, toleranceBy: null });
  }
  return { ...rules, columns: [...columns.values()] };
}

function refuseRepeated(id: OptionId, values: ColumnValue<unknown>[]): void {
  const twice = values.find(({ column }, i) => values.findIndex((other) => other.column === column) < i);
  if (twice !== undefined) throw usage(`--${(options[id] as Option).name} is given twice for column "${twice.column}"`);
}

function optionPlace(id: "type" | "tolerance"): Place {
  return { path: "", line: 0, column: 0, member: `--${options[id].name}` };
}
