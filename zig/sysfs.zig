//! Small files of Linux's sysfs. Used by placement.zig (cores by NUMA node) and index/memory.zig (what virtual machine this is).
const std = @import("std");

/// The file's text as far as `buffer` goes; empty if it cannot be read.
pub fn read(path: [*:0]const u8, buffer: []u8) []const u8 {
    const fd = std.c.open(path, .{ .ACCMODE = .RDONLY, .CLOEXEC = true });
    if (fd < 0) return "";
    defer _ = std.c.close(fd);
    const len = std.c.read(fd, buffer.ptr, buffer.len);
    return buffer[0..@intCast(@max(0, len))];
}
