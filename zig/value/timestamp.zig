const Zone = @import("zone.zig").Zone;
const DateFormat = @import("date.zig").DateFormat;
pub const Result = union(enum) { value: i128, not_a_time, no_zone, skipped, repeated };
pub fn parse(text: []const u8, zone: ?*const Zone, dates: *const DateFormat) Result {
    _ = text;
    _ = zone;
    _ = dates;
    return .not_a_time;
}
