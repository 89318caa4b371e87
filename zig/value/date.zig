//! Days of the calendar, and how one side spells them. Used by csv/reading.zig for declared dates, and by timestamp.zig
//! for the day of a time.
const std = @import("std");

/// One letter group of a pattern, or a byte that stands as it is.
const Token = union(enum) { year, month: Width, month_name, day: Width, literal: u8 };
const Width = enum { two_digits, one_or_two };

const max_tokens = 32;

/// A spelling of days. Without a pattern: ISO 8601 `YYYY-MM-DD` and `YYYYMMDD`.
pub const DateFormat = struct {
    pattern: ?[]const u8 = null,
    tokens: [max_tokens]Token = undefined,
    len: usize = 0,

    /// Letters: `yyyy`, `MM`, `M`, `MMM` (English, three letters, any case), `dd`, `d`; every other byte stands for itself.
    /// The pattern is borrowed. InvalidDateFormat: other letters, or not one each of year, month and day.
    pub fn init(pattern: ?[]const u8) error{InvalidDateFormat}!DateFormat {
        const text = pattern orelse return .{};
        var format: DateFormat = .{ .pattern = text };
        var at: usize = 0;
        while (at < text.len) {
            var end = at + 1;
            while (std.ascii.isAlphabetic(text[at]) and end < text.len and text[end] == text[at]) end += 1;
            if (format.len == max_tokens) return error.InvalidDateFormat;
            format.tokens[format.len] = try tokenOf(text[at..end]);
            format.len += 1;
            at = end;
        }
        try format.checkParts();
        return format;
    }

    fn tokenOf(group: []const u8) error{InvalidDateFormat}!Token {
        const known = [_]struct { []const u8, Token }{
            .{ "yyyy", .year },
            .{ "MMM", .month_name },
            .{ "MM", .{ .month = .two_digits } },
            .{ "M", .{ .month = .one_or_two } },
            .{ "dd", .{ .day = .two_digits } },
            .{ "d", .{ .day = .one_or_two } },
        };
        for (known) |entry| if (std.mem.eql(u8, entry[0], group)) return entry[1];
        if (std.ascii.isAlphabetic(group[0]) or std.ascii.isDigit(group[0])) return error.InvalidDateFormat;
        return .{ .literal = group[0] };
    }

    fn checkParts(format: *const DateFormat) error{InvalidDateFormat}!void {
        var years: usize = 0;
        var months: usize = 0;
        var days: usize = 0;
        for (format.tokens[0..format.len]) |token| switch (token) {
            .year => years += 1,
            .month, .month_name => months += 1,
            .day => days += 1,
            .literal => {},
        };
        if (years != 1 or months != 1 or days != 1) return error.InvalidDateFormat;
    }

    pub fn eql(a: *const DateFormat, b: *const DateFormat) bool {
        if (a.pattern == null or b.pattern == null) return (a.pattern == null) == (b.pattern == null);
        return std.mem.eql(u8, a.pattern.?, b.pattern.?);
    }

    /// Days since 1970-01-01; null for what is no day of the years 1 to 9999 in this format.
    pub fn parse(format: *const DateFormat, text: []const u8) ?i64 {
        const found = format.parsePrefix(text) orelse return null;
        return if (found.len == text.len) found.days else null;
    }

    pub const Prefix = struct { days: i64, len: usize };

    /// The day that the text begins with.
    pub fn parsePrefix(format: *const DateFormat, text: []const u8) ?Prefix {
        if (format.pattern != null) return format.parsePattern(text);
        if (text.len >= 10 and text[4] == '-' and text[7] == '-') {
            const days = daysOf(number(text[0..4]) orelse return null, number(text[5..7]) orelse return null, number(text[8..10]) orelse return null);
            return .{ .days = days orelse return null, .len = 10 };
        }
        if (text.len < 8) return null;
        const days = daysOf(number(text[0..4]) orelse return null, number(text[4..6]) orelse return null, number(text[6..8]) orelse return null);
        return .{ .days = days orelse return null, .len = 8 };
    }

    fn parsePattern(format: *const DateFormat, text: []const u8) ?Prefix {
        var year: u32 = 0;
        var month: u32 = 0;
        var day: u32 = 0;
        var at: usize = 0;
        for (format.tokens[0..format.len]) |token| switch (token) {
            .year => year = take(text, &at, 4, 4) orelse return null,
            .month => |width| month = take(text, &at, leastOf(width), 2) orelse return null,
            .day => |width| day = take(text, &at, leastOf(width), 2) orelse return null,
            .month_name => month = takeName(text, &at) orelse return null,
            .literal => |byte| {
                if (at >= text.len or text[at] != byte) return null;
                at += 1;
            },
        };
        return .{ .days = daysOf(year, month, day) orelse return null, .len = at };
    }

    fn leastOf(width: Width) usize {
        return if (width == .two_digits) 2 else 1;
    }

    fn take(text: []const u8, at: *usize, least: usize, most: usize) ?u32 {
        const start = at.*;
        while (at.* < text.len and at.* - start < most and std.ascii.isDigit(text[at.*])) at.* += 1;
        return if (at.* - start < least) null else number(text[start..at.*]);
    }

    fn takeName(text: []const u8, at: *usize) ?u32 {
        const names = "janfebmaraprmayjunjulaugsepoctnovdec";
        if (at.* + 3 > text.len) return null;
        for (0..12) |month| if (std.ascii.eqlIgnoreCase(names[month * 3 ..][0..3], text[at.*..][0..3])) {
            at.* += 3;
            return @intCast(month + 1);
        };
        return null;
    }
};

/// Digits only, at most nine.
pub fn number(digits: []const u8) ?u32 {
    var value: u32 = 0;
    for (digits) |byte| {
        const digit = byte -% '0';
        if (digit > 9) return null;
        value = value * 10 + digit;
    }
    return value;
}

/// Days since 1970-01-01 of a day of the Gregorian calendar; null if there is no such day.
pub fn daysOf(year: u32, month: u32, day: u32) ?i64 {
    if (year == 0 or year > 9999 or month == 0 or month > 12 or day == 0 or day > daysIn(year, month)) return null;
    // Years that begin in March put the leap day last: then the days before a month follow one line.
    const shifted_year: i64 = @as(i64, year) - @intFromBool(month <= 2);
    const era = @divFloor(shifted_year, 400);
    const year_of_era = shifted_year - era * 400;
    const month_from_march: i64 = (month + 9) % 12;
    const day_of_year = @divFloor(153 * month_from_march + 2, 5) + day - 1;
    const day_of_era = year_of_era * 365 + @divFloor(year_of_era, 4) - @divFloor(year_of_era, 100) + day_of_year;
    return era * 146_097 + day_of_era - 719_468;
}

fn daysIn(year: u32, month: u32) u32 {
    if (month == 2) return if (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)) 29 else 28;
    return if (month == 4 or month == 6 or month == 9 or month == 11) 30 else 31;
}

const testing = std.testing;

test "every day of the calendar follows the one before" {
    const iso: DateFormat = .{};
    const pattern: DateFormat = try .init("d.MMM yyyy");
    var expected: i64 = -719_162;
    var buffer: [32]u8 = undefined;
    for (1..10_000) |year| for (1..13) |month| for (1..33) |day| {
        const y: u32 = @intCast(year);
        const m: u32 = @intCast(month);
        const d: u32 = @intCast(day);
        const days = daysOf(y, m, d) orelse {
            try testing.expect(d > 28);
            continue;
        };
        try testing.expectEqual(expected, days);
        expected += 1;
        if (d % 9 != 1) continue;
        try testing.expectEqual(days, iso.parse(try std.fmt.bufPrint(&buffer, "{d:0>4}-{d:0>2}-{d:0>2}", .{ y, m, d })).?);
        try testing.expectEqual(days, iso.parse(try std.fmt.bufPrint(&buffer, "{d:0>4}{d:0>2}{d:0>2}", .{ y, m, d })).?);
        const names = [_][]const u8{ "Jan", "feb", "MAR", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
        try testing.expectEqual(days, pattern.parse(try std.fmt.bufPrint(&buffer, "{d}.{s} {d:0>4}", .{ d, names[m - 1], y })).?);
    };
    try testing.expectEqual(0, daysOf(1970, 1, 1).?);
    try testing.expectEqual(20_514, daysOf(2026, 3, 2).?);
}

test "what is no date" {
    const iso: DateFormat = .{};
    for ([_][]const u8{ "", "2026", "2026-3-2", "2026-02-29", "2026-13-01", "20260300", "2026-03-02T", " 2026-03-02", "2026/03/02", "0000-01-01", "２０２６" }) |text|
        try testing.expectEqual(null, iso.parse(text));
    const day_first: DateFormat = try .init("dd/MM/yyyy");
    try testing.expectEqual(daysOf(2026, 8, 3), day_first.parse("03/08/2026"));
    for ([_][]const u8{ "3/8/2026", "26/26/2026", "2026-08-03", "03/08/26", "03/08/20266" }) |text| try testing.expectEqual(null, day_first.parse(text));
    for ([_][]const u8{ "", "dd/MM", "dd/MM/yy", "DD/MM/yyyy", "dd/MM/yyyy HH", "dd/dd/yyyy", "dd/MM/yyyyT" }) |pattern|
        try testing.expectError(error.InvalidDateFormat, DateFormat.init(pattern));
}
