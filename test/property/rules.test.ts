// Random values that are spelled by random rules on each side: recon must find the differences that the values have. The
// model never reads a spelling: it knows the values from which both files were written.
// SEED=n repeats a run of the test, ROUNDS=n changes how many pairs are tried.
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireExecutable, runCommand, scratchFolder } from "../executable";
import { cpuLevels } from "./judge";
import { Random } from "./ledgers";

const recon = requireExecutable();
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 60);

/** Numbers are whole multiples of 10^-8, times milliseconds, dates days, all since 1970. */
interface Row {
  number: bigint | null;
  time_ms: number;
  day: number;
}
const number_digits = 8;
const day_ms = 86_400_000;

const absolute = (value: bigint) => (value < 0n ? -value : value);

interface Spelling {
  decimal: string;
  thousands: string | null;
  accounting: boolean;
  currency: string[];
  dateFormat: string | null;
  zone: string;
  nulls: string[];
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Each with whether a difference in the larger magnitude's units is within it. */
const numberTolerances: [text: string | null, within: (gap: bigint, larger: bigint) => boolean][] = [
  [null, (gap) => gap === 0n],
  ["0.01", (gap) => gap <= 1_000_000n],
  ["5bps", (gap, larger) => gap * 10_000n <= 5n * larger],
  ["0.1%", (gap, larger) => gap * 1_000n <= larger],
  ["5bps max 0.02", (gap, larger) => gap * 10_000n <= 5n * larger && gap <= 2_000_000n],
];
const timeTolerances: [text: string | null, ms: number][] = [
  [null, 0],
  ["500ms", 500],
  ["2s", 2000],
  ["1m", 60_000],
];

function randomSpelling(random: Random): Spelling {
  const decimal = random.pick([".", ","]);
  return {
    decimal,
    thousands: random.pick([null, decimal === "," ? "." : ",", "'"]),
    accounting: random.chance(0.5),
    currency: random.pick([[], ["€", "USD"]]),
    dateFormat: random.pick(["dd/MM/yyyy", "MM/dd/yyyy", "yyyyMMdd", "d-MMM-yyyy", "yyyy年M月d日", null]),
    zone: random.pick(["America/New_York", "Asia/Tokyo", "Europe/London", "Australia/Lord_Howe", "+05:30", "UTC"]),
    nulls: random.pick([[], ["NULL"], ["n/a", "-"]]),
  };
}

function rulesOf({ decimal, thousands, accounting, currency, dateFormat, zone, nulls }: Spelling): string[] {
  return [
    `decimal = "${decimal}"`,
    ...(thousands === null ? [] : [`thousands = "${thousands}"`]),
    ...(accounting ? ['negative = "accounting"'] : []),
    ...(currency.length > 0 ? [`currency = ${JSON.stringify(currency)}`] : []),
    ...(dateFormat === null ? [] : [`date_format = "${dateFormat}"`]),
    `timezone = "${zone}"`,
    ...(nulls.length > 0 ? [`null = ${JSON.stringify(nulls)}`] : []),
  ];
}

/** `signed` is false where another column says the sign. */
function spellNumber(random: Random, value: bigint, signed: boolean, how: Spelling): string {
  const digits = String(absolute(value)).padStart(number_digits + 1, "0");
  let whole = digits.slice(0, -number_digits);
  const fraction = digits.slice(-number_digits).replace(/0+$/, "") + (random.chance(0.3) ? "00" : "");
  if (how.thousands !== null && random.chance(0.6)) whole = whole.replace(/\B(?=(\d{3})+$)/g, how.thousands);
  else if (random.chance(0.1)) whole = `0${whole}`;
  let text = fraction === "" ? whole : `${whole}${how.decimal}${fraction}`;
  if (value < 0n && signed) text = random.pick(how.accounting ? [`(${text})`, `${text}-`, `-${text}`] : [`-${text}`]);
  const mark = random.pick(["", ...how.currency]);
  if (mark === "") return text;
  return random.chance(0.5) ? `${mark} ${text}` : `${text}${mark}`;
}

const two = (number: number) => String(number).padStart(2, "0");

function spellDate(date: Temporal.PlainDate, { dateFormat }: Spelling): string {
  const parts: Record<string, string> = {
    yyyy: String(date.year),
    MMM: months[date.month - 1] as string,
    MM: two(date.month),
    M: String(date.month),
    dd: two(date.day),
    d: String(date.day),
  };
  return (dateFormat ?? "yyyy-MM-dd").replace(/yyyy|MMM|MM|M|dd|d/g, (letters) => parts[letters] as string);
}

/** With an offset wherever the local time alone would not tell, and sometimes elsewhere. */
function spellTime(random: Random, time_ms: number, how: Spelling): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(time_ms).toZonedDateTimeISO(how.zone);
  const local = zoned.toPlainDateTime();
  const clock = local.toPlainTime().toString({ smallestUnit: random.chance(0.5) ? "millisecond" : "microsecond" });
  const text = `${spellDate(local.toPlainDate(), how)}${random.pick(["T", " "])}${clock}`;
  const isTwice =
    local.toZonedDateTime(how.zone, { disambiguation: "earlier" }).epochMilliseconds !==
    local.toZonedDateTime(how.zone, { disambiguation: "later" }).epochMilliseconds;
  return isTwice || random.chance(0.3) ? `${text}${zoned.offset}` : text;
}

function randomRow(random: Random): Row {
  const size = 10n ** BigInt(1 + random.below(20));
  const number = (BigInt(Math.floor(random.next() * 2 ** 50)) * size) / 2n ** 50n;
  return {
    number: random.chance(0.1) ? null : random.chance(0.5) ? -number : number,
    time_ms: Date.UTC(2026, 0, 1) + random.below(400 * 86_400_000),
    day: Date.UTC(2026, 0, 1) / day_ms + random.below(500),
  };
}

/** The other side's: often at the very edge of a tolerance. */
function movedRow(random: Random, { number, time_ms, day }: Row): Row {
  const magnitude = absolute(number ?? 0n);
  const gaps = [0n, 0n, 1n, -1n, 1_000_000n, 1_000_001n, magnitude / 2000n, magnitude / 1999n, -(magnitude / 2000n)];
  return {
    number: number === null || random.chance(0.05) ? null : number + random.pick(gaps),
    time_ms: time_ms + random.pick([0, 0, 500, -500, 501, 2000, 2001, 60_000, -60_001]),
    day: day + random.pick([0, 0, 1, -1, 2]),
  };
}

/** A plain decimal without superfluous zeros. */
function plain(value: bigint, decimals: number): string {
  const digits = String(absolute(value)).padStart(decimals + 1, "0");
  const text = `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`;
  return `${value < 0n ? "-" : ""}${text.replace(/\.?0+$/, "")}`;
}

const quoted = (field: string) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);

type Side = "internal" | "external";
const sides = ["internal", "external"] as const;

/** Everything that was drawn for one run. */
interface Drawn {
  keys: string[];
  rows: Record<Side, Map<string, Row>>;
  how: Record<Side, Spelling>;
  /** The internal side says signs in a column of their own. */
  hasCodes: boolean;
  numbers: (typeof numberTolerances)[number];
  times: (typeof timeTolerances)[number];
  days: number;
}

function draw(random: Random): Drawn {
  const keys = Array.from({ length: 1 + random.below(40) }, (_, i) => `K${i}`);
  const internal = new Map(keys.map((key) => [key, randomRow(random)]));
  const external = new Map([...internal].map(([key, row]) => [key, movedRow(random, row)]));
  return {
    keys,
    rows: { internal, external },
    how: { internal: randomSpelling(random), external: randomSpelling(random) },
    hasCodes: random.chance(0.5),
    numbers: random.pick(numberTolerances),
    times: random.pick(timeTolerances),
    days: random.pick([0, 1]),
  };
}

function ledgerText(random: Random, side: Side, { keys, rows, how, hasCodes }: Drawn): string {
  const spelling = how[side];
  const withCode = hasCodes && side === "internal";
  const lines = random.shuffle(keys).map((key) => {
    const { number, time_ms, day } = rows[side].get(key) as Row;
    const empty = random.pick(["", ...spelling.nulls]);
    return [
      key,
      ...(withCode ? [number !== null && number < 0n ? "S" : "B"] : []),
      number === null ? empty : spellNumber(random, number, !withCode, spelling),
      spellTime(random, time_ms, spelling),
      spellDate(new Temporal.PlainDate(1970, 1, 1).add({ days: day }), spelling),
    ];
  });
  const all = [["id", ...(withCode ? ["code"] : []), "number", "time", "day"], ...lines];
  return all.map((fields) => `${fields.map(quoted).join(",")}\n`).join("");
}

function rulesText({ how, hasCodes, numbers, times, days }: Drawn): string {
  const tolerance = (text: string | null) => (text === null ? [] : [`tolerance = "${text}"`]);
  const lines = [
    'key = ["id"]',
    ...sides.flatMap((side) => [`[${side}]`, ...rulesOf(how[side])]),
    "[columns.number]",
    'type = "decimal"',
    ...tolerance(numbers[0]),
    ...(hasCodes ? ['signed_by = { column = "code", negative = ["S"], positive = ["B"] }'] : []),
    "[columns.time]",
    'type = "timestamp"',
    ...tolerance(times[0]),
    "[columns.day]",
    'type = "date"',
    ...tolerance(days === 0 ? null : `${days}d`),
    "[controls]",
    'sum = ["number"]',
  ];
  return `${lines.join("\n")}\n`;
}

/** The difference of each column that is out of tolerance. */
function differencesOf(own: Row, other: Row, { numbers: [, isWithin], times: [, time_ms], days }: Drawn) {
  const broken: Record<string, string> = {};
  if (own.number === null || other.number === null) {
    if (own.number !== other.number) broken.number = "";
  } else {
    const gap = other.number - own.number;
    const larger = [absolute(own.number), absolute(other.number)].reduce((a, b) => (a > b ? a : b));
    if (gap !== 0n && !isWithin(absolute(gap), larger)) broken.number = plain(gap, number_digits);
  }
  const late_ms = other.time_ms - own.time_ms;
  if (Math.abs(late_ms) > time_ms) broken.time = plain(BigInt(late_ms), 3);
  if (Math.abs(other.day - own.day) > days) broken.day = String(other.day - own.day);
  return broken;
}

/** What a run must say: the differences by key, and the totals. */
function expectedOf(drawn: Drawn) {
  const { keys, rows } = drawn;
  const all = keys.map(
    (key) => [key, differencesOf(rows.internal.get(key) as Row, rows.external.get(key) as Row, drawn)] as const,
  );
  const broken = all.filter(([, columns]) => Object.keys(columns).length > 0);
  const total = (side: Side) => [...rows[side].values()].reduce((sum, { number }) => sum + (number ?? 0n), 0n);
  const [internal, external] = [total("internal"), total("external")];
  return {
    matched: keys.length - broken.length,
    breaks: Object.fromEntries(broken),
    control: [internal, external, external - internal].map((sum) => plain(sum, number_digits)),
  };
}

/** The same from the program. */
async function foundBy(random: Random, folder: string) {
  const args = ["internal.csv", "external.csv", "-c", "recon.toml", "--json", "--breaks", "breaks.jsonl"];
  const way = ["--threads", random.pick(["1", "2"]), "--plan", random.pick(["auto", "hash"])];
  const env = { RECON_CPU: random.pick(cpuLevels()), RECON_CHUNK_BYTES: random.pick(["64", "262144"]) };
  const { exitCode, stdout, stderr } = await runCommand([recon, ...args, ...way], { cwd: folder, env });
  if (exitCode === 2) return stderr;
  const lines = readFileSync(join(folder, "breaks.jsonl"), "utf8").split("\n").filter(Boolean);
  const breaks = lines.map((line) => JSON.parse(line) as { key: { id: string }; columns: Record<string, Found> });
  const { matched, controls } = JSON.parse(new TextDecoder().decode(stdout));
  const { internal, external, difference } = controls[0];
  return {
    matched,
    breaks: Object.fromEntries(
      breaks.map(({ key, columns }) => [
        key.id,
        Object.fromEntries(Object.entries(columns).map(([name, found]) => [name, found.difference])),
      ]),
    ),
    control: [internal, external, difference],
  };
}

interface Found {
  difference: string;
}

test(`${rounds} pairs spelled by random rules, SEED=${seed}`, async () => {
  using scratch = scratchFolder();
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round);
    const folder = join(scratch.path, String(round));
    mkdirSync(folder);
    const drawn = draw(random);
    for (const side of sides) writeFileSync(join(folder, `${side}.csv`), ledgerText(random, side, drawn));
    writeFileSync(join(folder, "recon.toml"), rulesText(drawn));
    const again = `SEED=${seed + round} ROUNDS=1`;
    expect({ again, found: await foundBy(random, folder) }).toEqual({ again, found: expectedOf(drawn) });
  }
}, 600_000);
