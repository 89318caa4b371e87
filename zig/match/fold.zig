//! Rows of one ledger that agree in some columns, folded into one row each: exact sums, exact averages, and the places of
//! the members. One worker's; zig/fold.zig hands it the partitions of the scan and writes what it made in the order of the
//! ledger, so that the bytes do not depend on how many workers there were.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("../csv/record.zig");
const faults = @import("../csv/faults.zig");
const ledger_module = @import("../csv/ledger.zig");
const partition = @import("../index/partition.zig");
const compare = @import("compare.zig");
const decimal = @import("../value/decimal.zig");
const Control = @import("../control.zig").Control;
const Lines = @import("../breaks/lines.zig").Lines;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Decimal = decimal.Decimal;
const Sum = decimal.Sum;

const none: u32 = std.math.maxInt(u32);

pub const Error = error{ OutOfMemory, Cancelled };

/// The columns that a fold reads, by place in the ledger.
pub const Columns = struct {
    by: []const u32,
    sum: []const u32,
    vwap: []const abi.VwapSpec,
    /// What faults call them.
    named: []const abi.ColumnSpec,
};

/// A record of the output: where its first member stands in the ledger, and where its text is in `Folder.text`.
pub const Piece = struct { at: u64, start: usize, len: usize };

/// Values that are not there add nothing; without any the average is empty, as the sum is.
const Average = struct { products: Sum = .{}, weights: Sum = .{}, any: bool = false };
const Total = struct { sum: Sum = .{}, any: bool = false };

pub const Folder = struct {
    gpa: std.mem.Allocator,
    control: *const Control,
    ledger: *const Ledger,
    lines: *const Lines,
    columns: Columns,
    /// What was made so far.
    pieces: std.ArrayList(Piece) = .empty,
    text: std.Io.Writer.Allocating,
    groups: u64 = 0,
    /// The rows of one partition in the order of the ledger, and per row the next one of its group.
    entries: std.ArrayList(partition.Entry) = .empty,
    next: std.ArrayList(u32) = .empty,
    /// The last row so far of the group that a row heads; `none` for rows that head no group.
    last: std.ArrayList(u32) = .empty,
    /// Index + 1 of the row that heads a group, 0 for an empty slot. Length is a power of two.
    slots: std.ArrayList(u32) = .empty,
    members: std.ArrayList(u64) = .empty,
    totals: []Total,
    averages: []Average,
    /// What the sums of one group own.
    sums: std.heap.ArenaAllocator,
    fields: []record.Field,
    head_fields: []record.Field,
    scratch: ledger_module.Scratch,

    pub fn init(gpa: std.mem.Allocator, control: *const Control, ledger: *const Ledger, lines: *const Lines, columns: Columns) Error!Folder {
        const totals = try gpa.alloc(Total, columns.sum.len);
        errdefer gpa.free(totals);
        const averages = try gpa.alloc(Average, columns.vwap.len);
        errdefer gpa.free(averages);
        const fields = try gpa.alloc(record.Field, ledger.capacity);
        errdefer gpa.free(fields);
        return .{
            .gpa = gpa,
            .control = control,
            .ledger = ledger,
            .lines = lines,
            .columns = columns,
            .text = .init(gpa),
            .totals = totals,
            .averages = averages,
            .sums = .init(gpa),
            .fields = fields,
            .head_fields = try gpa.alloc(record.Field, ledger.capacity),
            .scratch = .init(gpa),
        };
    }

    pub fn deinit(folder: *Folder) void {
        folder.pieces.deinit(folder.gpa);
        folder.text.deinit();
        inline for (.{ "entries", "next", "last", "slots", "members" }) |name| @field(folder, name).deinit(folder.gpa);
        folder.gpa.free(folder.totals);
        folder.gpa.free(folder.averages);
        folder.sums.deinit();
        folder.gpa.free(folder.fields);
        folder.gpa.free(folder.head_fields);
        folder.scratch.deinit();
    }

    /// Folds the rows of partition `index` of what all workers wrote.
    pub fn fold(folder: *Folder, written: []const partition.Partitions, index: usize) Error!void {
        try folder.gather(written, index);
        try folder.link();
        for (folder.last.items, 0..) |last, head| {
            if (last == none) continue;
            folder.members.clearRetainingCapacity();
            var row: u32 = @intCast(head);
            while (row != none) : (row = folder.next.items[row]) try folder.members.append(folder.gpa, folder.entries.items[row].offset);
            try folder.foldGroup(folder.members.items);
        }
    }

    /// Rows of one key, in the order of the ledger; or one row without a key, which stays alone.
    pub fn foldGroup(folder: *Folder, members: []const u64) Error!void {
        if (folder.control.isCancelled()) return error.Cancelled;
        folder.groups += 1;
        _ = folder.sums.reset(.retain_capacity);
        @memset(folder.totals, .{});
        @memset(folder.averages, .{});
        for (members) |offset| try folder.add(offset);
        for (folder.averages, folder.columns.vwap) |*average, vwap| {
            if (!average.any or !try isZero(folder.sums.allocator(), &average.weights)) continue;
            return folder.rejectGroup(members, vwap);
        }
        const start = folder.text.written().len;
        folder.writeGroup(members) catch return error.OutOfMemory;
        try folder.keep(members[0], start);
    }

    fn isZero(arena: std.mem.Allocator, sum: *const Sum) Error!bool {
        const total = try sum.total(arena);
        return total.isZero();
    }

    /// A record that is no row: a bad one, or an event of the ledger itself.
    pub fn foldEvent(folder: *Folder, offset: u64) Error!void {
        folder.scratch.reset();
        const examined = try folder.ledger.examine(offset, folder.fields, &folder.scratch);
        const start = folder.text.written().len;
        if (examined.event) |kind| {
            const code = try folder.ledger.eventText(offset, folder.fields, 1, &folder.scratch);
            const message = try folder.ledger.eventText(offset, folder.fields, 2, &folder.scratch);
            const text = try folder.ledger.eventText(offset, folder.fields, 3, &folder.scratch);
            folder.writeEvent(offset, .{ @tagName(kind), code, message, text }) catch return error.OutOfMemory;
        } else {
            const fault = examined.fault orelse return; // only if the file changed: the job ends with an error
            const reason = try faults.reason(&folder.scratch, folder.ledger, folder.columns.named, offset, folder.fields, fault);
            folder.writeEvent(offset, .{ "rejected", reason.code, reason.message, folder.ledger.mapping.base[offset..examined.record.end] }) catch return error.OutOfMemory;
        }
        try folder.keep(offset, start);
    }

    fn keep(folder: *Folder, offset: u64, start: usize) Error!void {
        try folder.pieces.append(folder.gpa, .{ .at = offset, .start = start, .len = folder.text.written().len - start });
    }

    // Grouping

    fn gather(folder: *Folder, written: []const partition.Partitions, index: usize) Error!void {
        folder.entries.clearRetainingCapacity();
        try partition.gather(folder.gpa, written, index, &folder.entries);
        if (folder.entries.items.len >= none) return error.OutOfMemory;
        std.mem.sortUnstable(partition.Entry, folder.entries.items, {}, struct {
            fn before(_: void, a: partition.Entry, b: partition.Entry) bool {
                return a.offset < b.offset;
            }
        }.before);
    }

    /// Puts every row behind the others of its key.
    fn link(folder: *Folder) Error!void {
        const rows = folder.entries.items.len;
        const wanted = std.math.ceilPowerOfTwo(usize, @max(16, rows + rows / 2)) catch return error.OutOfMemory;
        folder.slots.clearRetainingCapacity();
        try folder.slots.appendNTimes(folder.gpa, 0, wanted);
        inline for (.{ &folder.next, &folder.last }) |list| {
            list.clearRetainingCapacity();
            try list.appendNTimes(folder.gpa, none, rows);
        }
        for (0..rows) |i| {
            const row: u32 = @intCast(i);
            const slot = try folder.find(row);
            if (slot.* == 0) {
                slot.* = row + 1;
                folder.last.items[row] = row;
                continue;
            }
            const head = slot.* - 1;
            folder.next.items[folder.last.items[head]] = row;
            folder.last.items[head] = row;
        }
    }

    /// The slot of the row that heads the group of `row`, or the empty slot where it belongs.
    fn find(folder: *Folder, row: u32) Error!*u32 {
        const entries = folder.entries.items;
        const wanted = entries[row].hash;
        var slot: usize = @intCast(wanted & (folder.slots.items.len - 1));
        while (true) : (slot = (slot + 1) & (folder.slots.items.len - 1)) {
            const head = folder.slots.items[slot];
            if (head == 0) break;
            if (entries[head - 1].hash == wanted and try folder.sameKey(entries[head - 1].offset, entries[row].offset)) break;
        }
        return &folder.slots.items[slot];
    }

    fn sameKey(folder: *Folder, head: u64, row: u64) Error!bool {
        if (folder.control.isCancelled()) return error.Cancelled;
        folder.scratch.reset();
        const refs = [2]Ref{ folder.ledger.refAt(head), folder.ledger.refAt(row) };
        folder.ledger.split(refs[0], folder.head_fields);
        folder.ledger.split(refs[1], folder.fields);
        return compare.partsEqual(folder.ledger, refs[0], folder.head_fields, folder.ledger, refs[1], folder.fields, &folder.scratch);
    }

    // Adding

    fn add(folder: *Folder, offset: u64) Error!void {
        folder.scratch.reset();
        const ref = folder.ledger.refAt(offset);
        folder.ledger.split(ref, folder.fields);
        const arena = folder.sums.allocator();
        for (folder.totals, folder.columns.sum) |*total, column| {
            const number = try folder.numberIn(ref, column) orelse continue;
            total.any = true;
            try total.sum.add(arena, &number);
        }
        for (folder.averages, folder.columns.vwap) |*average, vwap| {
            const price = try folder.numberIn(ref, vwap.price) orelse continue;
            const weight = try folder.numberIn(ref, vwap.weight) orelse continue;
            const product = try Decimal.product(folder.scratch.gpa(), &price, &weight);
            average.any = true;
            try average.products.add(arena, &product);
            try average.weights.add(arena, &weight);
        }
    }

    /// Null for an empty value. Lives as long as what `scratch` holds.
    fn numberIn(folder: *Folder, ref: Ref, column: u32) Error!?Decimal {
        const text = try folder.ledger.value(ref, folder.fields, column, &folder.scratch);
        return folder.ledger.reading.number.parse(folder.scratch.gpa(), text);
    }

    // Writing

    const WriteError = error{ OutOfMemory, WriteFailed };

    fn writeGroup(folder: *Folder, members: []const u64) WriteError!void {
        const out = &folder.text.writer;
        folder.scratch.reset();
        const ref = folder.ledger.refAt(members[0]);
        folder.ledger.split(ref, folder.fields);
        for (folder.columns.by) |column| {
            try record.writeField(out, "", try folder.ledger.shown(ref, folder.fields[column], &folder.scratch));
            try out.writeByte(',');
        }
        const arena = folder.sums.allocator();
        for (folder.totals) |*total| {
            if (total.any) try folder.writeNumbers("{f}", .{try total.sum.total(arena)});
            try out.writeByte(',');
        }
        for (folder.averages) |*average| {
            if (average.any) try folder.writeAverage(arena, average);
            try out.writeByte(',');
        }
        try folder.writeOrigin(members);
        try out.writeByte('\n');
    }

    /// Above a denominator without a sign.
    fn writeAverage(folder: *Folder, arena: std.mem.Allocator, average: *const Average) WriteError!void {
        var numerator = try average.products.total(arena);
        var denominator = try average.weights.total(arena);
        if (denominator.negative) {
            numerator.negative = !numerator.negative;
            denominator.negative = false;
        }
        try folder.writeNumbers("{f}/{f}", .{ numerator, denominator });
    }

    /// With the decimal mark of the ledger: one number format is for all columns of what is written.
    fn writeNumbers(folder: *Folder, comptime format: []const u8, numbers: anytype) WriteError!void {
        const text = try std.fmt.allocPrint(folder.scratch.gpa(), format, numbers);
        std.mem.replaceScalar(u8, text, '.', folder.ledger.spec.number.decimal);
        try record.writeField(&folder.text.writer, "", text);
    }

    /// Without weight there is no average: every member is a bad row.
    fn rejectGroup(folder: *Folder, members: []const u64, vwap: abi.VwapSpec) Error!void {
        const price = folder.columns.named[vwap.price].name;
        const weight = folder.columns.named[vwap.weight].name;
        const message = try std.fmt.allocPrint(folder.sums.allocator(), "the rows of its group have no average {s}: {s} adds up to 0", .{ price, weight });
        for (members) |offset| {
            folder.scratch.reset();
            const ref = folder.ledger.refAt(offset);
            folder.ledger.split(ref, folder.fields);
            const whole = record.parse(folder.ledger.mapping.base, offset, folder.ledger.fileEnd(offset), folder.ledger.dialect, &.{});
            const start = folder.text.written().len;
            folder.writeEvent(offset, .{ "rejected", faults.code, message, folder.ledger.mapping.base[offset..whole.end] }) catch return error.OutOfMemory;
            try folder.keep(offset, start);
        }
    }

    /// The fields of the record were split.
    fn writeEvent(folder: *Folder, offset: u64, texts: [4][]const u8) WriteError!void {
        const out = &folder.text.writer;
        try out.splatByteAll(',', folder.columns.by.len + folder.columns.sum.len + folder.columns.vwap.len);
        if (folder.ledger.placesOf(offset, folder.fields)) |places| {
            try record.writeField(out, "", places.rest);
        } else try folder.writePlace(offset);
        for (texts) |text| {
            try out.writeByte(',');
            try record.writeField(out, "", text);
        }
        try out.writeByte('\n');
    }

    fn writeOrigin(folder: *Folder, members: []const u64) WriteError!void {
        const out = &folder.text.writer;
        try out.writeByte('"');
        for (members, 0..) |offset, i| {
            if (i != 0) try out.writeByte(',');
            if (folder.ledger.spec.origin == null) {
                try folder.writePlace(offset);
                continue;
            }
            folder.ledger.split(folder.ledger.refAt(offset), folder.fields);
            try out.writeAll(folder.ledger.placesOf(offset, folder.fields).?.rest);
        }
        try out.writeByte('"');
    }

    fn writePlace(folder: *Folder, offset: u64) WriteError!void {
        const file = folder.ledger.mapping.fileOf(offset);
        if (file != 0) try folder.text.writer.print("{d}:", .{file});
        try folder.text.writer.print("{d}", .{folder.lines.lineOf(offset)});
    }
};

const testing = std.testing;
const memory_module = @import("../index/memory.zig");
const scan = @import("../csv/scan.zig");
const File = @import("../source/mapping.zig").File;

/// Columns id, quantity and price; every key has the same hash.
const sample = "B,2,1.5\nA,1,7\nB,1,\"3\"\nC,1,1\nA,2,4\nC,-1,2\nbad\n" ++ "\x00" ** 4096;
const sample_end = std.mem.findScalar(u8, sample, 0).?;
const sample_rows = [_]u64{ 0, 8, 14, 22, 28, 34 };

fn foldSample(allocator: std.mem.Allocator, written: []const partition.Partitions, expected: []const []const u8) !void {
    var files = [_]File{.{ .path = "sample", .begin = 0, .first = 0, .end = sample_end, .first_line = 1 }};
    const ledger: Ledger = .{
        .side = .internal,
        .spec = .{ .files = &.{}, .delimiter = ',', .width = 3 },
        .capacity = 3,
        .reading = .as_spelled,
        .mapping = .{ .base = sample, .files = &files, .range = &.{} },
        .dialect = .{ .delimiter = ',', .quote = '"' },
        .width = 3,
        .key = &.{0},
        .compare = &.{},
        .checked = &.{.{ .column = 0, .is_key = true }},
        .needed = 3,
    };
    var chunks = [_]scan.Chunk{.{ .file = 0, .begin = 0, .limit = sample_end, .first = .init(0) }};
    const lines: Lines = .{ .mapping = &ledger.mapping, .chunks = &chunks, .first_lines = &.{1} };
    const named = [_]abi.ColumnSpec{
        .{ .name = "id", .internal = 0, .external = 0 },
        .{ .name = "quantity", .internal = 1, .external = 1 },
        .{ .name = "price", .internal = 2, .external = 2 },
    };
    const control: Control = .{ .spec = undefined, .spec_len = 0 };
    var folder: Folder = try .init(allocator, &control, &ledger, &lines, .{
        .by = &.{0},
        .sum = &.{1},
        .vwap = &.{.{ .price = 2, .weight = 1 }},
        .named = &named,
    });
    defer folder.deinit();
    try folder.fold(written, 0);
    try folder.foldEvent(sample_end - 4);
    try testing.expectEqual(expected.len, folder.pieces.items.len);
    for (folder.pieces.items, expected) |piece, text| try testing.expectEqualStrings(text, folder.text.written()[piece.start..][0..piece.len]);
}

test "keys of one hash stay apart, and memory that runs out is reported" {
    var memory: memory_module.Memory = .init(1 << 30, null);
    defer memory.deinit();
    var written = [_]partition.Partitions{ try .init(testing.allocator, &memory, 1), try .init(testing.allocator, &memory, 1) };
    defer for (&written) |*partitions| partitions.deinit();
    for (sample_rows, 0..) |offset, i| try written[i % 2].push(7, offset);
    const none_message = ",rejected,bad_row,the rows of its group have no average price: quantity adds up to 0,";
    try testing.checkAllAllocationFailures(testing.allocator, foldSample, .{ &written, &[_][]const u8{
        "B,3,6/3,\"1,3\"\n",
        "A,3,15/3,\"2,5\"\n",
        ",,,4" ++ none_message ++ "\"C,1,1\"\n",
        ",,,6" ++ none_message ++ "\"C,-1,2\"\n",
        ",,,7,rejected,bad_row,1 field where 3 are expected,bad\n",
    } });
}
