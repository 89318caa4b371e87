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
const File = @import("../source/mapping.zig").File;
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
    /// What each column, by place, is to a pair of rows: only where rows can be compared without splitting them, else empty.
    roles: []const Role,
    internal_fields: []record.Field,
    external_fields: []record.Field,
    verdicts: []Verdict,
    scratch: Scratch,

    /// A column's part in a comparison: none, the key, or the value of one rule.
    const Role = union(enum) { ignored, key, rule: u32 };

    pub fn init(gpa: std.mem.Allocator, internal: *const Ledger, external: *const Ledger, rules: []const Rule) error{OutOfMemory}!Comparer {
        const same_layout = sameLayout(internal, external);
        return .{
            .internal = internal,
            .external = external,
            .rules = rules,
            .same_layout = same_layout,
            .roles = if (same_layout and internal.is_plain) try rolesOf(gpa, internal, rules) else &.{},
            .internal_fields = try gpa.alloc(record.Field, internal.capacity),
            .external_fields = try gpa.alloc(record.Field, external.capacity),
            .verdicts = try gpa.alloc(Verdict, rules.len),
            .scratch = .init(gpa),
        };
    }

    /// Empty if a column has two parts.
    fn rolesOf(gpa: std.mem.Allocator, ledger: *const Ledger, rules: []const Rule) error{OutOfMemory}![]const Role {
        const roles = try gpa.alloc(Role, ledger.width);
        @memset(roles, .ignored);
        for (ledger.key) |column| roles[column] = .key;
        for (rules, 0..) |*rule, i| {
            if (roles[rule.internal] != .ignored) {
                gpa.free(roles);
                return &.{};
            }
            roles[rule.internal] = .{ .rule = @intCast(i) };
        }
        return roles;
    }

    pub fn deinit(comparer: *Comparer, gpa: std.mem.Allocator) void {
        gpa.free(comparer.roles);
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

    /// Whether two rows are surely equal in key and values although some are spelled differently (`1.1` for `1.10`): found out
    /// from difference to difference, without splitting the rows. Then `verdicts` are filled; false means look closer. The
    /// rows are well-formed; each starts at its offset.
    pub fn plainlyEqual(comparer: *Comparer, internal: u64, external: u64) bool {
        if (comparer.roles.len == 0) return false;
        @memset(comparer.verdicts, .equal_bytes);
        const dialect = comparer.internal.dialect;
        var left = comparer.internal.mapping.base + internal;
        var right = comparer.external.mapping.base + external;
        // Both stand where the field of this column starts.
        var column: usize = 0;
        while (true) {
            const a = masks.loadHalf(left);
            const b = masks.loadHalf(right);
            const same: u32 = @bitCast(a == b);
            const a_line_ends = masks.equalHalf(a, '\n');
            const a_delimiters = masks.equalHalf(a, dialect.delimiter);
            if (dialect.quote) |quote| if ((masks.equalHalf(a, quote) | masks.equalHalf(b, quote)) != 0) return false;
            const until = @ctz(~same | a_line_ends);
            if (until < 32 and same >> @intCast(until) & 1 != 0) return true;
            // The field with the first difference, or with the end of what was read, is looked at from its own start.
            const before = a_delimiters & lowBits(until);
            const start: u5 = @intCast(32 - @clz(before) & 31);
            column += @popCount(before);
            if (until == 32) {
                if (before == 0) return false;
                left += 32 - @clz(before);
                right += 32 - @clz(before);
                continue;
            }
            const a_ends = (a_delimiters | a_line_ends) >> start;
            const b_ends = (masks.equalHalf(b, dialect.delimiter) | masks.equalHalf(b, '\n')) >> start;
            left += start;
            right += start;
            if (a_ends == 0 or b_ends == 0) {
                if (start == 0) return false;
                continue;
            }
            const a_len = @ctz(a_ends);
            const b_len = @ctz(b_ends);
            if (left[a_len] != right[b_len] or !comparer.fieldsPlainlyEqual(column, left[0..a_len], right[0..b_len])) return false;
            if (left[a_len] == '\n') return true;
            left += a_len + 1;
            right += b_len + 1;
            column += 1;
        }
    }

    /// Two fields whose bytes differ. With the CR of a line end the last one is no decimal: the long way knows line ends.
    inline fn fieldsPlainlyEqual(comparer: *Comparer, column: usize, internal: []const u8, external: []const u8) bool {
        switch (comparer.roles[column]) {
            .ignored => return true,
            .key => return false,
            .rule => |index| {
                comparer.verdicts[index] = .equal_by_value;
                return comparer.rules[index].plainlyEqual(internal, external);
            },
        }
    }

    inline fn lowBits(count: usize) u32 {
        return @truncate((@as(u64, 1) << @intCast(count)) - 1);
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

fn testLedger(text: []const u8, files: []File, rules: []const u32) Ledger {
    files[0] = .{ .path = "rows", .begin = 0, .first = 0, .end = text.len, .first_line = 1 };
    return .{
        .side = .internal,
        .spec = .{ .files = &.{}, .delimiter = ',', .width = 4 },
        .capacity = 4,
        .reading = .as_spelled,
        .mapping = .{ .base = text.ptr, .files = files, .range = &.{} },
        .dialect = .{ .delimiter = ',', .quote = '"' },
        .width = 4,
        .key = &.{0},
        .compare = rules,
        .checked = &.{},
        .needed = 4,
        .is_plain = true,
    };
}

test "what is plainly equal is equal the long way" {
    const gpa = std.testing.allocator;
    // Rows of a key, two compared columns and one that is not, spelled in ways that are equal and in ways that are not.
    const keys = [_][]const u8{ "A", "B", "a-key-that-is-longer-than-half-a-block" };
    const values = [_][]const u8{ "1.1", "1.10", "1.100000000000000000000000000000000000", "1", "x", "", "\"1.1\"", "-0", "0" };
    const ends = [_][]const u8{ "\n", "\r\n" };
    var prng: std.Random.DefaultPrng = .init(20261201);
    const random = prng.random();
    var text: std.ArrayList(u8) = .empty;
    defer text.deinit(gpa);
    var starts: [400]u64 = undefined;
    for (&starts) |*start| {
        start.* = text.items.len;
        for ([_][]const u8{ keys[random.uintLessThan(usize, keys.len)], ",", values[random.uintLessThan(usize, values.len)], ",", values[random.uintLessThan(usize, 2)], ",", values[random.uintLessThan(usize, values.len)], ends[random.uintLessThan(usize, 2)] }) |part| try text.appendSlice(gpa, part);
    }
    const len = text.items.len;
    try text.appendNTimes(gpa, 0, 4096);

    var files: [1]File = undefined;
    for ([_][2]u32{ .{ 1, 2 }, .{ 1, 3 } }) |columns| {
        const ledger = testLedger(text.items[0..len], &files, &columns);
        var rules: [2]Rule = undefined;
        for (&rules, columns) |*rule, column| rule.* = .{ .name = "value", .internal = column, .external = column, .type = .auto, .readings = @splat(&ledger.reading), .same_format = true };
        var comparer: Comparer = try .init(gpa, &ledger, &ledger, &rules);
        defer comparer.deinit(gpa);
        var found: usize = 0;
        for (starts) |internal| for (starts) |external| {
            if (!comparer.plainlyEqual(internal, external)) continue;
            found += @intFromBool(comparer.verdicts[0] == .equal_by_value);
            const verdicts = [_]Verdict{ comparer.verdicts[0], comparer.verdicts[1] };
            const a: Ref = .of(internal, Ref.saturated);
            const b: Ref = .of(external, Ref.saturated);
            comparer.load(a, b);
            try std.testing.expect(try comparer.sameKey(a, b));
            try std.testing.expectEqual(0, try comparer.compareValues(a, b));
            try std.testing.expectEqualSlices(Verdict, &verdicts, comparer.verdicts);
        };
        try std.testing.expect(found > 50);
    }
}
