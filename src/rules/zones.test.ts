import { expect, test } from "bun:test";
import { parseZone, zoneSpec } from "./zones";

/** Seconds east of UTC at an instant, as the engine finds them. */
function offsetAt(zone: string, instant: string): number {
  const { offset_s, changes = [] } = zoneSpec(zone);
  const at_s = Date.parse(instant) / 1000;
  return changes.findLast((change) => change.at_s <= at_s)?.offset_s ?? offset_s;
}

const hour = 3600;

test.each([
  ["America/New_York", "2026-03-08T06:59:59Z", -5 * hour],
  ["America/New_York", "2026-03-08T07:00:00Z", -4 * hour],
  ["America/New_York", "2026-11-01T05:59:59Z", -4 * hour],
  ["America/New_York", "2026-11-01T06:00:00Z", -5 * hour],
  ["America/New_York", "1900-01-01T00:00:00Z", -5 * hour],
  ["America/New_York", "1942-06-01T00:00:00Z", -4 * hour],
  ["America/New_York", "2099-07-01T00:00:00Z", -4 * hour],
  ["Europe/London", "2026-03-29T00:59:59Z", 0],
  ["Europe/London", "2026-03-29T01:00:00Z", hour],
  ["Europe/London", "1970-01-01T00:00:00Z", hour],
  ["Asia/Tokyo", "2026-07-01T00:00:00Z", 9 * hour],
  ["Asia/Kolkata", "2026-07-01T00:00:00Z", 5.5 * hour],
  // Half an hour of summer time.
  ["Australia/Lord_Howe", "2026-04-04T14:59:59Z", 11 * hour],
  ["Australia/Lord_Howe", "2026-04-04T15:00:00Z", 10.5 * hour],
  // Ramadan of 2026.
  ["Africa/Casablanca", "2026-02-15T01:59:59Z", hour],
  ["Africa/Casablanca", "2026-02-15T02:00:00Z", 0],
  ["Africa/Casablanca", "2026-03-22T02:00:00Z", hour],
  // Not whole minutes.
  ["Africa/Monrovia", "1972-01-07T00:44:29Z", -2670],
  ["Africa/Monrovia", "1972-01-07T00:44:30Z", 0],
  // A day that was left out.
  ["Pacific/Apia", "2011-12-30T09:59:59Z", -10 * hour],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", 14 * hour],
  ["UTC", "2026-07-01T00:00:00Z", 0],
  ["+09:00", "2026-07-01T00:00:00Z", 9 * hour],
  ["-03:30", "2026-07-01T00:00:00Z", -3.5 * hour],
])("%s at %s", (zone, instant, offset_s) => expect(offsetAt(zone, instant)).toBe(offset_s));

test("changes are ascending, and each is one", () => {
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    const { offset_s, changes = [] } = zoneSpec(zone);
    let last = { at_s: -Infinity, offset_s };
    for (const change of changes) {
      expect(change.at_s).toBeGreaterThan(last.at_s);
      expect(change.offset_s).not.toBe(last.offset_s);
      last = change;
    }
  }
});

test("zones without changes have none", () => {
  for (const zone of ["UTC", "+09:00", "Etc/GMT+5"]) expect(zoneSpec(zone).changes).toEqual([]);
});

test("offsets agree with another way of asking", () => {
  for (const zone of ["America/New_York", "Europe/Dublin", "Africa/Casablanca", "Asia/Tehran", "America/Sao_Paulo"]) {
    const { offset_s, changes = [] } = zoneSpec(zone);
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    for (let at_s = Date.UTC(1930) / 1000; at_s < Date.UTC(2100) / 1000; at_s += 5_000_011) {
      const own = changes.findLast((change) => change.at_s <= at_s)?.offset_s ?? offset_s;
      const [, sign, hours, minutes, seconds] =
        /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(at_s * 1000)) ?? [];
      const theirs = Number(hours ?? 0) * hour + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
      expect(own).toBe(sign === "-" ? -theirs : theirs);
    }
  }
});

test("names that are no zones are refused, near ones with what was meant", () => {
  const refusal = (name: string) => {
    try {
      return parseZone(name);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const form = "a time zone such as Europe/London, UTC or +09:00, not ";
  expect(refusal("Europe/Lodnon")).toBe(`${form}"Europe/Lodnon" (did you mean Europe/London?)`);
  expect(refusal("New York")).toBe(`${form}"New York" (did you mean America/New_York?)`);
  for (const name of ["", "Tatooine", "+9", "+25:00", "+09:60", "09:00", "2026-01-01T00:00:00Z"])
    expect(refusal(name)).toBe(`${form}${JSON.stringify(name)}`);
  for (const name of ["UTC", "GMT", "Asia/Calcutta", "-11:30"]) expect(refusal(name)).toBe(name);
});
