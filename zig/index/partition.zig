//! Rows of one ledger spread over partitions by the top bits of their key's hash: what the hash plan writes while
//! scanning and reads back one cache-sized partition at a time. 8 bytes a row, in blocks of 1 KiB chained per partition:
//! fresh memory is what the plan waits for most, so a row keeps 32 more bits of its hash and 32 of its place, and nothing else.
const std = @import("std");
const posix = std.posix;
const memory_module = @import("memory.zig");

/// Rows per partition that keep its table, and what is read of its rows, within a second-level cache.
const partition_rows = 8192;
const max_partitions = 8192;

/// How many partitions `rows` are spread over.
pub fn countFor(rows: u64) usize {
    const wanted = std.math.ceilPowerOfTwo(u64, rows / partition_rows + 1) catch max_partitions;
    return @intCast(@min(wanted, max_partitions));
}

/// A row of a partition: the 32 bits of its key's hash behind those that chose the partition, and where it starts.
pub const Entry = struct { hash: u32, offset: u64 };

const block_bytes = 1024;
const cache_line_bytes = 64;
const header_bytes = @sizeOf(Header);

/// The first bytes of a block.
const Header = extern struct {
    /// The end of the partition's block before this one; 0 for none.
    previous_end: usize,
    /// What the places of its rows have above their lowest 32 bits.
    high: u64,
};

/// One worker's rows of one side. Written by that worker alone; read by anyone after the scan.
pub const Partitions = struct {
    gpa: std.mem.Allocator,
    memory: *memory_module.Memory,
    /// Bits of the hash that choose the partition.
    radix_bits: u6,
    /// What the places of rows have above their lowest 32 bits at the moment.
    high: u64 = 0,
    /// Behind the last entry of each partition; at a block's start when a new block is needed.
    cursors: []usize,
    pieces: std.ArrayList(memory_module.Piece) = .empty,
    /// What is left of the last piece: ready to be written, and behind that not yet.
    free: []u8 = &.{},
    unready: memory_module.Piece = &.{},

    /// `count` is a power of two up to 2^16.
    pub fn init(gpa: std.mem.Allocator, memory: *memory_module.Memory, count: usize) error{OutOfMemory}!Partitions {
        std.debug.assert(std.math.isPowerOfTwo(count) and count <= 1 << 16);
        const cursors = try gpa.alloc(usize, count);
        @memset(cursors, 0);
        return .{ .gpa = gpa, .memory = memory, .radix_bits = @intCast(@ctz(count)), .cursors = cursors };
    }

    pub fn deinit(partitions: *Partitions) void {
        partitions.clear();
        partitions.gpa.free(partitions.cursors);
    }

    /// Rows must come in ascending order of their places but for steps back within 4 GiB.
    pub inline fn push(partitions: *Partitions, key_hash: u64, offset: u64) memory_module.Error!void {
        if (offset >> 32 != partitions.high) try partitions.changeHigh(offset >> 32);
        // In two steps, since for one partition all 64 bits go.
        const index: usize = @intCast(key_hash >> 1 >> (63 - partitions.radix_bits));
        var cursor = partitions.cursors[index];
        if (cursor % block_bytes == 0) cursor = try partitions.newBlock(cursor);
        const hash: u32 = @truncate(key_hash << partitions.radix_bits >> 32);
        @as(*u64, @ptrFromInt(cursor)).* = @as(u64, hash) << 32 | (offset & std.math.maxInt(u32));
        partitions.cursors[index] = cursor + @sizeOf(u64);
    }

    fn newBlock(partitions: *Partitions, previous_end: usize) memory_module.Error!usize {
        if (partitions.free.len == 0) try partitions.readyMore();
        const block = @intFromPtr(partitions.free.ptr);
        partitions.free = partitions.free[block_bytes..];
        @as(*Header, @ptrFromInt(block)).* = .{ .previous_end = previous_end, .high = partitions.high };
        return block + header_bytes;
    }

    /// Rows to come go into blocks of their own.
    fn changeHigh(partitions: *Partitions, high: u64) memory_module.Error!void {
        @branchHint(.cold);
        partitions.high = high;
        for (partitions.cursors) |*cursor| if (cursor.* % block_bytes != 0) {
            cursor.* = try partitions.newBlock(cursor.*);
        };
    }

    fn readyMore(partitions: *Partitions) memory_module.Error!void {
        @branchHint(.cold);
        if (partitions.unready.len == 0) try partitions.newPiece();
        const step = partitions.unready[0..memory_module.step_bytes];
        partitions.unready = @alignCast(partitions.unready[memory_module.step_bytes..]);
        partitions.memory.ready(step);
        partitions.free = step;
    }

    fn newPiece(partitions: *Partitions) memory_module.Error!void {
        try partitions.pieces.ensureUnusedCapacity(partitions.gpa, 1);
        if (partitions.pieces.getLastOrNull()) |full| partitions.memory.retire(full);
        const piece = try partitions.memory.allocate();
        partitions.pieces.appendAssumeCapacity(piece);
        partitions.unready = piece;
    }

    /// Gives the rows back before `deinit`.
    pub fn clear(partitions: *Partitions) void {
        for (partitions.pieces.items) |piece| posix.munmap(piece);
        partitions.pieces.clearAndFree(partitions.gpa);
        @memset(partitions.cursors, 0);
        partitions.free = &.{};
        partitions.unready = &.{};
        partitions.high = 0;
    }

    /// The entries of partition `index`, block by block.
    pub fn blocks(partitions: *const Partitions, index: usize) Blocks {
        return .{ .end = partitions.cursors[index] };
    }

    pub const Blocks = struct {
        end: usize,

        pub fn next(it: *Blocks) ?Block {
            if (it.end == 0) return null;
            const block = std.mem.alignBackward(usize, it.end - 1, block_bytes);
            const header: *const Header = @ptrFromInt(block);
            const first: [*]const u64 = @ptrFromInt(block + header_bytes);
            const rows = first[0 .. (it.end - block - header_bytes) / @sizeOf(u64)];
            it.end = header.previous_end;
            if (it.end != 0) prefetch(it.end);
            return .{ .rows = rows, .high = header.high };
        }

        /// Asks for the block that ends here: it is far from the one that is read meanwhile.
        inline fn prefetch(end: usize) void {
            const block = std.mem.alignBackward(usize, end - 1, block_bytes);
            var line = block;
            while (line < end) : (line += cache_line_bytes) @prefetch(@as([*]const u8, @ptrFromInt(line)), .{ .rw = .read, .locality = 3 });
        }
    };

    pub const Block = struct {
        rows: []const u64,
        high: u64,

        pub inline fn entry(block: *const Block, row: u64) Entry {
            return .{ .hash = @intCast(row >> 32), .offset = block.high << 32 | (row & std.math.maxInt(u32)) };
        }
    };
};

/// Appends the rows of partition `index` of what all workers wrote about one side.
pub fn gather(gpa: std.mem.Allocator, written: []const Partitions, index: usize, entries: *std.ArrayList(Entry)) error{OutOfMemory}!void {
    for (written) |*partitions| {
        var blocks = partitions.blocks(index);
        while (blocks.next()) |block| {
            try entries.ensureUnusedCapacity(gpa, block.rows.len);
            for (block.rows) |row| entries.appendAssumeCapacity(block.entry(row));
        }
    }
}

/// Rows `step` bytes apart, over four partitions by the two top bits of their hashes.
fn expectAllBack(memory: *memory_module.Memory, rows: usize, step: u64) !void {
    const gpa = std.testing.allocator;
    var partitions: Partitions = try .init(gpa, memory, 4);
    defer partitions.deinit();
    for (0..rows) |i| try partitions.push(@as(u64, i % 4) << 62 | @as(u64, i) << 30, i * step);
    const seen = try gpa.alloc(bool, rows);
    defer gpa.free(seen);
    for (0..4) |index| {
        @memset(seen, false);
        var blocks = partitions.blocks(index);
        while (blocks.next()) |block| for (block.rows) |row| {
            const entry = block.entry(row);
            const i: usize = @intCast(entry.offset / step);
            try std.testing.expectEqual(@as(u32, @truncate(i)), entry.hash);
            seen[i] = true;
        };
        for (seen, 0..) |was, i| try std.testing.expectEqual(i % 4 == index, was);
    }
}

test "what was appended comes back, each row in its partition" {
    var memory: memory_module.Memory = .init(1 << 30, null);
    defer memory.deinit();
    try expectAllBack(&memory, 1000, 1);
    try expectAllBack(&memory, 5000, 1 << 24);
}

test "the same from a temporary file" {
    var memory: memory_module.Memory = .init(0, "/dev/shm");
    defer memory.deinit();
    try expectAllBack(&memory, 2_400_000, 50);
    try std.testing.expect(memory.spilled_bytes.load(.monotonic) > memory_module.piece_bytes);
}

test "a directory that is not there is an error" {
    var memory: memory_module.Memory = .init(0, "/no/such/directory");
    defer memory.deinit();
    try std.testing.expectError(error.SpillFailed, expectAllBack(&memory, 10, 1));
}
