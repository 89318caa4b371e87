//! `recon generate`: a pair of ledgers with known breaks, and the truth about them. Every row is a function of seed and
//! index, and every choice a permutation of indices, so that rows can be made in any order by any worker: same seed,
//! same bytes. With `format` fix the external ledger is a log of ExecutionReports, in which busts, corrections and resends
//! come to the same executions.
const std = @import("std");
const abi = @import("abi.zig");
const parallel = @import("parallel.zig");
const OrderedWriter = @import("ordered_writer.zig").OrderedWriter;
const Control = @import("control.zig").Control;
const MessageWriter = @import("fix/message_writer.zig").MessageWriter;

const batch_rows = 16 * 1024;
const columns = "symbol,side,quantity,price,currency,trade_date";

/// What becomes of a trade. `missing_external` is only in the internal file, and so on.
const Fate = enum { matched, mismatch, missing_external, missing_internal, duplicate_internal, duplicate_external, benign };

/// What else a FIX log says about a trade: a first report with another price and its correction, a report of an
/// execution that never was and its bust, a resend, an acknowledgement of the order.
const Event = enum { none, corrected, busted, resent, acknowledged };

pub const Error = error{ OutOfMemory, Cancelled };

pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.GenerateSpec, control: *Control) Error!abi.GenerateResult {
    const wanted = spec.breaks +| spec.missing +| spec.duplicates +| spec.benign;
    if (spec.order == .disjoint and wanted != 0) return refuse(arena, "with --order disjoint every row is a break already: leave out --breaks, --missing, --duplicates and --benign");
    if (wanted > spec.rows) return refuse(arena, "more breaks, missing, duplicate and benign rows than rows");
    var maker: Maker = .{ .gpa = gpa, .spec = spec, .control = control };
    defer gpa.free(maker.first_numbers);
    if (spec.format == .fix) maker.first_numbers = try gpa.alloc(u64, maker.batches() + 1);
    control.enter(.write, 3 * maker.trades());
    var result: abi.GenerateResult = .{ .outcome = .done };
    for (std.enums.values(Target)) |target| if (try maker.write(target)) |errno| {
        const reason = OrderedWriter.reason(errno);
        return refuseWith(arena, reason.code, try std.fmt.allocPrint(arena, "cannot write {s}: {s}", .{ target.fileName(spec.format), reason.text }));
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

    fn fileName(target: Target, format: abi.GenerateFormat) []const u8 {
        return switch (target) {
            .internal => "internal.csv",
            .external => if (format == .fix) "external.fix.log" else "external.csv",
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
    /// MsgSeqNum of each batch's first message; first how many messages each batch has.
    first_numbers: []u64 = &.{},

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
        if (maker.hasHeader()) try maker.writeHeader();
        const team: parallel.Team = .init(maker.spec.threads, false);
        if (maker.isLog()) maker.numberMessages(&team);
        maker.claims = .{ .len = maker.batches() };
        team.run(maker, work);
        if (maker.control.isCancelled()) return error.Cancelled;
        if (maker.out_of_memory.load(.monotonic)) return error.OutOfMemory;
        return if (maker.writer.failed.load(.acquire)) maker.writer.errno.load(.monotonic) else null;
    }

    fn batches(maker: *const Maker) usize {
        return @intCast((maker.trades() + batch_rows - 1) / batch_rows);
    }

    /// What is being written is the FIX log.
    fn isLog(maker: *const Maker) bool {
        return maker.target == .external and maker.spec.format == .fix;
    }

    fn hasHeader(maker: *const Maker) bool {
        return maker.spec.header and maker.target != .truth and !maker.isLog();
    }

    fn keyName(maker: *const Maker) []const u8 {
        return if (maker.spec.format == .fix) "exec_id" else "trade_id";
    }

    fn writeHeader(maker: *Maker) error{OutOfMemory}!void {
        var text: std.Io.Writer.Allocating = .init(maker.gpa);
        defer text.deinit();
        maker.composeHeader(&text.writer) catch return error.OutOfMemory;
        maker.writer.append(text.written());
        _ = maker.bytes.fetchAdd(text.written().len, .monotonic);
    }

    fn composeHeader(maker: *const Maker, out: *std.Io.Writer) std.Io.Writer.Error!void {
        try out.print("{s},{s}", .{ maker.keyName(), columns });
        for (0..maker.spec.extra_columns) |i| try out.print(",extra{d}", .{i + 1});
        try out.writeByte('\n');
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
            const behind = @min(first + batch_rows, maker.trades());
            if (maker.isLog()) {
                rows = maker.writeLog(&text.writer, batch, first, behind) catch return error.OutOfMemory;
            } else for (first..behind) |place| {
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
        const index = maker.indexAt(place);
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

    fn indexAt(maker: *const Maker, place: u64) u64 {
        const moved = maker.target == .external and maker.spec.order == .shuffled;
        return if (moved) permute(place, maker.trades(), maker.spec.seed ^ shuffle_salt) else place;
    }

    /// Counts the messages of every batch, which says where each one's sequence numbers begin.
    fn numberMessages(maker: *Maker, team: *const parallel.Team) void {
        maker.claims = .{ .len = maker.batches() };
        team.run(maker, countMessages);
        var next: u64 = 1;
        for (maker.first_numbers) |*number| {
            const count = number.*;
            number.* = next;
            next += count;
        }
    }

    fn countMessages(maker: *Maker, _: u32) void {
        while (maker.claims.take()) |batch| {
            if (maker.writer.isOver()) return;
            const first = @as(u64, batch) * batch_rows;
            var count: u64 = 1;
            for (first..@min(first + batch_rows, maker.trades())) |place| count += maker.messagesAt(maker.indexAt(place));
            maker.first_numbers[batch] = count;
        }
    }

    /// How many numbered messages a trade has; a resend has the number of what it repeats.
    fn messagesAt(maker: *const Maker, index: u64) u64 {
        const fate = maker.fateOf(index);
        if (fate == .missing_external) return 0;
        const more: u64 = switch (maker.eventOf(index, fate)) {
            .none, .resent => 0,
            .corrected, .acknowledged => 1,
            .busted => 2,
        };
        return 1 + more + @intFromBool(fate == .duplicate_external);
    }

    /// One in two hundred is corrected or busted each, fewer are resent, more acknowledged.
    fn eventOf(maker: *const Maker, index: u64, fate: Fate) Event {
        if (fate == .duplicate_internal or fate == .duplicate_external) return .none;
        return switch (mix(maker.spec.seed ^ event_salt, index) % 1000) {
            0...4 => .corrected,
            5...9 => .busted,
            10 => .resent,
            11...30 => .acknowledged,
            else => .none,
        };
    }

    /// One batch of the FIX log: a heartbeat, the fills in the order of the file, then what refers to them. Returns the
    /// executions that are left in the end.
    fn writeLog(maker: *Maker, out: *std.Io.Writer, batch: usize, first: u64, behind: u64) std.Io.Writer.Error!u64 {
        var log: LogWriter = .{ .maker = maker, .out = out, .number = maker.first_numbers[batch] };
        try log.heartbeat();
        var late: std.ArrayList(Late) = .empty;
        defer late.deinit(maker.gpa);
        var rows: u64 = 0;
        for (first..behind) |place| {
            const index = maker.indexAt(place);
            const fate = maker.fateOf(index);
            if (fate == .missing_external) continue;
            const event = maker.eventOf(index, fate);
            if (event == .acknowledged) try log.report(index, fate, .new);
            if (event == .busted) try log.report(index, fate, .phantom);
            if (event == .corrected or event == .busted or event == .resent) {
                late.append(maker.gpa, .{ .index = index, .fate = fate, .event = event, .number = log.number }) catch return error.WriteFailed;
            }
            try log.report(index, fate, if (event == .corrected) .wrong else .fill);
            if (fate == .duplicate_external) try log.report(index, fate, .another_day);
            rows += 1 + @as(u64, @intFromBool(fate == .duplicate_external));
        }
        for (late.items) |item| switch (item.event) {
            .corrected => try log.report(item.index, item.fate, .correction),
            .busted => try log.report(item.index, item.fate, .bust),
            .resent => try log.resend(item.index, item.fate, item.number),
            .none, .acknowledged => unreachable,
        };
        return rows;
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

    /// The id of the trade on one side.
    fn idKind(maker: *const Maker, side: Target) IdKind {
        return if (maker.spec.order == .disjoint and side == .external) .foreign else .trade;
    }

    fn writeId(maker: *const Maker, out: *std.Io.Writer, kind: IdKind, index: u64) std.Io.Writer.Error!void {
        if (maker.spec.ids == .sequential) return out.print("{c}{d:0>9}", .{ "TXPCB"[@intFromEnum(kind)], index + 1 });
        const high = mix(maker.spec.seed ^ id_salt ^ @intFromEnum(kind), index);
        // A permutation of the index in the low half keeps the ids of one file different.
        const low = mix(0, index *% 0x9e37_79b9_7f4a_7c15 +% maker.spec.seed);
        try out.print("{x:0>8}-{x:0>4}-4{x:0>3}-8{x:0>3}-{x:0>12}", .{ high >> 32, (high >> 16) & 0xffff, high & 0xfff, (high >> 12) & 0xfff, low & 0xffff_ffff_ffff });
    }

    fn writeRow(maker: *Maker, out: *std.Io.Writer, side: Target, index: u64, fate: Fate) std.Io.Writer.Error!void {
        const trade: Trade = .of(maker.spec.seed, index);
        const quoted = trade.dice % 100 < maker.spec.quoted_percent;
        const between: []const u8 = if (quoted) "\",\"" else ",";
        if (quoted) try out.writeByte('"');
        try maker.writeId(out, maker.idKind(side), index);
        const fix = maker.spec.format == .fix;
        try out.print("{s}{s}{s}{s}{s}", .{ between, trade.symbol, between, if (fix) trade.fixSide() else trade.side, between });
        try out.print("{d}{s}", .{ trade.quantity + @as(u64, if (fate == .mismatch and trade.breaksQuantity()) 1 else 0), between });
        try trade.writePrice(out, fate);
        try out.print("{s}{s}{s}{s}{d:0>2}", .{ between, trade.currency, between, if (fix) "202603" else "2026-03-", trade.day });
        for (0..maker.spec.extra_columns) |i| try writeExtra(out, between, mix(trade.dice ^ i, index));
        try out.writeAll(if (quoted) "\"\n" else "\n");
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
        try out.print("{{\"type\":\"{s}\",\"key\":{{\"{s}\":\"", .{ kind, maker.keyName() });
        try maker.writeId(out, maker.idKind(side), index);
        try out.writeAll("\"}");
    }
};

/// The trade itself, one that only the external side knows, an execution that never was, and the messages about another.
const IdKind = enum(u8) { trade, foreign, phantom, correction, bust };

/// Something that is written behind the fills of its batch. `number` is that of the fill.
const Late = struct { index: u64, fate: Fate, event: Event, number: u64 };

/// What one ExecutionReport says. `wrong` is corrected later; `another_day` has the same ExecID on the next trade date.
const Report = enum { new, phantom, fill, wrong, another_day, correction, bust };

/// Writes the messages of one batch and numbers them.
const LogWriter = struct {
    maker: *const Maker,
    out: *std.Io.Writer,
    number: u64,
    message: MessageWriter = .{},

    fn heartbeat(log: *LogWriter) std.Io.Writer.Error!void {
        log.begin("0");
        try log.message.finish(log.out);
    }

    fn report(log: *LogWriter, index: u64, fate: Fate, kind: Report) std.Io.Writer.Error!void {
        log.begin("8");
        try log.body(index, fate, kind);
    }

    fn resend(log: *LogWriter, index: u64, fate: Fate, number: u64) std.Io.Writer.Error!void {
        log.header("8", number);
        log.message.text(43, "Y");
        try log.body(index, fate, .fill);
    }

    fn begin(log: *LogWriter, msg_type: []const u8) void {
        log.header(msg_type, log.number);
        log.number += 1;
    }

    fn header(log: *LogWriter, msg_type: []const u8, number: u64) void {
        log.message.begin(msg_type);
        log.message.number(34, number);
        log.message.text(49, "BROKER");
        log.message.text(56, "DESK");
        log.message.time(52, "202604", 1, number);
    }

    fn body(log: *LogWriter, index: u64, fate: Fate, kind: Report) std.Io.Writer.Error!void {
        const message = &log.message;
        const trade: Trade = .of(log.maker.spec.seed, index);
        const quantity = trade.quantity + @as(u64, if (fate == .mismatch and trade.breaksQuantity()) 1 else 0);
        const own = log.maker.idKind(.external);
        const filled = kind != .new and kind != .bust;
        var id_buffer: [40]u8 = undefined;
        message.number(37, index + 1 + @as(u64, switch (kind) {
            .phantom, .bust => phantom_orders,
            .another_day => another_day_orders,
            else => 0,
        }));
        message.text(17, try log.id(&id_buffer, switch (kind) {
            .fill, .wrong, .another_day => own,
            .phantom => .phantom,
            .correction => .correction,
            .bust, .new => .bust,
        }, index));
        if (kind == .correction or kind == .bust) message.text(19, try log.id(&id_buffer, if (kind == .bust) .phantom else own, index));
        message.text(150, switch (kind) {
            .new => "0",
            .phantom, .fill, .wrong, .another_day => "F",
            .correction => "G",
            .bust => "H",
        });
        message.text(39, if (filled) "2" else if (kind == .new) "0" else "4");
        message.text(55, trade.symbol);
        message.text(54, trade.fixSide());
        message.number(38, quantity);
        message.text(15, trade.currency);
        var price_buffer: [32]u8 = undefined;
        var price: std.Io.Writer = .fixed(&price_buffer);
        if (kind == .wrong) try price.print("{d}.5", .{trade.cents / 100 + 1}) else try trade.writePrice(&price, fate);
        message.number(32, if (kind == .new) 0 else quantity);
        message.text(31, if (kind == .new) "0" else price.buffered());
        message.number(151, if (kind == .new) quantity else 0);
        message.number(14, if (filled) quantity else 0);
        message.text(6, if (filled) price.buffered() else "0");
        const day = trade.day + @intFromBool(kind == .another_day);
        message.date(75, day);
        message.time(60, "202603", day, trade.dice * 1000);
        try message.finish(log.out);
    }

    fn id(log: *const LogWriter, buffer: []u8, kind: IdKind, index: u64) std.Io.Writer.Error![]const u8 {
        var out: std.Io.Writer = .fixed(buffer);
        try log.maker.writeId(&out, kind, index);
        return out.buffered();
    }
};

/// A field of ten characters that nobody compares.
fn writeExtra(out: *std.Io.Writer, between: []const u8, value: u64) std.Io.Writer.Error!void {
    var text: [10]u8 = undefined;
    for (&text, 0..) |*byte, i| byte.* = "0123456789abcdef"[@intCast(value >> @intCast(4 * i) & 15)];
    try out.writeAll(between);
    try out.writeAll(&text);
}

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

    fn fixSide(trade: *const Trade) []const u8 {
        return if (trade.side.len == 3) "1" else "2";
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
const event_salt = 0x082e_fa98_ec4e_6c89;
/// The numbers of orders behind executions that never were, and behind those of another day, begin here.
const phantom_orders = 1 << 40;
const another_day_orders = 2 << 40;

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
