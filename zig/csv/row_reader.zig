//! Reads the records of one byte range in order, one at a time: for plans that walk both ledgers side by side. The
//! ledger has one key column, read as it stands (no trimming or folding).
const std = @import("std");
const record = @import("record.zig");
const masks = @import("../kernel/masks.zig");
const ledger_module = @import("ledger.zig");
const scan = @import("scan.zig");
const Tile = @import("tile.zig").Tile;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;

pub const Row = struct {
    start: u64,
    /// Behind its content, and where the next record starts.
    end: u64,
    next: u64,
    key: []const u8,
    /// Physical lines.
    lines: u32,

    pub fn ref(row: *const Row) Ref {
        return .of(row.start, row.end - row.start);
    }
};

pub const Error = error{
    OutOfMemory,
    /// A row that cannot take part: an empty or escaped key, or a quote that never closes.
    Unfit,
};

/// One worker's reader. Not shared between threads.
pub const RowReader = struct {
    gpa: std.mem.Allocator,
    ledger: *const Ledger,
    /// The record to read next starts here.
    at: u64,
    limit: u64,
    file_end: u64,
    tile: Tile,
    /// Where the loaded tile starts; a tile without quotes in doubt.
    tile_at: u64,
    tile_usable: bool,
    fields: []record.Field,
    scratch: *ledger_module.Scratch,
    lines: u64 = 0,
    ignored: u64 = 0,
    rows: u64 = 0,
    faults: std.ArrayList(u64) = .empty,
    checkpoints: std.ArrayList(scan.Checkpoint) = .empty,
    next_checkpoint: u64,

    /// Records that start between `from` (a record's start) and `limit`.
    pub fn init(reader: *RowReader, gpa: std.mem.Allocator, ledger: *const Ledger, fields: []record.Field, scratch: *ledger_module.Scratch, from: u64, limit: u64) void {
        std.debug.assert(ledger.key.len == 1 and ledger.hasVerbatimKeys() and !ledger.reading.judgesRows() and ledger.spec.origin == null);
        reader.gpa = gpa;
        reader.ledger = ledger;
        reader.at = from;
        reader.limit = limit;
        reader.file_end = ledger.fileEnd(from);
        reader.tile_usable = false;
        reader.tile_at = from;
        reader.tile.len = 0;
        reader.fields = fields;
        reader.scratch = scratch;
        reader.lines = 0;
        reader.ignored = 0;
        reader.rows = 0;
        reader.faults = .empty;
        reader.checkpoints = .empty;
        reader.next_checkpoint = from;
    }

    pub fn deinit(reader: *RowReader) void {
        reader.faults.deinit(reader.gpa);
        reader.checkpoints.deinit(reader.gpa);
    }

    /// The row at `at`, without passing it; null behind the last. Blank and bad records are passed and counted.
    pub inline fn peek(reader: *RowReader) Error!?Row {
        while (reader.at < reader.limit) {
            if (reader.usualRow()) |row| return row;
            if (try reader.unusualRow()) |row| return row;
        }
        return null;
    }

    /// Passes a row that `peek` returned, or one of the same bytes.
    pub inline fn pass(reader: *RowReader, bytes: u64, lines: u32) void {
        if (reader.at >= reader.next_checkpoint) reader.keepCheckpoint();
        reader.at += bytes;
        reader.lines += lines;
        reader.rows += 1;
    }

    /// A checkpoint that cannot be kept only makes lines slower to find.
    fn keepCheckpoint(reader: *RowReader) void {
        @branchHint(.unlikely);
        reader.checkpoints.append(reader.gpa, .{ .at = reader.at, .lines = reader.lines }) catch {};
        reader.next_checkpoint = reader.at + scan.checkpoint_bytes;
    }

    inline fn usualRow(reader: *RowReader) ?Row {
        const start: u64 = reader.at -% reader.tile_at;
        if (start >= reader.tile.len or !reader.tile_usable) return null;
        const tile = &reader.tile;
        const ledger = reader.ledger;
        const first: u32 = @intCast(start);
        const line_end = tile.lineEndFrom(first) orelse return null;
        const bytes = ledger.mapping.base + reader.tile_at;
        const crlf = line_end > first and bytes[line_end - 1] == '\r' and bytes[line_end] == '\n';
        const end = line_end - @intFromBool(crlf);
        const delimiters = ledger.width - 1;
        const near = Tile.window(&tile.delimiters, first);
        const count = if (line_end - first <= 64) @popCount(near & masks.firstBits(line_end - first)) else tile.delimitersBetween(first, line_end);
        if (count != delimiters or end == first) return null;
        if (delimiters == 0 and bytes[first] <= ' ') return null;
        if (tile.any_suspicious and tile.suspiciousBetween(first, line_end)) return null;
        if (ledger.spec.trailing and bytes[end - 1] != ledger.dialect.delimiter) return null;
        const key = reader.keyIn(bytes, first, end) orelse return null;
        if (ledger.reading.typed.len != 0 and !tile.hasUsualValues(ledger, bytes, first, end)) return null;
        const file_len = reader.file_end - reader.tile_at;
        return .{
            .start = reader.at,
            .end = reader.tile_at + end,
            .next = reader.tile_at + @min(line_end + 1, file_len),
            .key = key,
            .lines = if (tile.has_quotes) tile.linesBetween(first, @intCast(@min(line_end + 1, file_len))) else 1,
        };
    }

    inline fn keyIn(reader: *RowReader, bytes: [*]const u8, start: u32, end: u32) ?[]const u8 {
        const tile = &reader.tile;
        const column = reader.ledger.key[0];
        var first = start;
        for (0..column) |_| first = tile.delimiterFrom(first) + 1;
        var behind = if (column + 1 == reader.ledger.width) end else tile.delimiterFrom(first);
        if (tile.has_quotes and bytes[first] == reader.ledger.dialect.quote.?) {
            if (tile.quotesBetween(first, behind) != 2) return null;
            first += 1;
            behind -= 1;
        }
        return if (first < behind) bytes[first..behind] else null;
    }

    /// Loads the next tile, or reads one record through the grammar.
    fn unusualRow(reader: *RowReader) Error!?Row {
        @branchHint(.unlikely);
        const in_tile = reader.at -% reader.tile_at < reader.tile.len;
        const fresh = reader.at == reader.tile_at and reader.tile.len != 0;
        const incomplete = !in_tile or (reader.tile_usable and reader.tile.lineEndFrom(@intCast(reader.at - reader.tile_at)) == null);
        if (incomplete and !fresh) {
            reader.loadTile();
            return null;
        }
        return reader.slowRow();
    }

    fn loadTile(reader: *RowReader) void {
        const dialect = reader.ledger.dialect;
        const len: usize = @intCast(@min(Tile.max_bytes, reader.file_end - reader.at));
        const bytes = reader.ledger.mapping.base + reader.at;
        reader.tile_at = reader.at;
        reader.tile.loadPlain(bytes, len, dialect.delimiter, reader.at + len == reader.file_end);
        reader.tile_usable = true;
        reader.tile.has_quotes = false;
        const quote = dialect.quote orelse return;
        if (std.mem.findScalar(u8, bytes[0..len], quote) == null) return;
        reader.tile_usable = reader.tile.loadQuoted(bytes, len, dialect.delimiter, quote, reader.at + len == reader.file_end);
        reader.tile.has_quotes = true;
    }

    fn slowRow(reader: *RowReader) Error!?Row {
        const at = reader.at;
        const examined = try reader.ledger.examine(at, reader.fields, reader.scratch);
        const whole = examined.record;
        const lines: u32 = @intCast(std.mem.countScalar(u8, reader.ledger.mapping.base[at..whole.next], '\n'));
        if (whole.blank) {
            reader.ignored += 1;
        } else if (examined.fault) |fault| {
            if (fault.kind == .unterminated) return error.Unfit;
            try reader.faults.append(reader.gpa, at);
            reader.rows += 1;
        } else {
            const field = reader.fields[reader.ledger.key[0]];
            if (field.len == 0 or field.form == .escaped) return error.Unfit;
            const key = (reader.ledger.mapping.base + at + field.start)[0..field.len];
            return .{ .start = at, .end = whole.end, .next = whole.next, .key = key, .lines = lines };
        }
        if (at >= reader.next_checkpoint) reader.keepCheckpoint();
        reader.at = whole.next;
        reader.lines += lines;
        return null;
    }
};
