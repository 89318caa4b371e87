//! Walks both ledgers side by side, segment by segment, in parallel. Two plans share it: `merge`, when both sides are
//! proved strictly increasing by key while they are read, and the aligned way of the hash plan, when rows come in the same
//! order but unsorted: then equal rows are settled at once and only the hashes of their keys are kept, to prove that no key
//! occurs twice.
//!
//! Where segments begin is guessed and then proved: each must end exactly where the next one begins.
const std = @import("std");
const masks = @import("../kernel/masks.zig");
const hash = @import("../index/hash.zig");
const partition = @import("../index/partition.zig");
const memory_module = @import("../index/memory.zig");
const compare = @import("compare.zig");
const record = @import("../csv/record.zig");
const scan = @import("../csv/scan.zig");
const ledger_module = @import("../csv/ledger.zig");
const row_reader = @import("../csv/row_reader.zig");
const File = @import("../source/mapping.zig").File;
const Control = @import("../control.zig").Control;
const Findings = @import("findings.zig").Findings;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Row = row_reader.Row;
const RowReader = row_reader.RowReader;

/// How keys follow each other. `by_length` is shorter first, then bytes: numbers without leading zeros.
pub const Order = enum { ascending, descending, by_length, unsorted };

/// Part of both ledgers that one worker reads: records that start in [from, to).
pub const Segment = struct {
    from: [2]u64,
    to: [2]u64,

    pub fn bytes(segment: *const Segment) u64 {
        return segment.to[0] - segment.from[0] + segment.to[1] - segment.from[1];
    }
};

pub const Error = error{
    OutOfMemory,
    SpillFailed,
    Cancelled,
    /// The rows are not as the plan needs them: keys out of order, or a segment that does not end at the next.
    Unfit,
};

/// A segment is this many chunks long: fewer starts to find than chunks.
const segment_chunks = 16;
const probes = 48;
const aligned_probes = 16;
/// How far from its proportional place a row is looked for on the other side.
const search_bytes = 256 * 1024;
/// How far ahead the aligned walk looks for a row after a miss.
const look_ahead_bytes = 4096;

pub const Plan = struct { order: Order, segments: []Segment };

/// What two ledgers allow; null, with the reason in words, if they cannot be walked side by side.
pub const Planner = struct {
    arena: std.mem.Allocator,
    ledgers: [2]*const Ledger,
    same_layout: bool,
    chunk_bytes: u64,
    reason: []const u8 = "",
    fields: [2][]record.Field = undefined,
    scratch: ledger_module.Scratch = undefined,

    pub fn plan(planner: *Planner) error{OutOfMemory}!?Plan {
        for (planner.ledgers) |ledger| {
            if (ledger.key.len != 1 or !ledger.hasVerbatimKeys()) return planner.refuse("the key is composite, trimmed, folded or mapped: rows found by key hash");
            if (ledger.reading.judgesRows()) return planner.refuse("rules look at every row: rows found by key hash");
            if (ledger.spec.origin != null) return planner.refuse("executions or folded rows: found by key hash");
            if (ledger.mapping.files.len != 1) return planner.refuse("a ledger of several files: rows found by key hash");
            if (ledger.mapping.files[0].first >= ledger.mapping.files[0].end) return planner.refuse("a ledger without rows: rows found by key hash");
        }
        for (&planner.fields, planner.ledgers) |*fields, ledger| fields.* = try planner.arena.alloc(record.Field, ledger.capacity);
        planner.scratch = .init(planner.arena);
        const order = try planner.sortedOrder() orelse .unsorted;
        if (order == .unsorted and !try planner.isAligned()) return planner.refuse("keys are not in order on both sides: rows found by key hash");
        return .{ .order = order, .segments = try planner.cut(order) };
    }

    fn refuse(planner: *Planner, reason: []const u8) ?Plan {
        planner.reason = reason;
        return null;
    }

    fn file(planner: *const Planner, side: usize) File {
        return planner.ledgers[side].mapping.files[0];
    }

    /// The first usual row that starts at `at` or not far behind it; lines that are none are passed. Null if there is none.
    fn rowFrom(planner: *Planner, side: usize, at: u64) error{OutOfMemory}!?Row {
        const f = planner.file(side);
        const ledger = planner.ledgers[side];
        const bytes = ledger.mapping.base;
        var start = if (at <= f.first) f.first else (std.mem.findScalarPos(u8, bytes[0..f.end], at - 1, '\n') orelse return null) + 1;
        while (start < @min(f.end, at + search_bytes)) {
            planner.scratch.reset();
            const examined = try ledger.examine(start, planner.fields[side], &planner.scratch);
            const field = planner.fields[side][ledger.key[0]];
            const unusual = examined.record.blank or examined.fault != null or field.len == 0 or field.form == .escaped;
            if (!unusual) return .{
                .start = start,
                .end = examined.record.end,
                .next = examined.record.next,
                .key = (bytes + start + field.start)[0..field.len],
                .lines = 0,
            };
            start = examined.record.next;
        }
        return null;
    }

    /// The order that every looked-at row of both sides follows; null if there is none.
    fn sortedOrder(planner: *Planner) error{OutOfMemory}!?Order {
        var possible: std.EnumSet(Order) = .initMany(&.{ .ascending, .descending, .by_length });
        for (0..2) |side| {
            const f = planner.file(side);
            var previous: ?[]const u8 = null;
            var previous_start: u64 = std.math.maxInt(u64);
            for (0..probes) |probe| {
                var at = f.first + (f.end - f.first) * probe / probes;
                for (0..3) |_| {
                    const row = try planner.rowFrom(side, at) orelse break;
                    at = row.next;
                    if (row.start == previous_start or (previous != null and row.start < previous_start)) continue;
                    if (previous) |key| inline for (.{ Order.ascending, Order.descending, Order.by_length }) |order| {
                        if (!isBefore(order, key, row.key)) possible.remove(order);
                    };
                    previous = row.key;
                    previous_start = row.start;
                }
            }
        }
        for ([_]Order{ .ascending, .by_length, .descending }) |order| if (possible.contains(order)) return order;
        return null;
    }

    fn isAligned(planner: *Planner) error{OutOfMemory}!bool {
        if (!planner.same_layout) return false;
        const f = planner.file(0);
        var found: usize = 0;
        for (0..aligned_probes) |probe| {
            const at = f.first + (f.end - f.first) * probe / aligned_probes;
            const row = try planner.rowFrom(0, at) orelse continue;
            found += @intFromBool(planner.findTwin(row) != null);
        }
        return found >= aligned_probes * 3 / 4;
    }

    /// Where the external ledger has a row of the same bytes, near the same relative place.
    fn findTwin(planner: *Planner, row: Row) ?u64 {
        const internal = planner.file(0);
        const external = planner.file(1);
        const place = @as(u128, row.start - internal.first) * (external.end - external.first) / (internal.end - internal.first);
        const near = external.first + @as(u64, @intCast(place));
        // In a small file everything is near; there only a row that is really in its place counts.
        const distance = @min(search_bytes, (external.end - external.first) / 32 + 512);
        const from = @max(external.first, near -| distance);
        const to = @min(external.end, near + distance);
        const wanted = planner.ledgers[0].mapping.base[row.start..row.next];
        return findRow(planner.ledgers[1].mapping.base, from, to, external.first, wanted);
    }

    fn cut(planner: *Planner, order: Order) error{OutOfMemory}![]Segment {
        const internal = planner.file(0);
        const external = planner.file(1);
        var segments: std.ArrayList(Segment) = .empty;
        var from = [2]u64{ internal.first, external.first };
        const segment_bytes = planner.chunk_bytes * segment_chunks;
        var at = internal.first + segment_bytes;
        while (at < internal.end) : (at += segment_bytes) {
            const row = try planner.rowFrom(0, at) orelse continue;
            const other = (if (order == .unsorted) planner.findTwin(row) else try planner.lowerBound(order, row.key)) orelse continue;
            if (row.start <= from[0] or other < from[1]) continue;
            try segments.append(planner.arena, .{ .from = from, .to = .{ row.start, other } });
            from = .{ row.start, other };
        }
        try segments.append(planner.arena, .{ .from = from, .to = .{ internal.end, external.end } });
        return segments.items;
    }

    /// The start of the first external row whose key is not before `key`, by bisection over bytes.
    fn lowerBound(planner: *Planner, order: Order, key: []const u8) error{OutOfMemory}!?u64 {
        const f = planner.file(1);
        var low = f.first;
        var high = f.end;
        while (low < high) {
            const middle = low + (high - low) / 2;
            const row = try planner.rowFrom(1, middle) orelse {
                high = middle;
                continue;
            };
            const before = switch (order) {
                inline .ascending, .descending, .by_length => |o| isBefore(o, row.key, key),
                .unsorted => unreachable,
            };
            if (before) low = row.next else high = middle;
        }
        const row = try planner.rowFrom(1, low) orelse return f.end;
        return row.start;
    }
};

/// Where `wanted` stands as whole lines in bytes[from..to].
fn findRow(bytes: [*]const u8, from: u64, to: u64, first: u64, wanted: []const u8) ?u64 {
    var at = from;
    while (std.mem.findPos(u8, bytes[0..to], at, wanted)) |found| {
        if (found == first or bytes[found - 1] == '\n') return found;
        at = found + 1;
    }
    return null;
}

/// Strictly before, in the given order. Both keys can be read ahead of.
inline fn isBefore(comptime order: Order, a: []const u8, b: []const u8) bool {
    return switch (order) {
        .ascending => orderBytes(a, b) == .lt,
        .descending => orderBytes(a, b) == .gt,
        .by_length => if (a.len != b.len) a.len < b.len else orderBytes(a, b) == .lt,
        .unsorted => comptime unreachable,
    };
}

inline fn orderKeys(comptime order: Order, a: []const u8, b: []const u8) std.math.Order {
    return switch (order) {
        .ascending => orderBytes(a, b),
        .descending => orderBytes(a, b).invert(),
        .by_length => if (a.len != b.len) std.math.order(a.len, b.len) else orderBytes(a, b),
        .unsorted => comptime unreachable,
    };
}

/// Order of bytes, eight at a time; reads up to seven bytes behind both.
inline fn orderBytes(a: []const u8, b: []const u8) std.math.Order {
    const len = @min(a.len, b.len);
    var at: usize = 0;
    while (at < len) : (at += 8) {
        var left = std.mem.readInt(u64, (a.ptr + at)[0..8], .big);
        var right = std.mem.readInt(u64, (b.ptr + at)[0..8], .big);
        if (len - at < 8) {
            const unused: u6 = @intCast(64 - 8 * (len - at));
            left >>= unused;
            right >>= unused;
        }
        if (left != right) return if (left < right) .lt else .gt;
    }
    return std.math.order(a.len, b.len);
}

/// Where an aligned pair of rows stands: internal rows from `internal` on lie `external - internal` further on.
pub const Run = struct { internal: u64, external: u64 };

/// What one segment came to. Owns its lists.
pub const Outcome = struct {
    lines: [2]u64 = @splat(0),
    checkpoints: [2][]const scan.Checkpoint = @splat(&.{}),
    runs: []const Run = &.{},

    pub fn deinit(outcome: *const Outcome, gpa: std.mem.Allocator) void {
        gpa.free(outcome.runs);
        for (outcome.checkpoints) |checkpoints| gpa.free(checkpoints);
    }
};

/// One worker's walk. Not shared between threads.
pub const Walker = struct {
    gpa: std.mem.Allocator,
    control: *Control,
    seed: u64,
    hash_mask: u64,
    comparer: *compare.Comparer,
    findings: *Findings,
    /// The aligned walk's rows: pairs of equal bytes (by internal place), and the rest of each side.
    settled: *partition.Partitions,
    unsettled: [2]*partition.Partitions,
    rows: [2]u64 = @splat(0),
    ignored: [2]u64 = @splat(0),
    faults: *[2]std.ArrayList(u64),
    readers: *[2]RowReader,
    runs: std.ArrayList(Run) = .empty,

    /// Reads one segment whole.
    pub fn walk(walker: *Walker, order: Order, segment: *const Segment, is_first: bool, next: ?*const Segment) Error!Outcome {
        for (walker.readers, 0..) |*reader, side| {
            const ledger = walker.comparer.ledgerOf(@enumFromInt(side));
            const fields = if (side == 0) walker.comparer.internal_fields else walker.comparer.external_fields;
            reader.init(walker.gpa, ledger, fields, &walker.comparer.scratch, segment.from[side], segment.to[side]);
        }
        defer for (walker.readers) |*reader| reader.deinit();
        walker.runs.clearRetainingCapacity();
        switch (order) {
            .unsorted => try walker.alignRows(),
            inline else => |o| try walker.merge(o, is_first, next),
        }
        var outcome: Outcome = .{};
        errdefer outcome.deinit(walker.gpa);
        outcome.runs = try walker.gpa.dupe(Run, walker.runs.items);
        for (walker.readers, 0..) |*reader, side| {
            if (reader.at != segment.to[side]) return error.Unfit;
            outcome.lines[side] = reader.lines;
            outcome.checkpoints[side] = try walker.gpa.dupe(scan.Checkpoint, reader.checkpoints.items);
            walker.rows[side] += reader.rows;
            walker.ignored[side] += reader.ignored;
            try walker.faults[side].appendSlice(walker.gpa, reader.faults.items);
            if (order != .unsorted) walker.findings.distinct_keys[side] += reader.rows - reader.faults.items.len;
        }
        return outcome;
    }

    pub fn deinit(walker: *Walker) void {
        walker.runs.deinit(walker.gpa);
    }

    /// Whether the external reader stands at the bytes of the internal row, line end included.
    inline fn sameAhead(walker: *const Walker, row: Row) bool {
        const internal = &walker.readers[0];
        const external = &walker.readers[1];
        const len = row.next - row.start;
        if (!walker.comparer.same_layout or len > external.limit -| external.at) return false;
        const bytes = internal.ledger.mapping.base + row.start;
        return bytes[len - 1] == '\n' and masks.sameBytes(bytes, external.ledger.mapping.base + external.at, len);
    }

    fn merge(walker: *Walker, comptime order: Order, is_first: bool, next: ?*const Segment) Error!void {
        const internal = &walker.readers[0];
        const external = &walker.readers[1];
        // The keys that this segment and the next start with bound both sides: that proves where both were cut.
        const behind = if (next) |segment| try walker.firstKey(segment.from[0]) else null;
        var last: [2]?[]const u8 = @splat(null);
        if (!is_first) {
            const begin = try walker.firstKey(internal.at);
            if (try external.peek()) |row| if (isBefore(order, row.key, begin)) return error.Unfit;
        }
        var steps: u32 = 0;
        while (true) {
            steps +%= 1;
            if (steps % 4096 == 0 and walker.control.isCancelled()) return error.Cancelled;
            const left = try internal.peek();
            if (left) |row| if (walker.sameAhead(row)) {
                if (last[0]) |key| if (!isBefore(order, key, row.key)) return error.Unfit;
                if (last[1]) |key| if (last[0] == null or key.ptr != last[0].?.ptr) if (!isBefore(order, key, row.key)) return error.Unfit;
                last = .{ row.key, row.key };
                walker.findings.matched += 1;
                internal.pass(row.next - row.start, row.lines);
                external.pass(row.next - row.start, row.lines);
                continue;
            };
            const right = try external.peek();
            if (left == null and right == null) break;
            const relation: std.math.Order = if (left == null) .gt else if (right == null) .lt else orderKeys(order, left.?.key, right.?.key);
            if (relation != .gt) try walker.passSorted(order, .internal, left.?, &last);
            if (relation != .lt) try walker.passSorted(order, .external, right.?, &last);
            switch (relation) {
                .eq => try walker.comparePair(left.?, right.?),
                .lt => try walker.findings.missing(.internal, left.?.ref()),
                .gt => try walker.findings.missing(.external, right.?.ref()),
            }
        }
        if (behind) |key| for (last) |mine| if (mine) |m| if (!isBefore(order, m, key)) return error.Unfit;
    }

    /// The key of the internal row at `at`, where a segment starts.
    fn firstKey(walker: *Walker, at: u64) Error![]const u8 {
        const ledger = walker.comparer.internal;
        const row = try ledger.examine(at, walker.comparer.internal_fields, &walker.comparer.scratch);
        if (row.record.blank or row.fault != null) return error.Unfit;
        const field = walker.comparer.internal_fields[ledger.key[0]];
        if (field.form == .escaped or field.len == 0) return error.Unfit;
        return (ledger.mapping.base + at + field.start)[0..field.len];
    }

    fn passSorted(walker: *Walker, comptime order: Order, comptime side: ledger_module.Side, row: Row, last: *[2]?[]const u8) Error!void {
        const index = @intFromEnum(side);
        if (last[index]) |key| if (!isBefore(order, key, row.key)) return error.Unfit;
        last[index] = row.key;
        walker.readers[index].pass(row.next - row.start, row.lines);
    }

    fn comparePair(walker: *Walker, left: Row, right: Row) Error!void {
        if (walker.comparer.plainlyEqual(left.start, right.start)) return walker.findings.compared(walker.comparer, left.ref(), right.ref(), 0);
        walker.comparer.load(left.ref(), right.ref());
        const differing = try walker.comparer.compareValues(left.ref(), right.ref());
        try walker.findings.compared(walker.comparer, left.ref(), right.ref(), differing);
    }

    fn alignRows(walker: *Walker) Error!void {
        const internal = &walker.readers[0];
        const external = &walker.readers[1];
        var steps: u32 = 0;
        // Rows found side by side, less what misses cost: below zero, looking ahead does not pay.
        var credit: i32 = 256;
        while (true) {
            steps +%= 1;
            if (steps % 4096 == 0 and walker.control.isCancelled()) return error.Cancelled;
            const left = try internal.peek();
            if (left) |row| if (walker.sameAhead(row)) {
                try walker.settle(row);
                credit = @min(credit + 1, 4096);
                continue;
            };
            const right = try external.peek();
            if (left == null and right == null) return;
            if (left == null) {
                try walker.leave(.external, right.?);
                continue;
            }
            if (right == null) {
                try walker.leave(.internal, left.?);
                continue;
            }
            if (credit > 0 and !std.mem.eql(u8, left.?.key, right.?.key)) {
                credit -= 16;
                if (try walker.catchUp(.internal, left.?, right.?)) continue;
                if (try walker.catchUp(.external, right.?, left.?)) continue;
            }
            try walker.leave(.internal, left.?);
            try walker.leave(.external, right.?);
        }
    }

    /// If `wanted`, the other side's row, stands a little behind `row`, leaves the rows before it without a partner.
    fn catchUp(walker: *Walker, comptime side: ledger_module.Side, row: Row, wanted: Row) Error!bool {
        const reader = &walker.readers[@intFromEnum(side)];
        const other = &walker.readers[1 - @intFromEnum(side)];
        const to = @min(reader.limit, row.next + look_ahead_bytes);
        const text = other.ledger.mapping.base[wanted.start..wanted.next];
        const found = findRow(reader.ledger.mapping.base, row.next, to, row.next, text) orelse return false;
        while (reader.at < found) try walker.leave(side, try reader.peek() orelse break);
        return true;
    }

    inline fn settle(walker: *Walker, row: Row) Error!void {
        const internal = &walker.readers[0];
        const external = &walker.readers[1];
        const shift = external.at -% internal.at;
        const runs = walker.runs.items;
        if (runs.len == 0 or runs[runs.len - 1].external -% runs[runs.len - 1].internal != shift)
            try walker.runs.append(walker.gpa, .{ .internal = row.start, .external = external.at });
        try walker.settled.push(walker.hashOf(row), row.start);
        internal.pass(row.next - row.start, row.lines);
        external.pass(row.next - row.start, row.lines);
    }

    inline fn leave(walker: *Walker, comptime side: ledger_module.Side, row: Row) Error!void {
        try walker.unsettled[@intFromEnum(side)].push(walker.hashOf(row), row.start);
        walker.readers[@intFromEnum(side)].pass(row.next - row.start, row.lines);
    }

    inline fn hashOf(walker: *const Walker, row: Row) u64 {
        return hash.ofBytes(walker.seed, row.key.ptr, row.key.len) & walker.hash_mask;
    }
};

test "orders of keys" {
    const pad = "........................";
    const keys = [_][]const u8{ "1", "10", "2", "20", "200000000", "200000001", "T2" };
    for (keys, 0..) |a, i| for (keys, 0..) |b, j| {
        var left: [40]u8 = undefined;
        var right: [40]u8 = undefined;
        const x = try std.fmt.bufPrint(&left, "{s}{s}", .{ a, pad });
        const y = try std.fmt.bufPrint(&right, "{s}{s}x", .{ b, pad });
        try std.testing.expectEqual(std.math.order(i, j), orderBytes(x[0..a.len], y[0..b.len]));
    };
}
