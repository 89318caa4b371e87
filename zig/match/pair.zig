//! Pairs the rows of one key. One row against one is compared directly; a group of several follows the order of
//! docs/architecture.md: equal rows first in line order, then the cheapest pairs greedily, then what is left is a
//! duplicate. The result depends on the rows alone, never on the order in which they came.
const std = @import("std");
const decimal = @import("../value/decimal.zig");
const compare = @import("compare.zig");
const ledger_module = @import("../csv/ledger.zig");
const Rule = @import("rule.zig").Rule;
const Tolerance = @import("../value/tolerance.zig").Tolerance;
const Findings = @import("findings.zig").Findings;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Decimal = decimal.Decimal;

/// From this many candidate pairs on, the rest of a group is paired in sorted order instead of weighing each pair.
pub const max_candidate_pairs = 1_000_000;

pub const Error = error{ OutOfMemory, Cancelled };

/// One worker's pairing. Not shared between threads.
pub const Pairing = struct {
    comparer: *compare.Comparer,
    findings: *Findings,
    unique: bool,
    cancelled: *const std.atomic.Value(u32),

    /// Pairs all rows of one key; at least one of the two lists has rows. The lists are sorted in place.
    pub fn group(pairing: *const Pairing, internal: []Ref, external: []Ref) Error!void {
        if (internal.len == 0 or external.len == 0) {
            for (internal) |ref| try pairing.findings.missing(.internal, ref);
            for (external) |ref| try pairing.findings.missing(.external, ref);
            return;
        }
        std.mem.sort(Ref, internal, {}, before);
        std.mem.sort(Ref, external, {}, before);
        var arena: std.heap.ArenaAllocator = .init(pairing.findings.gpa);
        defer arena.deinit();
        var rows: Group = try .load(arena.allocator(), pairing, internal, external);
        try rows.pairEqual();
        try rows.pairRest();
        try rows.leaveOver();
    }

    /// Compares one row against one with the same key.
    pub fn one(pairing: *const Pairing, internal: Ref, external: Ref) Error!void {
        const differing = try pairing.comparer.compareValues(internal, external);
        try pairing.findings.compared(pairing.comparer, internal, external, differing);
    }

    fn before(_: void, a: Ref, b: Ref) bool {
        return a.offset < b.offset;
    }
};

/// A row of a group with its values at hand.
const Row = struct {
    ref: Ref,
    /// As compared, and as shown, in compare order.
    values: []const []const u8,
    shown: []const []const u8,
    numbers: []const ?Decimal,
    /// Of an internal row, in compare order.
    tolerances: []const ?*const Tolerance,
    /// Equal for rows that are equal in every compared column.
    canonical: []const u8,
    used: bool = false,
};

const Group = struct {
    arena: std.mem.Allocator,
    pairing: *const Pairing,
    internal: []Row,
    external: []Row,
    /// With `--unique` only the first pair of a repeated key stays.
    pairs_left: usize,

    fn load(arena: std.mem.Allocator, pairing: *const Pairing, internal: []const Ref, external: []const Ref) Error!Group {
        const repeated = internal.len > 1 or external.len > 1;
        return .{
            .arena = arena,
            .pairing = pairing,
            .internal = try loadRows(arena, pairing, .internal, internal),
            .external = try loadRows(arena, pairing, .external, external),
            .pairs_left = if (pairing.unique and repeated) 1 else std.math.maxInt(usize),
        };
    }

    fn loadRows(arena: std.mem.Allocator, pairing: *const Pairing, side: Side, refs: []const Ref) Error![]Row {
        const comparer = pairing.comparer;
        const ledger = comparer.ledgerOf(side);
        const fields = if (side == .internal) comparer.internal_fields else comparer.external_fields;
        const rows = try arena.alloc(Row, refs.len);
        for (refs, rows) |ref, *row| {
            if (pairing.cancelled.load(.monotonic) != 0) return error.Cancelled;
            comparer.scratch.reset();
            ledger.split(ref, fields);
            const values = try arena.alloc([]const u8, comparer.rules.len);
            const shown = try arena.alloc([]const u8, comparer.rules.len);
            const numbers = try arena.alloc(?Decimal, comparer.rules.len);
            const tolerances = try arena.alloc(?*const Tolerance, comparer.rules.len);
            var canonical: std.Io.Writer.Allocating = .init(arena);
            for (comparer.rules, values, shown, numbers, tolerances) |*rule, *value, *text, *number, *tolerance| {
                value.* = try arena.dupe(u8, try ledger.value(ref, fields, rule.place(side), &comparer.scratch));
                text.* = try arena.dupe(u8, try ledger.shown(ref, fields[rule.place(side)], &comparer.scratch));
                number.* = try rule.number(arena, side, value.*);
                tolerance.* = if (rule.by) |by| rule.toleranceFor(if (side == .internal) try ledger.value(ref, fields, by.column, &comparer.scratch) else "") else rule.tolerance;
                rule.writeCanonical(arena, &canonical.writer, side, value.*) catch return error.OutOfMemory;
            }
            row.* = .{ .ref = ref, .values = values, .shown = shown, .numbers = numbers, .tolerances = tolerances, .canonical = canonical.written() };
        }
        return rows;
    }

    /// Step 1: rows that are equal in every compared column, in line order.
    fn pairEqual(group: *Group) Error!void {
        const internal = try sorted(group.arena, group.internal);
        const external = try sorted(group.arena, group.external);
        var i: usize = 0;
        var e: usize = 0;
        var equal: std.ArrayList([2]*Row) = .empty;
        while (i < internal.len and e < external.len) {
            switch (std.mem.order(u8, internal[i].canonical, external[e].canonical)) {
                .lt => i += 1,
                .gt => e += 1,
                .eq => {
                    try equal.append(group.arena, .{ internal[i], external[e] });
                    i += 1;
                    e += 1;
                },
            }
        }
        std.mem.sort([2]*Row, equal.items, {}, struct {
            fn first(_: void, a: [2]*Row, b: [2]*Row) bool {
                return a[0].ref.offset < b[0].ref.offset;
            }
        }.first);
        for (equal.items) |rows| try group.take(rows[0], rows[1]);
    }

    /// Step 2: of the rest, always the pair that costs least; or, for very large groups, in sorted order.
    fn pairRest(group: *Group) Error!void {
        const internal = try unused(group.arena, group.internal);
        const external = try unused(group.arena, group.external);
        if (internal.len == 0 or external.len == 0 or group.pairs_left == 0) return;
        const candidates = std.math.mul(usize, internal.len, external.len) catch max_candidate_pairs + 1;
        if (candidates > max_candidate_pairs) {
            group.pairing.findings.paired_in_order = true;
            std.mem.sort(*Row, internal, {}, byValues);
            std.mem.sort(*Row, external, {}, byValues);
            for (internal[0..@min(internal.len, external.len)], external[0..@min(internal.len, external.len)]) |i, e| try group.take(i, e);
            return;
        }
        const pairs = try group.arena.alloc(Candidate, candidates);
        const sorted_pairs = try group.arena.alloc(*const Candidate, candidates);
        var order: Order = .{ .gpa = group.arena, .rules = group.pairing.comparer.rules };
        var at: usize = 0;
        for (internal) |i| for (external) |e| {
            if (at % 4096 == 0 and group.pairing.cancelled.load(.monotonic) != 0) return error.Cancelled;
            pairs[at] = .{ .internal = i, .external = e, .differing = try group.differing(i, e) };
            pairs[at].first = if (order.rules.len == 0) .zero else try order.distance(&pairs[at], 0);
            sorted_pairs[at] = &pairs[at];
            at += 1;
        };
        std.mem.sortUnstable(*const Candidate, sorted_pairs, &order, Order.before);
        if (order.failed) return error.OutOfMemory;
        for (sorted_pairs) |pair| if (!pair.internal.used and !pair.external.used) try group.take(pair.internal, pair.external);
    }

    fn differing(group: *const Group, internal: *const Row, external: *const Row) Error!u32 {
        var count: u32 = 0;
        for (group.pairing.comparer.rules, internal.values, external.values, internal.tolerances) |*rule, i, e, tolerance|
            count += @intFromBool(try rule.verdict(group.arena, tolerance, i, e) == .differs);
        return count;
    }

    fn take(group: *Group, internal: *Row, external: *Row) Error!void {
        if (group.pairs_left == 0) return;
        group.pairs_left -= 1;
        internal.used = true;
        external.used = true;
        const comparer = group.pairing.comparer;
        comparer.load(internal.ref, external.ref);
        try group.pairing.one(internal.ref, external.ref);
    }

    /// Step 3: rows without a partner.
    fn leaveOver(group: *Group) Error!void {
        for (group.internal) |row| if (!row.used) try group.pairing.findings.single(.internal, row.ref.offset, .duplicate_internal);
        for (group.external) |row| if (!row.used) try group.pairing.findings.single(.external, row.ref.offset, .duplicate_external);
    }
};

const Candidate = struct {
    internal: *Row,
    external: *Row,
    differing: u32,
    /// The difference in the first compared column, which decides most comparisons; null is infinite.
    first: ?Decimal = null,
};

/// The cost of a pair: columns that differ, then the differences column by column (text that differs is infinite),
/// then the values as bytes, then the lines.
const Order = struct {
    gpa: std.mem.Allocator,
    rules: []const Rule,
    failed: bool = false,

    fn before(order: *Order, a: *const Candidate, b: *const Candidate) bool {
        if (a.differing != b.differing) return a.differing < b.differing;
        const by_first = orderDistances(&a.first, &b.first);
        if (by_first != .eq) return by_first == .lt;
        for (@min(1, order.rules.len)..order.rules.len) |column| {
            const relation = order.differences(a, b, column) catch {
                order.failed = true;
                return false;
            };
            if (relation != .eq) return relation == .lt;
        }
        const by_internal = orderValues(a.internal.shown, b.internal.shown);
        if (by_internal != .eq) return by_internal == .lt;
        const by_external = orderValues(a.external.shown, b.external.shown);
        if (by_external != .eq) return by_external == .lt;
        if (a.internal.ref.offset != b.internal.ref.offset) return a.internal.ref.offset < b.internal.ref.offset;
        return a.external.ref.offset < b.external.ref.offset;
    }

    fn differences(order: *Order, a: *const Candidate, b: *const Candidate, column: usize) error{OutOfMemory}!std.math.Order {
        var left = try order.distance(a, column);
        defer if (left) |*d| d.deinit(order.gpa);
        var right = try order.distance(b, column);
        defer if (right) |*d| d.deinit(order.gpa);
        return orderDistances(&left, &right);
    }

    fn orderDistances(left: *const ?Decimal, right: *const ?Decimal) std.math.Order {
        if (left.* == null or right.* == null) return std.math.order(@intFromBool(left.* == null), @intFromBool(right.* == null));
        return Decimal.compareAbs(&left.*.?, &right.*.?);
    }

    /// Null stands for infinite.
    fn distance(order: *Order, pair: *const Candidate, column: usize) error{OutOfMemory}!?Decimal {
        const internal = pair.internal;
        const external = pair.external;
        const rule = &order.rules[column];
        const verdict = try rule.verdict(order.gpa, internal.tolerances[column], internal.values[column], external.values[column]);
        if (verdict.isEqual()) return .zero;
        if (rule.type == .ratio) return rule.difference(order.gpa, internal.values[column], external.values[column]);
        if (internal.numbers[column] == null or external.numbers[column] == null) return null;
        return try Decimal.difference(order.gpa, &external.numbers[column].?, &internal.numbers[column].?);
    }
};

fn orderValues(a: []const []const u8, b: []const []const u8) std.math.Order {
    for (a, b) |left, right| {
        const relation = std.mem.order(u8, left, right);
        if (relation != .eq) return relation;
    }
    return .eq;
}

fn byValues(_: void, a: *Row, b: *Row) bool {
    const relation = orderValues(a.shown, b.shown);
    return if (relation == .eq) a.ref.offset < b.ref.offset else relation == .lt;
}

fn sorted(arena: std.mem.Allocator, rows: []Row) Error![]*Row {
    const pointers = try arena.alloc(*Row, rows.len);
    for (rows, pointers) |*row, *pointer| pointer.* = row;
    std.mem.sort(*Row, pointers, {}, struct {
        fn before(_: void, a: *Row, b: *Row) bool {
            const relation = std.mem.order(u8, a.canonical, b.canonical);
            return if (relation == .eq) a.ref.offset < b.ref.offset else relation == .lt;
        }
    }.before);
    return pointers;
}

fn unused(arena: std.mem.Allocator, rows: []Row) Error![]*Row {
    var pointers: std.ArrayList(*Row) = .empty;
    for (rows) |*row| if (!row.used) try pointers.append(arena, row);
    return pointers.items;
}
