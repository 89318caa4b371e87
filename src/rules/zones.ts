// Time zones by name, from the zone data inside the executable: never the host's. Used by members.ts to check names and
// by translate.ts for the offsets of a zone that is used.
import { editDistance } from "../edit-distance";
import type { ZoneChangeSpec, ZoneSpec } from "../generated/abi";

/** Offsets are known for instants from here on and before `last_ms`; earlier ones have the first, later ones the last. */
const first_ms = Date.UTC(1900, 0, 1);
const last_ms = Date.UTC(2101, 0, 1);
const fixed = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/;

/** Throws an Error whose message completes "expected …". */
export function parseZone(name: string): string {
  if (name === "UTC" || fixed.test(name)) return name;
  // Temporal also takes whole timestamps, for the zone in them.
  if (/^[A-Za-z]/.test(name) && startOf(name) !== null) return name;
  const near = nearestZone(name);
  const form = "a time zone such as Europe/London, UTC or +09:00";
  throw new Error(`${form}, not ${JSON.stringify(name)}${near === null ? "" : ` (did you mean ${near}?)`}`);
}

/** Of a name that `parseZone` takes. */
export function zoneSpec(name: string): ZoneSpec {
  const [, sign, hours, minutes] = fixed.exec(name) ?? [];
  if (sign !== undefined) {
    const offset_s = (Number(hours) * 60 + Number(minutes)) * 60;
    return { name, offset_s: sign === "-" ? -offset_s : offset_s, changes: [] };
  }
  const start = startOf(name);
  if (start === null) throw new Error(`no zone ${name}`);
  return { name, offset_s: offsetOf(start), changes: changesAfter(start) };
}

function changesAfter(start: Temporal.ZonedDateTime): ZoneChangeSpec[] {
  const changes: ZoneChangeSpec[] = [];
  let at = start.getTimeZoneTransition("next");
  while (at !== null && at.epochMilliseconds < last_ms) {
    changes.push({ at_s: Math.floor(at.epochMilliseconds / 1000), offset_s: offsetOf(at) });
    at = at.getTimeZoneTransition("next");
  }
  return changes;
}

const offsetOf = (at: Temporal.ZonedDateTime): number => at.offsetNanoseconds / 1e9;

function startOf(name: string): Temporal.ZonedDateTime | null {
  try {
    return Temporal.Instant.fromEpochMilliseconds(first_ms).toZonedDateTimeISO(name);
  } catch {
    return null;
  }
}

function nearestZone(name: string): string | null {
  const city = (zone: string) => zone.slice(zone.lastIndexOf("/") + 1).toLowerCase();
  const plain = name.toLowerCase().replaceAll(" ", "_");
  const byDistance = Intl.supportedValuesOf("timeZone").map((zone) => ({
    zone,
    edits: Math.min(editDistance(plain, zone.toLowerCase()), editDistance(city(plain), city(zone))),
  }));
  const best = byDistance.sort((a, b) => a.edits - b.edits)[0];
  return best !== undefined && best.edits <= 2 ? best.zone : null;
}
