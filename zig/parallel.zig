//! Runs one function on several threads. Work is claimed by the function itself from a shared counter, so the result
//! never depends on how many threads could be started.
const std = @import("std");
const placement = @import("placement.zig");

/// The workers of a job: how many, and the cores they are pinned to (none: wherever the kernel puts them).
pub const Team = struct {
    threads: u32,
    cores: placement.Cores = .{},

    pub fn init(threads: u32, pin: bool) Team {
        return .{ .threads = @max(1, @min(threads, max_threads)), .cores = if (pin) placement.read() else .{} };
    }

    /// Calls `work(context, worker)` for worker 0..threads, worker 0 on the calling thread; returns when all have.
    pub fn run(team: *const Team, context: anytype, comptime work: fn (@TypeOf(context), u32) void) void {
        const Start = struct {
            fn start(t: *const Team, c: @TypeOf(context), worker: u32) void {
                const cores = t.cores.slice();
                if (cores.len != 0) placement.pinTo(cores[worker % cores.len]);
                work(c, worker);
            }
        };
        var started: [max_threads]?std.Thread = @splat(null);
        for (started[1..team.threads], 1..) |*thread, worker| {
            thread.* = std.Thread.spawn(.{ .stack_size = 4 << 20 }, Start.start, .{ team, context, @as(u32, @intCast(worker)) }) catch null;
        }
        Start.start(team, context, 0);
        for (started[1..team.threads]) |thread| if (thread) |t| t.join();
    }
};

pub const max_threads = 256;

/// Hands out 0..len one by one.
pub const Claims = struct {
    next: std.atomic.Value(usize) = .init(0),
    len: usize,

    pub fn take(claims: *Claims) ?usize {
        const index = claims.next.fetchAdd(1, .monotonic);
        return if (index < claims.len) index else null;
    }
};

test "every item is handed out once" {
    const Context = struct {
        claims: Claims = .{ .len = 1000 },
        sum: std.atomic.Value(usize) = .init(0),

        fn work(context: *@This(), _: u32) void {
            while (context.claims.take()) |index| _ = context.sum.fetchAdd(index, .monotonic);
        }
    };
    var context: Context = .{};
    const team: Team = .init(7, true);
    team.run(&context, Context.work);
    try std.testing.expectEqual(999 * 1000 / 2, context.sum.load(.monotonic));
}
