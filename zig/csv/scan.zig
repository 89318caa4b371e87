//! Reads the records of a CSV ledger in chunks, in parallel: the only code that turns bytes into rows. Produces
//! batches of (Ref, key hash); plans consume them and know nothing of CSV.
//!
//! A chunk owns the records that start in its byte range. Where a chunk's first record starts is known only when the
//! chunk before it has been read, since a line end may lie inside quotes; parity of quotes does not tell, because a quote
//! inside an unquoted field is data. So a chunk without quotes hands its end on at once, and a chunk with quotes is read
//! from a guess (behind its first LF) while the one before is still being read; a wrong guess is read again. Nothing
//! leaves a chunk before its start is proved.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("record.zig");
const masks = @import("../kernel/masks.zig");
const hash = @import("../index/hash.zig");
const ledger_module = @import("ledger.zig");
const Tile = @import("tile.zig").Tile;
const Control = @import("../control.zig").Control;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;

/// How far behind a chunk a guessed start may lead before the guess is given up.
const guess_overrun_bytes = 64 * 1024;
/// A line checkpoint is kept about this often, for finding a row's line without counting from the file's start.
pub const checkpoint_bytes = 8192;

pub const Checkpoint = struct { at: u64, lines: u64 };

/// A byte range of one file, and what was found in it.
pub const Chunk = struct {
    file: u32,
    begin: u64,
    limit: u64,
    /// Where the first record that starts at `begin` or later starts; `unknown` until the chunk before has been read.
    first: std.atomic.Value(u64) = .init(unknown),
    lines: u64 = 0,
    checkpoints: []const Checkpoint = &.{},

    const unknown = std.math.maxInt(u64);
};

/// Keeps the top bits of a hash: fewer than 64 only in tests.
pub fn hashMask(hash_bits: u8) u64 {
    return if (hash_bits == 0) 0 else ~@as(u64, 0) << @intCast(64 - hash_bits);
}

/// Cuts the files of `ledger` into chunks of about `chunk_bytes`.
pub fn planChunks(gpa: std.mem.Allocator, ledger: *const Ledger, chunk_bytes: u64) ![]Chunk {
    var chunks: std.ArrayList(Chunk) = .empty;
    errdefer chunks.deinit(gpa);
    for (ledger.mapping.files, 0..) |file, index| {
        var at = file.first;
        while (at < file.end) {
            const limit = if (file.end - at < chunk_bytes + chunk_bytes / 2) file.end else at + chunk_bytes;
            try chunks.append(gpa, .{ .file = @intCast(index), .begin = at, .limit = limit });
            if (at == file.first) chunks.items[chunks.items.len - 1].first = .init(at);
            at = limit;
        }
    }
    return chunks.toOwnedSlice(gpa);
}

/// A record of a derived ledger that is no row: an orphan or a conflict.
pub const Event = struct { at: u64, kind: abi.BreakType };

/// What one chunk's records came to. Rows hold every well-formed record with a key.
pub const Output = struct {
    refs: std.ArrayList(Ref) = .empty,
    hashes: std.ArrayList(u64) = .empty,
    missing_keys: std.ArrayList(u64) = .empty,
    faults: std.ArrayList(u64) = .empty,
    filtered: std.ArrayList(u64) = .empty,
    events: std.ArrayList(Event) = .empty,
    checkpoints: std.ArrayList(Checkpoint) = .empty,
    ignored: u64 = 0,
    lines: u64 = 0,
    /// Where the first record behind the chunk starts.
    next: u64 = 0,
    /// A quote that never closes was met: nothing behind it can be trusted.
    unterminated: bool = false,

    const lists = .{ "refs", "hashes", "missing_keys", "faults", "filtered", "events", "checkpoints" };

    pub fn deinit(output: *Output, gpa: std.mem.Allocator) void {
        inline for (lists) |name| @field(output, name).deinit(gpa);
    }

    fn clear(output: *Output) void {
        inline for (lists) |name| @field(output, name).clearRetainingCapacity();
        output.ignored = 0;
        output.lines = 0;
        output.unterminated = false;
    }
};

pub const Error = error{ OutOfMemory, Cancelled };

/// One worker's reader over one ledger. Not shared between threads.
pub const Scanner = struct {
    gpa: std.mem.Allocator,
    ledger: *const Ledger,
    control: *Control,
    seed: u64,
    hash_mask: u64,
    /// One key column read as it stands: its place; null for composite, trimmed, folded and mapped keys, and where
    /// rules look at every row.
    simple_key: ?u32,
    output: Output = .{},
    fields: []record.Field,
    scratch: ledger_module.Scratch,
    tile: Tile = undefined,

    pub fn init(gpa: std.mem.Allocator, ledger: *const Ledger, control: *Control, seed: u64, hash_bits: u8) Error!Scanner {
        return .{
            .gpa = gpa,
            .ledger = ledger,
            .control = control,
            .seed = seed,
            .hash_mask = hashMask(hash_bits),
            .simple_key = if (ledger.key.len == 1 and ledger.hasVerbatimKeys() and !ledger.reading.judgesRows()) ledger.key[0] else null,
            .fields = try gpa.alloc(record.Field, ledger.capacity),
            .scratch = .init(gpa),
        };
    }

    pub fn deinit(scanner: *Scanner) void {
        scanner.output.deinit(scanner.gpa);
        scanner.gpa.free(scanner.fields);
        scanner.scratch.deinit();
    }

    /// Reads chunk `index`; the result is in `scanner.output` until the next call. Chunks must be taken in order (by
    /// any worker), since each waits for the one before it.
    pub fn read(scanner: *Scanner, chunks: []Chunk, index: usize) Error!*const Output {
        const chunk = &chunks[index];
        const end = scanner.ledger.mapping.files[chunk.file].end;
        scanner.output.clear();
        if (scanner.plainEnd(chunk, end)) |plain_end| {
            const first = try scanner.await(chunk);
            hand(chunks, index, if (first < chunk.limit) plain_end else first);
            scanner.output.next = first;
            if (first < chunk.limit) try scanner.readPlain(first, plain_end, end);
        } else {
            try scanner.readQuoted(chunks, index, end);
        }
        try scanner.keepLines(chunk);
        return &scanner.output;
    }

    /// Behind the last record of a chunk without any quote; null if there is one.
    fn plainEnd(scanner: *const Scanner, chunk: *const Chunk, end: u64) ?u64 {
        const bytes = scanner.ledger.mapping.base;
        const line_end = std.mem.findScalarPos(u8, bytes[0..end], chunk.limit - 1, '\n');
        const plain_end = if (line_end) |at| at + 1 else end;
        const quote = scanner.ledger.dialect.quote orelse return plain_end;
        return if (std.mem.findScalar(u8, bytes[chunk.begin..plain_end], quote) == null) plain_end else null;
    }

    /// Waits until the chunk before has handed on where this one's first record starts.
    fn await(scanner: *Scanner, chunk: *const Chunk) Error!u64 {
        while (true) {
            const first = chunk.first.load(.acquire);
            if (first != Chunk.unknown) return first;
            if (scanner.control.isCancelled()) return error.Cancelled;
            std.Thread.yield() catch {};
        }
    }

    fn hand(chunks: []Chunk, index: usize, next: u64) void {
        if (index + 1 < chunks.len and chunks[index + 1].file == chunks[index].file) chunks[index + 1].first.store(next, .release);
    }

    fn readQuoted(scanner: *Scanner, chunks: []Chunk, index: usize, end: u64) Error!void {
        const chunk = &chunks[index];
        const known = chunk.first.load(.acquire);
        const guess = if (known != Chunk.unknown) known else scanner.guessStart(chunk);
        const guessed = guess != null and try scanner.readRecords(guess.?, chunk.limit, end, known == Chunk.unknown);
        const first = try scanner.await(chunk);
        if (!guessed or first != guess.?) {
            scanner.output.clear();
            const complete = try scanner.readRecords(first, chunk.limit, end, false);
            std.debug.assert(complete);
        }
        hand(chunks, index, scanner.output.next);
    }

    fn guessStart(scanner: *const Scanner, chunk: *const Chunk) ?u64 {
        const at = std.mem.findScalarPos(u8, scanner.ledger.mapping.base[0..chunk.limit], chunk.begin - 1, '\n') orelse return null;
        return if (at + 1 < chunk.limit) at + 1 else null;
    }

    /// Whole records without any quote between `first` and `behind`.
    fn readPlain(scanner: *Scanner, first: u64, behind: u64, end: u64) Error!void {
        var at = first;
        while (at < behind) {
            if (scanner.control.isCancelled()) return error.Cancelled;
            const len: usize = @intCast(@min(Tile.max_bytes, behind - at));
            scanner.tile.loadPlain(scanner.base(at), len, scanner.ledger.dialect.delimiter, at + len == end);
            const next = try scanner.rowsOfTile(at, behind, end, .plain);
            try scanner.passed(at, scanner.tile.linesBefore(@intCast(next - at)));
            at = if (next == at) try scanner.longRecord(at) else next;
        }
        scanner.output.next = at;
    }

    /// Records that start between `first` and `limit`. False if a guessed start led too far: nothing is known then.
    fn readRecords(scanner: *Scanner, first: u64, limit: u64, end: u64, guessed: bool) Error!bool {
        const dialect = scanner.ledger.dialect;
        var at = first;
        while (at < limit and !scanner.output.unterminated) {
            if (scanner.control.isCancelled()) return error.Cancelled;
            const len: usize = @intCast(@min(Tile.max_bytes, end - at));
            const well_formed = scanner.tile.loadQuoted(scanner.base(at), len, dialect.delimiter, dialect.quote.?, at + len == end);
            const next = if (well_formed)
                try scanner.rowsOfTile(at, limit, end, .quoted)
            else
                try scanner.slowRecords(at, @min(at + len, limit), if (guessed) limit + guess_overrun_bytes else end) orelse return false;
            try scanner.passed(at, if (next - at <= len) scanner.tile.linesBefore(@intCast(next - at)) else scanner.countLines(at, next));
            if (next == at) {
                if (guessed and !scanner.endsBefore(at, limit + guess_overrun_bytes, end)) return false;
                at = try scanner.longRecord(at);
            } else at = next;
        }
        scanner.output.next = at;
        return true;
    }

    fn base(scanner: *const Scanner, at: u64) [*]const u8 {
        return scanner.ledger.mapping.base + at;
    }

    /// The rows that are whole in the loaded tile, which starts at `at`. Returns where the first unread record starts.
    fn rowsOfTile(scanner: *Scanner, at: u64, limit: u64, end: u64, comptime form: Form) Error!u64 {
        const tile = &scanner.tile;
        const ledger = scanner.ledger;
        const bytes = scanner.base(at);
        const delimiters: u32 = ledger.width - 1;
        try scanner.reserve(tile.len + 1);

        var start: u32 = 0;
        var rank_start: u32 = 0;
        var rank_block: u32 = 0;
        for (0..tile.blocks) |block| {
            var ends = tile.line_ends[block];
            const separators = tile.delimiters[block];
            while (ends != 0) : (ends &= ends - 1) {
                if (form == .quoted) if (at + start >= limit) return at + start;
                const bit: u32 = @ctz(ends);
                const line_end: u32 = @as(u32, @intCast(block)) * 64 + bit;
                const rank_end = rank_block + @popCount(separators & masks.firstBits(bit));
                const crlf = line_end > start and bytes[line_end - 1] == '\r' and bytes[line_end] == '\n';
                const content_end = line_end - @intFromBool(crlf);
                const usual = rank_end - rank_start == delimiters and content_end != start and
                    (delimiters != 0 or bytes[start] > ' ') and
                    (!tile.any_suspicious or !tile.suspiciousBetween(start, line_end)) and
                    (!ledger.spec.trailing or bytes[content_end - 1] == ledger.dialect.delimiter);
                if (!usual or !try scanner.pushUsual(at, start, content_end, form)) {
                    _ = try scanner.slowRecord(at + start);
                    try scanner.reserve(tile.len + 1);
                }
                start = line_end + 1;
                rank_start = rank_end;
            }
            rank_block += @popCount(separators);
        }
        return @min(at + start, end);
    }

    /// Pushes a well-formed row of the tile; false when the general way is needed.
    inline fn pushUsual(scanner: *Scanner, at: u64, start: u32, end: u32, comptime form: Form) Error!bool {
        const column = scanner.simple_key orelse return scanner.pushGeneral(Ref.of(at + start, end - start));
        const tile = &scanner.tile;
        const ledger = scanner.ledger;
        const bytes = scanner.base(at);
        var first = start;
        for (0..column) |_| first = tile.delimiterFrom(first) + 1;
        var behind = if (column + 1 == scanner.ledger.width) end else tile.delimiterFrom(first);
        if (form == .quoted and bytes[first] == scanner.ledger.dialect.quote.?) {
            if (tile.quotesBetween(first, behind) != 2) return false;
            first += 1;
            behind -= 1;
        }
        if (first >= behind) return false;
        if (ledger.reading.typed.len != 0 and !tile.hasUsualValues(ledger, bytes, start, end)) return false;
        scanner.push(Ref.of(at + start, end - start), hash.ofBytes(scanner.seed, bytes + first, behind - first));
        return true;
    }

    /// The same for keys of other forms, and where rules look at every row.
    fn pushGeneral(scanner: *Scanner, ref: Ref) Error!bool {
        const ledger = scanner.ledger;
        ledger.split(ref, scanner.fields);
        scanner.scratch.reset();
        if (try ledger.isFiltered(ref, scanner.fields, &scanner.scratch)) {
            try scanner.output.filtered.append(scanner.gpa, ref.offset);
            return true;
        }
        if (try ledger.ruleFault(ref, scanner.fields, &scanner.scratch) != null) return false;
        const key_hash = try scanner.generalHash(ref) orelse return false;
        scanner.push(ref, key_hash);
        return true;
    }

    fn reserve(scanner: *Scanner, rows: usize) Error!void {
        try scanner.output.refs.ensureUnusedCapacity(scanner.gpa, rows);
        try scanner.output.hashes.ensureUnusedCapacity(scanner.gpa, rows);
    }

    inline fn push(scanner: *Scanner, ref: Ref, key_hash: u64) void {
        scanner.output.refs.appendAssumeCapacity(ref);
        scanner.output.hashes.appendAssumeCapacity(key_hash & scanner.hash_mask);
    }

    /// Records one by one from `at` until one starts at `until` or later. Null if one would not end before `cut`.
    fn slowRecords(scanner: *Scanner, at: u64, until: u64, cut: u64) Error!?u64 {
        const end = scanner.ledger.mapping.files[scanner.ledger.mapping.fileOf(at)].end;
        var next = at;
        while (next < until and !scanner.output.unterminated) {
            if (cut < end and !scanner.endsBefore(next, cut, end)) return null;
            next = try scanner.slowRecord(next);
        }
        return next;
    }

    /// Whether the record at `at` is over before `cut`: a guess must not read a whole file as one record.
    fn endsBefore(scanner: *Scanner, at: u64, cut: u64, end: u64) bool {
        if (cut >= end) return true;
        const whole = record.parse(scanner.ledger.mapping.base, at, cut, scanner.ledger.dialect, &.{});
        return whole.problem != .unterminated and whole.next < cut;
    }

    fn longRecord(scanner: *Scanner, at: u64) Error!u64 {
        const next = try scanner.slowRecord(at);
        try scanner.passed(at, scanner.countLines(at, next));
        return next;
    }

    /// The general way: one record through the grammar and every check. Returns where the next one starts.
    fn slowRecord(scanner: *Scanner, at: u64) Error!u64 {
        scanner.scratch.reset();
        const examined = try scanner.ledger.examine(at, scanner.fields, &scanner.scratch);
        const output = &scanner.output;
        if (examined.record.blank) {
            output.ignored += 1;
        } else if (examined.filtered) {
            try output.filtered.append(scanner.gpa, at);
        } else if (examined.event != null and examined.fault == null) {
            try output.events.append(scanner.gpa, .{ .at = at, .kind = examined.event.? });
        } else if (examined.fault) |fault| {
            try output.faults.append(scanner.gpa, at);
            output.unterminated = fault.kind == .unterminated;
        } else {
            const ref = Ref.of(at, examined.record.end - at);
            if (try scanner.generalHash(ref)) |key_hash| {
                try scanner.reserve(1);
                scanner.push(ref, key_hash);
            } else try output.missing_keys.append(scanner.gpa, at);
        }
        return examined.record.next;
    }

    /// The hash of a key of any form; null if all its parts are empty.
    fn generalHash(scanner: *Scanner, ref: Ref) Error!?u64 {
        var whole: u64 = scanner.seed;
        var any = false;
        for (scanner.ledger.key) |column| {
            const bytes = try scanner.ledger.value(ref, scanner.fields, column, &scanner.scratch);
            any = any or bytes.len != 0;
            const part = hash.ofBytes(scanner.seed, bytes.ptr, bytes.len);
            whole = if (scanner.ledger.key.len == 1) part else hash.combine(whole, part);
        }
        return if (any) whole else null;
    }

    fn countLines(scanner: *const Scanner, from: u64, to: u64) u64 {
        return std.mem.countScalar(u8, scanner.base(from)[0..@intCast(to - from)], '\n');
    }

    /// Adds the line ends read since `from` and keeps a checkpoint there now and then.
    fn passed(scanner: *Scanner, from: u64, lines: u64) Error!void {
        const output = &scanner.output;
        const kept = output.checkpoints.items;
        if (kept.len == 0 or from - kept[kept.len - 1].at >= checkpoint_bytes)
            try output.checkpoints.append(scanner.gpa, .{ .at = from, .lines = output.lines });
        output.lines += lines;
    }

    fn keepLines(scanner: *Scanner, chunk: *Chunk) Error!void {
        chunk.lines = scanner.output.lines;
        chunk.checkpoints = try scanner.gpa.dupe(Checkpoint, scanner.output.checkpoints.items);
    }
};

const Form = enum { plain, quoted };
