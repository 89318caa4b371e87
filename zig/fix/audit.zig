//! The audit of one log (recon fix): sequence numbers by session, CumQty and AvgPx against the fills, exactly. Used by read.zig.
const std = @import("std");
const abi = @import("../abi.zig");
const decimal = @import("../value/decimal.zig");
const log_module = @import("log.zig");
const NumberFormat = @import("../value/number_format.zig").NumberFormat;
const Executions = @import("executions.zig").Executions;
const Findings = @import("read.zig").Findings;
const Parser = @import("message.zig").Parser;
const Log = log_module.Log;
const Decimal = decimal.Decimal;

pub const Error = error{ OutOfMemory, Cancelled };

pub fn run(gpa: std.mem.Allocator, log: *const Log, executions: *const Executions, findings: *Findings, result: *abi.FixResult) Error!void {
    result.gaps = try findGaps(gpa, log, findings);
    var orders: Orders = .{ .arena = .init(gpa), .log = log, .executions = executions, .findings = findings, .result = result };
    defer orders.arena.deinit();
    try orders.check();
}

/// Numbers that are missing, by session (sender and target). A repeat, a logon that resets and a SequenceReset make no gap;
/// nor does a lower number: logs overlap.
fn findGaps(gpa: std.mem.Allocator, log: *const Log, findings: *Findings) Error!u64 {
    var expected: std.AutoHashMapUnmanaged(u64, u64) = .empty;
    defer expected.deinit(gpa);
    var gaps: u64 = 0;
    for (log.sequenced.items) |message| {
        if (message.is_duplicate and message.next == null) continue;
        const slot = try expected.getOrPut(gpa, message.session);
        const is_known = slot.found_existing and !message.is_logon;
        if (is_known and message.number > slot.value_ptr.* and message.next == null) {
            gaps += 1;
            const missing = message.number - slot.value_ptr.*;
            try findings.add(message.at, message.line, "gap", "MsgSeqNum {d} follows {d}: {d} message{s} missing", .{ message.number, slot.value_ptr.* - 1, missing, if (missing == 1) " is" else "s are" });
        }
        const next = message.next orelse message.number + 1;
        slot.value_ptr.* = if (is_known and message.next == null and message.number != 1) @max(slot.value_ptr.*, next) else next;
    }
    return gaps;
}

/// The fills of one order, as far as the log goes.
const Order = struct { quantity: Decimal = .zero, amount: Decimal = .zero };

const Orders = struct {
    arena: std.heap.ArenaAllocator,
    log: *const Log,
    executions: *const Executions,
    findings: *Findings,
    result: *abi.FixResult,
    orders: std.StringHashMapUnmanaged(Order) = .empty,

    fn check(orders: *Orders) Error!void {
        const gpa = orders.log.gpa;
        var parser: Parser = try .init(gpa);
        defer parser.deinit();
        var before: Parser = try .init(gpa);
        defer before.deinit();
        // Which entry's values an execution had before its next change.
        const held = try gpa.alloc(u32, orders.executions.list.items.len);
        defer gpa.free(held);
        for (orders.executions.actions, orders.log.entries.items, orders.executions.executions_of, 0..) |action, entry, execution, i| {
            if (i % 4096 == 0 and orders.log.control.isCancelled()) return error.Cancelled;
            const is_change = action == .bust or action == .correction;
            if (!is_change and action != .fill) continue;
            const previous: usize = if (is_change) held[execution] else i;
            held[execution] = @intCast(i);
            if (!try orders.log.reread(&parser, entry.at)) continue;
            // What a change takes back stands under the order of the report that it changes, whatever its own fields say.
            const has_before = is_change and try orders.log.reread(&before, orders.log.entries.items[previous].at);
            if (has_before) if (try orders.orderOf(&before)) |order| try orders.add(order, &before, -1);
            const order = try orders.orderOf(if (has_before and action == .bust) &before else &parser) orelse continue;
            if (action != .bust) try orders.add(order, &parser, 1);
            try orders.compare(order, &parser, entry);
        }
    }

    /// By sender, order and side; null for a report that names no order.
    fn orderOf(orders: *Orders, parser: *const Parser) Error!?*Order {
        const id = parser.get(37) orelse parser.get(11) orelse return null;
        const allocator = orders.arena.allocator();
        const key = try std.fmt.allocPrint(orders.log.gpa, "{s}\x01{s}\x01{s}\x01{s}", .{ parser.text(49), id, parser.text(55), parser.text(54) });
        defer orders.log.gpa.free(key);
        const slot = try orders.orders.getOrPut(allocator, key);
        if (!slot.found_existing) {
            slot.key_ptr.* = try allocator.dupe(u8, key);
            slot.value_ptr.* = .{};
        }
        return slot.value_ptr;
    }

    fn numberIn(orders: *Orders, text: ?[]const u8) Error!?Decimal {
        const format: NumberFormat = .{};
        return format.parse(orders.arena.allocator(), text orelse return null);
    }

    /// Adds the fill of a report, or takes it back with a `sign` of -1.
    fn add(orders: *Orders, order: *Order, parser: *const Parser, sign: i8) Error!void {
        const allocator = orders.arena.allocator();
        var quantity = try orders.numberIn(parser.get(32)) orelse return;
        var amount = if (try orders.numberIn(parser.get(31))) |price| try Decimal.product(allocator, &quantity, &price) else Decimal.zero;
        // Differences subtract: what is added has its sign turned.
        if (sign > 0) for ([_]*Decimal{ &quantity, &amount }) |number| {
            number.negative = !number.negative;
        };
        order.quantity = try Decimal.difference(allocator, &order.quantity, &quantity);
        order.amount = try Decimal.difference(allocator, &order.amount, &amount);
    }

    /// What the report says of its order against the fills. A difference is told once: from there on the report counts.
    fn compare(orders: *Orders, order: *Order, parser: *const Parser, entry: log_module.Entry) Error!void {
        const allocator = orders.arena.allocator();
        const stated = try orders.numberIn(parser.get(14)) orelse return;
        const apart = try Decimal.difference(allocator, &stated, &order.quantity);
        const average_text = parser.text(6);
        if (!apart.isZero()) {
            orders.result.cum_qty_mismatches += 1;
            try orders.findings.add(entry.at, entry.line, "cum_qty", "CumQty is {s}, the fills of the order come to {f}", .{ parser.get(14).?, order.quantity });
            const average = try orders.numberIn(average_text) orelse Decimal.zero;
            order.* = .{ .quantity = stated, .amount = try Decimal.product(allocator, &stated, &average) };
            return;
        }
        const average = try orders.numberIn(average_text) orelse return;
        if (order.quantity.isZero()) return;
        const product = try Decimal.product(allocator, &average, &order.quantity);
        const off = try Decimal.difference(allocator, &product, &order.amount);
        // An average is rounded at its last place: it may be off by one there.
        const unit = try Decimal.fromScaled(allocator, 1, placesOf(average_text));
        const bound = try Decimal.product(allocator, &unit, &order.quantity);
        if (off.compareAbs(&bound) == .lt) return;
        orders.result.avg_px_mismatches += 1;
        try orders.findings.add(entry.at, entry.line, "avg_px", "AvgPx is {s}, the fills of the order come to {f} for {f}", .{ average_text, order.amount, order.quantity });
    }
};

fn placesOf(number: []const u8) u8 {
    const point = std.mem.findScalar(u8, number, '.') orelse return 0;
    return @intCast(@min(number.len - point - 1, 200));
}
