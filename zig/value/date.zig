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
    /// Where everything stands, if that does not depend on the day.
    layout: ?Layout = null,

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
        format.layout = format.fixedLayout();
        return format;
    }

    /// Null with `M`, `d` and `MMM`, and with many bytes that stand for themselves.
    fn fixedLayout(format: *const DateFormat) ?Layout {
        var layout: Layout = .{ .year = 0, .month = 0, .day = 0, .len = 0 };
        for (format.tokens[0..format.len]) |token| switch (token) {
            .year => {
                layout.year = layout.len;
                layout.len += 4;
            },
            .month => |width| {
                if (width != .two_digits) return null;
                layout.month = layout.len;
                layout.len += 2;
            },
            .day => |width| {
                if (width != .two_digits) return null;
                layout.day = layout.len;
                layout.len += 2;
            },
            .month_name => return null,
            .literal => |byte| {
                if (layout.literal_count == layout.literals.len) return null;
                layout.literals[layout.literal_count] = .{ .at = layout.len, .byte = byte };
                layout.literal_count += 1;
                layout.len += 1;
            },
        };
        return layout;
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
    pub inline fn parse(format: *const DateFormat, text: []const u8) ?i64 {
        const found = format.parsePrefix(text) orelse return null;
        return if (found.len == text.len) found.days else null;
    }

    pub const Prefix = struct { days: i64, len: usize };

    /// The day that the text begins with.
    pub inline fn parsePrefix(format: *const DateFormat, text: []const u8) ?Prefix {
        if (format.layout) |*layout| return if (layout.hasLiterals(text)) layout.read(text) else null;
        if (format.pattern != null) return format.parseTokens(text);
        if (text.len >= 10 and text[4] == '-' and text[7] == '-') return (Layout{ .year = 0, .month = 5, .day = 8, .len = 10 }).read(text);
        return (Layout{ .year = 0, .month = 4, .day = 6, .len = 8 }).read(text);
    }

    noinline fn parseTokens(format: *const DateFormat, text: []const u8) ?Prefix {
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
        if (at.* + 3 > text.len) return null;
        const month = monthOf(text[at.*..][0..3].*) orelse return null;
        at.* += 3;
        return month;
    }
};

/// Places in a text of a year of four digits, a month and a day of two.
const Layout = struct {
    year: u8,
    month: u8,
    day: u8,
    len: u8,
    literals: [8]struct { at: u8, byte: u8 } = undefined,
    literal_count: u8 = 0,

    inline fn hasLiterals(layout: *const Layout, text: []const u8) bool {
        if (text.len < layout.len) return false;
        var wrong: u8 = 0;
        for (layout.literals[0..layout.literal_count]) |literal| wrong |= text[literal.at] ^ literal.byte;
        return wrong == 0;
    }

    inline fn read(layout: *const Layout, text: []const u8) ?DateFormat.Prefix {
        if (text.len < layout.len) return null;
        const year: u64 = std.mem.readInt(u32, text[layout.year..][0..4], .little);
        const month: u64 = std.mem.readInt(u16, text[layout.month..][0..2], .little);
        const day: u64 = std.mem.readInt(u16, text[layout.day..][0..2], .little);
        const pairs = pairsOf(year | month << 32 | day << 48) orelse return null;
        const days = daysOf(@as(u32, pairs[0]) * 100 + pairs[1], pairs[2], pairs[3]) orelse return null;
        return .{ .days = days, .len = layout.len };
    }
};

/// The values of four pairs of ASCII digits, the first one in the lowest bytes; null if there is anything else.
pub inline fn pairsOf(word: u64) ?struct { u8, u8, u8, u8 } {
    const digits = digitsOf(word);
    if (firstOther(digits) != 0) return null;
    const pairs = digits *% 10 +% (digits >> 8);
    return .{ @truncate(pairs), @truncate(pairs >> 16), @truncate(pairs >> 32), @truncate(pairs >> 48) };
}

/// A digit's value in every byte that was a digit, more than 9 in every other.
pub inline fn digitsOf(word: u64) u64 {
    return word ^ 0x3030_3030_3030_3030;
}

/// A mask whose lowest bit set is the highest of the first byte above 9; 0 if there is none.
pub inline fn firstOther(digits: u64) u64 {
    return (digits +% 0x7676_7676_7676_7676 | digits) & 0x8080_8080_8080_8080;
}

fn monthOf(name: [3]u8) ?u32 {
    const lower: [3]u8 = .{ name[0] | 0x20, name[1] | 0x20, name[2] | 0x20 };
    const names = "janfebmaraprmayjunjulaugsepoctnovdec";
    inline for (0..12) |month| if (std.mem.eql(u8, &lower, names[month * 3 ..][0..3])) return month + 1;
    return null;
}

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
pub inline fn daysOf(year: u32, month: u32, day: u32) ?i64 {
    if (year -% 1 > 9998 or month -% 1 > 11) return null;
    // Of the centuries those divisible by 16 are leap years; of other years those divisible by 4.
    const divisor_mask = 3 | @as(u32, @intFromBool(year % 25 == 0)) * 12;
    const is_leap = @intFromBool(year & divisor_mask == 0);
    const leap_day: u32 = is_leap & @intFromBool(month == 2);
    if (day -% 1 >= month_lengths[month] + leap_day) return null;
    const before = year - 1;
    const since_year_1 = before * 365 + before / 4 - before / 100 + before / 400 + days_before[month] + day + (is_leap & @intFromBool(month > 2));
    return @as(i64, since_year_1) - 719_163;
}

const month_lengths = [13]u32{ 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
const days_before: [13]u32 = table: {
    var days: [13]u32 = @splat(0);
    for (2..13) |month| days[month] = days[month - 1] + month_lengths[month - 1];
    break :table days;
};

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
