//! Memory for partitions: anonymous up to a budget, behind it an unnamed temporary file. One per job, shared by workers.
const std = @import("std");
const posix = std.posix;
const sysfs = @import("../sysfs.zig");

pub const piece_bytes = 8 << 20;
pub const Piece = []align(std.heap.page_size_min) u8;

/// A piece is made ready this much at a time: what the kernel has just cleared is still in the second-level cache when it is
/// written.
pub const step_bytes = 256 * 1024;

/// MADV_POPULATE_WRITE of linux/mman.h; std does not have it.
const madv_populate_write = 23;

pub const Error = error{ OutOfMemory, SpillFailed };

pub const Memory = struct {
    /// Bytes of anonymous memory that may be used.
    limit_bytes: u64,
    /// Where to spill; null: nowhere, the limit does not hold.
    directory: ?[*:0]const u8,
    /// Small pages, asked for ahead of their use, instead of huge ones; see `reportsFreePages`.
    small_pages: bool,
    used_bytes: std.atomic.Value(u64) = .init(0),
    spilled_bytes: std.atomic.Value(u64) = .init(0),
    lock: std.c.pthread_mutex_t = .{},
    fd: i32 = -1,
    /// errno of what failed when an allocation returned SpillFailed.
    errno: std.atomic.Value(i32) = .init(0),

    pub fn init(limit_bytes: u64, directory: ?[*:0]const u8) Memory {
        return .{ .limit_bytes = limit_bytes, .directory = directory, .small_pages = reportsFreePages("/sys/bus/virtio/devices") };
    }

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
        if (!memory.small_pages) posix.madvise(piece.ptr, piece.len, posix.MADV.HUGEPAGE) catch {};
        return piece;
    }

    /// Readies the next `step_bytes` of a piece for writing. Kernels before 5.14 refuse; then pages come one by one.
    pub fn ready(memory: *const Memory, step: []align(std.heap.page_size_min) u8) void {
        if (memory.small_pages) posix.madvise(step.ptr, step.len, madv_populate_write) catch {};
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

const balloon_device = "0x0005\n";
const page_reporting_feature = 5;

/// Whether this is a virtual machine whose balloon hands freed pages back to the host (VIRTIO 1.2, 5.5.3,
/// VIRTIO_BALLOON_F_PAGE_REPORTING). It does so with whole free blocks of huge pages: every fresh huge page is then one that
/// the host has to find and clear again, which takes some ten times as long as what a huge page spares. Small pages come from
/// what the guest still holds.
fn reportsFreePages(devices: []const u8) bool {
    for (0..64) |index| {
        var path: [256]u8 = undefined;
        var text: [128]u8 = undefined;
        const device = std.fmt.bufPrintSentinel(&path, "{s}/virtio{d}/device", .{ devices, index }, 0) catch return false;
        if (!std.mem.eql(u8, sysfs.read(device, &text), balloon_device)) continue;
        const features = std.fmt.bufPrintSentinel(&path, "{s}/virtio{d}/features", .{ devices, index }, 0) catch return false;
        const bits = sysfs.read(features, &text);
        if (bits.len > page_reporting_feature and bits[page_reporting_feature] == '1') return true;
    }
    return false;
}

test "a balloon that reports free pages" {
    const io = std.testing.io;
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    try tmp.dir.createDirPath(io, "virtio0");
    try tmp.dir.createDirPath(io, "virtio3");
    try tmp.dir.writeFile(io, .{ .sub_path = "virtio0/device", .data = "0x0002\n" });
    try tmp.dir.writeFile(io, .{ .sub_path = "virtio0/features", .data = "1111111111\n" });
    var path: [256]u8 = undefined;
    const devices = try std.fmt.bufPrint(&path, ".zig-cache/tmp/{s}", .{tmp.sub_path});
    try std.testing.expect(!reportsFreePages(devices));
    try tmp.dir.writeFile(io, .{ .sub_path = "virtio3/device", .data = balloon_device });
    try tmp.dir.writeFile(io, .{ .sub_path = "virtio3/features", .data = "0110010100\n" });
    try std.testing.expect(reportsFreePages(devices));
    try tmp.dir.writeFile(io, .{ .sub_path = "virtio3/features", .data = "0110000100\n" });
    try std.testing.expect(!reportsFreePages(devices));
}
