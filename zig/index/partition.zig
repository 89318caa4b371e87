//! Rows of one ledger spread over partitions by the top bits of their key's hash: what the hash plan writes while
//! scanning and reads back one cache-sized partition at a time. 16 bytes a row, in blocks of 1 KiB chained per partition.
const std = @import("std");
const posix = std.posix;
const memory_module = @import("memory.zig");
const Ref = @import("../csv/ledger.zig").Ref;

pub const Entry = extern struct { hash: u64, ref: Ref };

const block_entries = 64;
const block_bytes = block_entries * @sizeOf(Entry);

/// One worker's rows of one side. Written by that worker alone; read by anyone after the scan.
pub const Partitions = struct {
    gpa: std.mem.Allocator,
    memory: *memory_module.Memory,
    shift: u6,
    /// Behind the last entry of each partition; at a block's start when a new block is needed.
    cursors: []usize,
    pieces: std.ArrayList(memory_module.Piece) = .empty,
    free: []u8 = &.{},

    /// `count` is a power of two up to 2^16.
    pub fn init(gpa: std.mem.Allocator, memory: *memory_module.Memory, count: usize) error{OutOfMemory}!Partitions {
        std.debug.assert(std.math.isPowerOfTwo(count) and count <= 1 << 16);
        const cursors = try gpa.alloc(usize, count);
        @memset(cursors, 0);
        return .{ .gpa = gpa, .memory = memory, .shift = @intCast(63 - @ctz(count)), .cursors = cursors };
    }

    pub fn deinit(partitions: *Partitions) void {
        partitions.clear();
        partitions.gpa.free(partitions.cursors);
    }

    pub fn append(partitions: *Partitions, hashes: []const u64, refs: []const Ref) memory_module.Error!void {
        for (hashes, refs) |key_hash, ref| try partitions.push(key_hash, ref);
    }

    pub inline fn push(partitions: *Partitions, key_hash: u64, ref: Ref) memory_module.Error!void {
        // In two steps, since for one partition all 64 bits go.
        const index: usize = @intCast(key_hash >> 1 >> partitions.shift);
        var cursor = partitions.cursors[index];
        if (cursor % block_bytes == 0) cursor = try partitions.newBlock(cursor);
        @as(*Entry, @ptrFromInt(cursor)).* = .{ .hash = key_hash, .ref = ref };
        partitions.cursors[index] = cursor + @sizeOf(Entry);
    }

    /// A block's first entry holds the end of the block before it.
    fn newBlock(partitions: *Partitions, previous_end: usize) memory_module.Error!usize {
        if (partitions.free.len == 0) try partitions.newPiece();
        const block = @intFromPtr(partitions.free.ptr);
        partitions.free = partitions.free[block_bytes..];
        @as(*usize, @ptrFromInt(block)).* = previous_end;
        return block + @sizeOf(Entry);
    }

    fn newPiece(partitions: *Partitions) memory_module.Error!void {
        @branchHint(.cold);
        try partitions.pieces.ensureUnusedCapacity(partitions.gpa, 1);
        if (partitions.pieces.getLastOrNull()) |full| partitions.memory.retire(full);
        const piece = try partitions.memory.allocate();
        partitions.pieces.appendAssumeCapacity(piece);
        partitions.free = piece;
    }

    /// Gives the rows back before `deinit`.
    pub fn clear(partitions: *Partitions) void {
        for (partitions.pieces.items) |piece| posix.munmap(piece);
        partitions.pieces.clearAndFree(partitions.gpa);
        @memset(partitions.cursors, 0);
        partitions.free = &.{};
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

fn expectAllBack(memory: *memory_module.Memory, rows: usize) !void {
    const gpa = std.testing.allocator;
    var partitions: Partitions = try .init(gpa, memory, 4);
    defer partitions.deinit();
    for (0..rows) |i| {
        const hashes = [_]u64{@as(u64, i % 4) << 62 | i};
        try partitions.append(&hashes, &.{Ref.of(i, 1)});
    }
    const seen = try gpa.alloc(bool, rows);
    defer gpa.free(seen);
    for (0..4) |index| {
        @memset(seen, false);
        var blocks = partitions.blocks(index);
        while (blocks.next()) |entries| for (entries) |entry| {
            try std.testing.expectEqual(index, entry.hash >> 62);
            seen[entry.ref.offset] = true;
        };
        for (seen, 0..) |was, i| try std.testing.expectEqual(i % 4 == index, was);
    }
}

test "what was appended comes back, each row in its partition" {
    var memory: memory_module.Memory = .{ .limit_bytes = 1 << 30, .directory = null };
    defer memory.deinit();
    try expectAllBack(&memory, 1000);
}

test "the same from a temporary file" {
    var memory: memory_module.Memory = .{ .limit_bytes = 0, .directory = "/dev/shm" };
    defer memory.deinit();
    try expectAllBack(&memory, 1_200_000);
    try std.testing.expect(memory.spilled_bytes.load(.monotonic) > memory_module.piece_bytes);
}

test "a directory that is not there is an error" {
    var memory: memory_module.Memory = .{ .limit_bytes = 0, .directory = "/no/such/directory" };
    defer memory.deinit();
    try std.testing.expectError(error.SpillFailed, expectAllBack(&memory, 10));
}
