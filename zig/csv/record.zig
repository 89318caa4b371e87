//! The CSV grammar, once: one record from a known start, byte by byte. scan.zig takes a faster way where a tile of
//! the file is plainly well-formed and calls this for everything else; both must agree (see tests.zig).
//!
//! RFC 4180 with the decisions of docs/architecture.md: LF or CRLF per record, a lone CR is data, a quote opens a
//! field only at its start, a malformed record ends at the first LF behind the offending byte.
const std = @import("std");

pub const Dialect = struct {
    delimiter: u8,
    /// null: quotes are data.
    quote: ?u8,
    /// Blanks around a quoted field are dropped before quotes are looked at.
    trim: bool = false,

    pub fn isBlank(dialect: Dialect, byte: u8) bool {
        return (byte == ' ' or byte == '\t') and byte != dialect.delimiter;
    }
};

pub const Form = enum(u8) { plain, quoted, escaped };

/// Where a field's content lies, from the record's start: inside the quotes where it has any.
/// `escaped` content still holds doubled quotes.
pub const Field = struct {
    start: u32,
    len: u32,
    form: Form,
};

pub const Problem = enum { none, text_after_quote, blank_before_quote, unterminated, too_long };

pub const Record = struct {
    /// Behind the record's last byte, line end excluded.
    end: u64,
    /// Where the next record starts.
    next: u64,
    /// How many fields it has; only the first `out.len` were stored.
    fields: u32 = 0,
    problem: Problem = .none,
    /// The offending byte, or the quote that never closes.
    at: u64 = 0,
    /// An empty or all-blank line: not a record at all.
    blank: bool = false,
};

/// Records of 4 GiB and more are refused: places inside a record are 32 bits wide.
pub const max_record_bytes = std.math.maxInt(u32) - 64;

/// Reads the record that starts at `start` in bytes[0..end]; the caller guarantees start < end.
pub fn parse(bytes: [*]const u8, start: u64, end: u64, dialect: Dialect, out: []Field) Record {
    std.debug.assert(start < end);
    if (blankLine(bytes, start, end, dialect)) |record| return record;
    var parser: Parser = .{ .bytes = bytes, .start = start, .at = start, .end = end, .dialect = dialect, .out = out };
    while (true) {
        const more = parser.field() catch |problem| return parser.malformed(problem);
        if (!more) break;
    }
    if (parser.record_end - start > max_record_bytes) return parser.malformed(error.TooLong);
    return .{ .end = parser.record_end, .next = parser.at, .fields = parser.fields };
}

fn blankLine(bytes: [*]const u8, start: u64, end: u64, dialect: Dialect) ?Record {
    var at = start;
    while (at < end and dialect.isBlank(bytes[at])) at += 1;
    if (at == end) return .{ .end = end, .next = end, .blank = true };
    if (bytes[at] == '\n') return .{ .end = at, .next = at + 1, .blank = true };
    if (bytes[at] == '\r' and at + 1 < end and bytes[at + 1] == '\n') return .{ .end = at, .next = at + 2, .blank = true };
    return null;
}

const Malformed = error{ TextAfterQuote, BlankBeforeQuote, Unterminated, TooLong };

const Parser = struct {
    bytes: [*]const u8,
    start: u64,
    at: u64,
    end: u64,
    dialect: Dialect,
    out: []Field,
    fields: u32 = 0,
    record_end: u64 = 0,
    offending: u64 = 0,

    /// Reads one field and what ends it. Returns whether another field follows.
    fn field(parser: *Parser) Malformed!bool {
        const quote = parser.dialect.quote orelse return parser.plainField(parser.at);
        const first = parser.at;
        var content = first;
        while (content < parser.end and parser.dialect.isBlank(parser.bytes[content])) content += 1;
        if (content < parser.end and parser.bytes[content] == quote) {
            if (content == first or parser.dialect.trim) return parser.quotedField(content, quote);
            parser.offending = content;
            return error.BlankBeforeQuote;
        }
        return parser.plainField(first);
    }

    fn plainField(parser: *Parser, first: u64) Malformed!bool {
        var at = first;
        while (at < parser.end and parser.bytes[at] != parser.dialect.delimiter and parser.bytes[at] != '\n') at += 1;
        const crlf = at < parser.end and parser.bytes[at] == '\n' and at > first and parser.bytes[at - 1] == '\r';
        parser.store(first, if (crlf) at - 1 else at, .plain);
        return parser.finish(at, if (crlf) at - 1 else at);
    }

    fn quotedField(parser: *Parser, opening: u64, quote: u8) Malformed!bool {
        var form: Form = .quoted;
        var at = opening + 1;
        while (true) : (at += 1) {
            if (at >= parser.end) {
                parser.offending = opening;
                return error.Unterminated;
            }
            if (parser.bytes[at] != quote) continue;
            if (at + 1 >= parser.end or parser.bytes[at + 1] != quote) break;
            form = .escaped;
            at += 1;
        }
        parser.store(opening + 1, at, form);
        at += 1;
        if (parser.dialect.trim) while (at < parser.end and parser.dialect.isBlank(parser.bytes[at])) : (at += 1) {};
        const content_end = at;
        if (at + 1 < parser.end and parser.bytes[at] == '\r' and parser.bytes[at + 1] == '\n') at += 1;
        if (at < parser.end and parser.bytes[at] != parser.dialect.delimiter and parser.bytes[at] != '\n') {
            parser.offending = at;
            return error.TextAfterQuote;
        }
        return parser.finish(at, content_end);
    }

    fn store(parser: *Parser, first: u64, behind: u64, form: Form) void {
        // A place past 4 GiB is refused once the record's end is known; until then it only must not trap.
        if (parser.fields < parser.out.len) parser.out[parser.fields] = .{
            .start = @truncate(first - parser.start),
            .len = @truncate(behind - first),
            .form = form,
        };
        parser.fields += 1;
    }

    /// `at` is the delimiter, the LF or the end of the file.
    fn finish(parser: *Parser, at: u64, content_end: u64) bool {
        if (at < parser.end and parser.bytes[at] == parser.dialect.delimiter) {
            parser.at = at + 1;
            return true;
        }
        parser.record_end = content_end;
        parser.at = @min(at + 1, parser.end);
        return false;
    }

    fn malformed(parser: *Parser, problem: Malformed) Record {
        const at = parser.offending;
        const line_end = if (problem == error.Unterminated)
            parser.end
        else if (problem == error.TooLong)
            parser.record_end
        else
            std.mem.findScalarPos(u8, parser.bytes[0..parser.end], at, '\n') orelse parser.end;
        const crlf = line_end < parser.end and line_end > parser.start and parser.bytes[line_end - 1] == '\r';
        return .{
            .end = line_end - @intFromBool(crlf),
            .next = @max(parser.at, @min(line_end + 1, parser.end)),
            .fields = parser.fields,
            .at = at,
            .problem = switch (problem) {
                error.TextAfterQuote => .text_after_quote,
                error.BlankBeforeQuote => .blank_before_quote,
                error.Unterminated => .unterminated,
                error.TooLong => .too_long,
            },
        };
    }
};

/// Undoes the doubling of quotes. `out` holds at least content.len bytes.
pub fn unescape(content: []const u8, quote: u8, out: []u8) []const u8 {
    var written: usize = 0;
    var at: usize = 0;
    while (at < content.len) : (at += 1) {
        out[written] = content[at];
        written += 1;
        if (content[at] == quote) at += 1;
    }
    return out[0..written];
}

const Expected = struct { text: []const u8, form: Form };

fn expectFields(text: []const u8, dialect: Dialect, expected: []const Expected, next: u64) !void {
    var fields: [8]Field = undefined;
    const record = parse(text.ptr, 0, text.len, dialect, &fields);
    try std.testing.expectEqual(Problem.none, record.problem);
    try std.testing.expectEqual(expected.len, record.fields);
    try std.testing.expectEqual(next, record.next);
    for (expected, fields[0..expected.len]) |want, got| {
        try std.testing.expectEqualStrings(want.text, text[got.start..][0..got.len]);
        try std.testing.expectEqual(want.form, got.form);
    }
}

const comma: Dialect = .{ .delimiter = ',', .quote = '"' };
const trimmed: Dialect = .{ .delimiter = ',', .quote = '"', .trim = true };

/// Writes `prefix` and `text` as one field of RFC 4180, quoted where it must be.
pub fn writeField(out: *std.Io.Writer, prefix: []const u8, text: []const u8) std.Io.Writer.Error!void {
    if (std.mem.findAny(u8, text, ",\"\r\n") == null) {
        try out.writeAll(prefix);
        return out.writeAll(text);
    }
    try out.writeByte('"');
    try out.writeAll(prefix);
    for (text) |byte| {
        if (byte == '"') try out.writeByte('"');
        try out.writeByte(byte);
    }
    try out.writeByte('"');
}

test "plain and quoted fields, line ends" {
    try expectFields("a,b\nc", comma, &.{ .{ .text = "a", .form = .plain }, .{ .text = "b", .form = .plain } }, 4);
    try expectFields("a,\"b,\n\"\"x\"\r\nc", comma, &.{ .{ .text = "a", .form = .plain }, .{ .text = "b,\n\"\"x", .form = .escaped } }, 12);
    try expectFields("a\r,b\r", comma, &.{ .{ .text = "a\r", .form = .plain }, .{ .text = "b\r", .form = .plain } }, 5);
    try expectFields("a\"b\",", comma, &.{ .{ .text = "a\"b\"", .form = .plain }, .{ .text = "", .form = .plain } }, 5);
    try expectFields("\"\"\n", comma, &.{.{ .text = "", .form = .quoted }}, 3);
    try expectFields("\"T1\" , \"x\" \n", trimmed, &.{ .{ .text = "T1", .form = .quoted }, .{ .text = "x", .form = .quoted } }, 12);
    try expectFields("\"a\",b\n", .{ .delimiter = ',', .quote = null }, &.{ .{ .text = "\"a\"", .form = .plain }, .{ .text = "b", .form = .plain } }, 6);
}

fn expectProblem(text: []const u8, problem: Problem, at: u64, next: u64) !void {
    var fields: [8]Field = undefined;
    const record = parse(text.ptr, 0, text.len, comma, &fields);
    try std.testing.expectEqual(problem, record.problem);
    try std.testing.expectEqual(at, record.at);
    try std.testing.expectEqual(next, record.next);
}

test "malformed records end at the first LF behind the offending byte" {
    try expectProblem("\"T1\"x,\"a\nb\"\n", .text_after_quote, 4, 9);
    try expectProblem("\"T1\"\r", .text_after_quote, 4, 5);
    try expectProblem("a, \"x\"\nb", .blank_before_quote, 3, 7);
    try expectProblem("a,\"x\nb,c", .unterminated, 2, 8);
}

test "blank lines" {
    var fields: [2]Field = undefined;
    for ([_][]const u8{ "\nx", " \t\r\nx", "  ", "\r\nx" }, [_]u64{ 1, 4, 2, 2 }) |text, next| {
        const record = parse(text.ptr, 0, text.len, comma, &fields);
        try std.testing.expect(record.blank);
        try std.testing.expectEqual(next, record.next);
    }
    const data = parse("\r", 0, 1, comma, &fields);
    try std.testing.expect(!data.blank);
    const tabs = parse("\t\t\n", 0, 3, .{ .delimiter = '\t', .quote = '"' }, &fields);
    try std.testing.expect(!tabs.blank);
    try std.testing.expectEqual(3, tabs.fields);
}

test "unescape" {
    var out: [8]u8 = undefined;
    try std.testing.expectEqualStrings("a\"b", unescape("a\"\"b", '"', &out));
}
