// What type a column is compared as, from what is declared and what its other rules ask for. Used by cli/settings.ts,
// before a ledger is opened, and by translate.ts.
import { ReconError } from "../errors";
import type { ErrorItem, ValueType } from "../generated/abi";
import type { ColumnRule, Place, Rules, Tolerance } from "./rules";

/** A rule that asks for a type, in words. */
interface Demand {
  type: ValueType;
  what: string;
  place: Place;
}

/** Throws a ReconError that holds every column whose rules do not go together. */
export function checkTypes(rules: Rules): void {
  const problems = rules.columns.flatMap(conflictsOf);
  if (problems.length > 0) throw new ReconError(problems);
}

/** Of rules that `checkTypes` has passed. */
export function typeOf(rule: ColumnRule): ValueType {
  return declaredType(rule) ?? demandsOf(rule)[0]?.type ?? "auto";
}

/** `auto` declares nothing. */
function declaredType({ type }: ColumnRule): ValueType | null {
  return type === null || type.value === "auto" ? null : type.value;
}

function demandsOf({ tolerance, toleranceBy, signedBy }: ColumnRule): Demand[] {
  const tolerances = [
    ...(tolerance === null ? [] : [tolerance]),
    ...(toleranceBy?.cases ?? []).map((one) => one.tolerance),
  ];
  const sign = signedBy === null ? [] : [{ type: "decimal", what: "a sign", place: signedBy.place } as const];
  return [...tolerances.map(({ value, place }) => ({ type: value.type, what: toleranceText(value), place })), ...sign];
}

function toleranceText({ type, spec }: Tolerance): string {
  const kind = { decimal: "numbers", timestamp: "times", date: "days" }[type];
  return spec.unit === "absolute" ? `a tolerance in ${kind}` : "a tolerance that is a share";
}

function conflictsOf(rule: ColumnRule): ErrorItem[] {
  const demands = demandsOf(rule);
  const declared = declaredType(rule);
  const type = declared ?? demands[0]?.type;
  return demands.flatMap(({ type: asked, what, place }) => {
    if (asked === type) return [];
    const why = declared === null ? `its other rules make ${type}` : `it is declared ${type}`;
    const hint =
      asked === "date" && type === "timestamp" ? "a day of 24 hours is 24h" : `${what} makes a column ${asked}`;
    return [rulesProblem(place, `${what} does not fit column "${rule.name}": ${why}`, hint)];
  });
}

/** An error at a rule; one of the command line has no line. */
export function rulesProblem({ path, line, column, member }: Place, message: string, hint = ""): ErrorItem {
  return { code: "rules", path, line, column, message: `${member}: ${message}`, hint };
}
