//! What can go wrong in a job that reads a ledger and writes a file, as errors for the result. Used by job.zig and fold.zig.
const std = @import("std");
const abi = @import("abi.zig");
const record = @import("csv/record.zig");
const faults = @import("csv/faults.zig");
const ledger_module = @import("csv/ledger.zig");
const Lines = @import("breaks/lines.zig").Lines;
const Memory = @import("index/memory.zig").Memory;
const OrderedWriter = @import("ordered_writer.zig").OrderedWriter;
const Ledger = ledger_module.Ledger;

/// Of what is wrong with the input; the rest is only counted.
pub const max_listed = 20;

const Error = error{OutOfMemory};

pub fn spill(arena: std.mem.Allocator, directory: []const u8, memory: *const Memory) Error!abi.ErrorItem {
    return .{
        .code = "spill",
        .path = directory,
        .message = try std.fmt.allocPrint(arena, "cannot write a temporary file here: {s}", .{OrderedWriter.reason(memory.errno.load(.monotonic)).text}),
        .hint = "name a directory with more room with --temp, or allow more memory with --memory",
    };
}

pub fn write(arena: std.mem.Allocator, errno: i32) Error!abi.ErrorItem {
    const reason = OrderedWriter.reason(errno);
    return .{ .code = reason.code, .path = "", .message = try std.fmt.allocPrint(arena, "cannot write the output file: {s}", .{reason.text}) };
}

pub fn changed(path: []const u8) abi.ErrorItem {
    return .{ .code = "changed", .path = path, .message = "a ledger changed while it was read", .hint = "run again when the file is complete" };
}

/// The bad row at `offset`. `fields` holds the ledger's `capacity`. Null only if the file changed meanwhile.
pub fn badRow(arena: std.mem.Allocator, ledger: *const Ledger, lines: *const Lines, columns: []const abi.ColumnSpec, offset: u64, fields: []record.Field) Error!?abi.ErrorItem {
    var scratch: ledger_module.Scratch = .init(arena);
    const fault = (try ledger.examine(offset, fields, &scratch)).fault orelse return null;
    const reason = try faults.reason(&scratch, ledger, columns, offset, fields, fault);
    // What an event says is still in the mapped file, which is closed before the result is read.
    const code = try arena.dupe(u8, reason.code);
    const message = try arena.dupe(u8, reason.message);
    var item: abi.ErrorItem = .{ .code = code, .message = message, .hint = faults.hint(fault), .path = "" };
    if (ledger.placesOf(offset, fields)) |places| {
        var all = places;
        const place = all.next() orelse return item;
        item.path = ledger.pathAt(place);
        item.line = place.line;
        return item;
    }
    const at = fault.at orelse offset;
    item.path = ledger.mapping.files[ledger.mapping.fileOf(offset)].path;
    item.line = lines.lineOf(at);
    item.column = if (fault.at != null) lines.columnOf(at) else 0;
    return item;
}
