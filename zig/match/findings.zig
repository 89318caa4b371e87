//! What a plan found, per worker, merged at the end: breaks as small records that point back at rows, and counts.
//! Filled by pair.zig and the plans; read by job.zig and the breaks folder.
const std = @import("std");
const abi = @import("../abi.zig");
const decimal = @import("../value/decimal.zig");
const compare = @import("compare.zig");
const ledger_module = @import("../csv/ledger.zig");
const Rule = @import("rule.zig").Rule;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;

/// Two rows with one key.
pub const Pair = struct {
    internal: u64,
    external: u64,

    pub fn before(_: void, a: Pair, b: Pair) bool {
        return a.internal < b.internal;
    }
};

/// A break of one row: its offset and break type in 64 bits, so that sorting them sorts by place.
pub const Single = struct {
    pub fn of(at: u64, break_type: abi.BreakType) u64 {
        return at << 4 | @intFromEnum(break_type);
    }

    pub fn offset(single: u64) u64 {
        return single >> 4;
    }

    pub fn kind(single: u64) abi.BreakType {
        return @enumFromInt(single & 0xf);
    }
};

/// Of one compared column: pairs whose values differ, and matched pairs whose values differ within the tolerance, with the
/// exact sums of the differences; `equal_by_value` over the matched pairs.
pub const ColumnTally = struct {
    mismatches: u64 = 0,
    numeric: u64 = 0,
    equal_by_value: u64 = 0,
    tolerated: u64 = 0,
    sum: decimal.Sum = .{},
    tolerated_sum: decimal.Sum = .{},
};

pub const Findings = struct {
    gpa: std.mem.Allocator,
    mismatched: std.ArrayList(Pair) = .empty,
    /// One-row breaks by side.
    singles: [2]std.ArrayList(u64) = @splat(.empty),
    /// Matched pairs, kept only where every pair is to be explained.
    matched_pairs: ?std.ArrayList(Pair) = null,
    matched: u64 = 0,
    distinct_keys: [2]u64 = @splat(0),
    columns: []ColumnTally,
    /// A group had too many candidate pairs to weigh each: its rest was paired in sorted order.
    paired_in_order: bool = false,

    pub fn init(gpa: std.mem.Allocator, columns: usize, keep_matched: bool) error{OutOfMemory}!Findings {
        const tallies = try gpa.alloc(ColumnTally, columns);
        @memset(tallies, .{});
        return .{ .gpa = gpa, .columns = tallies, .matched_pairs = if (keep_matched) .empty else null };
    }

    pub fn deinit(findings: *Findings) void {
        findings.mismatched.deinit(findings.gpa);
        for (&findings.singles) |*list| list.deinit(findings.gpa);
        if (findings.matched_pairs) |*pairs| pairs.deinit(findings.gpa);
        for (findings.columns) |*column| for ([_]*decimal.Sum{ &column.sum, &column.tolerated_sum }) |sum| sum.deinit(findings.gpa);
        findings.gpa.free(findings.columns);
    }

    pub fn single(findings: *Findings, side: Side, offset: u64, kind: abi.BreakType) error{OutOfMemory}!void {
        try findings.singles[@intFromEnum(side)].append(findings.gpa, Single.of(offset, kind));
    }

    /// Rows of a key that the other side does not have.
    pub fn missing(findings: *Findings, side: Side, ref: Ref) error{OutOfMemory}!void {
        try findings.single(side, ref.offset, if (side == .internal) .missing_external else .missing_internal);
    }

    pub fn match(findings: *Findings, internal: Ref, external: Ref) error{OutOfMemory}!void {
        findings.matched += 1;
        if (findings.matched_pairs) |*pairs| try pairs.append(findings.gpa, .{ .internal = internal.offset, .external = external.offset });
    }

    /// Takes the pair loaded into `comparer` whose values were just compared, with `differing` columns.
    pub fn compared(findings: *Findings, comparer: *compare.Comparer, internal: Ref, external: Ref, differing: u32) error{OutOfMemory}!void {
        for (findings.columns, comparer.rules, comparer.verdicts) |*tally, *rule, verdict| switch (verdict) {
            .equal_bytes => {},
            .equal_by_value => tally.equal_by_value += @intFromBool(differing == 0),
            .within_tolerance => if (differing == 0) {
                tally.tolerated += 1;
                _ = try findings.addDifference(&tally.tolerated_sum, comparer, rule, internal, external);
            },
            .differs => {
                tally.mismatches += 1;
                tally.numeric += @intFromBool(try findings.addDifference(&tally.sum, comparer, rule, internal, external));
            },
        };
        if (differing == 0) return findings.match(internal, external);
        try findings.mismatched.append(findings.gpa, .{ .internal = internal.offset, .external = external.offset });
    }

    /// Adds the difference of two values; false if they are no numbers. A ratio's difference is not exact: it is left out.
    fn addDifference(findings: *Findings, sum: *decimal.Sum, comparer: *compare.Comparer, rule: *const Rule, internal: Ref, external: Ref) error{OutOfMemory}!bool {
        if (rule.type == .ratio) return false;
        const left, const right = try comparer.valuesOf(rule, internal, external);
        const difference = try rule.difference(comparer.scratch.gpa(), left, right) orelse return false;
        try sum.add(findings.gpa, &difference);
        return true;
    }

    /// Adds all of `other`, which stays as it is; lists of one-row breaks that are in order stay so.
    pub fn merge(findings: *Findings, other: *const Findings) error{OutOfMemory}!void {
        for (&findings.singles, &other.singles) |*mine, theirs| try mergeSingles(findings.gpa, mine, theirs.items);
        try findings.addAllButSingles(other);
    }

    /// Adds all of `other` and empties it. One-row breaks are only joined: cheap for many small ones.
    pub fn take(findings: *Findings, other: *Findings) error{OutOfMemory}!void {
        for (&findings.singles, &other.singles) |*mine, theirs| try mine.appendSlice(findings.gpa, theirs.items);
        try findings.addAllButSingles(other);
        other.clear();
    }

    pub fn clear(findings: *Findings) void {
        findings.mismatched.clearRetainingCapacity();
        for (&findings.singles) |*list| list.clearRetainingCapacity();
        if (findings.matched_pairs) |*pairs| pairs.clearRetainingCapacity();
        findings.matched = 0;
        findings.distinct_keys = @splat(0);
        findings.paired_in_order = false;
        for (findings.columns) |*column| {
            for ([_]*decimal.Sum{ &column.sum, &column.tolerated_sum }) |sum| sum.deinit(findings.gpa);
            column.* = .{};
        }
    }

    fn addAllButSingles(findings: *Findings, other: *const Findings) error{OutOfMemory}!void {
        const gpa = findings.gpa;
        try findings.mismatched.appendSlice(gpa, other.mismatched.items);
        if (findings.matched_pairs) |*mine| try mine.appendSlice(gpa, other.matched_pairs.?.items);
        findings.matched += other.matched;
        for (&findings.distinct_keys, other.distinct_keys) |*mine, theirs| mine.* += theirs;
        findings.paired_in_order = findings.paired_in_order or other.paired_in_order;
        for (findings.columns, other.columns) |*mine, *theirs| {
            mine.mismatches += theirs.mismatches;
            mine.numeric += theirs.numeric;
            mine.equal_by_value += theirs.equal_by_value;
            mine.tolerated += theirs.tolerated;
            try mine.sum.merge(gpa, &theirs.sum);
            try mine.tolerated_sum.merge(gpa, &theirs.tolerated_sum);
        }
    }
};

/// Adds `theirs`; two lists in order stay so, which spares sorting what the merge plan found in order.
fn mergeSingles(gpa: std.mem.Allocator, mine: *std.ArrayList(u64), theirs: []const u64) error{OutOfMemory}!void {
    const ascending = std.sort.asc(u64);
    var left = mine.items.len;
    const in_order = left != 0 and std.sort.isSorted(u64, mine.items, {}, ascending) and std.sort.isSorted(u64, theirs, {}, ascending);
    try mine.appendSlice(gpa, theirs);
    if (!in_order) return;
    const items = mine.items;
    var right = theirs.len;
    while (right != 0) {
        const take_left = left != 0 and items[left - 1] > theirs[right - 1];
        items[left + right - 1] = if (take_left) items[left - 1] else theirs[right - 1];
        if (take_left) left -= 1 else right -= 1;
    }
}

test "sorted lists merge in order, others are only joined" {
    const gpa = std.testing.allocator;
    var mine: std.ArrayList(u64) = .empty;
    defer mine.deinit(gpa);
    try mergeSingles(gpa, &mine, &.{ 2, 5, 9 });
    try mergeSingles(gpa, &mine, &.{ 1, 5, 10, 11 });
    try std.testing.expectEqualSlices(u64, &.{ 1, 2, 5, 5, 9, 10, 11 }, mine.items);
    try mergeSingles(gpa, &mine, &.{ 3, 1 });
    try std.testing.expectEqualSlices(u64, &.{ 1, 2, 5, 5, 9, 10, 11, 3, 1 }, mine.items);
}
