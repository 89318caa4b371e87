//! The value rules: whether two rows have the same key, and which compared columns differ. Every plan and every
//! report decides through here.
const std = @import("std");
const abi = @import("../abi.zig");
const masks = @import("../kernel/masks.zig");
const record = @import("../csv/record.zig");
const ledger_module = @import("../csv/ledger.zig");
const decimal = @import("../value/decimal.zig");
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Scratch = ledger_module.Scratch;
const Decimal = decimal.Decimal;

/// How two values of one column relate.
pub const Verdict = enum { equal_bytes, equal_by_value, differs };

pub fn verdictOf(value_type: abi.ValueType, internal: []const u8, external: []const u8) Verdict {
    if (std.mem.eql(u8, internal, external)) return .equal_bytes;
    if (value_type == .auto and decimal.equalPlain(internal, external)) return .equal_by_value;
    return .differs;
}

/// External minus internal where both are numbers under the column's type; null otherwise. The caller owns the result.
pub fn differenceOf(gpa: std.mem.Allocator, value_type: abi.ValueType, internal: []const u8, external: []const u8) error{OutOfMemory}!?Decimal {
    if (value_type == .text) return null;
    var left = try Decimal.parsePlain(gpa, external) orelse return null;
    defer left.deinit(gpa);
    var right = try Decimal.parsePlain(gpa, internal) orelse return null;
    defer right.deinit(gpa);
    return try Decimal.difference(gpa, &left, &right);
}

/// Whether both sides are read under the same rules and every column stands in the same place: then rows of equal
/// bytes are equal in key and values.
pub fn sameLayout(internal: *const Ledger, external: *const Ledger) bool {
    return std.meta.eql(internal.dialect, external.dialect) and internal.fold_case == external.fold_case and
        internal.width == external.width and internal.trailing == external.trailing and
        std.mem.eql(u32, internal.key, external.key) and std.mem.eql(u32, internal.compare, external.compare);
}

/// One worker's view of a pair of rows. Not shared between threads.
pub const Comparer = struct {
    internal: *const Ledger,
    external: *const Ledger,
    columns: []const abi.ColumnSpec,
    /// See `sameLayout`.
    same_layout: bool,
    internal_fields: []record.Field,
    external_fields: []record.Field,
    verdicts: []Verdict,
    scratch: Scratch,

    pub fn init(gpa: std.mem.Allocator, internal: *const Ledger, external: *const Ledger, columns: []const abi.ColumnSpec) error{OutOfMemory}!Comparer {
        return .{
            .internal = internal,
            .external = external,
            .columns = columns,
            .same_layout = sameLayout(internal, external),
            .internal_fields = try gpa.alloc(record.Field, internal.width),
            .external_fields = try gpa.alloc(record.Field, external.width),
            .verdicts = try gpa.alloc(Verdict, columns.len),
            .scratch = .init(gpa),
        };
    }

    pub fn deinit(comparer: *Comparer, gpa: std.mem.Allocator) void {
        gpa.free(comparer.internal_fields);
        gpa.free(comparer.external_fields);
        gpa.free(comparer.verdicts);
        comparer.scratch.deinit();
    }

    pub fn ledgerOf(comparer: *const Comparer, side: ledger_module.Side) *const Ledger {
        return if (side == .internal) comparer.internal else comparer.external;
    }

    /// Whether the two rows are equal to the byte, and therefore in key and values.
    pub inline fn identical(comparer: *const Comparer, internal: Ref, external: Ref) bool {
        if (!comparer.same_layout or internal.len != external.len or internal.len == Ref.saturated) return false;
        return masks.sameBytes(comparer.internal.mapping.base + internal.offset, comparer.external.mapping.base + external.offset, internal.len);
    }

    /// Splits both rows into `internal_fields` and `external_fields`; `sameKey` and `compareValues` refer to them.
    pub fn load(comparer: *Comparer, internal: Ref, external: Ref) void {
        comparer.scratch.reset();
        comparer.internal.split(internal, comparer.internal_fields);
        comparer.external.split(external, comparer.external_fields);
    }

    pub fn sameKey(comparer: *Comparer, internal: Ref, external: Ref) error{OutOfMemory}!bool {
        return partsEqual(comparer.internal, internal, comparer.internal_fields, comparer.external, external, comparer.external_fields, &comparer.scratch);
    }

    /// Whether two rows of one side have the same key.
    pub fn sameKeyWithin(comparer: *Comparer, side: ledger_module.Side, a: Ref, b: Ref) error{OutOfMemory}!bool {
        comparer.scratch.reset();
        const ledger = comparer.ledgerOf(side);
        const fields = try comparer.scratch.arena.allocator().alloc(record.Field, 2 * ledger.width);
        ledger.split(a, fields[0..ledger.width]);
        ledger.split(b, fields[ledger.width..]);
        return partsEqual(ledger, a, fields[0..ledger.width], ledger, b, fields[ledger.width..], &comparer.scratch);
    }

    /// Fills `verdicts` for the loaded pair; returns how many columns differ.
    pub fn compareValues(comparer: *Comparer, internal: Ref, external: Ref) error{OutOfMemory}!u32 {
        var differing: u32 = 0;
        for (comparer.columns, comparer.verdicts) |column, *verdict| {
            verdict.* = verdictOf(
                column.type,
                try comparer.internal.value(internal, comparer.internal_fields[column.internal], &comparer.scratch),
                try comparer.external.value(external, comparer.external_fields[column.external], &comparer.scratch),
            );
            differing += @intFromBool(verdict.* == .differs);
        }
        return differing;
    }
};

fn partsEqual(
    a_ledger: *const Ledger,
    a: Ref,
    a_fields: []const record.Field,
    b_ledger: *const Ledger,
    b: Ref,
    b_fields: []const record.Field,
    scratch: *Scratch,
) error{OutOfMemory}!bool {
    for (a_ledger.key, b_ledger.key) |a_column, b_column| {
        const left = try a_ledger.value(a, a_fields[a_column], scratch);
        const right = try b_ledger.value(b, b_fields[b_column], scratch);
        if (!std.mem.eql(u8, left, right)) return false;
    }
    return true;
}

test "verdicts and differences" {
    const gpa = std.testing.allocator;
    try std.testing.expectEqual(.equal_bytes, verdictOf(.text, "1.0", "1.0"));
    try std.testing.expectEqual(.equal_by_value, verdictOf(.auto, "1.0", "1"));
    try std.testing.expectEqual(.differs, verdictOf(.text, "1.0", "1"));
    try std.testing.expectEqual(.differs, verdictOf(.auto, "1E3", "1000"));
    var difference = (try differenceOf(gpa, .auto, "90071992547409.93", "90071992547409.94")).?;
    defer difference.deinit(gpa);
    try std.testing.expectFmt("0.01", "{f}", .{difference});
    try std.testing.expect(try differenceOf(gpa, .auto, "", "1") == null);
}
