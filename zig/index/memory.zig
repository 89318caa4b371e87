//! Memory for partitions: anonymous up to a budget, behind it an unnamed temporary file. One per job, shared by workers.
const std = @import("std");
const posix = std.posix;

pub const piece_bytes = 8 << 20;
pub const Piece = []align(std.heap.page_size_min) u8;

pub const Error = error{ OutOfMemory, SpillFailed };

pub const Memory = struct {
    /// Bytes of anonymous memory that may be used.
    limit_bytes: u64,
    /// Where to spill; null: nowhere, the limit does not hold.
    directory: ?[*:0]const u8,
    used_bytes: std.atomic.Value(u64) = .init(0),
    spilled_bytes: std.atomic.Value(u64) = .init(0),
    lock: std.c.pthread_mutex_t = .{},
    fd: i32 = -1,
    /// errno of what failed when an allocation returned SpillFailed.
    errno: std.atomic.Value(i32) = .init(0),

    pub fn deinit(memory: *Memory) void {
        if (memory.fd >= 0) _ = std.c.close(memory.fd);
    }

    pub fn allocate(memory: *Memory) Error!Piece {
        const before = memory.used_bytes.fetchAdd(piece_bytes, .monotonic);
        if (before + piece_bytes > memory.limit_bytes) if (memory.directory) |directory| {
            _ = memory.used_bytes.fetchSub(piece_bytes, .monotonic);
            return memory.spill(directory);
        };
        const piece = posix.mmap(null, piece_bytes, .{ .READ = true, .WRITE = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0) catch return error.OutOfMemory;
        posix.madvise(piece.ptr, piece.len, posix.MADV.HUGEPAGE) catch {};
        return piece;
    }

    /// Space is reserved before it is mapped, so that a full disk is an error here and not a fault later.
    fn spill(memory: *Memory, directory: [*:0]const u8) Error!Piece {
        const fd = try memory.file(directory);
        const offset = memory.spilled_bytes.fetchAdd(piece_bytes, .monotonic);
        const reserved = std.os.linux.fallocate(fd, 0, @intCast(offset), piece_bytes);
        switch (std.os.linux.errno(reserved)) {
            .SUCCESS => {},
            else => |problem| return memory.failed(@intFromEnum(problem)),
        }
        return posix.mmap(null, piece_bytes, .{ .READ = true, .WRITE = true }, .{ .TYPE = .SHARED }, fd, offset) catch error.OutOfMemory;
    }

    /// Tells the kernel that a spilled piece will not be needed for a while: it may leave memory.
    pub fn retire(memory: *const Memory, piece: Piece) void {
        if (memory.fd >= 0) posix.madvise(piece.ptr, piece.len, posix.MADV.DONTNEED) catch {};
    }

    fn file(memory: *Memory, directory: [*:0]const u8) Error!i32 {
        _ = std.c.pthread_mutex_lock(&memory.lock);
        defer _ = std.c.pthread_mutex_unlock(&memory.lock);
        if (memory.fd >= 0) return memory.fd;
        const unnamed: std.c.O = .{ .ACCMODE = .RDWR, .TMPFILE = true, .DIRECTORY = true, .CLOEXEC = true };
        memory.fd = std.c.open(directory, unnamed, @as(std.c.mode_t, 0o600));
        if (memory.fd < 0) memory.fd = openNamed(directory);
        if (memory.fd < 0) return memory.failed(std.c._errno().*);
        return memory.fd;
    }

    /// For file systems without unnamed files: named for as long as it takes to remove the name.
    fn openNamed(directory: [*:0]const u8) i32 {
        var buffer: [std.posix.PATH_MAX]u8 = undefined;
        var random: u64 = 0;
        _ = std.c.getrandom(std.mem.asBytes(&random), @sizeOf(u64), 0);
        const path = std.fmt.bufPrintSentinel(&buffer, "{s}/.recon-{x}", .{ directory, random }, 0) catch return -1;
        const fd = std.c.open(path, .{ .ACCMODE = .RDWR, .CREAT = true, .EXCL = true, .CLOEXEC = true }, @as(std.c.mode_t, 0o600));
        if (fd >= 0) _ = std.c.unlink(path);
        return fd;
    }

    fn failed(memory: *Memory, errno: i32) Error {
        memory.errno.store(errno, .monotonic);
        return error.SpillFailed;
    }
};
