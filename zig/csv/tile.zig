//! Bit masks over a few kilobytes that start at a record's start: what the scanner and the row reader walk instead of bytes.
const std = @import("std");
const masks = @import("../kernel/masks.zig");
const Ledger = @import("ledger.zig").Ledger;

/// Where separators, line ends and quotes lie in up to 8 KiB that start at a record's start.
pub const Tile = struct {
    /// Bytes read per step: their masks stay in the first-level cache.
    pub const max_bytes = 8192;
    const words = max_bytes / 64 + 2;

    len: usize,
    blocks: usize,
    any_suspicious: bool,
    has_quotes: bool = false,
    /// Every LF, inside quotes or not.
    physical_line_ends: [words]u64,
    line_ends: [words]u64,
    delimiters: [words]u64,
    quotes: [words]u64,
    suspicious: [words]u64,

    pub fn loadPlain(tile: *Tile, bytes: [*]const u8, len: usize, delimiter: u8, at_file_end: bool) void {
        tile.start(len);
        var suspicious: u64 = 0;
        for (0..(len + 63) / 64) |i| {
            const block = masks.load(bytes + i * 64);
            const inside = masks.firstBits(len - i * 64);
            tile.physical_line_ends[i] = masks.equal(block, '\n') & inside;
            tile.line_ends[i] = tile.physical_line_ends[i];
            tile.delimiters[i] = masks.equal(block, delimiter) & inside;
            tile.suspicious[i] = masks.suspicious(block) & inside;
            suspicious |= tile.suspicious[i];
        }
        tile.any_suspicious = suspicious != 0;
        if (at_file_end) tile.endLastLine(bytes);
    }

    /// Masks with everything inside quotes left out. False where the text is not plainly well-formed: then the
    /// grammar has to read it.
    pub fn loadQuoted(tile: *Tile, bytes: [*]const u8, len: usize, delimiter: u8, quote: u8, at_file_end: bool) bool {
        tile.loadPlain(bytes, len, delimiter, at_file_end);
        var inside_before: u64 = 0;
        var separator_before: u64 = 1;
        var closing_before: u64 = 0;
        for (0..tile.blocks) |i| {
            const block = masks.load(bytes + i * 64);
            const within = if (i * 64 < len) masks.firstBits(len - i * 64) else 0;
            const quotes = masks.equal(block, quote) & within;
            const inside = masks.prefixXor(quotes) ^ inside_before;
            const opening = quotes & inside;
            const closing = quotes & ~inside;
            const raw_line_ends = tile.line_ends[i];
            const separators = (tile.delimiters[i] | raw_line_ends) & ~inside;
            const after_closing = closing << 1 | closing_before;
            const before_line_end = tile.physical_line_ends[i] >> 1 | tile.physical_line_ends[i + 1] << 63;
            const crlf = masks.equal(block, '\r') & before_line_end & within;
            const may_open = separators << 1 | separator_before | after_closing;
            if (opening & ~may_open != 0) return false;
            if (after_closing & tile.covered(i, at_file_end) & ~(separators | opening | crlf) != 0) return false;
            tile.quotes[i] = quotes;
            tile.line_ends[i] = raw_line_ends & ~inside;
            tile.delimiters[i] &= ~inside;
            inside_before = @as(u64, 0) -% (inside >> 63);
            separator_before = separators >> 63;
            closing_before = closing >> 63;
        }
        return true;
    }

    fn start(tile: *Tile, len: usize) void {
        tile.len = len;
        tile.blocks = (len + 63) / 64;
        for ([_]usize{ tile.blocks, tile.blocks + 1 }) |i| {
            tile.physical_line_ends[i] = 0;
            tile.line_ends[i] = 0;
            tile.delimiters[i] = 0;
            tile.quotes[i] = 0;
            tile.suspicious[i] = 0;
        }
    }

    /// The end of the file ends its last record as a line end would.
    fn endLastLine(tile: *Tile, bytes: [*]const u8) void {
        if (bytes[tile.len - 1] == '\n') return;
        tile.line_ends[tile.len / 64] |= @as(u64, 1) << @intCast(tile.len % 64);
        tile.blocks = tile.len / 64 + 1;
    }

    /// The bits of block `i` that can be judged: those of the tile's bytes but for the last one, whose CR may belong to
    /// an LF behind the tile, and the end of the file.
    fn covered(tile: *const Tile, i: usize, at_file_end: bool) u64 {
        const judged = tile.len - @intFromBool(!at_file_end);
        return (if (i * 64 < judged) masks.firstBits(judged - i * 64) else 0) | tile.line_ends[i];
    }

    /// The first delimiter at `from` or behind; the caller knows that there is one.
    pub inline fn delimiterFrom(tile: *const Tile, from: u32) u32 {
        const near = window(&tile.delimiters, from);
        if (near != 0) return from + @ctz(near);
        var block = from / 64 + 1;
        while (tile.delimiters[block] == 0) block += 1;
        return block * 64 + @ctz(tile.delimiters[block]);
    }

    /// The 64 bits from bit `from` on.
    pub inline fn window(bits: *const [words]u64, from: u32) u64 {
        const shift: u6 = @intCast(from % 64);
        return bits[from / 64] >> shift | bits[from / 64 + 1] << 1 << (63 - shift);
    }

    /// The first line end at `from` or behind; null if the tile has none.
    pub inline fn lineEndFrom(tile: *const Tile, from: u32) ?u32 {
        const near = window(&tile.line_ends, from);
        if (near != 0) return from + @ctz(near);
        var block = from / 64 + 1;
        while (block < tile.blocks) : (block += 1) if (tile.line_ends[block] != 0) return block * 64 + @ctz(tile.line_ends[block]);
        return null;
    }

    /// Whether every typed field of the well-formed row [from, end) is surely a value of its type.
    pub inline fn hasUsualValues(tile: *const Tile, ledger: *const Ledger, bytes: [*]const u8, from: u32, end: u32) bool {
        var first = from;
        var column: u32 = 0;
        for (ledger.reading.typed) |typed| {
            while (column < typed.column) : (column += 1) first = tile.delimiterFrom(first) + 1;
            const behind = if (column + 1 == ledger.width) end else tile.delimiterFrom(first);
            if (!ledger.reading.isUsual(typed.type, unquoted(ledger, bytes[first..behind]))) return false;
        }
        return true;
    }

    fn unquoted(ledger: *const Ledger, field: []const u8) []const u8 {
        const quote = ledger.dialect.quote orelse return field;
        // A quote that is doubled inside leaves text that is no value of any type.
        return if (field.len >= 2 and field[0] == quote) field[1 .. field.len - 1] else field;
    }

    pub fn delimitersBetween(tile: *const Tile, from: u32, behind: u32) u32 {
        return count(&tile.delimiters, from, behind);
    }

    pub fn linesBetween(tile: *const Tile, from: u32, behind: u32) u32 {
        return count(&tile.physical_line_ends, from, behind);
    }

    pub fn linesBefore(tile: *const Tile, behind: u32) u64 {
        return count(&tile.physical_line_ends, 0, behind);
    }

    pub fn quotesBetween(tile: *const Tile, from: u32, behind: u32) u32 {
        return count(&tile.quotes, from, behind);
    }

    pub fn suspiciousBetween(tile: *const Tile, from: u32, behind: u32) bool {
        return count(&tile.suspicious, from, behind) != 0;
    }

    inline fn count(bits: []const u64, from: u32, behind: u32) u32 {
        var total: u32 = 0;
        var block = from / 64;
        while (block * 64 < behind) : (block += 1) {
            var word = bits[block] & masks.firstBits(behind - block * 64);
            if (block * 64 < from) word &= ~masks.firstBits(from - block * 64);
            total += @popCount(word);
        }
        return total;
    }
};
