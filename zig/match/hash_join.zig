//! The hash plan's second half: one partition of both sides at a time, each in an open-addressed table that fits the
//! cache. Rows are linked by what is kept of their hash; every link is then checked by comparing key bytes, and a partition in which
//! two different keys share a hash is done again with the bytes compared at every step.
const std = @import("std");
const masks = @import("../kernel/masks.zig");
const partition = @import("../index/partition.zig");
const compare = @import("compare.zig");
const ledger_module = @import("../csv/ledger.zig");
const Control = @import("../control.zig").Control;
const Findings = @import("findings.zig").Findings;
const Pairing = @import("pair.zig").Pairing;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Entry = partition.Entry;
const Partitions = partition.Partitions;
const Run = @import("side_by_side.zig").Run;

const none: u32 = std.math.maxInt(u32);
/// How many pairs' rows are asked for at once, while the rows before are compared: together, so that the walks through page
/// tables overlap; few enough to stay in the first-level cache.
const prefetch_pairs = 16;

pub const Error = error{ OutOfMemory, Cancelled };
const Attempt = Error || error{HashCollision};

/// What the scan or the aligned walk left to join, by worker.
pub const Rows = struct {
    /// Pairs of equal bytes, by their internal row, with the runs that tell where the external row is.
    settled: []const Partitions,
    runs: []const Run,
    internal: []const Partitions,
    external: []const Partitions,

    fn externalOf(rows: *const Rows, internal: u64) u64 {
        var low: usize = 0;
        var high = rows.runs.len;
        while (high - low > 1) {
            const middle = (low + high) / 2;
            if (rows.runs[middle].internal <= internal) low = middle else high = middle;
        }
        const run = rows.runs[low];
        return run.external + (internal - run.internal);
    }
};

/// One worker's table and lists, reused from partition to partition.
pub const Joiner = struct {
    gpa: std.mem.Allocator,
    control: *Control,
    comparer: *compare.Comparer,
    findings: *Findings,
    /// What the current partition came to: thrown away where two keys turn out to share a hash.
    partial: Findings,
    unique: bool,
    /// Rows of both sides of the current partition: internal ones first.
    entries: std.ArrayList(Entry) = .empty,
    internal_len: usize = 0,
    /// Index + 1 of the first row of a key, 0 for an empty slot. Length is a power of two.
    slots: []u32 = &.{},
    slots_capacity: usize = 0,
    /// Per row: the next row of the same key and side; and per first row of a key: the first external row.
    next: std.ArrayList(u32) = .empty,
    partner: std.ArrayList(u32) = .empty,
    refs: [2]std.ArrayList(Ref) = @splat(.empty),

    pub fn init(gpa: std.mem.Allocator, control: *Control, comparer: *compare.Comparer, findings: *Findings, unique: bool) Error!Joiner {
        return .{
            .gpa = gpa,
            .control = control,
            .comparer = comparer,
            .findings = findings,
            .partial = try .init(gpa, findings.columns.len, findings.matched_pairs != null),
            .unique = unique,
        };
    }

    pub fn deinit(joiner: *Joiner) void {
        joiner.partial.deinit();
        joiner.entries.deinit(joiner.gpa);
        joiner.gpa.free(joiner.slots.ptr[0..joiner.slots_capacity]);
        joiner.next.deinit(joiner.gpa);
        joiner.partner.deinit(joiner.gpa);
        for (&joiner.refs) |*list| list.deinit(joiner.gpa);
    }

    /// Joins partition `index` of what all workers wrote.
    pub fn join(joiner: *Joiner, rows: Rows, index: usize) Error!void {
        if (try joiner.settle(rows, index)) joiner.entries.clearRetainingCapacity();
        const settled = joiner.entries.items.len;
        try partition.gather(joiner.gpa, rows.internal, index, &joiner.entries);
        joiner.internal_len = joiner.entries.items.len;
        try joiner.entries.ensureUnusedCapacity(joiner.gpa, settled);
        for (0..settled) |i| {
            const entry = joiner.entries.items[i];
            joiner.entries.appendAssumeCapacity(.{ .hash = entry.hash, .offset = rows.externalOf(entry.offset) });
        }
        try partition.gather(joiner.gpa, rows.external, index, &joiner.entries);
        if (joiner.entries.items.len >= none) return error.OutOfMemory;
        joiner.attempt(false) catch |problem| switch (problem) {
            error.HashCollision => joiner.attempt(true) catch |again| switch (again) {
                error.HashCollision => unreachable, // every link was made by comparing keys
                else => |other| return other,
            },
            else => |other| return other,
        };
    }

    /// Gathers the settled pairs of a partition. True if no key of theirs has any other row, by hash: then they are matched
    /// for good.
    pub fn settle(joiner: *Joiner, rows: Rows, index: usize) Error!bool {
        joiner.entries.clearRetainingCapacity();
        try partition.gather(joiner.gpa, rows.settled, index, &joiner.entries);
        const settled = joiner.entries.items.len;
        if (settled == 0) return true;
        try joiner.prepare();
        for (0..settled) |row| {
            const slot = try joiner.find(@intCast(row), .internal, false);
            if (joiner.slots[slot] != 0) return false;
            joiner.slots[slot] = @intCast(row + 1);
        }
        for ([_][]const Partitions{ rows.internal, rows.external }) |side| for (side) |*partitions| {
            var blocks = partitions.blocks(index);
            while (blocks.next()) |block| for (block.rows) |row| {
                if (joiner.slots[joiner.findHash(block.entry(row).hash)] != 0) return false;
            };
        };
        joiner.findings.matched += settled;
        for (&joiner.findings.distinct_keys) |*count| count.* += settled;
        return true;
    }

    /// The slot of the first row with this hash, or the empty slot where it belongs.
    fn findHash(joiner: *const Joiner, wanted: u32) usize {
        var slot: usize = @intCast(wanted & (joiner.slots.len - 1));
        while (joiner.slots[slot] != 0 and joiner.entries.items[joiner.slots[slot] - 1].hash != wanted) slot = (slot + 1) & (joiner.slots.len - 1);
        return slot;
    }

    /// Links rows by hash, or with `exact` by key. Nothing is kept of a partition in which a link was wrong.
    fn attempt(joiner: *Joiner, comptime exact: bool) Attempt!void {
        joiner.partial.clear();
        try joiner.prepare();
        const distinct = &joiner.partial.distinct_keys;
        for (0..joiner.internal_len) |row| try joiner.linkInternal(@intCast(row), exact, distinct);
        for (joiner.internal_len..joiner.entries.items.len) |row| try joiner.linkExternal(@intCast(row), exact, distinct);
        try joiner.comparePairs(exact);
        try joiner.report();
        try joiner.findings.take(&joiner.partial);
    }

    fn prepare(joiner: *Joiner) Error!void {
        const rows = joiner.entries.items.len;
        const wanted = std.math.ceilPowerOfTwo(usize, @max(16, rows + rows / 2)) catch return error.OutOfMemory;
        if (wanted > joiner.slots_capacity) {
            joiner.gpa.free(joiner.slots.ptr[0..joiner.slots_capacity]);
            joiner.slots = &.{};
            joiner.slots_capacity = 0;
            joiner.slots = try joiner.gpa.alloc(u32, wanted);
            joiner.slots_capacity = wanted;
        }
        joiner.slots = joiner.slots.ptr[0..wanted];
        @memset(joiner.slots, 0);
        inline for (.{ &joiner.next, &joiner.partner }) |list| {
            list.clearRetainingCapacity();
            try list.appendNTimes(joiner.gpa, none, rows);
        }
    }

    fn linkInternal(joiner: *Joiner, row: u32, comptime exact: bool, distinct: *[2]u64) Attempt!void {
        const slot = try joiner.find(row, .internal, exact);
        if (joiner.slots[slot] == 0) {
            joiner.slots[slot] = row + 1;
            distinct[0] += 1;
            return;
        }
        const head = joiner.slots[slot] - 1;
        if (!exact and !try joiner.comparer.sameKeyWithin(.internal, joiner.refOf(head), joiner.refOf(row))) return error.HashCollision;
        joiner.chain(head, row);
    }

    fn linkExternal(joiner: *Joiner, row: u32, comptime exact: bool, distinct: *[2]u64) Attempt!void {
        const slot = try joiner.find(row, .external, exact);
        if (joiner.slots[slot] == 0) {
            joiner.slots[slot] = row + 1;
            distinct[1] += 1;
            return;
        }
        const head = joiner.slots[slot] - 1;
        const first = if (head < joiner.internal_len) joiner.partner.items[head] else head;
        if (first == none) {
            joiner.partner.items[head] = row;
            distinct[1] += 1;
            return;
        }
        if (!exact and !try joiner.comparer.sameKeyWithin(.external, joiner.refOf(first), joiner.refOf(row))) return error.HashCollision;
        joiner.chain(first, row);
    }

    /// The slot of `row`'s key, or the empty slot where it belongs.
    inline fn find(joiner: *Joiner, row: u32, comptime side: Side, comptime exact: bool) Error!usize {
        const entries = joiner.entries.items;
        const wanted = entries[row].hash;
        var slot: usize = @intCast(wanted & (joiner.slots.len - 1));
        while (true) : (slot = (slot + 1) & (joiner.slots.len - 1)) {
            const head = joiner.slots[slot];
            if (head == 0) return slot;
            if (entries[head - 1].hash != wanted) continue;
            if (!exact or try joiner.sameKey(head - 1, row, side)) return slot;
        }
    }

    fn sameKey(joiner: *Joiner, head: u32, row: u32, comptime side: Side) Error!bool {
        if (joiner.control.isCancelled()) return error.Cancelled;
        const head_side: Side = if (head < joiner.internal_len) .internal else .external;
        if (head_side == side) return joiner.comparer.sameKeyWithin(side, joiner.refOf(head), joiner.refOf(row));
        joiner.comparer.load(joiner.refOf(head), joiner.refOf(row));
        return joiner.comparer.sameKey(joiner.refOf(head), joiner.refOf(row));
    }

    /// Puts `row` behind `first`; the order within a chain does not matter.
    fn chain(joiner: *Joiner, first: u32, row: u32) void {
        joiner.next.items[row] = joiner.next.items[first];
        joiner.next.items[first] = row;
    }

    fn refOf(joiner: *const Joiner, row: u32) Ref {
        return .of(joiner.entries.items[row].offset, Ref.saturated);
    }

    /// Compares the keys of every internal row with those of its external partner, and the values of pairs that are alone
    /// with their key. Those are settled then (`next` of the partner points at itself), so that they are not read again.
    fn comparePairs(joiner: *Joiner, comptime exact: bool) Attempt!void {
        const partners = joiner.partner.items[0..joiner.internal_len];
        const comparer = joiner.comparer;
        joiner.prefetchPairs(0);
        for (partners, 0..) |partner, row| {
            if (row % prefetch_pairs == 0) joiner.prefetchPairs(row + prefetch_pairs);
            if (partner == none) continue;
            if (row % 1024 == 0 and joiner.control.isCancelled()) return error.Cancelled;
            const internal = comparer.internal.refAt(joiner.entries.items[row].offset);
            const external = joiner.refOf(partner);
            const alone = joiner.next.items[row] == none and joiner.next.items[partner] == none;
            if (alone) joiner.next.items[partner] = partner;
            if (comparer.identical(internal, external)) {
                if (alone) try joiner.partial.match(internal, external);
                continue;
            }
            if (comparer.plainlyEqual(internal.offset, external.offset)) {
                if (alone) try joiner.partial.compared(comparer, internal, external, 0);
                continue;
            }
            comparer.load(internal, external);
            if (!exact and !try comparer.sameKey(internal, external)) return error.HashCollision;
            if (alone) try joiner.partial.compared(comparer, internal, external, try comparer.compareValues(internal, external));
        }
    }

    /// Asks for the rows of the pairs from internal row `first` on, which may lie behind the last.
    inline fn prefetchPairs(joiner: *const Joiner, first: usize) void {
        const partners = joiner.partner.items[0..joiner.internal_len];
        for (@min(first, partners.len)..@min(first + prefetch_pairs, partners.len)) |row| {
            const partner = partners[row];
            if (partner == none) continue;
            prefetchRow(joiner.comparer.internal.mapping.base + joiner.entries.items[row].offset);
            prefetchRow(joiner.comparer.external.mapping.base + joiner.entries.items[partner].offset);
        }
    }

    /// Two lines: most rows end in the second.
    inline fn prefetchRow(row: [*]const u8) void {
        @prefetch(row, .{ .rw = .read, .locality = 3 });
        @prefetch(row + 64, .{ .rw = .read, .locality = 3 });
    }

    /// Reports every key of the partition whose rows are not settled, once.
    fn report(joiner: *Joiner) Error!void {
        for (0..joiner.internal_len) |i| {
            const row: u32 = @intCast(i);
            const partner = joiner.partner.items[row];
            const settled = partner != none and joiner.next.items[partner] == partner;
            if (!settled and joiner.isHead(row)) try joiner.reportKey(row, partner);
        }
        for (joiner.internal_len..joiner.entries.items.len) |i| {
            const row: u32 = @intCast(i);
            const settled = joiner.next.items[row] == row;
            if (!settled and joiner.isHead(row)) try joiner.reportKey(none, row);
        }
    }

    /// Whether the table points at `row`: then it stands for its key.
    fn isHead(joiner: *const Joiner, row: u32) bool {
        const wanted = joiner.entries.items[row].hash;
        var slot: usize = @intCast(wanted & (joiner.slots.len - 1));
        while (joiner.slots[slot] != 0) : (slot = (slot + 1) & (joiner.slots.len - 1)) {
            if (joiner.slots[slot] == row + 1) return true;
        }
        return false;
    }

    fn reportKey(joiner: *Joiner, internal: u32, external: u32) Error!void {
        if (joiner.control.isCancelled()) return error.Cancelled;
        const refs = &joiner.refs;
        for (refs, [_]u32{ internal, external }) |*list, first| {
            list.clearRetainingCapacity();
            var row = first;
            while (row != none) : (row = joiner.next.items[row]) try list.append(joiner.gpa, joiner.refOf(row));
        }
        const pairing: Pairing = .{ .comparer = joiner.comparer, .findings = &joiner.partial, .unique = joiner.unique, .cancelled = &joiner.control.cancelled };
        try pairing.group(refs[0].items, refs[1].items);
    }
};
