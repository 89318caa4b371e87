//! Instants: ISO 8601 and FIX UTCTimestamp, to the picosecond. Used by csv/reading.zig for declared timestamps.
const std = @import("std");
const date = @import("date.zig");
const DateFormat = date.DateFormat;
const Zone = @import("zone.zig").Zone;

pub const Result = union(enum) {
    /// Picoseconds since 1970-01-01T00:00:00Z.
    value: i128,
    not_a_time,
    /// No Z, no offset, and no zone is declared.
    no_zone,
    /// A local time that the zone leaves out, or has twice.
    skipped,
    repeated,
};

const max_fraction_digits = 12;
const picoseconds_per_second = 1_000_000_000_000;

/// A day (in `dates`), `T` or a blank, a time of day, and `Z`, an offset or nothing; or FIX's `YYYYMMDD-HH:MM:SS`, which is UTC
/// by definition. Without zone or offset the time is local in `zone`.
pub fn parse(text: []const u8, zone: ?*const Zone, dates: *const DateFormat) Result {
    if (isFix(text)) {
        const iso: DateFormat = .{};
        const day = iso.parsePrefix(text[0..8]) orelse return .not_a_time;
        const time = timeOfDay(text[9..]) orelse return .not_a_time;
        return if (9 + time.len == text.len) instant(day.days, time, 0) else .not_a_time;
    }
    const day = dates.parsePrefix(text) orelse return .not_a_time;
    if (day.len >= text.len or !isSeparator(text[day.len])) return .not_a_time;
    const behind = text[day.len + 1 ..];
    const time = timeOfDay(behind) orelse return .not_a_time;
    const suffix = behind[time.len..];
    if (suffix.len != 0) return instant(day.days, time, offsetOf(suffix) orelse return .not_a_time);
    const local = zone orelse return .no_zone;
    return switch (local.instantOf(day.days * 86_400 + time.second)) {
        .utc_s => |utc_s| .{ .value = @as(i128, utc_s) * picoseconds_per_second + time.picoseconds },
        .skipped => .skipped,
        .repeated => .repeated,
    };
}

fn isFix(text: []const u8) bool {
    return text.len > 9 and text[8] == '-' and date.number(text[0..8]) != null;
}

fn isSeparator(byte: u8) bool {
    return byte == 'T' or byte == 't' or byte == ' ';
}

const Time = struct { second: i64, picoseconds: i64, len: usize };

/// `HH:MM[:SS[.f]]`, or the same without colons.
fn timeOfDay(text: []const u8) ?Time {
    const colon = @intFromBool(text.len > 2 and text[2] == ':');
    var at: usize = 4 + @as(usize, colon);
    if (text.len < at) return null;
    const hour = date.number(text[0..2]) orelse return null;
    const minute = date.number(text[2 + @as(usize, colon) ..][0..2]) orelse return null;
    var time: Time = .{ .second = 0, .picoseconds = 0, .len = at };
    var second: u32 = 0;
    const more = at < text.len and if (colon == 1) text[at] == ':' else std.ascii.isDigit(text[at]);
    if (more) {
        at += colon;
        if (text.len < at + 2) return null;
        second = date.number(text[at..][0..2]) orelse return null;
        at += 2;
        if (at < text.len and (text[at] == '.' or text[at] == ',')) {
            const digits = digitsAt(text[at + 1 ..]);
            if (digits == 0 or digits > max_fraction_digits) return null;
            time.picoseconds = fraction(text[at + 1 ..][0..digits]);
            at += 1 + digits;
        }
        time.len = at;
    }
    if (hour > 23 or minute > 59 or second > 59) return null;
    time.second = hour * 3600 + minute * 60 + second;
    return time;
}

fn digitsAt(text: []const u8) usize {
    for (text, 0..) |byte, i| if (!std.ascii.isDigit(byte)) return i;
    return text.len;
}

fn fraction(digits: []const u8) i64 {
    var value: i64 = 0;
    for (digits) |byte| value = value * 10 + (byte - '0');
    for (digits.len..max_fraction_digits) |_| value *= 10;
    return value;
}

/// Seconds east of UTC: `Z`, `±HH`, `±HHMM`, `±HH:MM`.
fn offsetOf(text: []const u8) ?i64 {
    if (text.len == 1 and (text[0] == 'Z' or text[0] == 'z')) return 0;
    if (text[0] != '+' and text[0] != '-') return null;
    const colon = text.len == 6 and text[3] == ':';
    if (text.len != 3 and text.len != 5 and !colon) return null;
    const hours = date.number(text[1..3]) orelse return null;
    const minutes = if (text.len == 3) 0 else date.number(text[text.len - 2 ..]) orelse return null;
    if (hours > 23 or minutes > 59) return null;
    const offset_s: i64 = hours * 3600 + minutes * 60;
    return if (text[0] == '-') -offset_s else offset_s;
}

fn instant(days: i64, time: Time, offset_s: i64) Result {
    return .{ .value = @as(i128, days * 86_400 + time.second - offset_s) * picoseconds_per_second + time.picoseconds };
}

const testing = std.testing;
const iso_dates: DateFormat = .{};

fn expectSeconds(expected_s: i64, picoseconds: i64, text: []const u8, zone: ?*const Zone, dates: *const DateFormat) !void {
    errdefer std.debug.print("{s}\n", .{text});
    const expected = @as(i128, expected_s) * picoseconds_per_second + picoseconds;
    try testing.expectEqual(Result{ .value = expected }, parse(text, zone, dates));
}

test "spellings of one instant" {
    const tokyo: Zone = .init(.{ .name = "Asia/Tokyo", .offset_s = 9 * 3600 });
    const day_first: DateFormat = try .init("dd/MM/yyyy");
    const at_s = 1_772_461_801; // 2026-03-02T14:30:01Z
    for ([_][]const u8{
        "2026-03-02T14:30:01Z",      "2026-03-02 14:30:01z",      "2026-03-02t14:30:01.0Z",    "20260302T143001Z",
        "20260302-14:30:01",         "20260302-14:30:01.000000",  "2026-03-02T23:30:01+09",    "2026-03-02T23:30:01+0900",
        "2026-03-02T23:30:01+09:00", "2026-03-02T04:30:01-10:00", "2026-03-03T00:00:01+09:30", "20260302 14:30:01,000Z",
    }) |text| try expectSeconds(at_s, 0, text, null, &iso_dates);
    try expectSeconds(at_s, 0, "2026-03-02T23:30:01", &tokyo, &iso_dates);
    try expectSeconds(at_s, 0, "02/03/2026 23:30:01", &tokyo, &day_first);
    try expectSeconds(at_s, 0, "20260302-14:30:01", &tokyo, &day_first);
    try expectSeconds(at_s - 1, 0, "2026-03-02T14:30Z", null, &iso_dates);
    try expectSeconds(at_s, 123_456_789_012, "20260302-14:30:01.123456789012", null, &iso_dates);
    try expectSeconds(at_s, 100_000_000_000, "2026-03-02T14:30:01.1Z", null, &iso_dates);
}

test "what is no instant" {
    for ([_][]const u8{ "", "2026-03-02", "14:30:01Z", "2026-03-02T", "2026-03-02T14Z", "2026-03-02T14:30:60Z", "2026-03-02T24:00:00Z", "2026-03-02T14:60Z", "2026-02-30T14:30Z", "2026-03-02T14:30:01.Z", "2026-03-02T14:30:01.1234567890123Z", "2026-03-02T14:30:01+9", "2026-03-02T14:30:01+24:00", "2026-03-02T14:30:01 Z", "20260302-14:30:01Z", "20260302-", "2026-03-02T14:30:01Zz", "2026-03-02T14:3001Z" }) |text| {
        errdefer std.debug.print("{s}\n", .{text});
        try testing.expectEqual(Result.not_a_time, parse(text, null, &iso_dates));
    }
    try testing.expectEqual(Result.no_zone, parse("2026-03-02T14:30:01", null, &iso_dates));
}
