//! Turns a page of a mapped ledger that vanished (the file shrank while it was read) from a crash into a flag.
//! Lives once per process, in root.zig's object; mapping.zig registers its ranges through the two exports.
const std = @import("std");

const Range = struct {
    start: std.atomic.Value(usize) = .init(0),
    end: std.atomic.Value(usize) = .init(0),
    flag: std.atomic.Value(?*std.atomic.Value(u32)) = .init(null),
};

var ranges: [32]Range = @splat(.{});
var installed: std.atomic.Value(bool) = .init(false);
var previous: std.c.Sigaction = undefined;

/// Returns false when every place is taken.
pub fn register(start: usize, len: usize, flag: *std.atomic.Value(u32)) bool {
    install();
    for (&ranges) |*range| {
        if (range.flag.cmpxchgStrong(null, flag, .acq_rel, .monotonic) != null) continue;
        range.start.store(start, .monotonic);
        range.end.store(start + len, .release);
        return true;
    }
    return false;
}

pub fn unregister(start: usize) void {
    for (&ranges) |*range| {
        if (range.start.load(.monotonic) != start or range.flag.load(.monotonic) == null) continue;
        range.end.store(0, .release);
        range.start.store(0, .monotonic);
        range.flag.store(null, .release);
        return;
    }
}

fn install() void {
    if (installed.swap(true, .acq_rel)) return;
    const action: std.c.Sigaction = .{
        .handler = .{ .sigaction = onSigbus },
        .mask = std.mem.zeroes(std.c.sigset_t),
        .flags = std.c.SA.SIGINFO | std.c.SA.ONSTACK,
    };
    if (std.c.sigaction(.BUS, &action, &previous) != 0) installed.store(false, .release);
}

/// Async-signal-safe: atomics and one mmap. Zero pages take the place of the vanished page and of all behind it (one by
/// one they would use up the process's mappings), so the read goes on and the job ends with an error; a fault anywhere
/// else goes to whoever handled SIGBUS before.
fn onSigbus(signal: std.c.SIG, info: *const std.c.siginfo_t, context: ?*anyopaque) callconv(.c) void {
    const address = @intFromPtr(info.fields.sigfault.addr);
    for (&ranges) |*range| {
        if (address < range.start.load(.monotonic) or address >= range.end.load(.acquire)) continue;
        const flag = range.flag.load(.acquire) orelse continue;
        const page_size = std.heap.pageSize();
        const page = std.mem.alignBackward(usize, address, page_size);
        const rest = range.end.load(.acquire) - page;
        const mapped = std.c.mmap(@ptrFromInt(page), rest, .{ .READ = true, .WRITE = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true, .FIXED = true }, -1, 0);
        if (mapped == std.c.MAP_FAILED) break;
        flag.store(1, .release);
        return;
    }
    chain(signal, info, context);
}

fn chain(signal: std.c.SIG, info: *const std.c.siginfo_t, context: ?*anyopaque) void {
    if (previous.flags & std.c.SA.SIGINFO != 0) {
        if (previous.handler.sigaction) |handler| return handler(signal, info, context);
    } else if (previous.handler.handler) |handler| {
        if (handler != std.c.SIG.IGN) return handler(signal);
    }
    // The default action: returning with it in place repeats the fault and ends the process.
    var default: std.c.Sigaction = .{ .handler = .{ .handler = std.c.SIG.DFL }, .mask = std.mem.zeroes(std.c.sigset_t), .flags = 0 };
    _ = std.c.sigaction(signal, &default, null);
}
