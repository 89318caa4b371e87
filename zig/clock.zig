//! Monotonic time, without std.Io.
const std = @import("std");

/// Nanoseconds since an arbitrary start.
pub fn now() u64 {
    var spec: std.c.timespec = undefined;
    if (std.c.clock_gettime(.MONOTONIC, &spec) != 0) unreachable;
    return @as(u64, @intCast(spec.sec)) * std.time.ns_per_s + @as(u64, @intCast(spec.nsec));
}
