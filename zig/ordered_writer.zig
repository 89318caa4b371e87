//! One output file written by several workers in a fixed order: each fills memory of its own and writes when its
//! ticket's turn comes.
const std = @import("std");
const Control = @import("control.zig").Control;

pub const OrderedWriter = struct {
    control: *const Control,
    fd: i32,
    turn: std.atomic.Value(u64) = .init(0),
    failed: std.atomic.Value(bool) = .init(false),
    /// errno of the write that failed.
    errno: std.atomic.Value(i32) = .init(0),

    /// Writes `bytes` after those of all smaller tickets; does nothing once the run is over.
    pub fn put(writer: *OrderedWriter, ticket: u64, bytes: []const u8) void {
        while (writer.turn.load(.acquire) != ticket) {
            if (writer.isOver()) return;
            std.Thread.yield() catch {};
        }
        if (!writer.isOver()) writer.writeAll(bytes);
        writer.turn.store(ticket + 1, .release);
    }

    pub fn isOver(writer: *const OrderedWriter) bool {
        return writer.failed.load(.monotonic) or writer.control.isCancelled();
    }

    /// Writes at once, without a ticket: what stands ahead of all of them.
    pub fn writeAll(writer: *OrderedWriter, bytes: []const u8) void {
        var rest = bytes;
        while (rest.len != 0) {
            const count = std.c.write(writer.fd, rest.ptr, @min(rest.len, 1 << 20));
            if (count > 0) {
                rest = rest[@intCast(count)..];
                continue;
            }
            if (writer.control.isCancelled()) return;
            const errno = std.c._errno().*;
            if (count < 0 and errno == @intFromEnum(std.c.E.INTR)) continue;
            if (count < 0 and errno == @intFromEnum(std.c.E.AGAIN)) {
                writer.waitWritable();
                continue;
            }
            writer.errno.store(errno, .monotonic);
            writer.failed.store(true, .release);
            return;
        }
    }

    fn waitWritable(writer: *OrderedWriter) void {
        var polled = [_]std.c.pollfd{.{ .fd = writer.fd, .events = std.c.POLL.OUT, .revents = 0 }};
        _ = std.c.poll(&polled, 1, 100);
    }

    /// Why the write failed, in words, and the error code for it.
    pub fn reason(errno: i32) struct { code: []const u8, text: []const u8 } {
        return switch (@as(std.c.E, @enumFromInt(errno))) {
            .PIPE => .{ .code = "closed_pipe", .text = "the reader closed the pipe" },
            .NOSPC => .{ .code = "write", .text = "no space left on the device" },
            .DQUOT => .{ .code = "write", .text = "the disk quota is used up" },
            .FBIG => .{ .code = "write", .text = "the file is too large (is there a file size limit?)" },
            .NOENT => .{ .code = "write", .text = "there is no such directory" },
            .ACCES, .PERM, .ROFS => .{ .code = "write", .text = "it may not be written" },
            .OPNOTSUPP => .{ .code = "write", .text = "its file system cannot hold temporary files" },
            .IO => .{ .code = "write", .text = "input/output error" },
            else => .{ .code = "write", .text = "the write failed" },
        };
    }
};
