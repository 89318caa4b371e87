// Every member of a rules file, defined once: load.ts reads files by it, the JSON Schema and the docs are made from it.
import { options, optionsOf, type Option, type OptionId } from "../cli/options";
import { namedTwice, valueType } from "../cli/value-kinds";
import type { CodeSpec, NumberSpec } from "../generated/abi";
import { parseDateFormat } from "./date-format";
import type { GroupRule, Placed, ToleranceByRule } from "./rules";
import {
  choice,
  byKind,
  filled,
  flag,
  list,
  map,
  named,
  placed,
  table,
  text,
  whole,
  type Cursor,
  type Member,
  type Read,
  type Shape,
} from "./shape";
import { parseTolerance, toleranceForms } from "./tolerance";
import { parseZone } from "./zones";

const columnName = filled("the name of a column");
const columnNames = list(placed(columnName), "a list of column names");
const words = list(
  text("a text", (value) => value),
  "a list of texts",
);

/** A column by one name, or by one of each side. */
const columnPair = map(
  byKind(
    ["text", columnName],
    [
      "table",
      table({
        internal: { shape: columnName, about: "its name in the internal ledger", required: true },
        external: { shape: columnName, about: "its name in the external ledger", required: true },
      }),
    ],
  ),
  (value, { place }) => (typeof value === "string" ? { internal: value, external: value, place } : { ...value, place }),
);
const columnPairs = map(list(columnPair, "a list of column names"), (pairs, at) => {
  const twice = namedTwice(pairs);
  return twice === null ? pairs : at.refuse(`column ${JSON.stringify(twice)} is named twice`);
});

/** How an option is said in a rules file, by its form there. */
function optionShape(option: Option): Shape<unknown> {
  switch (option.inRules) {
    case "flag":
      return flag;
    case "count":
      return whole("a whole number", option.parse);
    case "size":
      return byKind(
        ["text", text("a size such as 2GiB", option.parse)],
        ["whole", whole("a number of bytes", option.parse)],
      );
    case "names":
      return list(columnName, "a list of column names");
    case "pairs":
      return columnPairs;
    default:
      return textOption(option);
  }
}

function textOption({ parse }: Option): Shape<unknown> {
  return "choices" in parse ? map(choice(parse.choices as string[]), parse) : text("a text", parse);
}

/** The name of an option in a rules file. */
const memberName = ({ name }: Option) => name.replaceAll("-", "_");

/** By member name. `columns` names the columns of a file, so it is for one side only. */
const optionEntries = optionsOf("run").filter(([, option]) => option.inRules !== undefined);
const generalOptions = optionEntries.filter(([id]) => id !== "columns");
const sideOptions = optionEntries.filter(([, option]) => option.sides);

/** What help says of the command line and does not hold here. */
const aboutPairs: Partial<Record<OptionId, string>> = {
  key: "key columns; { internal = NAME, external = NAME } where names differ",
  compare: "columns to compare, in the same form",
};

function optionMembers(entries: [OptionId, Option][]): Record<string, Member> {
  return Object.fromEntries(
    entries.map(([id, option]) => [
      memberName(option),
      { shape: optionShape(option), about: aboutPairs[id] ?? option.help },
    ]),
  );
}

/** The values that were read, by the option's id. */
export function optionValues(read: Record<string, unknown>, side: boolean): Partial<Record<OptionId, unknown>> {
  const entries = (side ? sideOptions : generalOptions).map(([id, option]) => [id, read[memberName(option)]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** One byte that may stand in a number. */
const mark = text("a mark of one character", (value) => {
  if (/^[\x20-\x7E]$/.test(value) && !/[0-9+\-()eE]/.test(value)) return value.charCodeAt(0);
  throw new Error(`one ASCII character that is no digit, sign, parenthesis, e or E, not ${JSON.stringify(value)}`);
});

const currencyMark = text("a currency mark", (value) => {
  if (value !== "" && !/^[\s0-9+\-()]|[\s0-9+\-()]$/.test(value)) return value;
  throw new Error(
    `a currency mark that neither begins nor ends with a digit, sign, parenthesis or blank, not ${JSON.stringify(value)}`,
  );
});

const trailerText = text("a control record such as TRL,{count},{sum:amount}", (value) => {
  const wrong = /\{(?!count\}|sum:[^{}]+\})[^}]*\}?/.exec(value)?.[0];
  if (wrong !== undefined) throw new Error(`{count} or {sum:COLUMN}, not ${JSON.stringify(wrong)}`);
  if (/^[^{]/.test(value)) return value;
  throw new Error(`a control record that begins with a text of its own, not ${JSON.stringify(value)}`);
});

const filter = table({
  column: { shape: placed(columnName), about: "the column that is looked at, as this file calls it", required: true },
  in: { shape: words, about: "the values of rows that are used", required: true },
});

const sideMembers = {
  decimal: { shape: placed(mark), about: "decimal mark of numbers; a point if not given" },
  thousands: { shape: placed(mark), about: "mark between groups of three digits; none if not given" },
  negative: {
    shape: choice(["plain", "accounting"]),
    about: "accounting: (5) and 5- are negative numbers too",
  },
  currency: {
    shape: placed(list(currencyMark, "a list of currency marks")),
    about: "currency marks that may stand at a number",
  },
  timezone: {
    shape: placed(
      text("a time zone such as Europe/London, UTC or +09:00", parseZone, {
        examples: ["Europe/London", "UTC", "+09:00"],
      }),
    ),
    about: "zone of times that have none: an IANA name, UTC or an offset such as +09:00",
  },
  date_format: {
    shape: placed(
      text("a date format such as dd/MM/yyyy", parseDateFormat, { examples: ["dd/MM/yyyy", "d-MMM-yyyy"] }),
    ),
    about: "how dates are written, such as dd/MM/yyyy; ISO 8601 and YYYYMMDD if not given",
  },
  null: { shape: words, about: "spellings of an empty value" },
  header_match: {
    shape: placed(filled("a field of the header")),
    about: "lines in front of the first that holds this field are left out",
  },
  stop_at: {
    shape: placed(filled("the beginning of a line")),
    about: "the first line that begins with this text, and all behind it, are left out",
  },
  trailer: {
    shape: placed(trailerText),
    about: "the control record at the end, such as TRL,{count},{sum:amount}: checked, and not a row",
  },
  where: {
    shape: list(filter, "a list of tables with column and in"),
    about: "rows to use: those that hold one of the values in each column; others are counted as filtered",
  },
} as const satisfies Record<string, Member>;

export type SideRead = Read<typeof sideMembers> & Record<string, unknown>;

const side = map(
  table({ ...sideMembers, ...optionMembers(sideOptions) }, belongsElsewhere) as unknown as Shape<SideRead>,
  (read, at) => {
    refuseLikeMarks(read, at);
    return read;
  },
);

/** The number format of a side. */
export function numberFormat({ decimal, thousands, negative = "plain", currency }: SideRead): NumberSpec {
  return {
    decimal: decimal?.value ?? ".".charCodeAt(0),
    thousands: thousands?.value ?? null,
    negative,
    currency: currency?.value ?? [],
  };
}

/** No two marks of a file may be the same. */
function refuseLikeMarks(read: SideRead, at: Cursor): void {
  const { decimal, thousands, currency = [] } = numberFormat(read);
  if (read.decimal?.value === 0x20) at.refuse("the decimal mark cannot be a blank", "", read.decimal.place);
  if (decimal === thousands) {
    const hint = read.decimal === undefined ? 'the decimal mark is "." if decimal does not say otherwise' : "";
    at.refuse("the thousands mark is the decimal mark", hint, read.thousands?.place);
  }
  const clash = currency.find((text) => text.length === 1 && [decimal, thousands].includes(text.charCodeAt(0)));
  if (clash !== undefined)
    at.refuse(`the currency mark ${JSON.stringify(clash)} is a mark within numbers`, "", read.currency?.place);
  const { delimiter, quote } = read as { delimiter?: number; quote?: number };
  if (delimiter !== undefined && delimiter === quote) at.refuse("delimiter and quote are the same byte");
}

const tolerance = placed(
  text(toleranceForms, parseTolerance, { examples: ["0.01", "5bps", "0.1%", "5bps max 1.00", "500ms", "2s", "1d"] }),
);

/** A table of tolerances by value, with one name that is not a value. */
const toleranceBy: Shape<ToleranceByRule> = {
  expected: 'a table such as { column = "currency", JPY = "1" }',
  schema: {
    type: "object",
    properties: { column: { description: "the column whose value decides", ...columnName.schema } },
    required: ["column"],
    additionalProperties: tolerance.schema,
    minProperties: 2,
  },
  read(at) {
    if (at.node.kind !== "table") return at.unexpected(toleranceBy.expected);
    const column = at.node.members.get("column");
    if (column === undefined) return at.refuse("column is missing");
    const values = [...at.node.members].filter(([name]) => name !== "column");
    if (values.length === 0) return at.refuse('no value has a tolerance, as in { column = "currency", JPY = "1" }');
    const name = placed(columnName).read(at.inside("column", column));
    const cases = values.map(([value, member]) => {
      const read = tolerance.read(at.inside(value, member));
      return read === undefined ? undefined : { value, tolerance: read };
    });
    if (name === undefined || cases.includes(undefined)) return undefined;
    return { column: name, cases: cases as ToleranceByRule["cases"] };
  },
};

const codes: Shape<Placed<CodeSpec[]>> = map(
  named(
    text("a code", (value) => value),
    'a table of codes such as { "1" = "BUY" }',
  ),
  (entries, at) => {
    const empty = entries.find(({ name }) => name.value === "");
    if (empty !== undefined) return at.refuse("an empty value stays empty and cannot be mapped", "", empty.name.place);
    return { value: entries.map(({ name, value }) => ({ from: name.value, to: value })), place: at.place };
  },
);

const sign = map(
  table({
    column: { shape: placed(columnName), about: "the column that holds the code", required: true },
    negative: { shape: words, about: "codes of negative numbers", required: true },
    positive: { shape: words, about: "codes of positive numbers", required: true },
    on: {
      shape: choice(["internal", "external"]),
      about: "the only side to sign; every side that has the column if not given",
    },
  }),
  (rule, at) => {
    const both = rule.negative.find((code) => rule.positive.includes(code));
    if (both !== undefined) return at.refuse(`the code ${JSON.stringify(both)} is both negative and positive`);
    return { ...rule, on: rule.on ?? null, place: at.place };
  },
);

const columnMembers = {
  type: { shape: placed(choice(valueType.choices)), about: "what the values are; auto if not given" },
  tolerance: { shape: tolerance, about: "how far two values may differ, the bound included; declares the type" },
  tolerance_by: { shape: toleranceBy, about: "tolerances by the value of another column of the internal side" },
  map: { shape: codes, about: "codes of both sides and what they stand for; any other is a bad row" },
  internal_map: { shape: codes, about: "codes of the internal side; wins over map" },
  external_map: { shape: codes, about: "codes of the external side; wins over map" },
  signed_by: { shape: sign, about: "the column whose code gives an unsigned number its sign" },
} as const satisfies Record<string, Member>;

export type ColumnRead = Read<typeof columnMembers>;

const columns = named(
  map(table(columnMembers), (value, { place }) => ({ ...value, place })),
  "a table for each column, such as [columns.price]",
  0,
);

const vwap = map(named(placed(columnName), 'a table such as { price = "quantity" }'), (entries): GroupRule["vwap"] =>
  entries.map(({ name, value }) => ({ price: name, weight: value })),
);

const groupMembers = {
  by: { shape: columnNames, about: "rows that agree in these columns become one", required: true },
  sum: { shape: columnNames, about: "columns to add up" },
  vwap: { shape: vwap, about: "average prices, each weighted by another column" },
} as const satisfies Record<string, Member>;

const group: Shape<GroupRule> = map(table(groupMembers), ({ by, sum = [], vwap = [] }, at) => {
  const names = [...by, ...sum, ...vwap.map(({ price }) => price)];
  const twice = names.find(({ value }, i) => names.findIndex((other) => other.value === value) < i);
  if (twice !== undefined) return at.refuse(`column ${JSON.stringify(twice.value)} is named twice`, "", twice.place);
  return { place: at.place, by, sum, vwap };
});

const controls = table({
  sum: { shape: columnNames, about: "columns to add up on each side", required: true },
  by: { shape: placed(columnName), about: "a total for each value of this column" },
});

const fileMembers = {
  internal: { shape: side, about: "how the internal ledger is read" },
  external: { shape: side, about: "how the external ledger is read" },
  columns: { shape: columns, about: "rules of single columns, by the internal side's names" },
  group: {
    shape: table({
      internal: { shape: group, about: "fold the internal side's rows before matching" },
      external: { shape: group, about: "fold the external side's rows before matching" },
    }),
    about: "one-to-many: rows of one side that are folded before matching; columns are called as in that file",
  },
  controls: { shape: controls, about: "totals of both sides, shown and compared" },
} as const satisfies Record<string, Member>;

export type FileRead = Read<typeof fileMembers> & Record<string, unknown>;

export const file = table(
  { ...optionMembers(generalOptions), ...fileMembers },
  belongsElsewhere,
) as unknown as Shape<FileRead>;

/** Where a known member belongs that stands in the wrong table. */
function belongsElsewhere(name: string): string | null {
  if (Object.hasOwn(sideMembers, name) || name === "columns") return `${name} belongs under [internal] or [external]`;
  if (Object.hasOwn(columnMembers, name)) return `${name} belongs under [columns.NAME]`;
  if (Object.hasOwn(groupMembers, name))
    return `${name} belongs under [group.internal], [group.external] or [controls]`;
  if (generalOptions.some(([, option]) => memberName(option) === name)) return `${name} belongs at the top of the file`;
  const option = (Object.values(options) as Option[]).find((other) => memberName(other) === name);
  return option === undefined ? null : `--${option.name} is for the command line only`;
}

/** For editors: everything of `file` that a JSON Schema can say. */
export function jsonSchema(): object {
  const title = "recon.toml: how two ledgers correspond";
  return { $schema: "http://json-schema.org/draft-07/schema#", title, ...file.schema };
}
