//! Writes breaks as lines of the `.jsonl` or `.csv` file (docs/architecture.md): one worker's formatter. The terminal
//! summary and `recon explain` show the same JSON lines.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("../csv/record.zig");
const faults = @import("../csv/faults.zig");
const compare = @import("../match/compare.zig");
const ledger_module = @import("../csv/ledger.zig");
const findings = @import("../match/findings.zig");
const Lines = @import("lines.zig").Lines;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Writer = std.Io.Writer;

pub const Item = union(enum) {
    mismatch: findings.Pair,
    /// Only in explanations.
    matched: findings.Pair,
    single: struct { side: Side, offset: u64, kind: abi.BreakType },
};

pub const Error = Writer.Error || error{OutOfMemory};

/// What every formatter of a job reads.
pub const Context = struct {
    ledgers: [2]?*const Ledger,
    lines: [2]?*const Lines,
    key: []const abi.ColumnSpec,
    compare: []const abi.ColumnSpec,
    all_columns: []const abi.ColumnSpec,
    /// Every column of every pair is described, with how its values relate.
    explain: bool,

    fn ledger(context: *const Context, side: Side) *const Ledger {
        return context.ledgers[@intFromEnum(side)].?;
    }

    fn path(context: *const Context, side: Side, offset: u64) []const u8 {
        const mapping = &context.ledger(side).mapping;
        return mapping.files[mapping.fileOf(offset)].path;
    }

    fn severalFiles(context: *const Context) [2]bool {
        var several: [2]bool = @splat(false);
        for (context.ledgers, &several) |side, *is| is.* = if (side) |l| l.mapping.files.len > 1 else false;
        return several;
    }

    /// The first line of a `.csv` file.
    pub fn writeCsvHeader(context: *const Context, out: *Writer) Writer.Error!void {
        try out.writeAll("break,type");
        for (context.key) |column| {
            try out.writeByte(',');
            try writeCsv(out, if (isFixedName(column.name)) "key." else "", column.name);
        }
        const several = context.severalFiles();
        try out.writeAll(if (several[0]) ",internal_path,internal_line" else ",internal_line");
        try out.writeAll(if (several[1]) ",external_path,external_line" else ",external_line");
        try out.writeAll(",column,internal_value,external_value,difference\n");
    }
};

const fixed_names = [_][]const u8{ "break", "type", "internal_path", "internal_line", "external_path", "external_line", "column", "internal_value", "external_value", "difference" };

fn isFixedName(name: []const u8) bool {
    for (fixed_names) |fixed| if (std.mem.eql(u8, name, fixed)) return true;
    return false;
}

pub const Formatter = struct {
    gpa: std.mem.Allocator,
    context: *const Context,
    fields: [2][]record.Field,
    scratch: ledger_module.Scratch,
    cursors: [2]Lines.Cursor = @splat(.{}),

    pub fn init(gpa: std.mem.Allocator, context: *const Context) error{OutOfMemory}!Formatter {
        var formatter: Formatter = .{ .gpa = gpa, .context = context, .fields = @splat(&.{}), .scratch = .init(gpa) };
        errdefer formatter.deinit();
        for (context.ledgers, &formatter.fields) |ledger, *fields| if (ledger) |l| {
            fields.* = try gpa.alloc(record.Field, l.width);
        };
        return formatter;
    }

    pub fn deinit(formatter: *Formatter) void {
        for (formatter.fields) |fields| formatter.gpa.free(fields);
        formatter.scratch.deinit();
    }

    fn lineOf(formatter: *Formatter, side: Side, offset: u64) u64 {
        return formatter.cursors[@intFromEnum(side)].lineOf(formatter.context.lines[@intFromEnum(side)].?, offset);
    }

    /// One object and a line end.
    pub fn writeJson(formatter: *Formatter, out: *Writer, number: u64, item: Item) Error!void {
        formatter.scratch.reset();
        try out.writeAll("{\"break\":");
        try writeNumber(out, number);
        try out.writeAll(",\"type\":\"");
        try out.writeAll(typeName(item));
        try out.writeAll("\",\"key\":{");
        const places = placesOf(item);
        if (isRejected(item)) {
            try out.writeByte('}');
        } else {
            formatter.parse(places);
            try formatter.writeJsonKey(out, places);
        }
        for ([_]Side{ .internal, .external }, places) |side, place| {
            try out.writeAll(if (side == .internal) ",\"internal\":" else ",\"external\":");
            if (place) |offset| {
                try out.writeAll("{\"path\":");
                try writeJsonText(out, formatter.context.path(side, offset));
                try out.writeAll(",\"line\":");
                try writeNumber(out, formatter.lineOf(side, offset));
                try out.writeByte('}');
            } else try out.writeAll("null");
        }
        try out.writeAll(",\"columns\":{");
        if (isRejected(item)) {
            try out.writeAll("},\"reason\":{\"code\":\"" ++ faults.code ++ "\",\"message\":");
            try writeJsonText(out, try formatter.reason(item.single.side, item.single.offset));
            try out.writeAll("}}\n");
        } else {
            try formatter.writeJsonColumns(out, places);
            try out.writeAll("}}\n");
        }
    }

    fn writeJsonKey(formatter: *Formatter, out: *Writer, places: [2]?u64) Error!void {
        const side: Side = if (places[0] != null) .internal else .external;
        for (formatter.context.key, 0..) |column, i| {
            if (i != 0) try out.writeByte(',');
            try writeJsonText(out, column.name);
            try out.writeByte(':');
            try writeJsonText(out, (try formatter.texts(side, places, column)).shown);
        }
        try out.writeByte('}');
    }

    fn writeJsonColumns(formatter: *Formatter, out: *Writer, places: [2]?u64) Error!void {
        var first = true;
        for (formatter.context.compare) |column| {
            const cell = try formatter.cellOf(places, column);
            if (!cell.reported and !formatter.context.explain) continue;
            if (!first) try out.writeByte(',');
            first = false;
            try writeJsonText(out, column.name);
            for ([_][]const u8{ ":{\"internal\":", ",\"external\":" }, cell.shown) |label, value| {
                try out.writeAll(label);
                if (value) |text| try writeJsonText(out, text) else try out.writeAll("null");
            }
            try out.writeAll(",\"difference\":\"");
            try out.writeAll(cell.difference);
            try out.writeByte('"');
            if (formatter.context.explain) if (cell.verdict) |verdict| try out.print(",\"how\":\"{t}\"", .{verdict});
            try out.writeByte('}');
        }
    }

    /// One line per broken column, one line for breaks without columns.
    pub fn writeCsvLines(formatter: *Formatter, out: *Writer, number: u64, item: Item) Error!void {
        formatter.scratch.reset();
        const places = placesOf(item);
        if (item != .mismatch) {
            if (!isRejected(item)) formatter.parse(places);
            try formatter.writeCsvStart(out, number, item);
            return out.writeAll(",,,,\n");
        }
        formatter.parse(places);
        for (formatter.context.compare) |column| {
            const cell = try formatter.cellOf(places, column);
            if (!cell.reported) continue;
            try formatter.writeCsvStart(out, number, item);
            for ([_][]const u8{ column.name, cell.shown[0].?, cell.shown[1].?, cell.difference }) |text| {
                try out.writeByte(',');
                try writeCsv(out, "", text);
            }
            try out.writeByte('\n');
        }
    }

    fn writeCsvStart(formatter: *Formatter, out: *Writer, number: u64, item: Item) Error!void {
        const places = placesOf(item);
        try writeNumber(out, number);
        try out.writeByte(',');
        try out.writeAll(typeName(item));
        const side: Side = if (places[0] != null) .internal else .external;
        for (formatter.context.key) |column| {
            try out.writeByte(',');
            if (!isRejected(item)) try writeCsv(out, "", (try formatter.texts(side, places, column)).shown);
        }
        const several = formatter.context.severalFiles();
        for ([_]Side{ .internal, .external }, places, several) |place_side, place, with_path| {
            if (with_path) {
                try out.writeByte(',');
                if (place) |offset| try writeCsv(out, "", formatter.context.path(place_side, offset));
            }
            try out.writeByte(',');
            if (place) |offset| try writeNumber(out, formatter.lineOf(place_side, offset));
        }
    }

    const Cell = struct {
        shown: [2]?[]const u8,
        difference: []const u8 = "",
        verdict: ?compare.Verdict = null,
        /// Whether the break is (also) about this column.
        reported: bool = true,
    };

    fn cellOf(formatter: *Formatter, places: [2]?u64, column: abi.ColumnSpec) Error!Cell {
        if (places[0] == null) return .{ .shown = .{ null, (try formatter.texts(.external, places, column)).shown } };
        if (places[1] == null) return .{ .shown = .{ (try formatter.texts(.internal, places, column)).shown, null } };
        const internal = try formatter.texts(.internal, places, column);
        const external = try formatter.texts(.external, places, column);
        const verdict = compare.verdictOf(column.type, internal.value, external.value);
        return .{
            .shown = .{ internal.shown, external.shown },
            .difference = if (verdict == .differs) try formatter.difference(column, internal.value, external.value) else "",
            .verdict = verdict,
            .reported = verdict == .differs,
        };
    }

    fn difference(formatter: *Formatter, column: abi.ColumnSpec, internal: []const u8, external: []const u8) Error![]const u8 {
        const arena = formatter.scratch.arena.allocator();
        const number = try compare.differenceOf(arena, column.type, internal, external) orelse return "";
        return std.fmt.allocPrint(arena, "{f}", .{number});
    }

    const Texts = struct { shown: []const u8, value: []const u8 };

    fn texts(formatter: *Formatter, side: Side, places: [2]?u64, column: abi.ColumnSpec) Error!Texts {
        const ledger = formatter.context.ledger(side);
        const ref: Ref = .of(places[@intFromEnum(side)].?, 0);
        const field = formatter.fields[@intFromEnum(side)][if (side == .internal) column.internal else column.external];
        return .{
            .shown = try ledger.shown(ref, field, &formatter.scratch),
            .value = try ledger.value(ref, field, &formatter.scratch),
        };
    }

    fn parse(formatter: *Formatter, places: [2]?u64) void {
        for ([_]Side{ .internal, .external }, places, formatter.fields) |side, place, fields| {
            const offset = place orelse continue;
            const ledger = formatter.context.ledger(side);
            ledger.split(ledger.refAt(offset), fields);
        }
    }

    fn reason(formatter: *Formatter, side: Side, offset: u64) Error![]const u8 {
        const ledger = formatter.context.ledger(side);
        const fault = ledger.examine(offset, formatter.fields[@intFromEnum(side)]).fault orelse return ""; // only if the file changed
        return faults.message(formatter.scratch.arena.allocator(), ledger, formatter.context.all_columns, fault);
    }

    /// One line of the rejects file: path,line,code,message,record.
    pub fn writeReject(formatter: *Formatter, out: *Writer, side: Side, offset: u64) Error!void {
        formatter.scratch.reset();
        const ledger = formatter.context.ledger(side);
        const examined = ledger.examine(offset, formatter.fields[@intFromEnum(side)]);
        try writeCsv(out, "", formatter.context.path(side, offset));
        try out.print(",{d}," ++ faults.code ++ ",", .{formatter.lineOf(side, offset)});
        try writeCsv(out, "", try formatter.reason(side, offset));
        try out.writeByte(',');
        try writeCsv(out, "", ledger.mapping.base[offset..examined.record.end]);
        try out.writeByte('\n');
    }
};

pub const rejects_header = "path,line,code,message,record\n";

pub fn isRejected(item: Item) bool {
    return item == .single and item.single.kind == .rejected;
}

fn placesOf(item: Item) [2]?u64 {
    return switch (item) {
        .mismatch, .matched => |pair| .{ pair.internal, pair.external },
        .single => |single| if (single.side == .internal) .{ single.offset, null } else .{ null, single.offset },
    };
}

fn typeName(item: Item) []const u8 {
    return switch (item) {
        .mismatch => "mismatch",
        .matched => "matched",
        .single => |single| @tagName(single.kind),
    };
}

fn writeNumber(out: *Writer, number: u64) Writer.Error!void {
    var digits: [20]u8 = undefined;
    var at: usize = digits.len;
    var rest = number;
    while (true) {
        at -= 1;
        digits[at] = '0' + @as(u8, @intCast(rest % 10));
        rest /= 10;
        if (rest == 0) break;
    }
    try out.writeAll(digits[at..]);
}

/// A JSON string. `text` is UTF-8, or what is not is written as U+FFFD (paths only: keys and values were checked).
pub fn writeJsonText(out: *Writer, text: []const u8) Writer.Error!void {
    try out.writeByte('"');
    var from: usize = 0;
    var at: usize = 0;
    while (at < text.len) {
        const byte = text[at];
        if (byte >= 0x80) {
            const len = std.unicode.utf8ByteSequenceLength(byte) catch 0;
            if (len != 0 and at + len <= text.len and std.unicode.utf8ValidateSlice(text[at..][0..len])) {
                at += len;
                continue;
            }
            try out.writeAll(text[from..at]);
            try out.writeAll("\u{fffd}");
        } else if (byte < 0x20 or byte == '"' or byte == '\\' or byte == 0x7f) {
            try out.writeAll(text[from..at]);
            switch (byte) {
                '"' => try out.writeAll("\\\""),
                '\\' => try out.writeAll("\\\\"),
                '\n' => try out.writeAll("\\n"),
                '\r' => try out.writeAll("\\r"),
                '\t' => try out.writeAll("\\t"),
                else => try out.print("\\u{x:0>4}", .{byte}),
            }
        } else {
            at += 1;
            continue;
        }
        at += 1;
        from = at;
    }
    try out.writeAll(text[from..]);
    try out.writeByte('"');
}

/// A CSV field, quoted where it must be.
fn writeCsv(out: *Writer, prefix: []const u8, text: []const u8) Writer.Error!void {
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
