//! The exported surface of librecon.so: validate, call, translate. Nothing else in the library knows about C.
//! Called by src/engine/library.ts from one thread; each job runs on a thread of its own.
const std = @import("std");
const builtin = @import("builtin");
const abi = @import("abi.zig");
const cpu = @import("cpu.zig");
const guard = @import("source/guard.zig");
const transcode = @import("source/transcode.zig");
const Control = @import("control.zig").Control;
const Status = abi.Status;

pub const std_options = @import("panic.zig").std_options;
pub const panic = @import("panic.zig").panic;

const gpa = std.heap.c_allocator;

const Engine = *const fn (*Control) callconv(.c) void;

/// The engine objects linked into this library, one per CPU level; a quick build for development has one for all.
fn engine(level: abi.CpuLevel) Engine {
    if (@import("build_options").only_level) |name| return @extern(Engine, .{ .name = "recon_engine_run_" ++ name });
    if (comptime builtin.cpu.arch == .x86_64) return switch (level) {
        .v2 => @extern(Engine, .{ .name = "recon_engine_run_v2" }),
        .v3 => @extern(Engine, .{ .name = "recon_engine_run_v3" }),
        .v4, .arm64 => @extern(Engine, .{ .name = "recon_engine_run_v4" }),
    };
    return @extern(Engine, .{ .name = "recon_engine_run_arm64" });
}

/// A handle is generation << 8 | slot, so that a released one is refused.
const Job = struct {
    generation: u32 = 1,
    control: ?*Control = null,
    thread: std.Thread = undefined,
};

var jobs: [16]Job = @splat(.{});
var last_error: [512]u8 = undefined;
var last_error_len: usize = 0;

fn fail(status: Status, comptime format: []const u8, args: anytype) i32 {
    const text = std.fmt.bufPrint(&last_error, format, args) catch last_error[0..];
    last_error_len = text.len;
    return @intFromEnum(status);
}

fn find(handle: u32) ?*Job {
    const slot = handle & 0xff;
    if (slot >= jobs.len) return null;
    const job = &jobs[slot];
    return if (job.generation == handle >> 8 and job.control != null) job else null;
}

fn stale(handle: u32) i32 {
    return fail(.stale_handle, "job {x} is not there any more", .{handle});
}

export fn recon_abi_fingerprint() u32 {
    return @import("fingerprint").fingerprint;
}

/// The CPU level in use; the detected one where `RECON_CPU` cannot be followed (starting a job then says so).
export fn recon_cpu_level() u8 {
    return @intFromEnum(cpu.choose() catch cpu.detect());
}

/// Copies the text of the last refusal; returns its length.
export fn recon_last_error(buffer: [*]u8, capacity: usize) usize {
    const count = @min(capacity, last_error_len);
    @memcpy(buffer[0..count], last_error[0..count]);
    return count;
}

/// Starts a job from a JobSpec in JSON, which is copied. On success `handle` names the job until release.
export fn recon_job_start(json: [*]const u8, json_len: usize, handle: *u32) i32 {
    handle.* = 0;
    // A file size limit is then an error of the write like any other.
    _ = std.c.sigaction(.XFSZ, &.{ .handler = .{ .handler = std.c.SIG.IGN }, .mask = std.mem.zeroes(std.c.sigset_t), .flags = 0 }, null);
    const level = cpu.choose() catch |problem| return fail(.invalid_argument, "RECON_CPU is v2, v3, v4 or arm64 and no more than this machine has ({t})", .{problem});
    if (json_len == 0) return fail(.invalid_argument, "the job has no specification", .{});
    for (&jobs, 0..) |*job, slot| {
        if (job.control != null) continue;
        const control = gpa.create(Control) catch return fail(.out_of_memory, "out of memory", .{});
        const spec = gpa.dupe(u8, json[0..json_len]) catch {
            gpa.destroy(control);
            return fail(.out_of_memory, "out of memory", .{});
        };
        control.* = .{ .spec = spec.ptr, .spec_len = spec.len };
        job.thread = std.Thread.spawn(.{ .stack_size = 8 << 20 }, runJob, .{ control, level }) catch {
            gpa.free(spec);
            gpa.destroy(control);
            return fail(.out_of_memory, "could not start a thread", .{});
        };
        job.control = control;
        handle.* = job.generation << 8 | @as(u32, @intCast(slot));
        return @intFromEnum(Status.ok);
    }
    return fail(.too_many_jobs, "all {d} jobs are busy", .{jobs.len});
}

fn runJob(control: *Control, level: abi.CpuLevel) void {
    engine(level)(control);
    control.phase.store(@intFromEnum(abi.Phase.done), .monotonic);
    control.finished.store(1, .release);
}

/// 0 while running, 1 when finished. Copies the progress out.
export fn recon_job_poll(handle: u32, progress: *abi.Progress) i32 {
    const job = find(handle) orelse return stale(handle);
    const control = job.control.?;
    progress.* = .{
        .done_units = control.done_units.load(.monotonic),
        .total_units = control.total_units.load(.monotonic),
        .rows = control.rows.load(.monotonic),
        .breaks = control.breaks.load(.monotonic),
        .phase = @enumFromInt(control.phase.load(.monotonic)),
    };
    return @intFromEnum(if (control.finished.load(.acquire) != 0) Status.finished else Status.ok);
}

/// Asks the job to end soon; its outcome is then `cancelled`.
export fn recon_job_cancel(handle: u32) i32 {
    const job = find(handle) orelse return stale(handle);
    job.control.?.cancelled.store(1, .monotonic);
    return @intFromEnum(Status.ok);
}

/// Writes the size of the result document to `needed` and copies the document if it fits.
export fn recon_job_result(handle: u32, buffer: [*]u8, capacity: usize, needed: *u64) i32 {
    needed.* = 0;
    const job = find(handle) orelse return stale(handle);
    const control = job.control.?;
    if (control.finished.load(.acquire) == 0) return fail(.still_running, "the job is still running", .{});
    const result = control.result orelse return fail(.out_of_memory, "out of memory", .{});
    needed.* = control.result_len;
    if (capacity >= control.result_len) @memcpy(buffer[0..control.result_len], result[0..control.result_len]);
    return @intFromEnum(Status.ok);
}

/// Cancels the job if it runs, waits for its end and frees it.
export fn recon_job_release(handle: u32) i32 {
    const job = find(handle) orelse return stale(handle);
    const control = job.control.?;
    control.cancelled.store(1, .monotonic);
    job.thread.join();
    if (control.result) |result| gpa.free(result[0..control.result_len]);
    gpa.free(control.spec[0..control.spec_len]);
    gpa.destroy(control);
    job.control = null;
    job.generation = (job.generation +% 1) & 0xff_ffff;
    return @intFromEnum(Status.ok);
}

/// Converts whole units of `encoding` to UTF-8. `out` holds at least 3 bytes per input byte. Returns the bytes written;
/// `consumed` gets the input bytes used (a split unit at the end is left).
export fn recon_transcode(encoding: u32, in: [*]const u8, in_len: usize, out: [*]u8, out_len: usize, consumed: *u64) i64 {
    consumed.* = 0;
    const kind = std.enums.fromInt(transcode.Encoding, encoding) orelse return fail(.invalid_argument, "unknown encoding {d}", .{encoding});
    if (out_len / 3 < in_len) return fail(.invalid_argument, "the output buffer is too small", .{});
    const done = transcode.toUtf8(kind, in[0..in_len], out[0..out_len]);
    consumed.* = done.consumed;
    return @intCast(done.written);
}

comptime {
    @export(&guardRegister, .{ .name = "recon_guard_register", .visibility = .hidden });
    @export(&guardUnregister, .{ .name = "recon_guard_unregister", .visibility = .hidden });
}

fn guardRegister(start: usize, len: usize, flag: *std.atomic.Value(u32)) callconv(.c) bool {
    return guard.register(start, len, flag);
}

fn guardUnregister(start: usize) callconv(.c) void {
    guard.unregister(start);
}
