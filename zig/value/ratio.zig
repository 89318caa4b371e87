//! Average prices of folded groups: fractions that are compared by cross-multiplication, never divided or rounded. Only
//! what is shown is divided, to 12 places. Used by match/rule.zig.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Decimal = @import("decimal.zig").Decimal;
const NumberFormat = @import("number_format.zig").NumberFormat;
const Tolerance = @import("tolerance.zig").Tolerance;
const Managed = std.math.big.int.Managed;

pub const places = 12;

/// `numerator/denominator`, or a number alone. The denominator is not zero.
pub const Ratio = struct {
    numerator: Decimal,
    denominator: Decimal,

    /// Null for what is neither. The caller owns the result.
    pub fn parse(gpa: Allocator, format: *const NumberFormat, text: []const u8) Allocator.Error!?Ratio {
        const over, const under = std.mem.cutScalar(u8, text, '/') orelse .{ text, null };
        var ratio: Ratio = .{ .numerator = try format.parse(gpa, over) orelse return null, .denominator = .one };
        errdefer ratio.deinit(gpa);
        const denominator = if (under) |digits| try format.parse(gpa, digits) else return ratio;
        if (denominator == null or denominator.?.isZero()) {
            if (denominator) |zero| {
                var owned = zero;
                owned.deinit(gpa);
            }
            ratio.deinit(gpa);
            return null;
        }
        ratio.denominator = denominator.?;
        return ratio;
    }

    pub fn deinit(ratio: *Ratio, gpa: Allocator) void {
        ratio.numerator.deinit(gpa);
        ratio.denominator.deinit(gpa);
    }
};

/// Two ratios over one denominator.
const Common = struct {
    internal: Decimal,
    external: Decimal,
    apart: Decimal,
    denominator: Decimal,

    fn of(gpa: Allocator, internal: *const Ratio, external: *const Ratio) Allocator.Error!Common {
        const left = try Decimal.product(gpa, &internal.numerator, &external.denominator);
        const right = try Decimal.product(gpa, &external.numerator, &internal.denominator);
        return .{
            .internal = left,
            .external = right,
            .apart = try Decimal.difference(gpa, &right, &left),
            .denominator = try Decimal.product(gpa, &internal.denominator, &external.denominator),
        };
    }
};

/// Whether two ratios are equal, or apart by no more than `tolerance`. `arena` is used for what is computed.
pub fn relation(arena: Allocator, tolerance: ?*const Tolerance, internal: *const Ratio, external: *const Ratio) Allocator.Error!enum { equal, within, differs } {
    const common: Common = try .of(arena, internal, external);
    if (common.apart.isZero()) return .equal;
    const declared = tolerance orelse return .differs;
    // Multiplied with the denominator, bounds that are amounts grow with the numerators; rates need no change.
    var bound = declared.*;
    if (!bound.relative) bound.amount = try Decimal.product(arena, &bound.amount, &common.denominator);
    if (bound.cap) |*cap| bound.cap = try Decimal.product(arena, cap, &common.denominator);
    return if (try bound.allows(arena, &common.apart, &common.internal, &common.external)) .within else .differs;
}

/// External minus internal, to 12 places, cut off. The caller owns it.
pub fn difference(gpa: Allocator, internal: *const Ratio, external: *const Ratio) Allocator.Error!Decimal {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    const common: Common = try .of(arena.allocator(), internal, external);
    return (try divide(gpa, arena.allocator(), &common.apart, &common.denominator)).value;
}

/// Writes the ratio in decimals: to 12 places, cut off, with a `~` in front where that is not all of it.
pub fn write(gpa: Allocator, writer: *std.Io.Writer, ratio: *const Ratio) (Allocator.Error || std.Io.Writer.Error)!void {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    const quotient = try divide(arena.allocator(), arena.allocator(), &ratio.numerator, &ratio.denominator);
    try writer.print("{s}{f}", .{ if (quotient.exact) "" else "~", quotient.value });
}

const Quotient = struct { value: Decimal, exact: bool };

/// To 12 places, cut off. The caller owns the value; `arena` is used for what is computed.
fn divide(gpa: Allocator, arena: Allocator, numerator: *const Decimal, denominator: *const Decimal) Allocator.Error!Quotient {
    var over, var under = try integers(arena, numerator, denominator);
    var shift: Managed = try .initSet(arena, std.math.pow(u64, 10, places));
    try over.mul(&over, &shift);
    var quotient: Managed = try .init(arena);
    var rest: Managed = try .init(arena);
    try quotient.divTrunc(&rest, &over, &under);
    const text = quotient.toString(arena, 10, .lower) catch |problem| switch (problem) {
        error.InvalidBase => unreachable,
        error.OutOfMemory => return error.OutOfMemory,
    };
    const digits = std.mem.trimStart(u8, text, "-");
    return .{
        .value = try Decimal.fromDigits(gpa, !quotient.isPositive(), digits, digits.len, -places),
        .exact = rest.eqlZero(),
    };
}

/// Writes the fraction in lowest terms: equal ratios, and only those, are equal to the byte.
pub fn writeCanonical(gpa: Allocator, writer: *std.Io.Writer, ratio: *const Ratio) (Allocator.Error || std.Io.Writer.Error)!void {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    var over, var under = try integers(arena.allocator(), &ratio.numerator, &ratio.denominator);
    var divisor: Managed = try .init(arena.allocator());
    if (over.eqlZero()) try divisor.copy(under.toConst()) else try divisor.gcd(&over, &under);
    if (!under.isPositive()) {
        over.negate();
        under.negate();
    }
    divisor.abs();
    var rest: Managed = try .init(arena.allocator());
    try over.divTrunc(&rest, &over, &divisor);
    try under.divTrunc(&rest, &under, &divisor);
    for ([_]*Managed{ &over, &under }, [_]u8{ 'n', '/' }) |number, mark| {
        try writer.writeByte(mark);
        const text = number.toString(arena.allocator(), 10, .lower) catch return error.OutOfMemory;
        try writer.writeAll(text);
    }
    try writer.writeByte(';');
}

/// Both multiplied with the least power of ten that makes integers of them.
fn integers(arena: Allocator, a: *const Decimal, b: *const Decimal) Allocator.Error!struct { Managed, Managed } {
    const left = try std.fmt.allocPrint(arena, "{f}", .{a.*});
    const right = try std.fmt.allocPrint(arena, "{f}", .{b.*});
    const shift = @max(fractionLength(left), fractionLength(right));
    return .{ try integer(arena, left, shift), try integer(arena, right, shift) };
}

fn fractionLength(text: []const u8) usize {
    const point = std.mem.findScalar(u8, text, '.') orelse return 0;
    return text.len - point - 1;
}

fn integer(arena: Allocator, text: []const u8, shift: usize) Allocator.Error!Managed {
    var digits: std.ArrayList(u8) = .empty;
    for (text) |byte| if (byte != '.') try digits.append(arena, byte);
    try digits.appendNTimes(arena, '0', shift - fractionLength(text));
    var number: Managed = try .init(arena);
    number.setString(10, digits.items) catch |problem| switch (problem) {
        error.OutOfMemory => return error.OutOfMemory,
        else => unreachable, // our own digits
    };
    return number;
}

const testing = std.testing;

fn parsed(arena: Allocator, text: []const u8) !Ratio {
    const format: NumberFormat = .{};
    return (try Ratio.parse(arena, &format, text)).?;
}

test "averages are compared exactly and shown to twelve places" {
    var arena_state: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const third = try parsed(arena, "3007/300");
    const rounded = try parsed(arena, "10.023333333333");
    try testing.expectEqual(.equal, try relation(arena, null, &third, &try parsed(arena, "6014/600")));
    try testing.expectEqual(.equal, try relation(arena, null, &try parsed(arena, "10.02"), &try parsed(arena, "3006/300")));
    try testing.expectEqual(.differs, try relation(arena, null, &third, &rounded));
    const near: Tolerance = try .init(arena, "0.000000000001", .absolute, null);
    try testing.expectEqual(.within, try relation(arena, &near, &third, &rounded));
    const nearer: Tolerance = try .init(arena, "0.0000000000003", .absolute, null);
    try testing.expectEqual(.differs, try relation(arena, &nearer, &third, &rounded));
    try testing.expectFmt("0.003333333333", "{f}", .{try difference(arena, &try parsed(arena, "10.02"), &third)});
    try testing.expectFmt("-0.003333333333", "{f}", .{try difference(arena, &third, &try parsed(arena, "10.02"))});
    for ([_][2][]const u8{ .{ "3007/300", "~10.023333333333" }, .{ "-3000/300", "-10" }, .{ "1/-8", "-0.125" }, .{ "10.020", "10.02" } }) |pair| {
        var text: std.Io.Writer.Allocating = .init(arena);
        try write(arena, &text.writer, &try parsed(arena, pair[0]));
        try testing.expectEqualStrings(pair[1], text.written());
    }
    var texts: [2]std.Io.Writer.Allocating = .{ .init(arena), .init(arena) };
    try writeCanonical(arena, &texts[0].writer, &try parsed(arena, "-30.07/3"));
    try writeCanonical(arena, &texts[1].writer, &try parsed(arena, "6014/-600"));
    try testing.expectEqualStrings(texts[0].written(), texts[1].written());
    try testing.expect(try Ratio.parse(arena, &NumberFormat{}, "1/0") == null);
}
