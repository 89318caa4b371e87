//! One output file written by several workers in a fixed order: each fills memory of its own and writes when its
//! ticket's turn comes. Large regular files are written past the page cache where the file system allows it: nobody reads
//! them soon, they are synced at the end anyway, and fresh pages for them can cost more than everything else.
const std = @import("std");
const Control = @import("control.zig").Control;

pub const OrderedWriter = struct {
    control: *const Control,
    fd: i32,
    turn: std.atomic.Value(u64) = .init(0),
    failed: std.atomic.Value(bool) = .init(false),
    /// errno of the write that failed.
    errno: std.atomic.Value(i32) = .init(0),
    direct: ?*Direct = null,

    /// Writes `bytes` after those of all smaller tickets; does nothing once the run is over.
    pub fn put(writer: *OrderedWriter, ticket: u64, bytes: []const u8) void {
        while (writer.turn.load(.acquire) != ticket) {
            if (writer.isOver()) return;
            std.Thread.yield() catch {};
        }
        if (!writer.isOver()) writer.append(bytes);
        writer.turn.store(ticket + 1, .release);
    }

    pub fn isOver(writer: *const OrderedWriter) bool {
        return writer.failed.load(.monotonic) or writer.control.isCancelled();
    }

    /// Has what follows written past the page cache, if the file is one for it. Call `finish` at the end.
    pub fn goDirect(writer: *OrderedWriter) void {
        writer.direct = Direct.open(writer.fd);
    }

    /// Writes without a ticket: what stands ahead of all of them.
    pub fn append(writer: *OrderedWriter, bytes: []const u8) void {
        var rest = bytes;
        while (rest.len != 0) {
            const direct = writer.direct orelse break;
            rest = rest[direct.take(rest)..];
            if (direct.len == Direct.buffer_bytes and !direct.submit()) writer.leaveDirect();
        }
        writer.writeAll(rest);
    }

    /// Writes what is left in memory.
    pub fn finish(writer: *OrderedWriter) void {
        if (writer.direct != null) writer.leaveDirect();
    }

    fn leaveDirect(writer: *OrderedWriter) void {
        const direct = writer.direct.?;
        writer.direct = null;
        defer direct.close();
        direct.stop();
        _ = std.c.lseek(writer.fd, @intCast(direct.offset), std.c.SEEK.SET);
        if (writer.isOver()) return;
        if (direct.pending) |index| writer.writeAll(direct.buffers[index]);
        writer.writeAll(direct.buffers[direct.current][0..direct.len]);
    }

    fn writeAll(writer: *OrderedWriter, bytes: []const u8) void {
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

/// Writes whole aligned buffers past the page cache, through a description of the file of its own, on a thread of its own:
/// while one buffer is written, workers fill the other.
const Direct = struct {
    fd: i32,
    buffers: [2]*align(alignment) [buffer_bytes]u8,
    current: u1 = 0,
    /// Of the current buffer.
    len: usize = 0,
    thread: std.Thread,
    lock: std.c.pthread_mutex_t = .{},
    changed: std.c.pthread_cond_t = .{},
    // Under the lock.
    pending: ?u1 = null,
    failed: bool = false,
    over: bool = false,
    /// What was written.
    offset: u64 = 0,

    const buffer_bytes = 4 << 20;
    const alignment = 4096;
    const allocator = std.heap.c_allocator;

    /// Null for anything but an empty regular file on a file system that can do it.
    fn open(fd: i32) ?*Direct {
        if (!isEmptyRegular(fd)) return null;
        var path: [32]u8 = undefined;
        const name = std.fmt.bufPrintSentinel(&path, "/proc/self/fd/{d}", .{fd}, 0) catch unreachable; // a descriptor has ten digits at most
        const own = std.c.open(name, .{ .ACCMODE = .WRONLY, .DIRECT = true, .CLOEXEC = true });
        if (own < 0) return null;
        return start(own) catch {
            _ = std.c.close(own);
            return null;
        };
    }

    fn isEmptyRegular(fd: i32) bool {
        var info: std.os.linux.Statx = undefined;
        if (std.os.linux.errno(std.os.linux.statx(fd, "", std.os.linux.AT.EMPTY_PATH, .{ .TYPE = true, .SIZE = true }, &info)) != .SUCCESS) return false;
        if (!std.os.linux.S.ISREG(info.mode) or info.size != 0 or std.c.lseek(fd, 0, std.c.SEEK.CUR) != 0) return false;
        const flags = std.c.fcntl(fd, std.c.F.GETFL);
        return flags >= 0 and !@as(std.c.O, @bitCast(flags)).APPEND;
    }

    fn start(own: i32) !*Direct {
        const memory = try allocator.alignedAlloc(u8, .fromByteUnits(alignment), 2 * buffer_bytes);
        errdefer allocator.free(memory);
        const direct = try allocator.create(Direct);
        errdefer allocator.destroy(direct);
        direct.* = .{ .fd = own, .buffers = .{ memory[0..buffer_bytes], memory[buffer_bytes..][0..buffer_bytes] }, .thread = undefined };
        direct.thread = try std.Thread.spawn(.{ .stack_size = 256 << 10 }, work, .{direct});
        return direct;
    }

    fn close(direct: *Direct) void {
        _ = std.c.close(direct.fd);
        const first: [*]align(alignment) u8 = direct.buffers[0];
        const memory: []align(alignment) u8 = first[0 .. 2 * buffer_bytes];
        allocator.free(memory);
        allocator.destroy(direct);
    }

    /// How much of `bytes` fitted.
    fn take(direct: *Direct, bytes: []const u8) usize {
        const len = @min(bytes.len, buffer_bytes - direct.len);
        @memcpy(direct.buffers[direct.current][direct.len..][0..len], bytes[0..len]);
        direct.len += len;
        return len;
    }

    /// Has the full buffer written, behind the one before. False if that one could not be: then both are there still, for
    /// the usual way, which tells what is wrong.
    fn submit(direct: *Direct) bool {
        direct.wait();
        defer _ = std.c.pthread_mutex_unlock(&direct.lock);
        if (direct.failed) return false;
        direct.pending = direct.current;
        direct.current = ~direct.current;
        direct.len = 0;
        _ = std.c.pthread_cond_broadcast(&direct.changed);
        return true;
    }

    /// Ends the thread once the pending buffer is written, or cannot be.
    fn stop(direct: *Direct) void {
        direct.wait();
        direct.over = true;
        _ = std.c.pthread_cond_broadcast(&direct.changed);
        _ = std.c.pthread_mutex_unlock(&direct.lock);
        direct.thread.join();
    }

    /// Until nothing is pending, or nothing more can be written. Returns with the lock held.
    fn wait(direct: *Direct) void {
        _ = std.c.pthread_mutex_lock(&direct.lock);
        while (direct.pending != null and !direct.failed) _ = std.c.pthread_cond_wait(&direct.changed, &direct.lock);
    }

    fn work(direct: *Direct) void {
        _ = std.c.pthread_mutex_lock(&direct.lock);
        defer _ = std.c.pthread_mutex_unlock(&direct.lock);
        while (!direct.failed) {
            const index = direct.pending orelse {
                if (direct.over) return;
                _ = std.c.pthread_cond_wait(&direct.changed, &direct.lock);
                continue;
            };
            _ = std.c.pthread_mutex_unlock(&direct.lock);
            const written = writeAt(direct.fd, direct.buffers[index], direct.offset);
            _ = std.c.pthread_mutex_lock(&direct.lock);
            if (written) {
                direct.offset += buffer_bytes;
                direct.pending = null;
            } else direct.failed = true;
            _ = std.c.pthread_cond_broadcast(&direct.changed);
        }
    }

    fn writeAt(fd: i32, buffer: *const [buffer_bytes]u8, offset: u64) bool {
        var done: usize = 0;
        while (done < buffer_bytes) {
            const count = std.c.pwrite(fd, buffer[done..].ptr, buffer_bytes - done, @intCast(offset + done));
            if (count < 0 and std.c._errno().* == @intFromEnum(std.c.E.INTR)) continue;
            if (count <= 0) return false;
            done += @intCast(count);
        }
        return true;
    }
};
