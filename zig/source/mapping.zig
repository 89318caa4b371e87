//! Maps the files of one ledger into one address range, so that every row of a ledger is an offset from one base,
//! however many files it has. Owned by the job that opened it; read by all workers.
const std = @import("std");
const posix = std.posix;
const abi = @import("../abi.zig");
const Control = @import("../control.zig").Control;

/// How far behind the last byte of a file a vector load may read: the range always has a zero page there.
pub const read_ahead_bytes = 4096;

/// Files of this size start at a multiple of it: where the page cache holds a file in blocks that large, the kernel then
/// maps a block as one huge page.
const huge_page_bytes = 2 << 20;

extern fn recon_guard_register(start: usize, len: usize, flag: *std.atomic.Value(u32)) bool;
extern fn recon_guard_unregister(start: usize) void;

/// One file's place in the range. `first` is where its first data record begins, `end` is behind its last byte.
pub const File = struct {
    path: []const u8,
    begin: u64,
    first: u64,
    end: u64,
    first_line: u64,
};

pub const Mapping = struct {
    base: [*]const u8,
    files: []File,
    /// All that is reserved; `base` lies a little behind its start.
    range: []align(std.heap.page_size_min) const u8,

    /// Maps every file of `spec`; the descriptors may be closed afterwards. Errors: the range or a file cannot be mapped.
    pub fn open(gpa: std.mem.Allocator, spec: []const abi.FileSpec, control: *Control) !Mapping {
        const page = std.heap.pageSize();
        var len: usize = huge_page_bytes;
        for (spec) |file| len = std.mem.alignForward(usize, placeFor(len, file.size) + @as(usize, @intCast(file.size)), page) + page;

        const files = try gpa.alloc(File, spec.len);
        errdefer gpa.free(files);
        const range = try posix.mmap(null, len, .{ .READ = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true, .NORESERVE = true }, -1, 0);
        errdefer posix.munmap(range);

        const base: [*]const u8 = @ptrFromInt(std.mem.alignForward(usize, @intFromPtr(range.ptr), huge_page_bytes));
        var at: usize = 0;
        for (spec, files) |file, *out| {
            const size: usize = @intCast(file.size);
            at = placeFor(at, size);
            out.* = .{ .path = file.path, .begin = at, .first = at + file.start, .end = at + (file.end orelse file.size), .first_line = file.line };
            if (size != 0) {
                const mapped = std.c.mmap(@ptrCast(@alignCast(@constCast(base + at))), size, .{ .READ = true }, .{ .TYPE = .SHARED, .FIXED = true }, file.fd, 0);
                if (mapped == std.c.MAP_FAILED) return error.CannotMap;
            }
            at = std.mem.alignForward(usize, at + size, page) + page;
        }
        if (!recon_guard_register(@intFromPtr(range.ptr), len, &control.vanished)) return error.CannotMap;
        return .{ .base = base, .files = files, .range = range };
    }

    /// Where a file of `size` bytes starts when everything before `at` is taken.
    fn placeFor(at: usize, size: u64) usize {
        return if (size < huge_page_bytes) at else std.mem.alignForward(usize, at, huge_page_bytes);
    }

    pub fn close(mapping: *Mapping, gpa: std.mem.Allocator) void {
        recon_guard_unregister(@intFromPtr(mapping.range.ptr));
        posix.munmap(mapping.range);
        gpa.free(mapping.files);
        mapping.* = undefined;
    }

    /// The bytes of all files from their first data records on: what a scan goes through.
    pub fn bytes(mapping: *const Mapping) u64 {
        var total: u64 = 0;
        for (mapping.files) |file| total += file.end - file.first;
        return total;
    }

    /// Takes the pages that lie wholly between `from` and `to` out of this process's memory; reading them again brings
    /// them back. Spares the one thread that ends the process from unmapping everything alone.
    pub fn release(mapping: *const Mapping, from: u64, to: u64) void {
        const page = std.heap.pageSize();
        const start = std.mem.alignForward(usize, @intFromPtr(mapping.base) + @as(usize, @intCast(from)), page);
        const end = std.mem.alignBackward(usize, @intFromPtr(mapping.base) + @as(usize, @intCast(to)), page);
        if (start < end) posix.madvise(@ptrFromInt(start), end - start, posix.MADV.DONTNEED) catch {};
    }

    /// The index of the file that holds offset `at`.
    pub fn fileOf(mapping: *const Mapping, at: u64) usize {
        var low: usize = 0;
        var high: usize = mapping.files.len;
        while (high - low > 1) {
            const middle = (low + high) / 2;
            if (mapping.files[middle].begin <= at) low = middle else high = middle;
        }
        return low;
    }
};
