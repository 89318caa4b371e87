//! `recon generate`: a pair of ledgers with known breaks, and the truth about them. Every row is a function of seed and
//! index, and every choice a permutation of indices, so that rows can be made in any order by any worker: same seed,
//! same bytes.
const std = @import("std");
const abi = @import("abi.zig");
const parallel = @import("parallel.zig");
const OrderedWriter = @import("ordered_writer.zig").OrderedWriter;
const Control = @import("control.zig").Control;

const batch_rows = 16 * 1024;
const header = "trade_id,symbol,side,quantity,price,currency,trade_date\n";

/// What becomes of a trade. `missing_external` is only in the internal file, and so on.
const Fate = enum { matched, mismatch, missing_external, missing_internal, duplicate_internal, duplicate_external, benign };

pub const Error = error{ OutOfMemory, Cancelled };

pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.GenerateSpec, control: *Control) Error!abi.GenerateResult {
    const wanted = spec.breaks +| spec.missing +| spec.duplicates +| spec.benign;
    if (spec.order == .disjoint and wanted != 0) return refuse(arena, "with --order disjoint every row is a break already: leave out --breaks, --missing, --duplicates and --benign");
    if (wanted > spec.rows) return refuse(arena, "more breaks, missing, duplicate and benign rows than rows");
    var maker: Maker = .{ .gpa = gpa, .spec = spec, .control = control };
    control.enter(.write, 3 * maker.trades());
    var result: abi.GenerateResult = .{ .outcome = .done };
    for (std.enums.values(Target)) |target| if (try maker.write(target)) |errno| {
        const reason = OrderedWriter.reason(errno);
        return refuseWith(arena, reason.code, try std.fmt.allocPrint(arena, "cannot write {s}: {s}", .{ target.fileName(), reason.text }));
    };
    result.internal_rows = maker.rows[0].load(.monotonic);
    result.external_rows = maker.rows[1].load(.monotonic);
    result.bytes = maker.bytes.load(.monotonic);
    result.breaks = if (spec.order == .disjoint) 2 * spec.rows else spec.breaks + 2 * spec.missing + spec.duplicates;
    result.benign = spec.benign;
    return result;
}

fn refuse(arena: std.mem.Allocator, message: []const u8) Error!abi.GenerateResult {
    return refuseWith(arena, "usage", message);
}

fn refuseWith(arena: std.mem.Allocator, code: []const u8, message: []const u8) Error!abi.GenerateResult {
    const items = try arena.alloc(abi.ErrorItem, 1);
    items[0] = .{ .code = code, .path = "", .message = message };
    return .{ .outcome = .failed, .errors = items };
}

const Target = enum {
    internal,
    external,
    truth,

    fn fileName(target: Target) []const u8 {
        return switch (target) {
            .internal => "internal.csv",
            .external => "external.csv",
            .truth => "truth.jsonl",
        };
    }
};

const Maker = struct {
    gpa: std.mem.Allocator,
    spec: abi.GenerateSpec,
    control: *Control,
    target: Target = .internal,
    writer: OrderedWriter = undefined,
    claims: parallel.Claims = .{ .len = 0 },
    rows: [3]std.atomic.Value(u64) = @splat(.init(0)),
    bytes: std.atomic.Value(u64) = .init(0),
    out_of_memory: std.atomic.Value(bool) = .init(false),

    /// Both sides have `rows` rows: each lacks `missing` of these.
    fn trades(maker: *const Maker) u64 {
        return if (maker.spec.order == .disjoint) maker.spec.rows else maker.spec.rows + maker.spec.missing;
    }

    /// Writes one file; returns the errno of a failed write.
    fn write(maker: *Maker, target: Target) Error!?i32 {
        maker.target = target;
        maker.writer = .{ .control = maker.control, .fd = switch (target) {
            .internal => maker.spec.internal_fd,
            .external => maker.spec.external_fd,
            .truth => maker.spec.truth_fd,
        } };
        if (target != .truth and maker.spec.header) {
            maker.writer.writeAll(header);
            _ = maker.bytes.fetchAdd(header.len, .monotonic);
        }
        maker.claims = .{ .len = @intCast((maker.trades() + batch_rows - 1) / batch_rows) };
        const team: parallel.Team = .init(maker.spec.threads, false);
        team.run(maker, work);
        if (maker.control.isCancelled()) return error.Cancelled;
        if (maker.out_of_memory.load(.monotonic)) return error.OutOfMemory;
        return if (maker.writer.failed.load(.acquire)) maker.writer.errno.load(.monotonic) else null;
    }

    fn work(maker: *Maker, _: u32) void {
        maker.writeBatches() catch {
            maker.out_of_memory.store(true, .monotonic);
            maker.writer.failed.store(true, .release);
        };
    }

    fn writeBatches(maker: *Maker) error{OutOfMemory}!void {
        var text: std.Io.Writer.Allocating = .init(maker.gpa);
        defer text.deinit();
        while (maker.claims.take()) |batch| {
            if (maker.writer.isOver()) return;
            text.clearRetainingCapacity();
            const first = @as(u64, batch) * batch_rows;
            var rows: u64 = 0;
            for (first..@min(first + batch_rows, maker.trades())) |place| {
                rows += maker.writePlace(&text.writer, place) catch return error.OutOfMemory;
            }
            _ = maker.rows[@intFromEnum(maker.target)].fetchAdd(rows, .monotonic);
            _ = maker.bytes.fetchAdd(text.written().len, .monotonic);
            maker.control.advance(batch_rows);
            maker.writer.put(batch, text.written());
        }
    }

    /// Writes what stands at one place of the file; returns how many rows that is.
    fn writePlace(maker: *Maker, out: *std.Io.Writer, place: u64) std.Io.Writer.Error!u64 {
        const moved = maker.target == .external and maker.spec.order == .shuffled;
        const index = if (moved) permute(place, maker.trades(), maker.spec.seed ^ shuffle_salt) else place;
        const fate = maker.fateOf(index);
        switch (maker.target) {
            .internal => {
                if (fate == .missing_internal) return 0;
                try maker.writeRow(out, .internal, index, .matched);
                if (fate != .duplicate_internal) return 1;
                try maker.writeRow(out, .internal, index, .matched);
                return 2;
            },
            .external => {
                if (fate == .missing_external) return 0;
                try maker.writeRow(out, .external, index, fate);
                if (fate != .duplicate_external) return 1;
                try maker.writeRow(out, .external, index, fate);
                return 2;
            },
            .truth => try maker.writeTruth(out, index, fate),
        }
        return 0;
    }

    fn fateOf(maker: *const Maker, index: u64) Fate {
        const spec = &maker.spec;
        if (spec.order == .disjoint) return .matched;
        var rank = permute(index, maker.trades(), spec.seed ^ fate_salt);
        const half = spec.duplicates / 2;
        const shares = [_]struct { Fate, u64 }{
            .{ .mismatch, spec.breaks },
            .{ .missing_external, spec.missing },
            .{ .missing_internal, spec.missing },
            .{ .duplicate_internal, half },
            .{ .duplicate_external, spec.duplicates - half },
            .{ .benign, spec.benign },
        };
        for (shares) |share| {
            if (rank < share[1]) return share[0];
            rank -= share[1];
        }
        return .matched;
    }

    fn writeId(maker: *const Maker, out: *std.Io.Writer, side: Target, index: u64) std.Io.Writer.Error!void {
        const foreign = maker.spec.order == .disjoint and side == .external;
        if (maker.spec.ids == .sequential) return out.print("{c}{d:0>9}", .{ @as(u8, if (foreign) 'X' else 'T'), index + 1 });
        const high = mix(maker.spec.seed ^ id_salt ^ @intFromBool(foreign), index);
        // A permutation of the index in the low half keeps the ids of one file different.
        const low = mix(0, index *% 0x9e37_79b9_7f4a_7c15 +% maker.spec.seed);
        try out.print("{x:0>8}-{x:0>4}-4{x:0>3}-8{x:0>3}-{x:0>12}", .{ high >> 32, (high >> 16) & 0xffff, high & 0xfff, (high >> 12) & 0xfff, low & 0xffff_ffff_ffff });
    }

    fn writeRow(maker: *Maker, out: *std.Io.Writer, side: Target, index: u64, fate: Fate) std.Io.Writer.Error!void {
        const trade: Trade = .of(maker.spec.seed, index);
        const quoted = trade.dice % 100 < maker.spec.quoted_percent;
        const between: []const u8 = if (quoted) "\",\"" else ",";
        if (quoted) try out.writeByte('"');
        try maker.writeId(out, side, index);
        try out.print("{s}{s}{s}{s}{s}", .{ between, trade.symbol, between, trade.side, between });
        try out.print("{d}{s}", .{ trade.quantity + @as(u64, if (fate == .mismatch and trade.breaksQuantity()) 1 else 0), between });
        try trade.writePrice(out, fate);
        try out.print("{s}{s}{s}2026-03-{d:0>2}{s}\n", .{ between, trade.currency, between, trade.day, if (quoted) "\"" else "" });
    }

    fn writeTruth(maker: *Maker, out: *std.Io.Writer, index: u64, fate: Fate) std.Io.Writer.Error!void {
        if (maker.spec.order == .disjoint) {
            for ([_]Target{ .internal, .external }, [_][]const u8{ "missing_external", "missing_internal" }) |side, kind| {
                try maker.writeTruthStart(out, side, index, kind);
                try out.writeAll("}\n");
            }
            return;
        }
        if (fate == .matched) return;
        try maker.writeTruthStart(out, .internal, index, @tagName(fate));
        if (fate == .mismatch) {
            const trade: Trade = .of(maker.spec.seed, index);
            try out.print(",\"columns\":[\"{s}\"]", .{if (trade.breaksQuantity()) "quantity" else "price"});
        }
        try out.writeAll("}\n");
    }

    fn writeTruthStart(maker: *Maker, out: *std.Io.Writer, side: Target, index: u64, kind: []const u8) std.Io.Writer.Error!void {
        try out.print("{{\"type\":\"{s}\",\"key\":{{\"trade_id\":\"", .{kind});
        try maker.writeId(out, side, index);
        try out.writeAll("\"}");
    }
};

const Trade = struct {
    symbol: []const u8,
    side: []const u8,
    currency: []const u8,
    quantity: u64,
    cents: u64,
    day: u64,
    dice: u64,

    fn of(seed: u64, index: u64) Trade {
        const a = mix(seed, index);
        const b = mix(a, index ^ seed);
        return .{
            .symbol = symbols[@intCast(a % symbols.len)],
            .side = if (a >> 20 & 1 == 0) "BUY" else "SELL",
            .currency = currencies[@intCast((a >> 24) % currencies.len)],
            .quantity = ((a >> 32) % 500 + 1) * 100,
            .cents = 100 + b % 99_900,
            .day = (b >> 40) % 28 + 1,
            .dice = b >> 48,
        };
    }

    fn breaksQuantity(trade: *const Trade) bool {
        return trade.dice & 1 == 0;
    }

    /// A benign difference is another spelling of the same number: 1.1 for 1.10, or 1.230 for 1.23.
    fn writePrice(trade: *const Trade, out: *std.Io.Writer, fate: Fate) std.Io.Writer.Error!void {
        const cents = trade.cents + @as(u64, if (fate == .mismatch and !trade.breaksQuantity()) 1 else 0);
        if (fate != .benign) return out.print("{d}.{d:0>2}", .{ cents / 100, cents % 100 });
        if (cents % 100 == 0) return out.print("{d}", .{cents / 100});
        if (cents % 10 == 0) return out.print("{d}.{d}", .{ cents / 100, cents % 100 / 10 });
        return out.print("{d}.{d:0>2}0", .{ cents / 100, cents % 100 });
    }
};

const symbols = [_][]const u8{ "ABCD", "EFGH", "IJKL", "MNOP", "QRST", "UVWX", "ACEG", "BDFH", "IKMO", "JLNP", "QSUW", "RTVX", "ALMN", "BOPQ", "CRST", "DUVW" };
const currencies = [_][]const u8{ "USD", "EUR", "GBP", "JPY", "CHF" };
const fate_salt = 0x243f_6a88_85a3_08d3;
const shuffle_salt = 0x1319_8a2e_0370_7344;
const id_salt = 0xa409_3822_299f_31d0;

/// SplitMix64's output function (Steele, Lea, Flood 2014): a permutation of 64-bit numbers for every seed.
fn mix(seed: u64, index: u64) u64 {
    var z = index +% seed *% 0x9e37_79b9_7f4a_7c15 +% 0x9e37_79b9_7f4a_7c15;
    z = (z ^ (z >> 30)) *% 0xbf58_476d_1ce4_e5b9;
    z = (z ^ (z >> 27)) *% 0x94d0_49bb_1331_11eb;
    return z ^ (z >> 31);
}

/// A permutation of 0..len: a four-round Feistel network over the next even power of two, walked until it lands inside.
fn permute(index: u64, len: u64, key: u64) u64 {
    std.debug.assert(index < len);
    if (len == 1) return 0;
    const half_bits: u6 = @intCast((64 - @clz(len - 1) + 1) / 2);
    const mask = (@as(u64, 1) << half_bits) - 1;
    var value = index;
    while (true) {
        var left = value >> half_bits;
        var right = value & mask;
        for (0..4) |round| {
            const next = left ^ (mix(key +% round, right) & mask);
            left = right;
            right = next;
        }
        value = left << half_bits | right;
        if (value < len) return value;
    }
}

test "permutations reach every index once" {
    for ([_]u64{ 1, 2, 3, 10, 1000 }) |len| {
        var seen: [1000]bool = @splat(false);
        for (0..len) |i| {
            const to = permute(i, len, 99);
            try std.testing.expect(!seen[to]);
            seen[to] = true;
        }
    }
}
