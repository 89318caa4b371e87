//! Reads FIX logs: every message of every file, in parallel, down to a list of what matters to executions. Where a segment's
//! first message starts is guessed and then proved: it has to be the first one behind where the segment before it ended.
//! Used by executions.zig (what the reports come to) and read.zig (the job).
const std = @import("std");
const abi = @import("../abi.zig");
const parallel = @import("../parallel.zig");
const decimal = @import("../value/decimal.zig");
const number_format = @import("../value/number_format.zig");
const message = @import("message.zig");
const Mapping = @import("../source/mapping.zig").Mapping;
const Control = @import("../control.zig").Control;
const Parser = message.Parser;

pub const Kind = enum(u8) { fill, bust, correction, rejected };

/// Why a message is set aside: a defect of its framing, or a quantity that is no number.
pub const Problem = enum(u8) { bad_checksum, bad_body_length, bad_tag, bad_data_length, truncated, bad_row };

/// A report that changes executions, or a garbled message. `at` is where the message itself starts, `line` the line on
/// which it (or the envelope around it) starts.
pub const Entry = struct {
    at: u64,
    line: u64,
    /// Hashes of sender and ExecID, and of these and the trade date.
    own: u64 = 0,
    identity: u64 = 0,
    kind: Kind,
    problem: Problem = .bad_row,
};

/// What sequence numbers are checked by (recon fix).
pub const Sequenced = struct {
    at: u64,
    line: u64,
    session: u64,
    number: u64,
    /// What the next number is, where the message says it.
    next: ?u64,
    is_logon: bool,
    is_duplicate: bool,
};

pub const Warning = struct { at: u64, line: u64, problem: Problem };

const Segment = struct {
    file: u32,
    from: u64,
    to: u64,
    /// The first message start that was found.
    first: ?u64 = null,
    /// Behind its last message.
    resumes: u64 = 0,
    lines: u64 = 0,
    counts: Counts = .{},
    entries: std.ArrayList(Entry) = .empty,
    sequenced: std.ArrayList(Sequenced) = .empty,
    warnings: std.ArrayList(Warning) = .empty,

    fn clear(segment: *Segment) void {
        segment.first = null;
        segment.counts = .{};
        inline for (.{ "entries", "sequenced", "warnings" }) |name| @field(segment, name).clearRetainingCapacity();
    }
};

pub const max_types = 64;

/// Messages by type; a log has a few dozen types, and what is behind them is counted together.
pub const Counts = struct {
    messages: u64 = 0,
    read_bytes: u64 = 0,
    types: [max_types][8]u8 = undefined,
    type_lens: [max_types]u8 = undefined,
    type_counts: [max_types]u64 = undefined,
    type_len: usize = 0,

    fn add(counts: *Counts, message_type: []const u8, number: u64) void {
        for (0..counts.type_len) |i| if (std.mem.eql(u8, counts.types[i][0..counts.type_lens[i]], message_type)) {
            counts.type_counts[i] += number;
            return;
        };
        if (counts.type_len == max_types or message_type.len > 8) {
            if (!std.mem.eql(u8, message_type, "other")) counts.add("other", number);
            return;
        }
        const i = counts.type_len;
        @memcpy(counts.types[i][0..message_type.len], message_type);
        counts.type_lens[i] = @intCast(message_type.len);
        counts.type_counts[i] = number;
        counts.type_len += 1;
    }

    fn merge(counts: *Counts, other: *const Counts) void {
        counts.messages += other.messages;
        counts.read_bytes += other.read_bytes;
        for (0..other.type_len) |i| counts.add(other.types[i][0..other.type_lens[i]], other.type_counts[i]);
    }

    /// By type, in the order of its bytes. `arena` owns the result.
    pub fn byType(counts: *const Counts, arena: std.mem.Allocator) error{OutOfMemory}![]abi.FixTypeCount {
        const list = try arena.alloc(abi.FixTypeCount, counts.type_len);
        for (list, 0..) |*out, i| out.* = .{ .type = try arena.dupe(u8, counts.types[i][0..counts.type_lens[i]]), .count = counts.type_counts[i] };
        std.mem.sort(abi.FixTypeCount, list, {}, struct {
            fn before(_: void, a: abi.FixTypeCount, b: abi.FixTypeCount) bool {
                return std.mem.lessThan(u8, a.type, b.type);
            }
        }.before);
        return list;
    }
};

pub const Error = error{ OutOfMemory, Cancelled };

/// What was read, in log order. Owns its lists.
pub const Log = struct {
    gpa: std.mem.Allocator,
    mapping: *const Mapping,
    spec: abi.FixSpec,
    control: *Control,
    seed: u64,
    segments: std.ArrayList(Segment) = .empty,
    claims: parallel.Claims = .{ .len = 0 },
    failed: std.atomic.Value(bool) = .init(false),
    counts: Counts = .{},
    entries: std.ArrayList(Entry) = .empty,
    sequenced: std.ArrayList(Sequenced) = .empty,
    warnings: std.ArrayList(Warning) = .empty,

    pub fn deinit(log: *Log) void {
        for (log.segments.items) |*segment| inline for (.{ "entries", "sequenced", "warnings" }) |name| @field(segment, name).deinit(log.gpa);
        log.segments.deinit(log.gpa);
        inline for (.{ "entries", "sequenced", "warnings" }) |name| @field(log, name).deinit(log.gpa);
    }

    pub fn read(log: *Log, team: *const parallel.Team) Error!void {
        for (log.mapping.files, 0..) |file, index| {
            var at = file.first;
            while (at < file.end) : (at += log.spec.chunk_bytes)
                try log.segments.append(log.gpa, .{ .file = @intCast(index), .from = at, .to = @min(file.end, at + log.spec.chunk_bytes) });
        }
        log.control.enter(.scan, log.mapping.bytes());
        log.claims = .{ .len = log.segments.items.len };
        team.run(log, work);
        if (log.control.isCancelled()) return error.Cancelled;
        if (log.failed.load(.monotonic)) return error.OutOfMemory;
        try log.prove();
        try log.gather();
    }

    fn work(log: *Log, _: u32) void {
        log.readSegments() catch |problem| if (problem == error.OutOfMemory) log.failed.store(true, .monotonic);
    }

    fn readSegments(log: *Log) Error!void {
        var reader: Reader = try .init(log);
        defer reader.parser.deinit();
        while (log.claims.take()) |index| {
            const segment = &log.segments.items[index];
            try reader.readSegment(segment, segment.from);
            log.control.advance(segment.to - segment.from);
        }
    }

    /// Reads segments again whose first message was not the one that follows the segment before.
    fn prove(log: *Log) Error!void {
        var reader: Reader = try .init(log);
        defer reader.parser.deinit();
        var resumes: u64 = 0;
        for (log.segments.items, 0..) |*segment, i| {
            const is_first = i == 0 or log.segments.items[i - 1].file != segment.file;
            if (is_first) resumes = segment.from;
            if (resumes > segment.from) {
                const next = message.findStart(log.mapping.base, resumes, log.mapping.files[segment.file].end);
                const first = if (next != null and next.?.at < segment.to) next.?.at else null;
                if (first != segment.first) try reader.readSegment(segment, resumes);
            }
            resumes = @max(resumes, segment.resumes);
        }
    }

    fn gather(log: *Log) Error!void {
        var lines: u64 = 0;
        for (log.segments.items, 0..) |*segment, i| {
            if (i == 0 or log.segments.items[i - 1].file != segment.file) lines = log.mapping.files[segment.file].first_line;
            inline for (.{ "entries", "sequenced", "warnings" }) |name| {
                for (@field(segment, name).items) |*item| item.line += lines;
                try @field(log, name).appendSlice(log.gpa, @field(segment, name).items);
                @field(segment, name).clearAndFree(log.gpa);
            }
            lines += segment.lines;
            log.counts.merge(&segment.counts);
        }
    }

    pub fn fileEnd(log: *const Log, at: u64) u64 {
        return log.mapping.files[log.mapping.fileOf(at)].end;
    }

    /// Reads the message of an entry again: it was read before, so that only a file that changed makes it fail.
    pub fn reread(log: *const Log, parser: *Parser, at: u64) error{OutOfMemory}!bool {
        const end = log.fileEnd(at);
        const start = message.startAt(log.mapping.base, at, end) orelse return false;
        return try parser.read(log.mapping.base, start, end, .{ .verify = false, .tolerate = true }) == null;
    }
};

/// One worker's reading. Not shared between threads.
const Reader = struct {
    log: *Log,
    parser: Parser,
    segment: *Segment = undefined,
    counted_to: u64 = 0,
    line: u64 = 0,

    fn init(log: *Log) error{OutOfMemory}!Reader {
        return .{ .log = log, .parser = try .init(log.gpa) };
    }

    fn readSegment(reader: *Reader, segment: *Segment, from: u64) Error!void {
        const log = reader.log;
        const base = log.mapping.base;
        const end = log.mapping.files[segment.file].end;
        segment.clear();
        reader.segment = segment;
        reader.counted_to = segment.from;
        reader.line = 0;
        var at = from;
        var steps: u32 = 0;
        while (message.findStart(base, at, end)) |start| {
            if (start.at >= segment.to) break;
            steps +%= 1;
            if (steps % 1024 == 0 and log.control.isCancelled()) return error.Cancelled;
            if (segment.first == null) segment.first = start.at;
            reader.countLines(start.at);
            at = try reader.readMessage(start, end, false);
        }
        segment.resumes = at;
        reader.countLines(segment.to);
        segment.lines = reader.line;
    }

    fn countLines(reader: *Reader, to: u64) void {
        if (to <= reader.counted_to) return;
        reader.line += std.mem.countScalar(u8, reader.log.mapping.base[reader.counted_to..to], '\n');
        reader.counted_to = to;
    }

    /// Returns where reading goes on.
    fn readMessage(reader: *Reader, start: message.Start, end: u64, is_inner: bool) Error!u64 {
        const log = reader.log;
        const parser = &reader.parser;
        const defect = try parser.read(log.mapping.base, start, end, .{ .tolerate = log.spec.checks == .warn });
        if (defect) |problem| {
            try reader.reject(start.at, problemOf(problem));
            return start.at + 1;
        }
        const behind = parser.end;
        if (parser.warned) |problem| try reader.segment.warnings.append(log.gpa, .{ .at = start.at, .line = reader.line, .problem = problemOf(problem) });
        const counts = &reader.segment.counts;
        counts.messages += 1;
        if (!is_inner) counts.read_bytes += behind - start.at;
        const message_type = parser.text(35);
        counts.add(message_type, 1);
        if (log.spec.audit) try reader.keepSequence(start.at, message_type);
        if (std.mem.eql(u8, message_type, "8")) try reader.takeReport(start.at);
        if (!is_inner) if (parser.get(213)) |envelope| try reader.unwrap(envelope);
        return behind;
    }

    /// Messages inside XmlData are messages of the log.
    fn unwrap(reader: *Reader, envelope: []const u8) Error!void {
        const base = reader.log.mapping.base;
        var at: u64 = @intFromPtr(envelope.ptr) - @intFromPtr(base);
        const end = at + envelope.len;
        while (message.findStart(base, at, end)) |start| at = try reader.readMessage(start, end, true);
    }

    fn reject(reader: *Reader, at: u64, problem: Problem) Error!void {
        try reader.segment.entries.append(reader.log.gpa, .{ .at = at, .line = reader.line, .kind = .rejected, .problem = problem });
    }

    fn problemOf(defect: message.Defect) Problem {
        return switch (defect) {
            inline else => |d| @field(Problem, @tagName(d)),
        };
    }

    /// Keeps an execution report that reports, takes back or corrects a fill.
    fn takeReport(reader: *Reader, at: u64) Error!void {
        const parser = &reader.parser;
        const kind = switch (kindOf(parser, reader.log.spec.multileg)) {
            .nothing => return,
            .no_number => return reader.reject(at, .bad_row),
            .fill => Kind.fill,
            .bust => .bust,
            .correction => .correction,
        };
        const own = ownHash(reader.log.seed, parser.text(49), parser.text(17));
        try reader.segment.entries.append(reader.log.gpa, .{
            .at = at,
            .line = reader.line,
            .own = own,
            .identity = identityHash(own, tradeDateOf(parser)),
            .kind = kind,
        });
    }

    fn keepSequence(reader: *Reader, at: u64, message_type: []const u8) Error!void {
        const parser = &reader.parser;
        const number = numberIn(parser.get(34)) orelse return;
        const is_reset = std.mem.eql(u8, message_type, "4");
        try reader.segment.sequenced.append(reader.log.gpa, .{
            .at = at,
            .line = reader.line,
            .session = ownHash(reader.log.seed, parser.text(49), parser.text(56)),
            .number = number,
            .next = if (is_reset) numberIn(parser.get(36)) else null,
            .is_logon = std.mem.eql(u8, message_type, "A") and isYes(parser.get(141)),
            .is_duplicate = isYes(parser.get(43)),
        });
    }
};

fn numberIn(text: ?[]const u8) ?u64 {
    return std.fmt.parseInt(u64, text orelse return null, 10) catch null;
}

fn isYes(text: ?[]const u8) bool {
    return if (text) |t| std.mem.eql(u8, t, "Y") else false;
}

pub fn ownHash(seed: u64, sender: []const u8, exec_id: []const u8) u64 {
    return std.hash.Wyhash.hash(std.hash.Wyhash.hash(seed, sender), exec_id);
}

pub fn identityHash(own: u64, trade_date: []const u8) u64 {
    return std.hash.Wyhash.hash(own, trade_date);
}

/// TradeDate, else the day of TransactTime.
pub fn tradeDateOf(parser: *const Parser) []const u8 {
    if (parser.get(75)) |date| return date;
    const time = parser.get(60) orelse return "";
    return time[0..@min(8, time.len)];
}

/// What an execution report (35=8) is under either scheme: ExecTransType(20) up to FIX 4.2, ExecType(150) from 4.3.
fn kindOf(parser: *const Parser, multileg: abi.FixMultileg) enum { nothing, no_number, fill, bust, correction } {
    const trans_type = codeOf(parser.get(20));
    const exec_type = codeOf(parser.get(150));
    if (trans_type == '3' or exec_type == 'I') return .nothing;
    const leg = codeOf(parser.get(442));
    if ((multileg == .legs and leg == '3') or (multileg == .summary and leg == '2')) return .nothing;
    if (trans_type == '1' or exec_type == 'H') return .bust;
    const is_correction = trans_type == '2' or exec_type == 'G';
    const quantity = parser.get(32) orelse return if (is_correction) .correction else .nothing;
    return switch (signOf(quantity)) {
        .no_number => .no_number,
        .positive => if (is_correction) .correction else .fill,
        .other => if (is_correction) .correction else .nothing,
    };
}

/// The one character of a code field; 0 for anything else.
fn codeOf(text: ?[]const u8) u8 {
    const code = text orelse return 0;
    return if (code.len == 1) code[0] else 0;
}

fn signOf(quantity: []const u8) enum { no_number, positive, other } {
    const format: number_format.NumberFormat = .{};
    const number = format.scan(quantity) orelse return .no_number;
    if (number.negative) return .other;
    for (number.digits) |byte| if (byte >= '1' and byte <= '9') return .positive;
    return .other;
}
