//! When two values of one compared column are equal, and how far they lie apart: the only place that decides it. Built
//! once per job; used by compare.zig, pair.zig, hints.zig and the breaks folder.
const std = @import("std");
const abi = @import("../abi.zig");
const decimal = @import("../value/decimal.zig");
const ratio = @import("../value/ratio.zig");
const ledger_module = @import("../csv/ledger.zig");
const Reading = @import("../csv/reading.zig").Reading;
const Tolerance = @import("../value/tolerance.zig").Tolerance;
const Decimal = decimal.Decimal;
const Ledger = ledger_module.Ledger;
const Side = ledger_module.Side;
const Allocator = std.mem.Allocator;

/// How two values of one column relate.
pub const Verdict = enum {
    equal_bytes,
    equal_by_value,
    within_tolerance,
    differs,

    pub fn isEqual(verdict: Verdict) bool {
        return verdict == .equal_bytes or verdict == .equal_by_value;
    }
};

pub const Error = Allocator.Error;

/// One compared column. Immutable; shared by all threads.
pub const Rule = struct {
    name: []const u8,
    /// Its place on each side.
    internal: u32,
    external: u32,
    type: abi.ValueType,
    readings: [2]*const Reading,
    /// Whether both sides spell values of this type the same way: then equal bytes are equal values.
    same_format: bool,
    tolerance: ?*const Tolerance = null,
    by: ?By = null,

    /// Tolerances by the value of another column of the internal side.
    pub const By = struct { column: u32, tolerances: std.StringHashMapUnmanaged(*const Tolerance) };

    /// `arena` owns what is allocated. InvalidTolerance: TypeScript sent what is none.
    pub fn init(arena: Allocator, spec: abi.ColumnSpec, internal: *const Ledger, external: *const Ledger) Tolerance.InitError!Rule {
        var rule: Rule = .{
            .name = spec.name,
            .internal = spec.internal,
            .external = spec.external,
            .type = spec.type,
            .readings = .{ &internal.reading, &external.reading },
            .same_format = sameFormat(spec.type, &internal.reading, &external.reading),
        };
        if (spec.tolerance) |tolerance| rule.tolerance = try toleranceOf(arena, tolerance);
        const by = spec.tolerance_by orelse return rule;
        rule.by = .{ .column = by.column, .tolerances = .empty };
        var scratch: ledger_module.Scratch = .init(arena);
        for (by.cases) |case| try rule.by.?.tolerances.put(arena, try internal.normalized(case.value, &scratch), try toleranceOf(arena, case.tolerance));
        return rule;
    }

    fn toleranceOf(arena: Allocator, spec: abi.ToleranceSpec) Tolerance.InitError!*const Tolerance {
        const tolerance = try arena.create(Tolerance);
        tolerance.* = try .init(arena, spec.amount, switch (spec.unit) {
            .absolute => .absolute,
            .bps => .bps,
            .percent => .percent,
        }, spec.cap);
        return tolerance;
    }

    fn sameFormat(value_type: abi.ValueType, a: *const Reading, b: *const Reading) bool {
        return switch (value_type) {
            .auto, .text, .ratio => true,
            .decimal => a.number.eql(&b.number),
            .date => a.dates.eql(&b.dates),
            .timestamp => a.dates.eql(&b.dates) and sameZone(a, b),
        };
    }

    fn sameZone(a: *const Reading, b: *const Reading) bool {
        if (a.zone == null or b.zone == null) return (a.zone == null) == (b.zone == null);
        return std.mem.eql(u8, a.zone.?.spec.name, b.zone.?.spec.name);
    }

    pub fn place(rule: *const Rule, side: Side) u32 {
        return side.of(rule);
    }

    /// The tolerance for a pair whose internal row has `value` in the column that decides; `value` is ignored without one.
    pub fn toleranceFor(rule: *const Rule, value: []const u8) ?*const Tolerance {
        const by = rule.by orelse return rule.tolerance;
        return by.tolerances.get(value) orelse rule.tolerance;
    }

    /// How the two values relate under `tolerance`. `gpa` is used for long numbers only.
    pub fn verdict(rule: *const Rule, gpa: Allocator, tolerance: ?*const Tolerance, internal: []const u8, external: []const u8) Error!Verdict {
        if (rule.same_format and std.mem.eql(u8, internal, external)) return .equal_bytes;
        switch (rule.type) {
            .text => return .differs,
            .auto => return if (decimal.equalPlain(internal, external)) .equal_by_value else .differs,
            .ratio => return rule.ratioVerdict(gpa, tolerance, internal, external),
            .decimal, .timestamp, .date => {},
        }
        if (internal.len == 0 or external.len == 0) return if (internal.len == external.len) .equal_bytes else .differs;
        if (rule.type == .decimal and rule.readings[0].number.isDefault() and rule.same_format) {
            if (quickVerdict(tolerance, internal, external)) |quick| return quick;
        }
        return rule.exactVerdict(gpa, tolerance, internal, external);
    }

    /// Whether two values whose bytes differ are surely equal: both are plain decimals, read as they stand on both sides.
    pub inline fn plainlyEqual(rule: *const Rule, internal: []const u8, external: []const u8) bool {
        return switch (rule.type) {
            .auto => decimal.equalPlain(internal, external),
            .decimal => rule.same_format and rule.readings[0].number.isDefault() and decimal.equalPlain(internal, external),
            .text, .timestamp, .date, .ratio => false,
        };
    }

    /// The usual case: two short plain decimals, and no bound or an amount.
    fn quickVerdict(tolerance: ?*const Tolerance, internal: []const u8, external: []const u8) ?Verdict {
        if (decimal.equalPlain(internal, external)) return .equal_by_value;
        const left = decimal.Short.parse(internal) orelse return null;
        const right = decimal.Short.parse(external) orelse return null;
        if (left.equal(right)) return .equal_by_value;
        const bound = tolerance orelse return .differs;
        return if (left.within(right, bound.short orelse return null)) .within_tolerance else .differs;
    }

    fn exactVerdict(rule: *const Rule, gpa: Allocator, tolerance: ?*const Tolerance, internal: []const u8, external: []const u8) Error!Verdict {
        // Only a value that its row was rejected for is none.
        var left = try rule.number(gpa, .internal, internal) orelse return .differs;
        defer left.deinit(gpa);
        var right = try rule.number(gpa, .external, external) orelse return .differs;
        defer right.deinit(gpa);
        var apart = try Decimal.difference(gpa, &right, &left);
        defer apart.deinit(gpa);
        // Under two formats equal bytes had to be read all the same.
        if (apart.isZero()) return if (std.mem.eql(u8, internal, external)) .equal_bytes else .equal_by_value;
        const bound = tolerance orelse return .differs;
        return if (try bound.allows(gpa, &apart, &left, &right)) .within_tolerance else .differs;
    }

    fn ratioVerdict(rule: *const Rule, gpa: Allocator, tolerance: ?*const Tolerance, internal: []const u8, external: []const u8) Error!Verdict {
        var arena: std.heap.ArenaAllocator = .init(gpa);
        defer arena.deinit();
        const left, const right = try rule.ratios(arena.allocator(), internal, external) orelse return if (std.mem.eql(u8, internal, external)) .equal_bytes else .differs;
        return switch (try ratio.relation(arena.allocator(), tolerance, &left, &right)) {
            .equal => .equal_by_value,
            .within => .within_tolerance,
            .differs => .differs,
        };
    }

    fn ratios(rule: *const Rule, arena: Allocator, internal: []const u8, external: []const u8) Error!?[2]ratio.Ratio {
        const left = try ratio.Ratio.parse(arena, &rule.readings[0].number, internal) orelse return null;
        const right = try ratio.Ratio.parse(arena, &rule.readings[1].number, external) orelse return null;
        return .{ left, right };
    }

    /// The value as a number: seconds for timestamps, days for dates. Null for empty values, text and ratios, and for
    /// `auto` values that are no plain decimals. The caller owns it.
    pub fn number(rule: *const Rule, gpa: Allocator, side: Side, text: []const u8) Error!?Decimal {
        if (text.len == 0) return null;
        const reading = rule.readings[@intFromEnum(side)];
        return switch (rule.type) {
            .text, .ratio => null,
            .auto => try Decimal.parsePlain(gpa, text),
            .decimal => try reading.number.parse(gpa, text),
            .date => if (reading.dates.parse(text)) |days| try Decimal.fromScaled(gpa, days, 0) else null,
            .timestamp => switch (reading.time(text)) {
                .value => |picoseconds| try Decimal.fromScaled(gpa, picoseconds, 12),
                else => null,
            },
        };
    }

    /// External minus internal where both are numbers; for ratios to 12 places. The caller owns it.
    pub fn difference(rule: *const Rule, gpa: Allocator, internal: []const u8, external: []const u8) Error!?Decimal {
        if (rule.type == .ratio) {
            var arena: std.heap.ArenaAllocator = .init(gpa);
            defer arena.deinit();
            const left, const right = try rule.ratios(arena.allocator(), internal, external) orelse return null;
            return try ratio.difference(gpa, &left, &right);
        }
        var left = try rule.number(gpa, .internal, internal) orelse return null;
        defer left.deinit(gpa);
        var right = try rule.number(gpa, .external, external) orelse return null;
        defer right.deinit(gpa);
        return try Decimal.difference(gpa, &right, &left);
    }

    /// Writes a form of the value in which equal values, and only those, are equal to the byte.
    pub fn writeCanonical(rule: *const Rule, gpa: Allocator, writer: *std.Io.Writer, side: Side, text: []const u8) (Error || std.Io.Writer.Error)!void {
        if (rule.type == .ratio) {
            var arena: std.heap.ArenaAllocator = .init(gpa);
            defer arena.deinit();
            if (try ratio.Ratio.parse(arena.allocator(), &rule.readings[@intFromEnum(side)].number, text)) |value| return ratio.writeCanonical(gpa, writer, &value);
        }
        var value = try rule.number(gpa, side, text) orelse return writer.print("t{d}:{s};", .{ text.len, text });
        defer value.deinit(gpa);
        try writer.print("n{f};", .{value});
    }
};
