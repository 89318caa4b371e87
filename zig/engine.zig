//! Root of one engine object: the whole per-row engine compiled for one CPU level. root.zig calls `run` on a thread of
//! the job; nothing here prints, exits or panics on input.
const std = @import("std");
const abi = @import("abi.zig");
const job = @import("job.zig");
const sample = @import("csv/sample.zig");
const fold = @import("fold.zig");
const generate = @import("generate.zig");
const fix = @import("fix/read.zig");
const bench = @import("bench.zig");
const Control = @import("control.zig").Control;

pub const std_options = @import("panic.zig").std_options;
pub const panic = @import("panic.zig").panic;

const gpa = std.heap.c_allocator;

comptime {
    @export(&run, .{ .name = "recon_engine_run_" ++ @tagName(@import("level.zig").level), .visibility = .hidden });
}

/// Reads the JobSpec of `control` and leaves a result document there, or none when memory ran out.
fn run(control: *Control) callconv(.c) void {
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    finish(arena_state.allocator(), control) catch {};
}

fn finish(arena: std.mem.Allocator, control: *Control) error{ OutOfMemory, WriteFailed }!void {
    const spec = std.json.parseFromSliceLeaky(abi.JobSpec, arena, control.spec[0..control.spec_len], .{ .allocate = .alloc_if_needed }) catch |problem|
        return publish(control, try failed(abi.RunResult, arena, problem));
    if (!isValid(spec)) return publish(control, try failed(abi.RunResult, arena, error.InvalidSpecification));
    switch (spec) {
        .run => |s| try publish(control, job.run(gpa, arena, s, control) catch |problem| try failed(abi.RunResult, arena, problem)),
        .sample => |s| try publish(control, sample.run(arena, s, control) catch |problem| try failed(abi.SampleResult, arena, problem)),
        .generate => |s| try publish(control, generate.run(gpa, arena, s, control) catch |problem| try failed(abi.GenerateResult, arena, problem)),
        .fold => |s| try publish(control, fold.run(gpa, arena, s, control) catch |problem| try failed(abi.FoldResult, arena, problem)),
        .fix => |s| try publish(control, fix.run(gpa, arena, s, control) catch |problem| try failed(abi.FixResult, arena, problem)),
        .bench => |s| try publish(control, bench.run(gpa, arena, s, control) catch |problem| try failed(abi.BenchResult, arena, problem)),
    }
}

/// TypeScript has checked what a user can get wrong; this refuses what only a fault in it could send.
fn isValid(spec: abi.JobSpec) bool {
    switch (spec) {
        .run => |s| {
            if (s.threads == 0 or s.chunk_bytes == 0 or s.hash_bits > 64 or s.key.len == 0) return false;
            for ([_][]const abi.ColumnSpec{ s.key, s.compare }) |columns| for (columns) |column| {
                if (column.internal >= s.internal.width) return false;
                if (s.external) |external| if (column.external >= external.width) return false;
            };
            if (s.only_keys) |keys| for (keys) |key| if (key.len != s.key.len) return false;
            return validFiles(s.internal.files) and (s.external == null or validFiles(s.external.?.files));
        },
        .sample => |s| return validFiles(&.{s.file}),
        .generate => |s| return s.threads != 0 and s.rows < 1 << 40,
        .fold => |s| {
            const width = s.ledger.width;
            if (s.threads == 0 or s.by.len == 0 or s.names.len != width) return false;
            for ([_][]const u32{ s.by, s.sum }) |columns| for (columns) |column| if (column >= width) return false;
            for (s.vwap) |vwap| if (vwap.price >= width or vwap.weight >= width) return false;
            return validFiles(s.ledger.files);
        },
        .fix => |s| return s.threads != 0 and s.chunk_bytes != 0 and validFiles(s.files),
        .bench => |s| return s.threads != 0 and s.rounds != 0 and validFiles(&.{s.file}),
    }
}

fn validFiles(files: []const abi.FileSpec) bool {
    for (files) |file| if (file.fd < 0 or file.start > file.size or file.size >= 1 << 47) return false;
    for (files) |file| if (file.end) |end| if (end < file.start or end > file.size) return false;
    return files.len != 0;
}

fn failed(comptime Result: type, arena: std.mem.Allocator, problem: anyerror) error{OutOfMemory}!Result {
    if (problem == error.Cancelled) return .{ .outcome = .cancelled };
    const items = try arena.alloc(abi.ErrorItem, 1);
    items[0] = .{ .path = "", .code = codeOf(problem), .message = switch (problem) {
        error.OutOfMemory => "out of memory",
        error.TotalsDisagree => "internal error: the control totals do not differ by what the breaks come to",
        error.Vanished => "the file changed while it was read",
        error.TooManyColumns => "more than 1,048,576 columns",
        error.CannotMap => "the file cannot be mapped into memory",
        else => try std.fmt.allocPrint(arena, "unexpected failure in the engine ({t})", .{problem}),
    } };
    var result: Result = .{ .outcome = .failed, .errors = items };
    if (@hasField(Result, "error_count")) result.error_count = items.len;
    return result;
}

fn codeOf(problem: anyerror) []const u8 {
    return switch (problem) {
        error.OutOfMemory => "memory",
        error.Vanished => "changed",
        error.TooManyColumns => "columns",
        error.CannotMap => "unreadable",
        else => "internal",
    };
}

fn publish(control: *Control, result: anytype) error{ OutOfMemory, WriteFailed }!void {
    var text: std.Io.Writer.Allocating = .init(gpa);
    errdefer text.deinit();
    try std.json.Stringify.value(result, .{}, &text.writer);
    var list = text.toArrayList();
    const owned = try list.toOwnedSlice(gpa);
    control.result = owned.ptr;
    control.result_len = owned.len;
}
