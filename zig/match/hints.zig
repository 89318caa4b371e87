//! Near misses: how many one-sided keys would match after trimming, case folding or stripping leading zeros, and
//! whether most mismatches of a column share one factor or offset. Told, never applied.
const std = @import("std");
const abi = @import("../abi.zig");
const parallel = @import("../parallel.zig");
const hash = @import("../index/hash.zig");
const masks = @import("../kernel/masks.zig");
const record = @import("../csv/record.zig");
const Rule = @import("rule.zig").Rule;
const decimal = @import("../value/decimal.zig");
const ledger_module = @import("../csv/ledger.zig");
const findings_module = @import("findings.zig");
const Control = @import("../control.zig").Control;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Single = findings_module.Single;
const Decimal = decimal.Decimal;

/// A column's mismatches are looked at for a common factor or offset from this many on.
const min_shared = 3;
/// The factor or offset is chosen among the first so many mismatches, then counted over all.
const voters = 4096;

pub const Context = struct {
    internal: *const Ledger,
    external: *const Ledger,
    rules: []const Rule,
    findings: *const findings_module.Findings,
    seed: u64,
    control: *Control,
    team: *const parallel.Team,
};

pub const Error = error{ OutOfMemory, Cancelled };

const Change = enum { trim, fold_case, leading_zeros };

/// Everything in the result is owned by `arena`.
pub fn find(gpa: std.mem.Allocator, arena: std.mem.Allocator, context: Context) Error![]abi.Hint {
    var hints: std.ArrayList(abi.Hint) = .empty;
    var finder: Finder = try .init(gpa, context);
    defer finder.deinit();
    finder.possible = try possibleChanges(gpa, context);
    for ([_]Change{ .trim, .fold_case, .leading_zeros }) |change| {
        const rows = try finder.rowsThatWouldJoin(change);
        if (rows != 0) try hints.append(arena, .{
            .code = switch (change) {
                .trim => "trim",
                .fold_case => "fold-case",
                .leading_zeros => "leading-zeros",
            },
            .rows = rows,
            .option = switch (change) {
                .trim => "--trim",
                .fold_case => "--fold-case",
                .leading_zeros => null,
            },
        });
    }
    for (context.rules, context.findings.columns, 0..) |rule, tally, i| if (tally.numeric >= min_shared) if (try finder.sharedDifference(arena, i)) |shared| {
        try hints.append(arena, .{ .code = shared.code, .rows = shared.rows, .column = rule.name, .value = shared.value });
    };
    return hints.items;
}

/// Which changes could make two of the one-sided keys equal at all. Most ledgers have no key with a blank at an end,
/// with letters of both cases or with a leading zero; then nothing has to be joined again.
fn possibleChanges(gpa: std.mem.Allocator, context: Context) Error!std.EnumSet(Change) {
    var look: Look = .{ .gpa = gpa, .context = context, .claims = .{ .len = 0 } };
    for (&context.findings.singles) |singles| look.claims.len += (singles.items.len + Look.batch - 1) / Look.batch;
    context.team.run(&look, Look.work);
    if (context.control.isCancelled()) return error.Cancelled;
    if (look.out_of_memory.load(.monotonic)) return error.OutOfMemory;
    const traits = look.traits.load(.monotonic);
    var possible: std.EnumSet(Change) = .initEmpty();
    if (traits & Look.blank != 0) possible.insert(.trim);
    if (traits & Look.zero != 0) possible.insert(.leading_zeros);
    if (traits & Look.lower != 0 and traits & Look.upper != 0) possible.insert(.fold_case);
    return possible;
}

/// Looks at every one-sided key, in batches that workers claim.
const Look = struct {
    gpa: std.mem.Allocator,
    context: Context,
    claims: parallel.Claims,
    traits: std.atomic.Value(u32) = .init(0),
    out_of_memory: std.atomic.Value(bool) = .init(false),

    const batch = 16 * 1024;
    const blank = 1;
    const zero = 2;
    const lower: u32 = 4;
    const upper: u32 = 8;

    fn work(look: *Look, _: u32) void {
        look.takeBatches() catch look.out_of_memory.store(true, .monotonic);
    }

    fn takeBatches(look: *Look) error{OutOfMemory}!void {
        var finder = try Finder.init(look.gpa, look.context);
        defer finder.deinit();
        const first_batches = (finder.singles(.internal).len + batch - 1) / batch;
        while (look.claims.take()) |claimed| {
            if (look.context.control.isCancelled()) return;
            const side: Side = if (claimed < first_batches) .internal else .external;
            const all = finder.singles(side);
            const from = (if (side == .internal) claimed else claimed - first_batches) * batch;
            const found = try traitsOf(&finder, side, all[from..@min(all.len, from + batch)]);
            _ = look.traits.fetchOr(found, .monotonic);
        }
    }

    fn traitsOf(finder: *Finder, side: Side, singles: []const u64) error{OutOfMemory}!u32 {
        var traits: u32 = 0;
        for (singles) |single| {
            if (!Finder.isOneSided(single)) continue;
            finder.parseKey(side, Single.offset(single));
            for (finder.ledger(side).key) |column| {
                const bytes = try finder.part(side, Single.offset(single), column);
                if (ledger_module.trimAscii(bytes).len != bytes.len) traits |= blank;
                if (withoutZeros(bytes).len != bytes.len) traits |= zero;
                if (traits & (lower | upper) != lower | upper) traits |= casesIn(bytes);
            }
        }
        return traits;
    }
};

/// Up to 63 bytes behind them can be read.
fn casesIn(bytes: []const u8) u32 {
    var lower_found: u64 = 0;
    var upper_found: u64 = 0;
    var at: usize = 0;
    while (at < bytes.len) : (at += 64) {
        const block = masks.load(bytes.ptr + at);
        const inside = masks.firstBits(bytes.len - at);
        lower_found |= masks.within(block, 'a', 'z') & inside;
        upper_found |= masks.within(block, 'A', 'Z') & inside;
    }
    return (if (lower_found != 0) Look.lower else 0) | (if (upper_found != 0) Look.upper else 0);
}

/// A one-sided row by the hash of its changed key.
const Changed = struct {
    hash: u64,
    offset: u64,

    fn before(_: void, a: Changed, b: Changed) bool {
        return a.hash < b.hash;
    }
};

const Finder = struct {
    gpa: std.mem.Allocator,
    context: Context,
    fields: [2][]record.Field,
    scratch: [2]ledger_module.Scratch,
    /// Which changes could make two of the one-sided keys equal at all.
    possible: std.EnumSet(Change),

    fn init(gpa: std.mem.Allocator, context: Context) error{OutOfMemory}!Finder {
        return .{
            .gpa = gpa,
            .context = context,
            .fields = .{ try gpa.alloc(record.Field, context.internal.capacity), try gpa.alloc(record.Field, context.external.capacity) },
            .scratch = .{ .init(gpa), .init(gpa) },
            .possible = .initEmpty(),
        };
    }

    fn deinit(finder: *Finder) void {
        for (finder.fields) |fields| finder.gpa.free(fields);
        for (&finder.scratch) |*scratch| scratch.deinit();
    }

    fn ledger(finder: *const Finder, side: Side) *const Ledger {
        return side.of(finder.context);
    }

    fn singles(finder: *const Finder, side: Side) []const u64 {
        return finder.context.findings.singles[@intFromEnum(side)].items;
    }

    fn isOneSided(single: u64) bool {
        return switch (Single.kind(single)) {
            .missing_internal, .missing_external => true,
            else => false,
        };
    }

    fn parse(finder: *Finder, side: Side, offset: u64) void {
        finder.scratch[@intFromEnum(side)].reset();
        const l = finder.ledger(side);
        l.split(l.refAt(offset), finder.fields[@intFromEnum(side)]);
    }

    fn parseKey(finder: *Finder, side: Side, offset: u64) void {
        finder.scratch[@intFromEnum(side)].reset();
        finder.ledger(side).splitKey(offset, finder.fields[@intFromEnum(side)]);
    }

    fn part(finder: *Finder, side: Side, offset: u64, column: u32) error{OutOfMemory}![]const u8 {
        return finder.ledger(side).value(.of(offset, 0), finder.fields[@intFromEnum(side)], column, &finder.scratch[@intFromEnum(side)]);
    }

    fn changedPart(finder: *Finder, side: Side, offset: u64, column: u32, change: Change) Error![]const u8 {
        const bytes = try finder.part(side, offset, column);
        return switch (change) {
            .trim => ledger_module.trimAscii(bytes),
            .fold_case => std.ascii.lowerString(try finder.scratch[@intFromEnum(side)].take(bytes.len), bytes),
            .leading_zeros => withoutZeros(bytes),
        };
    }

    fn rowsThatWouldJoin(finder: *Finder, change: Change) Error!u64 {
        if (!finder.possible.contains(change)) return 0;
        const internal = try finder.changedKeys(.internal, change);
        defer finder.gpa.free(internal);
        const external = try finder.changedKeys(.external, change);
        defer finder.gpa.free(external);
        var rows: u64 = 0;
        var first: usize = 0;
        for (internal) |row| {
            if (finder.context.control.isCancelled()) return error.Cancelled;
            while (first < external.len and external[first].hash < row.hash) first += 1;
            var at = first;
            while (at < external.len and external[at].hash == row.hash) : (at += 1) {
                if (!try finder.sameChangedKey(row.offset, external[at].offset, change)) continue;
                rows += 1;
                break;
            }
        }
        return rows;
    }

    /// Sorted by hash; keys that are empty after the change are left out.
    fn changedKeys(finder: *Finder, side: Side, change: Change) Error![]Changed {
        var list: std.ArrayList(Changed) = .empty;
        errdefer list.deinit(finder.gpa);
        for (finder.singles(side)) |single| {
            if (!isOneSided(single)) continue;
            if (finder.context.control.isCancelled()) return error.Cancelled;
            const offset = Single.offset(single);
            finder.parseKey(side, offset);
            var whole = finder.context.seed;
            var any = false;
            for (finder.ledger(side).key) |column| {
                const bytes = try finder.changedPart(side, offset, column, change);
                any = any or bytes.len != 0;
                whole = hash.combine(whole, std.hash.Wyhash.hash(finder.context.seed, bytes));
            }
            if (any) try list.append(finder.gpa, .{ .hash = whole, .offset = offset });
        }
        std.mem.sortUnstable(Changed, list.items, {}, Changed.before);
        return list.toOwnedSlice(finder.gpa);
    }

    fn sameChangedKey(finder: *Finder, internal: u64, external: u64, change: Change) Error!bool {
        finder.parseKey(.internal, internal);
        finder.parseKey(.external, external);
        for (finder.context.internal.key, finder.context.external.key) |i, e| {
            const left = try finder.changedPart(.internal, internal, i, change);
            const right = try finder.changedPart(.external, external, e, change);
            if (!std.mem.eql(u8, left, right)) return false;
        }
        return true;
    }

    const Shared = struct { code: []const u8, rows: u64, value: []const u8 };

    /// The factor or offset that more than half of a column's mismatches share.
    fn sharedDifference(finder: *Finder, arena: std.mem.Allocator, column: usize) Error!?Shared {
        var scratch: std.heap.ArenaAllocator = .init(finder.gpa);
        defer scratch.deinit();
        inline for (.{ Factor, Offset }) |Relation| {
            if (try finder.majority(Relation, arena, &scratch, column)) |shared| return shared;
        }
        return null;
    }

    /// Boyer and Moore's majority vote among the first mismatches, then a count over all.
    fn majority(finder: *Finder, comptime Relation: type, arena: std.mem.Allocator, scratch: *std.heap.ArenaAllocator, column: usize) Error!?Shared {
        const pairs = finder.context.findings.mismatched.items;
        var candidate: ?Relation = null;
        var candidate_arena: std.heap.ArenaAllocator = .init(finder.gpa);
        defer candidate_arena.deinit();
        var lead: u64 = 0;
        for (pairs[0..@min(pairs.len, voters)]) |pair| {
            _ = scratch.reset(.retain_capacity);
            const values = try finder.numbersOf(scratch.allocator(), pair, column) orelse continue;
            if (lead == 0) {
                _ = candidate_arena.reset(.retain_capacity);
                const own = try finder.numbersOf(candidate_arena.allocator(), pair, column);
                candidate = try Relation.of(candidate_arena.allocator(), own orelse continue);
                lead = 1;
            } else if (try candidate.?.holds(scratch.allocator(), values)) lead += 1 else lead -= 1;
        }
        if (lead == 0) return null;
        var rows: u64 = 0;
        var numeric: u64 = 0;
        for (pairs) |pair| {
            if (finder.context.control.isCancelled()) return error.Cancelled;
            _ = scratch.reset(.retain_capacity);
            const values = try finder.numbersOf(scratch.allocator(), pair, column) orelse continue;
            numeric += 1;
            rows += @intFromBool(try candidate.?.holds(scratch.allocator(), values));
        }
        if (rows < min_shared or rows * 2 <= numeric) return null;
        return .{ .code = Relation.code, .rows = rows, .value = try candidate.?.text(arena) };
    }

    /// The pair's two numbers in `column`, internal first; null where the column does not differ or is not numeric.
    fn numbersOf(finder: *Finder, allocator: std.mem.Allocator, pair: findings_module.Pair, index: usize) Error!?[2]Decimal {
        const rule = &finder.context.rules[index];
        if (rule.type == .text or rule.type == .ratio) return null;
        finder.parse(.internal, pair.internal);
        finder.parse(.external, pair.external);
        const internal = try finder.part(.internal, pair.internal, rule.internal);
        const external = try finder.part(.external, pair.external, rule.external);
        const left = try rule.number(allocator, .internal, internal) orelse return null;
        const right = try rule.number(allocator, .external, external) orelse return null;
        const tolerance = if (rule.by) |by| rule.toleranceFor(try finder.part(.internal, pair.internal, by.column)) else rule.tolerance;
        if (try rule.verdict(allocator, tolerance, internal, external) != .differs) return null;
        return .{ left, right };
    }
};

/// External is a power of ten, or minus one, times internal: amounts in cents, prices in pence, signs the other way.
const Factor = struct {
    const code = "factor";
    power: i32,
    negative: bool,

    const greatest_power = 6;

    fn of(allocator: std.mem.Allocator, values: [2]Decimal) Error!Factor {
        for ([_]bool{ false, true }) |negative| {
            var power: i32 = -greatest_power;
            while (power <= greatest_power) : (power += 1) {
                const factor: Factor = .{ .power = power, .negative = negative };
                if (try factor.holds(allocator, values)) return factor;
            }
        }
        return .{ .power = 0, .negative = false };
    }

    fn holds(factor: Factor, allocator: std.mem.Allocator, values: [2]Decimal) Error!bool {
        if (factor.power == 0 and !factor.negative) return false;
        var ten = try Decimal.fromDigits(allocator, factor.negative, "1", 1, factor.power);
        const product = try Decimal.product(allocator, &values[0], &ten);
        const rest = try Decimal.difference(allocator, &values[1], &product);
        return rest.isZero() and !product.isZero();
    }

    fn text(factor: Factor, arena: std.mem.Allocator) Error![]const u8 {
        const number = try Decimal.fromDigits(arena, factor.negative, "1", 1, factor.power);
        return std.fmt.allocPrint(arena, "{f}", .{number});
    }
};

/// External minus internal is always the same.
const Offset = struct {
    const code = "offset";
    difference: Decimal,

    fn of(allocator: std.mem.Allocator, values: [2]Decimal) Error!Offset {
        return .{ .difference = try Decimal.difference(allocator, &values[1], &values[0]) };
    }

    fn holds(offset: Offset, allocator: std.mem.Allocator, values: [2]Decimal) Error!bool {
        const difference = try Decimal.difference(allocator, &values[1], &values[0]);
        const rest = try Decimal.difference(allocator, &difference, &offset.difference);
        return rest.isZero();
    }

    fn text(offset: Offset, arena: std.mem.Allocator) Error![]const u8 {
        return std.fmt.allocPrint(arena, "{f}", .{offset.difference});
    }
};

/// Leading zeros go; one digit always stays.
fn withoutZeros(part: []const u8) []const u8 {
    var at: usize = 0;
    while (at + 1 < part.len and part[at] == '0' and std.ascii.isDigit(part[at + 1])) at += 1;
    return part[at..];
}

test "leading zeros" {
    try std.testing.expectEqualStrings("7", withoutZeros("007"));
    try std.testing.expectEqualStrings("0", withoutZeros("000"));
    try std.testing.expectEqualStrings("0x1F", withoutZeros("0x1F"));
}
