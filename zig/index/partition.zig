//! Rows of one ledger spread over partitions by the top bits of their key's hash: what the hash plan writes while
//! scanning and reads back one cache-sized partition at a time. 16 bytes a row, in blocks of 1 KiB chained per partition.
const std = @import("std");
const posix = std.posix;
const Ref = @import("../csv/ledger.zig").Ref;

pub const Entry = extern struct { hash: u64, ref: Ref };

const block_entries = 64;
const block_bytes = block_entries * @sizeOf(Entry);
const piece_bytes = 8 << 20;

/// One worker's rows of one side. Written by that worker alone; read by anyone after the scan.
pub const Partitions = struct {
    gpa: std.mem.Allocator,
    shift: u6,
    /// Behind the last entry of each partition; at a block's start when a new block is needed.
    cursors: []usize,
    pieces: std.ArrayList([]align(std.heap.page_size_min) u8) = .empty,
    free: []u8 = &.{},

    /// `count` is a power of two up to 2^16.
    pub fn init(gpa: std.mem.Allocator, count: usize) error{OutOfMemory}!Partitions {
        std.debug.assert(std.math.isPowerOfTwo(count) and count <= 1 << 16);
        const cursors = try gpa.alloc(usize, count);
        @memset(cursors, 0);
        return .{ .gpa = gpa, .shift = @intCast(@min(63, 64 - @ctz(count))), .cursors = cursors };
    }

    pub fn deinit(partitions: *Partitions) void {
        for (partitions.pieces.items) |piece| posix.munmap(piece);
        partitions.pieces.deinit(partitions.gpa);
        partitions.gpa.free(partitions.cursors);
    }

    pub fn append(partitions: *Partitions, hashes: []const u64, refs: []const Ref) error{OutOfMemory}!void {
        const only_one = partitions.cursors.len == 1;
        for (hashes, refs) |key_hash, ref| {
            const index: usize = if (only_one) 0 else @intCast(key_hash >> partitions.shift);
            var cursor = partitions.cursors[index];
            if (cursor % block_bytes == 0) cursor = try partitions.newBlock(cursor);
            @as(*Entry, @ptrFromInt(cursor)).* = .{ .hash = key_hash, .ref = ref };
            partitions.cursors[index] = cursor + @sizeOf(Entry);
        }
    }

    /// A block's first entry holds the end of the block before it.
    fn newBlock(partitions: *Partitions, previous_end: usize) error{OutOfMemory}!usize {
        if (partitions.free.len == 0) try partitions.newPiece();
        const block = @intFromPtr(partitions.free.ptr);
        partitions.free = partitions.free[block_bytes..];
        @as(*usize, @ptrFromInt(block)).* = previous_end;
        return block + @sizeOf(Entry);
    }

    fn newPiece(partitions: *Partitions) error{OutOfMemory}!void {
        @branchHint(.cold);
        try partitions.pieces.ensureUnusedCapacity(partitions.gpa, 1);
        const piece = posix.mmap(null, piece_bytes, .{ .READ = true, .WRITE = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0) catch return error.OutOfMemory;
        posix.madvise(piece.ptr, piece.len, posix.MADV.HUGEPAGE) catch {};
        partitions.pieces.appendAssumeCapacity(piece);
        partitions.free = piece;
    }

    /// The entries of partition `index`, block by block.
    pub fn blocks(partitions: *const Partitions, index: usize) Blocks {
        return .{ .end = partitions.cursors[index] };
    }

    pub const Blocks = struct {
        end: usize,

        pub fn next(it: *Blocks) ?[]const Entry {
            if (it.end == 0) return null;
            const block = std.mem.alignBackward(usize, it.end - 1, block_bytes);
            const first: [*]const Entry = @ptrFromInt(block + @sizeOf(Entry));
            const count = (it.end - block) / @sizeOf(Entry) - 1;
            it.end = @as(*const usize, @ptrFromInt(block)).*;
            return first[0..count];
        }
    };
};

test "what was appended comes back, each row in its partition" {
    var partitions: Partitions = try .init(std.testing.allocator, 4);
    defer partitions.deinit();
    for (0..1000) |i| {
        const hashes = [_]u64{@as(u64, i % 4) << 62 | i};
        try partitions.append(&hashes, &.{Ref.of(i, 1)});
    }
    for (0..4) |index| {
        var seen: [1000]bool = @splat(false);
        var blocks = partitions.blocks(index);
        while (blocks.next()) |entries| for (entries) |entry| {
            try std.testing.expectEqual(index, entry.hash >> 62);
            seen[entry.ref.offset] = true;
        };
        for (seen, 0..) |was, i| try std.testing.expectEqual(i % 4 == index, was);
    }
}
