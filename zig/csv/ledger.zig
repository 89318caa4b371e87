//! One side of a reconciliation as the engine reads it: mapped bytes, dialect, and which columns are key and compared.
//! Rows are known by a `Ref`; fields and values are split out of the bytes again whenever they are needed.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("record.zig");
const masks = @import("../kernel/masks.zig");
const Mapping = @import("../source/mapping.zig").Mapping;
const Control = @import("../control.zig").Control;

/// Where a row is: offset in the mapping and length without line end (saturated; then parsed again).
pub const Ref = packed struct(u64) {
    offset: u48,
    len: u16,

    pub const saturated: u16 = std.math.maxInt(u16);

    pub fn of(offset: u64, len: u64) Ref {
        return .{ .offset = @intCast(offset), .len = @intCast(@min(len, saturated)) };
    }
};

pub const Side = enum(u1) { internal, external };

/// Why a row is bad. `at` is the offending byte, or null where only the line is known.
pub const Fault = struct {
    kind: Kind,
    at: ?u64 = null,
    /// The number of fields for `width`, the column's place for `not_utf8`.
    detail: u32 = 0,

    pub const Kind = enum { text_after_quote, blank_before_quote, unterminated, too_long, width, trailing_value, nul_in_key, not_utf8 };
};

const Checked = struct { column: u32, is_key: bool };

pub const Ledger = struct {
    side: Side,
    mapping: Mapping,
    dialect: record.Dialect,
    /// Fields every record must have, the unnamed trailing one included.
    width: u32,
    trailing: bool,
    fold_case: bool,
    key: []const u32,
    compare: []const u32,
    /// Key and compared columns by place, for the checks of every row.
    checked: []const Checked,
    /// Fields 0..needed hold every key and compared column.
    needed: u32,

    /// `arena` owns what is allocated; `close` unmaps.
    pub fn open(arena: std.mem.Allocator, side: Side, spec: abi.LedgerSpec, job: abi.RunSpec, control: *Control) !Ledger {
        const key = try columnsOf(arena, side, job.key);
        const compare = try columnsOf(arena, side, job.compare);
        var checked: std.ArrayList(Checked) = .empty;
        for (key) |column| try checked.append(arena, .{ .column = column, .is_key = true });
        for (compare) |column| if (std.mem.findScalar(u32, key, column) == null) try checked.append(arena, .{ .column = column, .is_key = false });
        std.mem.sort(Checked, checked.items, {}, struct {
            fn before(_: void, a: Checked, b: Checked) bool {
                return a.column < b.column;
            }
        }.before);
        const needed = checked.items[checked.items.len - 1].column + 1;
        std.debug.assert(needed <= spec.width);
        return .{
            .side = side,
            .mapping = try Mapping.open(arena, spec.files, control),
            .dialect = .{ .delimiter = spec.delimiter, .quote = spec.quote, .trim = spec.trim },
            .width = spec.width + @intFromBool(spec.trailing),
            .trailing = spec.trailing,
            .fold_case = spec.fold_case,
            .key = key,
            .compare = compare,
            .checked = checked.items,
            .needed = needed,
        };
    }

    pub fn close(ledger: *Ledger, arena: std.mem.Allocator) void {
        ledger.mapping.close(arena);
    }

    /// Whether keys and values are the file's own bytes, but for quotes.
    pub fn isVerbatim(ledger: *const Ledger) bool {
        return !ledger.dialect.trim and !ledger.fold_case;
    }

    pub fn fileEnd(ledger: *const Ledger, offset: u64) u64 {
        return ledger.mapping.files[ledger.mapping.fileOf(offset)].end;
    }

    /// Splits a well-formed row into its first `needed` fields; `out` holds as many.
    pub fn split(ledger: *const Ledger, ref: Ref, out: []record.Field) void {
        const wanted = out[0..ledger.needed];
        if (ref.len == Ref.saturated or !ledger.splitPlain(ref, wanted)) ledger.parseFields(ref.offset, wanted);
    }

    /// The row at `offset`, with its length where that is plainly seen: no quote up to the first line end.
    pub fn refAt(ledger: *const Ledger, offset: u64) Ref {
        const unknown: Ref = .of(offset, Ref.saturated);
        const row = ledger.mapping.base + offset;
        const behind = @min(4096, ledger.fileEnd(offset) - offset);
        var at: usize = 0;
        while (at < behind) : (at += 64) {
            const block = masks.load(row + at);
            const line_ends = masks.equal(block, '\n');
            const quotes = if (ledger.dialect.quote) |quote| masks.equal(block, quote) else 0;
            if (quotes & (line_ends ^ (line_ends -% 1)) != 0) return unknown;
            if (line_ends == 0) continue;
            const end = at + @ctz(line_ends);
            if (end >= behind) return unknown;
            return .of(offset, end - @intFromBool(end != 0 and row[end - 1] == '\r'));
        }
        return unknown;
    }

    /// The fields of the record at `offset`, which was well-formed when it was scanned. Should the file have changed
    /// since, missing fields come out empty: the run ends with an error, and must not fault before.
    pub fn parseFields(ledger: *const Ledger, offset: u64, out: []record.Field) void {
        const whole = record.parse(ledger.mapping.base, offset, ledger.fileEnd(offset), ledger.dialect, out);
        if (whole.fields < out.len) @memset(out[whole.fields..], empty_field);
    }

    const empty_field: record.Field = .{ .start = 0, .len = 0, .form = .plain };

    /// The vector way for rows without quotes; false when a quote is seen.
    fn splitPlain(ledger: *const Ledger, ref: Ref, wanted: []record.Field) bool {
        const row = ledger.mapping.base + ref.offset;
        const len: u32 = ref.len;
        var count: u32 = 0;
        var start: u32 = 0;
        var at: u32 = 0;
        while (at < len) : (at += 64) {
            const block = masks.load(row + at);
            const inside = masks.firstBits(len - at);
            if (ledger.dialect.quote) |quote| if (masks.equal(block, quote) & inside != 0) return false;
            var delimiters = masks.equal(block, ledger.dialect.delimiter) & inside;
            while (delimiters != 0) : (delimiters &= delimiters - 1) {
                const end = at + @ctz(delimiters);
                wanted[count] = .{ .start = start, .len = end - start, .form = .plain };
                count += 1;
                start = end + 1;
                if (count == wanted.len) return true;
            }
        }
        wanted[count] = .{ .start = start, .len = len - start, .form = .plain };
        @memset(wanted[count + 1 ..], empty_field);
        return true;
    }

    /// The field as the file has it, unescaped: what reports show. `scratch` is used only for escaped fields.
    pub fn shown(ledger: *const Ledger, ref: Ref, field: record.Field, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const content = (ledger.mapping.base + ref.offset + field.start)[0..field.len];
        if (field.form != .escaped) return content;
        return record.unescape(content, ledger.dialect.quote.?, try scratch.take(content.len));
    }

    /// The field as it is matched and compared: unescaped, trimmed, case folded (spec-decisions E1, E2).
    pub fn value(ledger: *const Ledger, ref: Ref, field: record.Field, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        return ledger.normalized(try ledger.shown(ref, field, scratch), scratch);
    }

    /// `--trim` and `--fold-case` as this side has them.
    pub fn normalized(ledger: *const Ledger, text: []const u8, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const bytes = if (ledger.dialect.trim) trimAscii(text) else text;
        if (!ledger.fold_case) return bytes;
        return std.ascii.lowerString(try scratch.take(bytes.len), bytes);
    }

    /// Reads and checks the record at `start`. `fields` holds `width` entries and is filled.
    pub fn examine(ledger: *const Ledger, start: u64, fields: []record.Field) struct { record: record.Record, fault: ?Fault } {
        std.debug.assert(fields.len >= ledger.width);
        const whole = record.parse(ledger.mapping.base, start, ledger.fileEnd(start), ledger.dialect, fields[0..ledger.width]);
        return .{ .record = whole, .fault = if (whole.blank) null else ledger.faultOf(start, whole, fields) };
    }

    fn faultOf(ledger: *const Ledger, start: u64, whole: record.Record, fields: []const record.Field) ?Fault {
        switch (whole.problem) {
            .none => {},
            .text_after_quote => return .{ .kind = .text_after_quote, .at = whole.at },
            .blank_before_quote => return .{ .kind = .blank_before_quote, .at = whole.at },
            .unterminated => return .{ .kind = .unterminated, .at = whole.at },
            .too_long => return .{ .kind = .too_long },
        }
        if (whole.fields != ledger.width) return .{ .kind = .width, .detail = whole.fields };
        if (ledger.trailing and fields[ledger.width - 1].len != 0)
            return .{ .kind = .trailing_value, .at = start + fields[ledger.width - 1].start };
        for (ledger.checked) |checked| {
            const field = fields[checked.column];
            const first = start + field.start;
            const bytes = (ledger.mapping.base + first)[0..field.len];
            const nul = if (checked.is_key) std.mem.findScalar(u8, bytes, 0) else null;
            const invalid = firstInvalidUtf8(bytes);
            if (nul) |n| if (n < invalid orelse bytes.len) return .{ .kind = .nul_in_key, .at = first + n };
            if (invalid) |i| return .{ .kind = .not_utf8, .at = first + i, .detail = checked.column };
        }
        return null;
    }
};

fn columnsOf(arena: std.mem.Allocator, side: Side, specs: []const abi.ColumnSpec) ![]u32 {
    const columns = try arena.alloc(u32, specs.len);
    for (specs, columns) |spec, *column| column.* = if (side == .internal) spec.internal else spec.external;
    return columns;
}

/// ASCII 09 to 0D and 20, as `--trim` says; a no-break space stays.
pub fn trimAscii(bytes: []const u8) []const u8 {
    return std.mem.trim(u8, bytes, "\t\n\x0b\x0c\r ");
}

pub fn firstInvalidUtf8(bytes: []const u8) ?usize {
    var at: usize = 0;
    while (at < bytes.len) {
        if (bytes[at] < 0x80) {
            at += 1;
            continue;
        }
        const len = std.unicode.utf8ByteSequenceLength(bytes[at]) catch return at;
        if (at + len > bytes.len) return at;
        if (!std.unicode.utf8ValidateSlice(bytes[at..][0..len])) return at;
        at += len;
    }
    return null;
}

/// Memory for unescaped and folded values of one pair; `reset` before the next.
pub const Scratch = struct {
    arena: std.heap.ArenaAllocator,

    pub fn init(gpa: std.mem.Allocator) Scratch {
        return .{ .arena = .init(gpa) };
    }

    pub fn deinit(scratch: *Scratch) void {
        scratch.arena.deinit();
    }

    pub fn reset(scratch: *Scratch) void {
        _ = scratch.arena.reset(.{ .retain_with_limit = 1 << 20 });
    }

    /// At least `len` bytes, with room to read ahead behind them.
    pub fn take(scratch: *Scratch, len: usize) error{OutOfMemory}![]u8 {
        return (try scratch.arena.allocator().alloc(u8, len + 64))[0..len];
    }
};

test "the first byte that is not UTF-8" {
    try std.testing.expectEqual(null, firstInvalidUtf8("Société €"));
    try std.testing.expectEqual(4, firstInvalidUtf8("Soci\xe9t\xe9"));
    try std.testing.expectEqual(1, firstInvalidUtf8("a\xed\xa0\x80"));
    try std.testing.expectEqual(0, firstInvalidUtf8("\xc3"));
}
