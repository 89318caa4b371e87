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

const iso_dates: DateFormat = .{};
const max_fraction_digits = 12;
const picoseconds_per_second = 1_000_000_000_000;

/// A day (in `dates`, or `YYYY-MM-DD` where it cannot be taken for one of those), `T` or a blank, a time of day, and `Z`, an offset or nothing; or FIX's `YYYYMMDD-HH:MM:SS`, which is UTC
/// by definition. Without zone or offset the time is local in `zone`.
pub fn parse(text: []const u8, zone: ?*const Zone, dates: *const DateFormat) Result {
    if (isFix(text)) {
        const day = iso_dates.parsePrefix(text[0..8]) orelse return .not_a_time;
        const time = timeOfDay(text[9..]) orelse return .not_a_time;
        return if (9 + time.len == text.len) instant(day.days, time, 0) else .not_a_time;
    }
    const spelling = if (dates.pattern != null and isIsoBeside(text, dates)) &iso_dates else dates;
    if (spelling.pattern == null) if (usualStart(text)) |start| return ending(text, start.days, start.time, zone);
    const day = spelling.parsePrefix(text) orelse return .not_a_time;
    if (day.len >= text.len or !isSeparator(text[day.len])) return .not_a_time;
    var time = timeOfDay(text[day.len + 1 ..]) orelse return .not_a_time;
    time.len += day.len + 1;
    return ending(text, day.days, time, zone);
}

/// What stands behind the time, which ends at `text[time.len]`, and what it makes of it.
inline fn ending(text: []const u8, days: i64, time: Time, zone: ?*const Zone) Result {
    const suffix = text[time.len..];
    if (suffix.len != 0) return instant(days, time, offsetOf(suffix) orelse return .not_a_time);
    const local = zone orelse return .no_zone;
    return switch (local.instantOf(days * 86_400 + time.second)) {
        .utc_s => |utc_s| .{ .value = @as(i128, utc_s) * picoseconds_per_second + time.picoseconds },
        .skipped => .skipped,
        .repeated => .repeated,
    };
}

/// `YYYY-MM-DDTHH:MM:SS` with what may follow of a fraction, all at once; null where that has to be looked at more closely.
inline fn usualStart(text: []const u8) ?struct { days: i64, time: Time } {
    if (text.len < 19) return null;
    const first = std.mem.readInt(u64, text[0..8], .little);
    const second = std.mem.readInt(u64, text[8..16], .little);
    const third = std.mem.readInt(u64, text[11..19], .little);
    const dashes = (first ^ 0x2d00_002d_0000_0000) & 0xff00_00ff_0000_0000;
    const colons = (third ^ 0x0000_3a00_003a_0000) & 0x0000_ff00_00ff_0000;
    if (dashes | colons != 0 or !isSeparator(text[10])) return null;
    const day_digits = first & 0xffff_ffff | (first >> 40 & 0xffff) << 32 | second << 48;
    const pairs = date.pairsOf(day_digits) orelse return null;
    const days = date.daysOf(@as(u32, pairs[0]) * 100 + pairs[1], pairs[2], pairs[3]) orelse return null;
    const time_digits = third & 0xffff | (third >> 24 & 0xffff) << 16 | (third >> 48) << 32;
    return .{ .days = days, .time = fromPairs(time_digits, text, 19) orelse return null };
}

fn isFix(text: []const u8) bool {
    return text.len > 9 and text[8] == '-' and date.pairsOf(std.mem.readInt(u64, text[0..8], .little)) != null;
}

/// Four digits and a dash can be nothing but an ISO day, unless the pattern too begins with the year: then the pattern alone says
/// which number is the month.
fn isIsoBeside(text: []const u8, dates: *const DateFormat) bool {
    if (dates.tokens[0] == .year or text.len < 5 or text[4] != '-') return false;
    for (text[0..4]) |byte| if (!std.ascii.isDigit(byte)) return false;
    return true;
}

test "an ISO time is read beside a pattern of dates, unless that begins with the year" {
    const european: DateFormat = try .init("dd/MM/yyyy");
    const iso = parse("2026-03-02T14:30Z", null, &iso_dates).value;
    try std.testing.expectEqual(iso, parse("2026-03-02T14:30Z", null, &european).value);
    try std.testing.expectEqual(iso, parse("2026-03-02 14:30:00Z", null, &european).value);
    try std.testing.expectEqual(iso, parse("02/03/2026 14:30Z", null, &european).value);
    const year_first: DateFormat = try .init("yyyy-dd-MM");
    try std.testing.expectEqual(iso, parse("2026-02-03T14:30Z", null, &year_first).value);
    try std.testing.expectEqual(Result.not_a_time, parse("2026-03-20T14:30Z", null, &year_first));
}

fn isSeparator(byte: u8) bool {
    return byte == 'T' or byte == 't' or byte == ' ';
}

const Time = struct { second: i64, picoseconds: i64, len: usize };

/// `HH:MM[:SS[.f]]`, or the same without colons.
inline fn timeOfDay(text: []const u8) ?Time {
    if (text.len >= 8 and text[2] == ':' and text[5] == ':') {
        const hour: u64 = std.mem.readInt(u16, text[0..2], .little);
        const minute: u64 = std.mem.readInt(u16, text[3..5], .little);
        const second: u64 = std.mem.readInt(u16, text[6..8], .little);
        return fromPairs(hour | minute << 16 | second << 32, text, 8);
    }
    return unusualTime(text);
}

/// Without seconds, or without colons.
fn unusualTime(text: []const u8) ?Time {
    const has_colon = text.len >= 5 and text[2] == ':';
    const minute_at: usize = if (has_colon) 3 else 2;
    const at = minute_at + 2;
    if (text.len < at) return null;
    const hour: u64 = std.mem.readInt(u16, text[0..2], .little);
    const minute: u64 = std.mem.readInt(u16, text[minute_at..][0..2], .little);
    const has_second = !has_colon and text.len >= 6 and std.ascii.isDigit(text[4]);
    if (!has_second) return if (has_colon and text.len > at and text[at] == ':') null else fromPairs(hour | minute << 16 | zero_pair << 32, text[0..at], at);
    const second: u64 = std.mem.readInt(u16, text[4..6], .little);
    return fromPairs(hour | minute << 16 | second << 32, text, 6);
}

const zero_pair: u64 = 0x3030;

/// `pairs` are the digits of hour, minute and second; a fraction may stand at `text[at]`.
inline fn fromPairs(digits: u64, text: []const u8, at: usize) ?Time {
    const pairs = date.pairsOf(digits | zero_pair << 48) orelse return null;
    if (pairs[0] > 23 or pairs[1] > 59 or pairs[2] > 59) return null;
    const second = @as(u32, pairs[0]) * 3600 + @as(u32, pairs[1]) * 60 + pairs[2];
    if (at == text.len or (text[at] != '.' and text[at] != ',')) return .{ .second = second, .picoseconds = 0, .len = at };
    const part = fraction(text, at + 1) orelse return null;
    return .{ .second = second, .picoseconds = part.picoseconds, .len = at + 1 + part.len };
}

const Fraction = struct { picoseconds: i64, len: usize };

/// 1 to 12 digits at `text[at]`, where at least six bytes stand before.
inline fn fraction(text: []const u8, at: usize) ?Fraction {
    const rest = text.len - at;
    // The last eight bytes where fewer are left: nothing outside the text is read.
    const start = @min(at, text.len -| 8);
    if (text.len < 8) return longFraction(text[at..]);
    const word = if (rest == 0) return null else std.mem.readInt(u64, text[start..][0..8], .little) >> @intCast((at - start) * 8);
    const digits = date.digitsOf(word);
    const others = date.firstOther(digits);
    if (others == 0) return longFraction(text[at..]);
    const len = @ctz(others) / 8;
    if (len == 0) return null;
    // Zeros in front of the digits, so that one way reads any number of them.
    const pairs = (digits << @intCast((8 - len) * 8)) *% 10 +% (digits << @intCast((8 - len) * 8) >> 8);
    return .{ .picoseconds = @as(i64, fourPairs(pairs)) * power_of_ten[max_fraction_digits - len], .len = len };
}

/// The number of eight digits of which every second byte holds a pair.
inline fn fourPairs(pairs: u64) u32 {
    const bytes: [8]u8 = @bitCast(std.mem.nativeToLittle(u64, pairs));
    return @as(u32, bytes[0]) * 1_000_000 + @as(u32, bytes[2]) * 10_000 + @as(u32, bytes[4]) * 100 + bytes[6];
}

const power_of_ten: [max_fraction_digits + 1]i64 = table: {
    var powers: [max_fraction_digits + 1]i64 = @splat(1);
    for (1..powers.len) |i| powers[i] = powers[i - 1] * 10;
    break :table powers;
};

fn longFraction(text: []const u8) ?Fraction {
    var value: i64 = 0;
    for (text, 0..) |byte, len| {
        if (!std.ascii.isDigit(byte)) return if (len == 0) null else .{ .picoseconds = value * power_of_ten[max_fraction_digits - len], .len = len };
        if (len == max_fraction_digits) return null;
        value = value * 10 + (byte - '0');
    }
    return if (text.len == 0) null else .{ .picoseconds = value * power_of_ten[max_fraction_digits - text.len], .len = text.len };
}

/// Seconds east of UTC: `Z`, `±HH`, `±HHMM`, `±HH:MM`.
inline fn offsetOf(text: []const u8) ?i64 {
    if (text.len == 1) return if (text[0] == 'Z' or text[0] == 'z') 0 else null;
    return numericOffset(text);
}

fn numericOffset(text: []const u8) ?i64 {
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

/// A byte at a time, by the grammar: what the fast ways above are held against.
const Model = struct {
    rest: []const u8,

    fn digits(model: *Model, count: usize) ?i64 {
        if (model.rest.len < count) return null;
        const value = date.number(model.rest[0..count]) orelse return null;
        model.rest = model.rest[count..];
        return value;
    }

    fn byte(model: *Model, one_of: []const u8) ?u8 {
        if (model.rest.len == 0 or std.mem.findScalar(u8, one_of, model.rest[0]) == null) return null;
        defer model.rest = model.rest[1..];
        return model.rest[0];
    }

    fn parse(text: []const u8) Result {
        var model: Model = .{ .rest = text };
        return model.instantOf() orelse .not_a_time;
    }

    fn instantOf(model: *Model) ?Result {
        const year = model.digits(4) orelse return null;
        const dashes = model.byte("-") != null;
        const month = model.digits(2) orelse return null;
        if (dashes and model.byte("-") == null) return null;
        const day = model.digits(2) orelse return null;
        const days = date.daysOf(@intCast(year), @intCast(month), @intCast(day)) orelse return null;
        const separator = model.byte(if (dashes) "Tt " else "Tt -") orelse return null;
        const hour = model.digits(2) orelse return null;
        const colons = model.byte(":") != null;
        const minute = model.digits(2) orelse return null;
        var second: i64 = 0;
        var picoseconds: i64 = 0;
        const more = if (colons) model.byte(":") != null else model.rest.len != 0 and std.ascii.isDigit(model.rest[0]);
        if (more) {
            second = model.digits(2) orelse return null;
            if (model.byte(".,") != null) {
                var unit: i64 = picoseconds_per_second;
                while (model.byte("0123456789")) |digit| {
                    if (unit == 1) return null;
                    unit = @divExact(unit, 10);
                    picoseconds += unit * (digit - '0');
                }
                if (unit == picoseconds_per_second) return null;
            }
        }
        if (hour > 23 or minute > 59 or second > 59) return null;
        const offset_s = if (separator == '-') 0 else (model.offset() orelse return null);
        if (model.rest.len != 0) return null;
        const seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
        return if (offset_s) |east| .{ .value = @as(i128, seconds - east) * picoseconds_per_second + picoseconds } else .no_zone;
    }

    /// Null inside: there is none.
    fn offset(model: *Model) ??i64 {
        if (model.rest.len == 0) return @as(?i64, null);
        if (model.byte("Zz") != null) return 0;
        const sign = model.byte("+-") orelse return null;
        const hours = model.digits(2) orelse return null;
        const colon = model.byte(":") != null;
        const minutes = if (model.rest.len == 0 and !colon) 0 else model.digits(2) orelse return null;
        if (hours > 23 or minutes > 59) return null;
        const east = hours * 3600 + minutes * 60;
        return if (sign == '-') -east else east;
    }
};

test "spellings and their neighbours mean what the grammar says" {
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    const spellings = [_][]const u8{
        "2024-02-29T23:59:59.123456789012Z", "2026-03-02 14:30:01.1+09:30", "20260302-14:30:01.123",       "20260302T143001.5-0800",
        "2026-03-02T14:30",                  "20260302-14:30",              "2026-12-31t00:00:00,00z",     "20260302 1430+01",
        "2026-03-02T14:30:01.12345678",      "20260302-14:30:01.123456789", "2026-03-02T14:30:01.1234567", "20260302 143001",
    };
    var accepted: usize = 0;
    const rounds = 200_000;
    for (0..rounds) |_| {
        var buffer: [48]u8 = undefined;
        const spelling = spellings[random.uintLessThan(usize, spellings.len)];
        var len = spelling.len;
        @memcpy(buffer[0..len], spelling);
        for (0..random.uintAtMost(usize, 2)) |_| switch (random.uintLessThan(u8, 4)) {
            0 => len = random.uintAtMost(usize, spelling.len),
            1 => if (len < buffer.len) {
                buffer[len] = "0123456789.:-+TZ ,"[random.uintLessThan(usize, 18)];
                len += 1;
            },
            2 => buffer[random.uintLessThan(usize, spelling.len)] = random.int(u8),
            else => buffer[random.uintLessThan(usize, spelling.len)] = "0123456789.:-+Tz "[random.uintLessThan(usize, 17)],
        };
        const text = buffer[0..len];
        errdefer std.debug.print("{s}\n", .{text});
        const expected = Model.parse(text);
        try testing.expectEqual(expected, parse(text, null, &iso_dates));
        accepted += @intFromBool(expected == .value);
    }
    try testing.expect(accepted > rounds / 20 and accepted < rounds / 2 + rounds / 4);
}

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
