//! How the numbers of one side are spelled, and the reading of declared decimals under it. Used by the engine to check
//! every declared `decimal` field of a row and to read the pairs whose bytes differ.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Decimal = @import("decimal.zig").Decimal;

/// Exponents beyond this, either way, are refused: `1e999999999` plus 1 would have a billion digits.
pub const greatest_exponent = 9999;

/// A field that was recognised as a number. Borrows the field.
pub const Number = struct {
    negative: bool,
    /// Whether the field had any sign, `+` and accounting forms included.
    signed: bool,
    /// Digits with the marks between them.
    digits: []const u8,
    /// Index in `digits` before which the decimal point stands.
    point: usize,
    exponent: i32,

    /// Its value, owned by the caller. Allocates only for long numbers.
    pub fn toDecimal(number: Number, allocator: Allocator) Allocator.Error!Decimal {
        return .fromDigits(allocator, number.negative, number.digits, number.point, number.exponent);
    }
};

/// The number format of one side. Marks must differ from each other and be no digit, sign, parenthesis, `e` or `E`;
/// currency marks must not begin or end with such a byte. That is checked where the rules are read.
pub const NumberFormat = struct {
    decimal: u8 = '.',
    thousands: ?u8 = null,
    negative: Negative = .plain,
    /// At most one of them is removed from a number, the longest that fits, together with the blanks next to it.
    currency: []const []const u8 = &.{},

    /// `accounting` adds `(5)` and `5-` to the leading sign.
    pub const Negative = enum { plain, accounting };

    pub fn isDefault(format: *const NumberFormat) bool {
        return format.decimal == '.' and format.thousands == null and format.negative == .plain and format.currency.len == 0;
    }

    pub fn eql(a: *const NumberFormat, b: *const NumberFormat) bool {
        if (a.decimal != b.decimal or a.thousands != b.thousands or a.negative != b.negative or a.currency.len != b.currency.len) return false;
        for (a.currency, b.currency) |left, right| if (!std.mem.eql(u8, left, right)) return false;
        return true;
    }

    /// Whether the text is surely a number in the default format; false means look closer. Up to 32 bytes are read,
    /// whatever its length.
    pub inline fn isUsual(text: []const u8) bool {
        if (text.len > 32) return false;
        const bytes: @Vector(32, u8) = text.ptr[0..32].*;
        const inside: u32 = @intCast((@as(u64, 1) << @intCast(text.len)) - 1);
        const digits: u32 = @as(u32, @bitCast(bytes -% @as(@Vector(32, u8), @splat('0')) <= @as(@Vector(32, u8), @splat(9)))) & inside;
        const points: u32 = @as(u32, @bitCast(bytes == @as(@Vector(32, u8), @splat('.')))) & inside;
        const sign = @intFromBool(bytes[0] == '-' or bytes[0] == '+');
        return digits != 0 and points & (points -% 1) == 0 and digits | points | sign == inside;
    }

    /// The value of a field, owned by the caller; null if it is no number in this format.
    pub fn parse(format: *const NumberFormat, allocator: Allocator, text: []const u8) Allocator.Error!?Decimal {
        const number = format.scan(text) orelse return null;
        return try number.toDecimal(allocator);
    }

    /// Recognises a number: optional sign and currency mark, digits, decimal mark, digits (one of the two may be empty),
    /// optional exponent. Leading zeros are fine; where a thousands mark stands, the groups are of three. Null for
    /// anything else: empty text, blanks, NaN, infinities, hexadecimal. Never allocates.
    pub fn scan(format: *const NumberFormat, text: []const u8) ?Number {
        const outside = format.withoutCurrency(text);
        const sign, const magnitude = format.splitSign(outside);
        const body = if (outside.len == text.len) format.withoutCurrency(magnitude) else magnitude;

        const point = format.integerLength(body) orelse return null;
        var end = point;
        if (end < body.len and body[end] == format.decimal) end = point + 1 + digitsAtStart(body[point + 1 ..]);
        if (digitsAtStart(body) == 0 and end < point + 2) return null;
        return .{
            .negative = sign == .minus,
            .signed = sign != .none,
            .digits = body[0..end],
            .point = point,
            .exponent = exponentOf(body[end..]) orelse return null,
        };
    }

    const Sign = enum { none, plus, minus };

    fn splitSign(format: *const NumberFormat, text: []const u8) struct { Sign, []const u8 } {
        if (text.len == 0) return .{ .none, text };
        const last = text.len - 1;
        switch (text[0]) {
            '-' => return .{ .minus, text[1..] },
            '+' => return .{ .plus, text[1..] },
            '(' => if (format.negative == .accounting and text[last] == ')') return .{ .minus, text[1..last] },
            else => if (format.negative == .accounting and text[last] == '-') return .{ .minus, text[0..last] },
        }
        return .{ .none, text };
    }

    fn withoutCurrency(format: *const NumberFormat, text: []const u8) []const u8 {
        var longest: usize = 0;
        var result = text;
        if (format.currency.len == 0) return text;
        const from_start = std.mem.trimStart(u8, text, &blanks);
        const to_end = std.mem.trimEnd(u8, text, &blanks);
        for (format.currency) |mark| {
            if (mark.len <= longest) continue;
            if (std.mem.cutPrefix(u8, from_start, mark)) |rest| {
                result = std.mem.trimStart(u8, rest, &blanks);
            } else if (std.mem.cutSuffix(u8, to_end, mark)) |rest| {
                result = std.mem.trimEnd(u8, rest, &blanks);
            } else continue;
            longest = mark.len;
        }
        return result;
    }

    /// The bytes of the integer part, thousands marks included; null if its groups are not of three.
    fn integerLength(format: *const NumberFormat, text: []const u8) ?usize {
        const mark = format.thousands orelse return digitsAtStart(text);
        var end = digitsAtStart(text);
        if (end == text.len or text[end] != mark) return end;
        if (end == 0 or end > 3) return null;
        while (end < text.len and text[end] == mark) {
            if (digitsAtStart(text[end + 1 ..]) != 3) return null;
            end += 4;
        }
        return end;
    }
};

/// As `--trim` knows them.
const blanks = [_]u8{ ' ', '\t', '\n', 0x0B, 0x0C, '\r' };

fn digitsAtStart(text: []const u8) usize {
    for (text, 0..) |byte, index| if (!std.ascii.isDigit(byte)) return index;
    return text.len;
}

/// 0 for no text, null for text that is no exponent in range.
fn exponentOf(text: []const u8) ?i32 {
    if (text.len == 0) return 0;
    if (text[0] != 'e' and text[0] != 'E') return null;
    const minus = text.len > 1 and text[1] == '-';
    const plus = text.len > 1 and text[1] == '+';
    const digits = text[if (minus or plus) 2 else 1..];
    if (digits.len == 0 or digitsAtStart(digits) != digits.len) return null;
    var value: i32 = 0;
    for (digits) |byte| {
        value = value * 10 + (byte - '0');
        if (value > greatest_exponent) return null;
    }
    return if (minus) -value else value;
}

const testing = std.testing;

fn expectParsed(expected: ?[]const u8, format: NumberFormat, text: []const u8) !void {
    errdefer std.debug.print("{s}\n", .{text});
    var decimal = try format.parse(testing.allocator, text) orelse return testing.expect(expected == null);
    defer decimal.deinit(testing.allocator);
    const printed = try std.fmt.allocPrint(testing.allocator, "{f}", .{decimal});
    defer testing.allocator.free(printed);
    try testing.expectEqualStrings(expected orelse "no number", printed);
}

test "the default format" {
    const cases = [_]struct { []const u8, ?[]const u8 }{
        .{ "1.10", "1.1" },                         .{ "1E+3", "1000" },     .{ "-0.0", "0" },                                                                            .{ "+5", "5" },                                                                                   .{ ".5", "0.5" },
        .{ "5.", "5" },                             .{ "007.50", "7.5" },    .{ "-.5", "-0.5" },                                                                          .{ "5.e1", "50" },                                                                                .{ ".5e1", "5" },
        .{ "1e-3", "0.001" },                       .{ "12.34e1", "123.4" }, .{ "12e-20", "0.00000000000000000012" },                                                     .{ "0e9999", "0" },                                                                               .{ "1e0000002", "100" },
        .{ "-00", "0" },                            .{ "1e+0", "1" },        .{ "1234567890123456789012345678901234567890", "1234567890123456789012345678901234567890" }, .{ "0.00000000000000000000000000000000000000010", "0.0000000000000000000000000000000000000001" }, .{ "1e9999", "1" ++ "0" ** 9999 },
        .{ "1e-9999", "0." ++ "0" ** 9998 ++ "1" }, .{ "", null },           .{ ".", null },                                                                              .{ "-", null },                                                                                   .{ "+", null },
        .{ "-.", null },                            .{ "e5", null },         .{ ".e5", null },                                                                            .{ "1e", null },                                                                                  .{ "1e+", null },
        .{ "1e5.0", null },                         .{ "1e10000", null },    .{ "1e-10000", null },                                                                       .{ "1e99999999999999999999", null },                                                              .{ "--5", null },
        .{ "+-5", null },                           .{ "NaN", null },        .{ "inf", null },                                                                            .{ "-Infinity", null },                                                                           .{ "0x10", null },
        .{ " 5", null },                            .{ "5 ", null },         .{ "1,000", null },                                                                          .{ "1_000", null },                                                                               .{ "5-", null },
        .{ "(5)", null },                           .{ "$5", null },         .{ "1.2.3", null },                                                                          .{ "1..2", null },                                                                                .{ "1 000", null },
        .{ "5\x00", null },                         .{ "\u{2212}5", null },  .{ "e", null },                                                                              .{ "1ee1", null },
        .{ "٣", null },
    };
    for (cases) |case| try expectParsed(case[1], .{}, case[0]);
}

test "thousands marks stand between groups of three" {
    const format: NumberFormat = .{ .decimal = ',', .thousands = '.' };
    const cases = [_]struct { []const u8, ?[]const u8 }{
        .{ "1.000", "1000" },    .{ "10,50", "10.5" },   .{ "1.234.567,89", "1234567.89" },                .{ "1000", "1000" },
        .{ "1000,5", "1000.5" }, .{ "001.000", "1000" }, .{ "0.000.001", "1" },                            .{ "-1.000,", "-1000" },
        .{ "1.000e-3", "1" },    .{ ",5", "0.5" },       .{ "1.000.000.000.000.000.000.000,000.1", null }, .{ "1.000.000.000.000.000.000.000,0001", "1000000000000000000000.0001" },
        .{ "1.00", null },       .{ "1.0000", null },    .{ "1000.000", null },                            .{ ".000", null },
        .{ "1..000", null },     .{ "1.000.", null },    .{ "1.000,000.000", null },                       .{ "1.", null },
        .{ "1.,5", null },       .{ "1,000,000", null }, .{ "1.000.00", null },                            .{ "1.00.000", null },
        .{ "0000.000", null },
    };
    for (cases) |case| try expectParsed(case[1], format, case[0]);
    try expectParsed("1234.5", .{ .thousands = ' ' }, "1 234.5");
    try expectParsed("1234.5", .{ .thousands = '\'' }, "1'234.5");
}

test "accounting negatives" {
    const format: NumberFormat = .{ .decimal = ',', .thousands = '.', .negative = .accounting };
    const cases = [_]struct { []const u8, ?[]const u8 }{
        .{ "(1.000)", "-1000" }, .{ "10,50-", "-10.5" }, .{ "(0,25)", "-0.25" }, .{ "(0)", "0" },       .{ "5", "5" },
        .{ "-5", "-5" },         .{ "+5", "5" },         .{ "5e3-", "-5000" },   .{ "(5e-1)", "-0.5" }, .{ "(-5)", null },
        .{ "-5-", null },        .{ "+5-", null },       .{ "(5", null },        .{ "5)", null },       .{ "()", null },
        .{ "(", null },          .{ ")", null },         .{ "-", null },         .{ "((5))", null },    .{ "(5)-", null },
        .{ "-(5)", null },       .{ "(5-)", null },      .{ "5e-", null },       .{ "5--", null },      .{ "5+", null },
        .{ "( 5)", null },
    };
    for (cases) |case| try expectParsed(case[1], format, case[0]);
}

test "currency marks" {
    const format: NumberFormat = .{ .thousands = ',', .negative = .accounting, .currency = &.{ "$", "€", "US$", "", "USD" } };
    const cases = [_]struct { []const u8, ?[]const u8 }{
        .{ "$(1,200.50)", "-1200.5" },
        .{ "-110.7 €", "-110.7" },
        .{ "$5", "5" },
        .{ "5$", "5" },
        .{ "-$5", "-5" },
        .{ "$-5", "-5" },
        .{ "($5)", "-5" },
        .{ "(5 €)", "-5" },
        .{ "US$ 5", "5" },
        .{ "5 US$", "5" },
        .{ "€ 5-", "-5" },
        .{ "5 €-", "-5" },
        .{ "5- €", "-5" },
        .{ "USD 1,000", "1000" },
        .{ " $ 5", "5" },
        .{ "5\tUSD ", "5" },
        .{ "- $5", "-5" },
        .{ "5", "5" },
        .{ "$", null },
        .{ "$$5", null },
        .{ "$5$", null },
        .{ "$-$5", null },
        .{ "$5€", null },
        .{ " 5", null },
        .{ " 5 €", null },
        .{ "$ 5 ", null },
        .{ "- 5", null },
        .{ "£5", null },
        .{ "USD", null },
        .{ "5 USDX", null },
        .{ "$ (5", null },
        .{ "$ - 5", null },
        .{ "-", null },
    };
    for (cases) |case| try expectParsed(case[1], format, case[0]);
}

test "whether a sign was there is known" {
    const format: NumberFormat = .{ .negative = .accounting };
    try testing.expect(!format.scan("5").?.signed);
    for ([_][]const u8{ "+5", "-5", "(5)", "5-" }) |text| try testing.expect(format.scan(text).?.signed);
}

test "the same number in another format and with an exponent has the same value" {
    const allocator = testing.allocator;
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    const format: NumberFormat = .{ .decimal = ',', .thousands = '.', .negative = .accounting, .currency = &.{"EUR"} };
    for (0..2000) |_| {
        var digits: [70]u8 = undefined;
        const integers = random.intRangeAtMost(usize, 1, if (random.boolean()) 8 else 40);
        const fractions = random.uintAtMost(usize, 30);
        for (digits[0 .. integers + fractions]) |*digit| digit.* = random.intRangeAtMost(u8, '0', '9');
        const negative = random.boolean();

        var expected: std.Io.Writer.Allocating = .init(allocator);
        defer expected.deinit();
        var value = try Decimal.fromDigits(allocator, negative, digits[0 .. integers + fractions], integers, 0);
        defer value.deinit(allocator);
        try value.format(&expected.writer);

        var grouped: std.Io.Writer.Allocating = .init(allocator);
        defer grouped.deinit();
        if (negative) try grouped.writer.writeByte('(');
        for (digits[0..integers], 0..) |digit, index| {
            if (index > 0 and (integers - index) % 3 == 0) try grouped.writer.writeByte('.');
            try grouped.writer.writeByte(digit);
        }
        if (fractions > 0) try grouped.writer.writeByte(',');
        try grouped.writer.writeAll(digits[integers..][0..fractions]);
        if (negative) try grouped.writer.writeByte(')');
        if (random.boolean()) try grouped.writer.writeAll(" EUR");
        try expectParsed(expected.written(), format, grouped.written());

        const shift = random.intRangeAtMost(i64, -60, 60);
        const moved_point = @as(i64, @intCast(integers)) + shift;
        var scientific: std.Io.Writer.Allocating = .init(allocator);
        defer scientific.deinit();
        if (negative) try scientific.writer.writeByte('-');
        if (moved_point <= 0) {
            try scientific.writer.writeByte('.');
            try scientific.writer.splatByteAll('0', @intCast(-moved_point));
        }
        for (digits[0 .. integers + fractions], 0..) |digit, index| {
            if (index == moved_point and index > 0) try scientific.writer.writeByte('.');
            try scientific.writer.writeByte(digit);
        }
        if (moved_point > integers + fractions) try scientific.writer.splatByteAll('0', @intCast(moved_point - @as(i64, @intCast(integers + fractions))));
        try scientific.writer.print("e{d}", .{-shift});
        try expectParsed(expected.written(), .{}, scientific.written());
    }
}

fn anyText(_: void, smith: *testing.Smith) !void {
    var buffer: [64]u8 = undefined;
    const text = buffer[0..smith.slice(&buffer)];
    const format: NumberFormat = .{ .decimal = ',', .thousands = '.', .negative = .accounting, .currency = &.{"$"} };
    var decimal = try format.parse(testing.allocator, text) orelse return;
    decimal.deinit(testing.allocator);
}

test "any bytes are a number or refused" {
    try testing.fuzz({}, anyText, .{ .corpus = &.{ "$(1.200,50)", "-", "1e-9999", "\xff" } });
}

fn exerciseAllocations(allocator: Allocator) !void {
    const format: NumberFormat = .{};
    var decimal = (try format.parse(allocator, "1" ** 200 ++ "e-300")).?;
    decimal.deinit(allocator);
}

test "memory that runs out is reported and nothing leaks" {
    try testing.checkAllAllocationFailures(testing.allocator, exerciseAllocations, .{});
}

test "usual numbers are numbers" {
    const alphabet = "07.-+e, ";
    const format: NumberFormat = .{};
    var text: [48]u8 = @splat(0);
    var usual: usize = 0;
    for (0..8 * 8 * 8 * 8 * 8) |code| {
        var rest = code;
        for (text[0..5]) |*byte| {
            byte.* = alphabet[rest % alphabet.len];
            rest /= alphabet.len;
        }
        for (1..6) |len| if (NumberFormat.isUsual(text[0..len])) {
            usual += 1;
            try testing.expect(format.scan(text[0..len]) != null);
        };
    }
    try testing.expect(usual > 1000 and NumberFormat.isUsual("-1234567890.123456789012345678" ++ "\x00" ** 8) == false);
}
