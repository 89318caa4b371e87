//! Pairs of rows: whether two rows have the same key, and which compared columns differ. Every plan decides through here;
//! when two values are equal is rule.zig's.
const std = @import("std");
const abi = @import("../abi.zig");
const masks = @import("../kernel/masks.zig");
const record = @import("../csv/record.zig");
const ledger_module = @import("../csv/ledger.zig");
const Rule = @import("rule.zig").Rule;
const Verdict = @import("rule.zig").Verdict;
const Tolerance = @import("../value/tolerance.zig").Tolerance;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Scratch = ledger_module.Scratch;

/// Whether both sides are read under the same rules and every column stands in the same place: then rows of equal
/// bytes are equal in key and values.
pub fn sameLayout(internal: *const Ledger, external: *const Ledger) bool {
    var a = internal.spec;
    var b = external.spec;
    for ([_]*abi.LedgerSpec{ &a, &b }) |spec| {
        spec.files = &.{};
        spec.origin = null;
    }
    return sameSpec(a, b) and std.mem.eql(u32, internal.key, external.key) and std.mem.eql(u32, internal.compare, external.compare);
}

fn sameSpec(a: anytype, b: @TypeOf(a)) bool {
    switch (@typeInfo(@TypeOf(a))) {
        .@"struct" => |info| {
            inline for (info.fields) |field| if (!sameSpec(@field(a, field.name), @field(b, field.name))) return false;
            return true;
        },
        .optional => return if (a == null or b == null) (a == null) == (b == null) else sameSpec(a.?, b.?),
        .pointer => {
            if (a.len != b.len) return false;
            for (a, b) |x, y| if (!sameSpec(x, y)) return false;
            return true;
        },
        else => return a == b,
    }
}

/// One worker's view of a pair of rows. Not shared between threads.
pub const Comparer = struct {
    internal: *const Ledger,
    external: *const Ledger,
    rules: []const Rule,
    /// See `sameLayout`.
    same_layout: bool,
    internal_fields: []record.Field,
    external_fields: []record.Field,
    verdicts: []Verdict,
    scratch: Scratch,

    pub fn init(gpa: std.mem.Allocator, internal: *const Ledger, external: *const Ledger, rules: []const Rule) error{OutOfMemory}!Comparer {
        return .{
            .internal = internal,
            .external = external,
            .rules = rules,
            .same_layout = sameLayout(internal, external),
            .internal_fields = try gpa.alloc(record.Field, internal.capacity),
            .external_fields = try gpa.alloc(record.Field, external.capacity),
            .verdicts = try gpa.alloc(Verdict, rules.len),
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
        return side.of(comparer);
    }

    /// Whether the two rows are equal to the byte, and therefore in key and values.
    pub inline fn identical(comparer: *const Comparer, internal: Ref, external: Ref) bool {
        if (!comparer.same_layout or internal.len == Ref.saturated) return false;
        const row = comparer.external.mapping.base + external.offset;
        if (!masks.sameBytes(comparer.internal.mapping.base + internal.offset, row, internal.len)) return false;
        const behind = row[internal.len..];
        // A last row without a line end takes the general way.
        return behind[0] == '\n' or (behind[0] == '\r' and behind[1] == '\n');
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
        for (comparer.rules, comparer.verdicts) |*rule, *verdict| {
            const left, const right = try comparer.valuesOf(rule, internal, external);
            verdict.* = try rule.verdict(comparer.scratch.gpa(), try comparer.toleranceOf(rule, internal), left, right);
            differing += @intFromBool(verdict.* == .differs);
        }
        return differing;
    }

    /// Both values of one column of the loaded pair.
    pub fn valuesOf(comparer: *Comparer, rule: *const Rule, internal: Ref, external: Ref) error{OutOfMemory}!struct { []const u8, []const u8 } {
        return .{
            try comparer.internal.value(internal, comparer.internal_fields, rule.internal, &comparer.scratch),
            try comparer.external.value(external, comparer.external_fields, rule.external, &comparer.scratch),
        };
    }

    /// The tolerance for the loaded internal row.
    pub fn toleranceOf(comparer: *Comparer, rule: *const Rule, internal: Ref) error{OutOfMemory}!?*const Tolerance {
        const by = rule.by orelse return rule.tolerance;
        return rule.toleranceFor(try comparer.internal.value(internal, comparer.internal_fields, by.column, &comparer.scratch));
    }
};

/// Whether two rows, whose fields were split, have the same key.
pub fn partsEqual(
    a_ledger: *const Ledger,
    a: Ref,
    a_fields: []const record.Field,
    b_ledger: *const Ledger,
    b: Ref,
    b_fields: []const record.Field,
    scratch: *Scratch,
) error{OutOfMemory}!bool {
    for (a_ledger.key, b_ledger.key) |a_column, b_column| {
        const left = try a_ledger.value(a, a_fields, a_column, scratch);
        const right = try b_ledger.value(b, b_fields, b_column, scratch);
        if (!std.mem.eql(u8, left, right)) return false;
    }
    return true;
}
