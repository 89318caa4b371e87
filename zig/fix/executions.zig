//! What the reports of a log come to, in log order: repeats dropped, conflicts and orphans found, busts and corrections
//! applied along the chains of ExecRefID. Used by read.zig.
const std = @import("std");
const log_module = @import("log.zig");
const dictionary = @import("dictionary.zig");
const Log = log_module.Log;
const Entry = log_module.Entry;
const Parser = @import("message.zig").Parser;

const none: u32 = std.math.maxInt(u32);

/// What became of an entry.
pub const Action = enum(u8) {
    /// A new execution.
    fill,
    bust,
    correction,
    repeat,
    conflict,
    orphan,
    rejected,
};

pub const Execution = struct {
    /// Entries: the one that reported it first, the one whose values hold, and the last bust or correction.
    root: u32,
    values: u32,
    changed_by: u32 = none,
    busted: bool = false,
};

/// An ExecID that was seen: its entry, its execution, and the one before it of the same sender and ExecID.
const Id = struct { entry: u32, execution: u32, previous: u32 };

pub const Error = error{ OutOfMemory, Cancelled };

/// Owns its lists. `actions` and `executions_of` are by entry; the latter is `none` where the entry has no execution.
pub const Executions = struct {
    gpa: std.mem.Allocator,
    log: *const Log,
    list: std.ArrayList(Execution) = .empty,
    actions: []Action,
    executions_of: []u32,
    ids: std.ArrayList(Id) = .empty,
    /// The last id by the hash of sender and ExecID.
    by_own: std.AutoHashMapUnmanaged(u64, u32) = .empty,
    counts: [std.enums.values(Action).len]u64 = @splat(0),
    parsers: [2]Parser,

    pub fn init(gpa: std.mem.Allocator, log: *const Log) error{OutOfMemory}!Executions {
        const entries = log.entries.items.len;
        const actions = try gpa.alloc(Action, entries);
        errdefer gpa.free(actions);
        const executions_of = try gpa.alloc(u32, entries);
        errdefer gpa.free(executions_of);
        @memset(executions_of, none);
        var first: Parser = try .init(gpa);
        errdefer first.deinit();
        return .{ .gpa = gpa, .log = log, .actions = actions, .executions_of = executions_of, .parsers = .{ first, try .init(gpa) } };
    }

    pub fn deinit(executions: *Executions) void {
        const gpa = executions.gpa;
        executions.list.deinit(gpa);
        gpa.free(executions.actions);
        gpa.free(executions.executions_of);
        executions.ids.deinit(gpa);
        executions.by_own.deinit(gpa);
        for (&executions.parsers) |*parser| parser.deinit();
    }

    pub fn apply(executions: *Executions) Error!void {
        const entries = executions.log.entries.items;
        if (entries.len >= none) return error.OutOfMemory;
        try executions.by_own.ensureTotalCapacity(executions.gpa, @intCast(entries.len));
        try executions.ids.ensureTotalCapacity(executions.gpa, entries.len);
        for (entries, 0..) |*entry, i| {
            if (i % 4096 == 0 and executions.log.control.isCancelled()) return error.Cancelled;
            const action = switch (entry.kind) {
                .rejected => Action.rejected,
                .fill => try executions.applyFill(@intCast(i)),
                .bust, .correction => try executions.applyChange(@intCast(i)),
            };
            executions.actions[i] = action;
            executions.counts[@intFromEnum(action)] += 1;
        }
    }

    pub fn count(executions: *const Executions, action: Action) u64 {
        return executions.counts[@intFromEnum(action)];
    }

    fn entryAt(executions: *const Executions, index: u32) *const Entry {
        return &executions.log.entries.items[index];
    }

    fn applyFill(executions: *Executions, index: u32) Error!Action {
        const entry = executions.entryAt(index);
        if (try executions.seenBefore(index)) |action| return action;
        const execution: u32 = @intCast(executions.list.items.len);
        try executions.list.append(executions.gpa, .{ .root = index, .values = index });
        executions.register(entry.own, index, execution);
        executions.executions_of[index] = execution;
        return .fill;
    }

    /// Whether entries of the same identity were there: then it is a repeat of one of them or a conflict with them.
    fn seenBefore(executions: *Executions, index: u32) Error!?Action {
        const entry = executions.entryAt(index);
        var action: ?Action = null;
        var id = executions.by_own.get(entry.own) orelse none;
        while (id != none) : (id = executions.ids.items[id].previous) {
            const other = executions.ids.items[id].entry;
            if (executions.entryAt(other).identity != entry.identity) continue;
            try executions.load(index, other);
            const mine = &executions.parsers[0];
            const theirs = &executions.parsers[1];
            if (!sameIdentity(mine, theirs) or mine.text(17).len == 0) continue;
            if (sameContent(mine, theirs)) return .repeat;
            // A bust or correction may carry the very ExecID that it refers to.
            if (entry.kind != .fill and equal(mine.get(17), mine.get(19)) and executions.entryAt(other).kind == .fill) continue;
            action = .conflict;
        }
        return action;
    }

    fn applyChange(executions: *Executions, index: u32) Error!Action {
        const entry = executions.entryAt(index);
        if (try executions.seenBefore(index)) |action| return action;
        const target = try executions.targetOf(index);
        executions.register(entry.own, index, target);
        if (target == none) return .orphan;
        const execution = &executions.list.items[target];
        if (execution.busted) return .orphan;
        executions.executions_of[index] = target;
        execution.changed_by = index;
        if (entry.kind == .bust) {
            execution.busted = true;
            return .bust;
        }
        execution.values = index;
        return .correction;
    }

    /// The execution that ExecRefID names: of the same trade date if there is one, else the last before.
    fn targetOf(executions: *Executions, index: u32) Error!u32 {
        if (!try executions.log.reread(&executions.parsers[0], executions.entryAt(index).at)) return none;
        const parser = &executions.parsers[0];
        const reference = parser.get(19) orelse return none;
        const sender = parser.text(49);
        const own = log_module.ownHash(executions.log.seed, sender, reference);
        const identity = log_module.identityHash(own, log_module.tradeDateOf(parser));
        var last: u32 = none;
        var id = executions.by_own.get(own) orelse none;
        while (id != none) : (id = executions.ids.items[id].previous) {
            const seen = executions.ids.items[id];
            if (seen.execution == none) continue;
            const other = &executions.parsers[1];
            if (!try executions.log.reread(other, executions.entryAt(seen.entry).at)) continue;
            if (!equal(other.get(49), sender) or !equal(other.get(17), reference)) continue;
            if (executions.entryAt(seen.entry).identity == identity) return seen.execution;
            if (last == none) last = seen.execution;
        }
        return last;
    }

    /// The capacity is there.
    fn register(executions: *Executions, own: u64, entry: u32, execution: u32) void {
        const slot = executions.by_own.getOrPutAssumeCapacity(own);
        const id: u32 = @intCast(executions.ids.items.len);
        executions.ids.appendAssumeCapacity(.{ .entry = entry, .execution = execution, .previous = if (slot.found_existing) slot.value_ptr.* else none });
        slot.value_ptr.* = id;
    }

    fn load(executions: *Executions, a: u32, b: u32) Error!void {
        for (&executions.parsers, [_]u32{ a, b }) |*parser, index| _ = try executions.log.reread(parser, executions.entryAt(index).at);
    }
};

fn equal(a: ?[]const u8, b: ?[]const u8) bool {
    return std.mem.eql(u8, a orelse "", b orelse "");
}

fn sameIdentity(a: *const Parser, b: *const Parser) bool {
    return equal(a.get(49), b.get(49)) and equal(a.get(17), b.get(17)) and std.mem.eql(u8, log_module.tradeDateOf(a), log_module.tradeDateOf(b));
}

/// All fields outside the standard header and trailer, in order.
fn sameContent(a: *const Parser, b: *const Parser) bool {
    var i: usize = 0;
    var j: usize = 0;
    while (true) {
        while (i < a.count and dictionary.isInFrame(a.fields[i].tag)) i += 1;
        while (j < b.count and dictionary.isInFrame(b.fields[j].tag)) j += 1;
        if (i == a.count or j == b.count) return i == a.count and j == b.count;
        if (a.fields[i].tag != b.fields[j].tag or !std.mem.eql(u8, a.valueOf(a.fields[i]), b.valueOf(b.fields[j]))) return false;
        i += 1;
        j += 1;
    }
}
