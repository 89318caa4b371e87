//! A time zone as a table of changes (abi.ZoneSpec): from local times to instants. Used by timestamp.zig. The table comes
//! from TypeScript, which has it from the executable itself, never from the host.
const std = @import("std");
const abi = @import("../abi.zig");

pub const Zone = struct {
    spec: abi.ZoneSpec,

    pub fn init(spec: abi.ZoneSpec) Zone {
        return .{ .spec = spec };
    }

    pub const Instant = union(enum) { utc_s: i64, skipped, repeated };

    /// A local time can differ from UTC by less than this.
    const max_offset_s = 26 * 3600;

    /// The instant of a local time, given as the seconds since 1970 that its digits would be in UTC.
    pub fn instantOf(zone: *const Zone, local_s: i64) Instant {
        const changes = zone.spec.changes;
        if (changes.len == 0) return .{ .utc_s = local_s - zone.spec.offset_s };
        // How many changes there are up to the day after. No branch to mispredict: times may come in any order.
        var low: usize = 0;
        var len = changes.len;
        while (len != 0) {
            const half = len - len / 2;
            low += if (changes[low + half - 1].at_s <= local_s + max_offset_s) half else 0;
            len -= half;
        }
        // Only spans that reach into the day around can hold it.
        var found: ?i64 = null;
        var span = low;
        while (true) : (span -= 1) {
            const offset_s = if (span == 0) zone.spec.offset_s else changes[span - 1].offset_s;
            const utc_s = local_s - offset_s;
            const begun = span == 0 or utc_s >= changes[span - 1].at_s;
            const over = span < changes.len and utc_s >= changes[span].at_s;
            if (begun and !over) {
                if (found != null) return .repeated;
                found = utc_s;
            }
            if (span == 0 or changes[span - 1].at_s < local_s - max_offset_s) break;
        }
        return if (found) |utc_s| .{ .utc_s = utc_s } else .skipped;
    }
};

const testing = std.testing;

test "local times around changes" {
    // New York in 2026: summer time from 8 March 07:00 UTC to 1 November 06:00 UTC.
    const zone: Zone = .init(.{ .name = "America/New_York", .offset_s = -5 * 3600, .changes = &.{
        .{ .at_s = 1_772_953_200, .offset_s = -4 * 3600 },
        .{ .at_s = 1_793_512_800, .offset_s = -5 * 3600 },
    } });
    const spring_local_s = 1_772_953_200 - 5 * 3600;
    try testing.expectEqual(Zone.Instant{ .utc_s = 1_772_953_199 }, zone.instantOf(spring_local_s - 1));
    for ([_]i64{ 0, 1, 3599 }) |second| try testing.expectEqual(Zone.Instant.skipped, zone.instantOf(spring_local_s + second));
    try testing.expectEqual(Zone.Instant{ .utc_s = 1_772_953_200 }, zone.instantOf(spring_local_s + 3600));
    const autumn_local_s = 1_793_512_800 - 4 * 3600;
    try testing.expectEqual(Zone.Instant{ .utc_s = 1_793_512_800 - 3601 }, zone.instantOf(autumn_local_s - 3601));
    for ([_]i64{ -3600, -1 }) |second| try testing.expectEqual(Zone.Instant.repeated, zone.instantOf(autumn_local_s + second));
    try testing.expectEqual(Zone.Instant{ .utc_s = 1_793_516_400 }, zone.instantOf(autumn_local_s));
    const fixed: Zone = .init(.{ .name = "+09:00", .offset_s = 9 * 3600 });
    try testing.expectEqual(Zone.Instant{ .utc_s = -9 * 3600 }, fixed.instantOf(0));
}
