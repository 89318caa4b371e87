//! How far two decimals may lie apart and still be equal. Used by match/ for columns with a declared tolerance.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Decimal = @import("decimal.zig").Decimal;
const Short = @import("decimal.zig").Short;
const NumberFormat = @import("number_format.zig").NumberFormat;

/// A bound on the difference of two decimals; the bound itself is within. Exact: a rate is multiplied with the larger
/// magnitude, nothing is divided or rounded.
pub const Tolerance = struct {
    /// The bound itself, or the share of the larger magnitude (5 bps is 0.0005).
    amount: Decimal,
    /// The amount as it was declared.
    declared: Decimal,
    unit: Unit,
    /// An absolute amount that is short.
    short: ?Short,
    relative: bool,
    /// With a rate: the lesser of the two bounds counts.
    cap: ?Decimal = null,

    pub const Unit = enum {
        absolute,
        bps,
        percent,

        fn exponent(unit: Unit) i32 {
            return switch (unit) {
                .absolute => 0,
                .bps => -4,
                .percent => -2,
            };
        }
    };

    pub const InitError = Allocator.Error || error{InvalidTolerance};

    /// Reads `5bps max 1.00` in its parts: amount `5`, unit bps, cap `1.00`. Numbers are in the default format.
    /// InvalidTolerance: a text is no number or has a minus, or a cap comes with an absolute amount.
    pub fn init(allocator: Allocator, amount: []const u8, unit: Unit, cap: ?[]const u8) InitError!Tolerance {
        if (unit == .absolute and cap != null) return error.InvalidTolerance;
        var tolerance: Tolerance = .{
            .amount = try parseBound(allocator, amount, unit.exponent()),
            .declared = .zero,
            .unit = unit,
            .short = if (unit == .absolute) Short.parse(amount) else null,
            .relative = unit != .absolute,
        };
        errdefer tolerance.deinit(allocator);
        tolerance.declared = try parseBound(allocator, amount, 0);
        if (cap) |text| tolerance.cap = try parseBound(allocator, text, 0);
        return tolerance;
    }

    fn parseBound(allocator: Allocator, text: []const u8, exponent: i32) InitError!Decimal {
        const format: NumberFormat = .{};
        var number = format.scan(text) orelse return error.InvalidTolerance;
        if (number.negative) return error.InvalidTolerance;
        number.exponent += exponent;
        return number.toDecimal(allocator);
    }

    pub fn deinit(tolerance: *Tolerance, allocator: Allocator) void {
        tolerance.amount.deinit(allocator);
        tolerance.declared.deinit(allocator);
        if (tolerance.cap) |*cap| cap.deinit(allocator);
        tolerance.* = undefined;
    }

    /// Whether the two are equal under this tolerance. `allocator` is used for long numbers only.
    pub fn within(tolerance: *const Tolerance, allocator: Allocator, internal: *const Decimal, external: *const Decimal) Allocator.Error!bool {
        var difference = try Decimal.difference(allocator, external, internal);
        defer difference.deinit(allocator);
        return tolerance.allows(allocator, &difference, internal, external);
    }

    /// As `within`, where the caller has the difference of the two already.
    pub fn allows(
        tolerance: *const Tolerance,
        allocator: Allocator,
        difference: *const Decimal,
        internal: *const Decimal,
        external: *const Decimal,
    ) Allocator.Error!bool {
        if (difference.isZero()) return true;
        if (!tolerance.relative) return difference.compareAbs(&tolerance.amount) != .gt;
        if (tolerance.cap) |*cap| if (difference.compareAbs(cap) == .gt) return false;
        const larger = if (internal.compareAbs(external) == .lt) external else internal;
        var bound = try Decimal.product(allocator, &tolerance.amount, larger);
        defer bound.deinit(allocator);
        return difference.compareAbs(&bound) != .gt;
    }

    /// The most that these two may lie apart, for showing; `allows` decides without it. May be `cap` itself, so `allocator`
    /// is an arena.
    pub fn boundOf(tolerance: *const Tolerance, allocator: Allocator, internal: *const Decimal, external: *const Decimal) Allocator.Error!Decimal {
        if (!tolerance.relative) return tolerance.amount;
        const larger = if (internal.compareAbs(external) == .lt) external else internal;
        var share = try Decimal.product(allocator, &tolerance.amount, larger);
        share.negative = false;
        if (tolerance.cap) |*cap| if (share.compareAbs(cap) == .gt) return cap.*;
        return share;
    }
};

const testing = std.testing;

fn isWithin(allocator: Allocator, tolerance: *const Tolerance, internal: []const u8, external: []const u8) !bool {
    const format: NumberFormat = .{};
    var a = (try format.parse(allocator, internal)).?;
    defer a.deinit(allocator);
    var b = (try format.parse(allocator, external)).?;
    defer b.deinit(allocator);
    return tolerance.within(allocator, &a, &b);
}

fn expectWithin(expected: bool, amount: []const u8, unit: Tolerance.Unit, cap: ?[]const u8, internal: []const u8, external: []const u8) !void {
    errdefer std.debug.print("{s} {t} max {?s}: {s} and {s}\n", .{ amount, unit, cap, internal, external });
    var tolerance: Tolerance = try .init(testing.allocator, amount, unit, cap);
    defer tolerance.deinit(testing.allocator);
    try testing.expectEqual(expected, try isWithin(testing.allocator, &tolerance, internal, external));
    try testing.expectEqual(expected, try isWithin(testing.allocator, &tolerance, external, internal));
}

test "an absolute bound is inclusive" {
    try expectWithin(true, "0.01", .absolute, null, "0.30", "0.29");
    try expectWithin(true, "0.01", .absolute, null, "10.00", "10.01");
    try expectWithin(false, "0.01", .absolute, null, "1.0000001", "1.0100002");
    try expectWithin(true, "0.0100001", .absolute, null, "1.0000001", "1.0100002");
    try expectWithin(true, "0.01", .absolute, null, "-0.005", "0.005");
    try expectWithin(false, "0.01", .absolute, null, "-0.005", "0.0050000000000000000000001");
    try expectWithin(true, "0", .absolute, null, "1.10", "1.1");
    try expectWithin(true, "0", .absolute, null, "-0", "0");
    try expectWithin(false, "0", .absolute, null, "0", "1e-9999");
    try expectWithin(true, "1e-9999", .absolute, null, "0", "1e-9999");
    try expectWithin(true, "1", .absolute, null, "1" ++ "0" ** 40, "1" ++ "0" ** 39 ++ "1");
    try expectWithin(false, "1", .absolute, null, "1" ++ "0" ** 40, "1" ++ "0" ** 39 ++ "1.0" ++ "0" ** 40 ++ "1");
}

test "a rate is of the larger magnitude" {
    try expectWithin(true, "5", .bps, null, "2000", "1999");
    try expectWithin(true, "5", .bps, null, "2000", "2001.0005");
    try expectWithin(false, "5", .bps, null, "2000", "2001.01");
    try expectWithin(true, "5", .bps, null, "90000", "90002");
    try expectWithin(true, "0.1", .percent, null, "1000", "999");
    try expectWithin(false, "0.1", .percent, null, "1000", "998.99999999999999999999");
    try expectWithin(true, "10", .bps, null, "-1000", "-999");
    try expectWithin(true, "200", .percent, null, "-1", "1");
    try expectWithin(false, "199.999", .percent, null, "-1", "1");
    try expectWithin(true, "100", .percent, null, "0", "5");
    try expectWithin(false, "99.99999", .percent, null, "0", "5");
    try expectWithin(true, "0", .bps, null, "-0.0", "0e5");
    try expectWithin(false, "0", .bps, null, "0", "1e-30");
    try expectWithin(true, "1", .bps, null, "1e9999", "0.9999e9999");
    try expectWithin(false, "1", .bps, null, "1e9999", "0.99989999999999e9999");
}

test "the lesser of rate and cap" {
    try expectWithin(true, "5", .bps, "1.00", "2000", "1999");
    try expectWithin(false, "5", .bps, "1.00", "2000", "2001.0005");
    try expectWithin(false, "5", .bps, "1.00", "90000", "90002");
    try expectWithin(true, "5", .bps, "1.00", "90000", "90001");
    try expectWithin(false, "5", .bps, "1.00", "100", "100.06");
    try expectWithin(true, "5", .bps, "0", "100", "100.0");
}

test "what is no tolerance" {
    for ([_][]const u8{ "", "-1", "-0", "x", "5bps", "1e10000" }) |text| {
        try testing.expectError(error.InvalidTolerance, Tolerance.init(testing.allocator, text, .bps, null));
        try testing.expectError(error.InvalidTolerance, Tolerance.init(testing.allocator, "5", .bps, text));
    }
    try testing.expectError(error.InvalidTolerance, Tolerance.init(testing.allocator, "5", .absolute, "1"));
}

/// |a - b| × 10^places ≤ amount × max(|a|, |b|), in big integers.
fn modelWithin(amount: u64, places: u8, a: *const std.math.big.int.Managed, b: *const std.math.big.int.Managed) !bool {
    var left: std.math.big.int.Managed = try .init(testing.allocator);
    defer left.deinit();
    var right: std.math.big.int.Managed = try .init(testing.allocator);
    defer right.deinit();
    var factor: std.math.big.int.Managed = try .initSet(testing.allocator, std.math.pow(u64, 10, places));
    defer factor.deinit();
    try left.sub(a, b);
    try left.mul(&left, &factor);
    try factor.set(amount);
    try right.mul(&factor, if (a.orderAbs(b.*) == .lt) b else a);
    return left.orderAbs(right) != .gt;
}

test "bounds agree with big integers, at the bound and a digit beside it" {
    const allocator = testing.allocator;
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    var inside: usize = 0;
    const rounds = 1000;
    for (0..rounds) |_| {
        const amount = random.intRangeAtMost(u64, 1, 2000);
        const unit: Tolerance.Unit, const places: u8 = if (random.boolean()) .{ .bps, 4 } else .{ .percent, 2 };
        // Internal is a multiple of 10^4, external lies exactly at the bound, or one unit to either side of it.
        var digits: [64]u8 = undefined;
        const len = random.intRangeAtMost(usize, 1, 40);
        for (digits[0..len]) |*digit| digit.* = random.intRangeAtMost(u8, '0', '9');
        digits[0] = random.intRangeAtMost(u8, '1', '9');
        @memset(digits[len..][0..4], '0');
        var a: std.math.big.int.Managed = try .init(allocator);
        defer a.deinit();
        try a.setString(10, digits[0 .. len + 4]);
        var b: std.math.big.int.Managed = try .init(allocator);
        defer b.deinit();
        var factor: std.math.big.int.Managed = try .initSet(allocator, std.math.pow(i64, 10, places) - @as(i64, @intCast(amount)));
        defer factor.deinit();
        try b.setString(10, digits[0 .. len + 4 - places]);
        try b.mul(&b, &factor);
        try b.addScalar(&b, random.intRangeAtMost(i8, -1, 1));
        if (random.boolean()) {
            a.negate();
            b.negate();
        }

        const expected = try modelWithin(amount, places, &a, &b);
        inside += @intFromBool(expected);
        const internal = try a.toString(allocator, 10, .lower);
        defer allocator.free(internal);
        const external = try b.toString(allocator, 10, .lower);
        defer allocator.free(external);
        var amount_buffer: [8]u8 = undefined;
        try expectWithin(expected, try std.fmt.bufPrint(&amount_buffer, "{d}", .{amount}), unit, null, internal, external);
    }
    try testing.expect(inside > rounds / 10 and inside < rounds - rounds / 10);
}

test "long values against a rate take linear time" {
    const text = "7" ** 100_000;
    try expectWithin(true, "5", .bps, null, text ++ "." ++ text, text);
    try expectWithin(false, "5", .bps, null, text, "8" ++ text);
}

fn exerciseAllocations(allocator: Allocator) !void {
    var tolerance: Tolerance = try .init(allocator, "0." ++ "1" ** 100, .percent, "9" ** 100);
    defer tolerance.deinit(allocator);
    try testing.expect(!try isWithin(allocator, &tolerance, "1" ** 100, "2" ** 100));
}

test "memory that runs out is reported and nothing leaks" {
    try testing.checkAllAllocationFailures(testing.allocator, exerciseAllocations, .{});
}

test "values of everyday size never allocate" {
    var tolerance: Tolerance = try .init(testing.failing_allocator, "5", .bps, "1.00");
    try testing.expect(try isWithin(testing.failing_allocator, &tolerance, "90000.123456", "90000.654321"));
}
