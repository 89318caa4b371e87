//! Physical line numbers of rows, found from the checkpoints that the scan kept: no second pass over the file.
const std = @import("std");
const Chunk = @import("../csv/scan.zig").Chunk;
const Mapping = @import("../source/mapping.zig").Mapping;

/// Read-only after `init`; shared by all writers.
pub const Lines = struct {
    mapping: *const Mapping,
    chunks: []const Chunk,
    /// The line in its file at which each chunk's first record starts.
    first_lines: []const u64,

    pub fn init(arena: std.mem.Allocator, mapping: *const Mapping, chunks: []const Chunk) error{OutOfMemory}!Lines {
        const first_lines = try arena.alloc(u64, chunks.len);
        var line: u64 = 0;
        for (chunks, first_lines, 0..) |chunk, *first, i| {
            if (i == 0 or chunks[i - 1].file != chunk.file) line = mapping.files[chunk.file].first_line;
            first.* = line;
            line += chunk.lines;
        }
        return .{ .mapping = mapping, .chunks = chunks, .first_lines = first_lines };
    }

    /// The 1-based physical line of the byte at `offset`, which lies at or behind the start of a record that was read.
    pub fn lineOf(lines: *const Lines, offset: u64) u64 {
        const index = lines.chunkOf(offset);
        var from = lines.chunks[index].first.load(.monotonic);
        var line = lines.first_lines[index];
        const checkpoints = lines.chunks[index].checkpoints;
        var low: usize = 0;
        var high = checkpoints.len;
        while (high - low > 1) {
            const middle = (low + high) / 2;
            if (checkpoints[middle].at <= offset) low = middle else high = middle;
        }
        if (low < checkpoints.len and checkpoints[low].at <= offset) {
            from = checkpoints[low].at;
            line += checkpoints[low].lines;
        }
        return line + std.mem.countScalar(u8, lines.mapping.base[from..offset], '\n');
    }

    /// Finds the lines of ascending offsets without looking each up anew. One worker's; starts empty.
    pub const Cursor = struct {
        offset: u64 = 0,
        line: u64 = 0,
        /// The end of the file that `offset` lies in; 0 before the first look-up.
        file_end: u64 = 0,

        const near_bytes = 4096;

        pub fn lineOf(cursor: *Cursor, lines: *const Lines, offset: u64) u64 {
            const near = offset >= cursor.offset and offset - cursor.offset < near_bytes and offset < cursor.file_end;
            cursor.line = if (near)
                cursor.line + std.mem.countScalar(u8, lines.mapping.base[cursor.offset..offset], '\n')
            else
                lines.lineOf(offset);
            if (!near) cursor.file_end = lines.mapping.files[lines.mapping.fileOf(offset)].end;
            cursor.offset = offset;
            return cursor.line;
        }
    };

    /// 1-based byte of `offset` in its physical line.
    pub fn columnOf(lines: *const Lines, offset: u64) u64 {
        const begin = lines.mapping.files[lines.mapping.fileOf(offset)].begin;
        const before = lines.mapping.base[begin..offset];
        const line_start = if (std.mem.findScalarLast(u8, before, '\n')) |at| at + 1 else 0;
        return before.len - line_start + 1;
    }

    /// The last chunk that has records and whose first one starts at `offset` or before.
    fn chunkOf(lines: *const Lines, offset: u64) usize {
        var low: usize = 0;
        var high = lines.chunks.len;
        while (high - low > 1) {
            const middle = (low + high) / 2;
            if (lines.chunks[middle].first.load(.monotonic) <= offset) low = middle else high = middle;
        }
        return low;
    }
};
