//! Writes breaks as lines of the `.jsonl` or `.csv` file (docs/architecture.md): one worker's formatter. The terminal
//! summary and `recon explain` show the same JSON lines.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("../csv/record.zig");
const faults = @import("../csv/faults.zig");
const Rule = @import("../match/rule.zig").Rule;
const Verdict = @import("../match/rule.zig").Verdict;
const ratio = @import("../value/ratio.zig");
const Tolerance = @import("../value/tolerance.zig").Tolerance;
const Decimal = @import("../value/decimal.zig").Decimal;
const ledger_module = @import("../csv/ledger.zig");
const findings = @import("../match/findings.zig");
const Lines = @import("lines.zig").Lines;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Writer = std.Io.Writer;
const writeCsv = record.writeField;

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
    rules: []const Rule,
    all_columns: []const abi.ColumnSpec,
    /// Every column of every pair is described, with how its values relate.
    explain: bool,

    fn ledger(context: *const Context, side: Side) *const Ledger {
        return context.ledgers[@intFromEnum(side)].?;
    }

    fn severalFiles(context: *const Context) [2]bool {
        var several: [2]bool = @splat(false);
        for (context.ledgers, &several) |side, *is| is.* = if (side) |l| l.paths() > 1 else false;
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
            fields.* = try gpa.alloc(record.Field, l.capacity);
        };
        return formatter;
    }

    pub fn deinit(formatter: *Formatter) void {
        for (formatter.fields) |fields| formatter.gpa.free(fields);
        formatter.scratch.deinit();
    }

    const Origin = struct { path: []const u8, line: u64 };

    /// Where the row at `offset`, whose fields were split, comes from.
    fn originOf(formatter: *Formatter, side: Side, offset: u64) Origin {
        const ledger = formatter.context.ledger(side);
        if (ledger.placesOf(offset, formatter.fields[@intFromEnum(side)])) |places| {
            var all = places;
            return originAt(ledger, all.next() orelse .{ .file = 0, .line = 0 });
        }
        return .{
            .path = ledger.mapping.files[ledger.mapping.fileOf(offset)].path,
            .line = formatter.cursors[@intFromEnum(side)].lineOf(formatter.context.lines[@intFromEnum(side)].?, offset),
        };
    }

    fn originAt(ledger: *const Ledger, place: Ledger.Place) Origin {
        return .{ .path = ledger.pathAt(place), .line = place.line };
    }

    /// One object and a line end.
    pub fn writeJson(formatter: *Formatter, out: *Writer, number: u64, item: Item) Error!void {
        formatter.scratch.reset();
        const places = placesOf(item);
        try formatter.parse(item);
        try out.writeAll("{\"break\":");
        try writeNumber(out, number);
        try out.writeAll(",\"type\":\"");
        try out.writeAll(typeName(item));
        try out.writeAll("\",\"key\":{");
        if (!isRejected(item)) try formatter.writeJsonKey(out, places);
        try out.writeByte('}');
        for ([_]Side{ .internal, .external }, places) |side, place| {
            try out.writeAll(if (side == .internal) ",\"internal\":" else ",\"external\":");
            if (place) |offset| try formatter.writeJsonPlace(out, side, offset) else try out.writeAll("null");
        }
        try out.writeAll(",\"columns\":{");
        if (hasRow(item)) try formatter.writeJsonColumns(out, places);
        try out.writeByte('}');
        if (reasonSide(item)) |side| {
            const reason = try formatter.reasonOf(side, item.single.offset);
            try out.writeAll(",\"reason\":{\"code\":");
            try writeJsonText(out, reason.code);
            try out.writeAll(",\"message\":");
            try writeJsonText(out, reason.message);
            try out.writeByte('}');
        }
        try out.writeAll("}\n");
    }

    fn writeJsonPlace(formatter: *Formatter, out: *Writer, side: Side, offset: u64) Error!void {
        const origin = formatter.originOf(side, offset);
        try out.writeByte('{');
        try writeJsonOrigin(out, origin);
        const ledger = formatter.context.ledger(side);
        if (ledger.isGrouped()) {
            var places = ledger.placesOf(offset, formatter.fields[@intFromEnum(side)]).?;
            try out.writeAll(",\"members\":[");
            var first = true;
            while (places.next()) |place| {
                try out.writeAll(if (first) "{" else ",{");
                first = false;
                try writeJsonOrigin(out, originAt(ledger, place));
                try out.writeByte('}');
            }
            try out.writeByte(']');
        }
        try out.writeByte('}');
    }

    fn writeJsonOrigin(out: *Writer, origin: Origin) Error!void {
        try out.writeAll("\"path\":");
        try writeJsonText(out, origin.path);
        try out.writeAll(",\"line\":");
        try writeNumber(out, origin.line);
    }

    fn writeJsonKey(formatter: *Formatter, out: *Writer, places: [2]?u64) Error!void {
        const side: Side = if (places[0] != null) .internal else .external;
        for (formatter.context.key, 0..) |column, i| {
            if (i != 0) try out.writeByte(',');
            try writeJsonText(out, column.name);
            try out.writeByte(':');
            try writeJsonText(out, try formatter.shownKey(side, places, column));
        }
    }

    fn writeJsonColumns(formatter: *Formatter, out: *Writer, places: [2]?u64) Error!void {
        var first = true;
        for (formatter.context.rules) |*rule| {
            const cell = try formatter.cellOf(places, rule);
            if (!cell.reported and !formatter.context.explain) continue;
            if (!first) try out.writeByte(',');
            first = false;
            try writeJsonText(out, rule.name);
            for ([_][]const u8{ ":{\"internal\":", ",\"external\":" }, cell.shown) |label, value| {
                try out.writeAll(label);
                if (value) |text| try writeJsonText(out, text) else try out.writeAll("null");
            }
            try out.writeAll(",\"difference\":\"");
            try out.writeAll(cell.difference);
            try out.writeByte('"');
            if (formatter.context.explain) try formatter.writeJsonExplanation(out, rule, cell);
            try out.writeByte('}');
        }
    }

    /// How the values were read and compared (recon explain): decimals as numbers, `bound` where the tolerance is a share.
    fn writeJsonExplanation(formatter: *Formatter, out: *Writer, rule: *const Rule, cell: Cell) Error!void {
        try out.print(",\"columnType\":\"{t}\"", .{rule.type});
        if (cell.verdict) |verdict| try out.print(",\"how\":\"{t}\"", .{verdict});
        const gpa = formatter.scratch.gpa();
        var numbers: [2]?Decimal = @splat(null);
        for ([_][]const u8{ ",\"internalValue\":", ",\"externalValue\":" }, cell.values, [_]Side{ .internal, .external }, &numbers) |label, value, side, *number| if (value) |text| {
            if (rule.type == .decimal) number.* = try rule.number(gpa, side, text);
            try out.writeAll(label);
            if (number.*) |decimal| try out.print("\"{f}\"", .{decimal}) else try writeJsonText(out, text);
        };
        const tolerance = cell.tolerance orelse return;
        try out.print(",\"tolerance\":{{\"amount\":\"{f}\",\"unit\":\"{t}\"", .{ tolerance.declared, tolerance.unit });
        if (tolerance.cap) |cap| try out.print(",\"max\":\"{f}\"", .{cap});
        if (tolerance.relative) if (numbers[0]) |*internal| if (numbers[1]) |*external| {
            try out.print(",\"bound\":\"{f}\"", .{try tolerance.boundOf(gpa, internal, external)});
        };
        try out.writeByte('}');
    }

    /// One line per broken column, one line for breaks without columns.
    pub fn writeCsvLines(formatter: *Formatter, out: *Writer, number: u64, item: Item) Error!void {
        formatter.scratch.reset();
        if (item == .single and hasRow(item)) formatter.parseKey(item.single.side, item.single.offset) else try formatter.parse(item);
        const places = placesOf(item);
        if (item != .mismatch) {
            try formatter.writeCsvStart(out, number, item);
            return out.writeAll(",,,,\n");
        }
        for (formatter.context.rules) |*rule| {
            const cell = try formatter.cellOf(places, rule);
            if (!cell.reported) continue;
            try formatter.writeCsvStart(out, number, item);
            for ([_][]const u8{ rule.name, cell.shown[0].?, cell.shown[1].?, cell.difference }) |text| {
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
            if (!isRejected(item)) try writeCsv(out, "", try formatter.shownKey(side, places, column));
        }
        const several = formatter.context.severalFiles();
        for ([_]Side{ .internal, .external }, places, several) |place_side, place, with_path| {
            const origin: ?Origin = if (place) |offset| formatter.originOf(place_side, offset) else null;
            if (with_path) {
                try out.writeByte(',');
                if (origin) |o| try writeCsv(out, "", o.path);
            }
            try out.writeByte(',');
            if (origin) |o| try writeNumber(out, o.line);
        }
    }

    const Cell = struct {
        shown: [2]?[]const u8,
        /// As compared.
        values: [2]?[]const u8 = @splat(null),
        difference: []const u8 = "",
        verdict: ?Verdict = null,
        tolerance: ?*const Tolerance = null,
        /// Whether the break is (also) about this column.
        reported: bool = true,
    };

    fn cellOf(formatter: *Formatter, places: [2]?u64, rule: *const Rule) Error!Cell {
        if (places[0] == null) return .{ .shown = .{ null, try formatter.shown(.external, places, rule) } };
        if (places[1] == null) return .{ .shown = .{ try formatter.shown(.internal, places, rule), null } };
        const internal = try formatter.compared(.internal, places, rule.internal);
        const external = try formatter.compared(.external, places, rule.external);
        const tolerance = if (rule.by) |by| rule.toleranceFor(try formatter.compared(.internal, places, by.column)) else rule.tolerance;
        const verdict = try rule.verdict(formatter.scratch.gpa(), tolerance, internal, external);
        return .{
            .shown = .{ try formatter.shown(.internal, places, rule), try formatter.shown(.external, places, rule) },
            .values = .{ internal, external },
            .difference = if (verdict.isEqual()) "" else try formatter.difference(rule, internal, external),
            .verdict = verdict,
            .tolerance = tolerance,
            .reported = verdict == .differs,
        };
    }

    fn difference(formatter: *Formatter, rule: *const Rule, internal: []const u8, external: []const u8) Error![]const u8 {
        const number = try rule.difference(formatter.scratch.gpa(), internal, external) orelse return "";
        return std.fmt.allocPrint(formatter.scratch.gpa(), "{s}{f}", .{ if (rule.type == .ratio) "~" else "", number });
    }

    fn shown(formatter: *Formatter, side: Side, places: [2]?u64, rule: *const Rule) Error![]const u8 {
        const index = @intFromEnum(side);
        const ledger = formatter.context.ledger(side);
        const text = try ledger.shown(.of(places[index].?, 0), formatter.fields[index][rule.place(side)], &formatter.scratch);
        return if (rule.type == .ratio and ledger.isGrouped()) formatter.decimals(ledger, text) else text;
    }

    /// An average, which no file has as it is written here, in decimals.
    fn decimals(formatter: *Formatter, ledger: *const Ledger, text: []const u8) Error![]const u8 {
        const gpa = formatter.scratch.gpa();
        const average = try ratio.Ratio.parse(gpa, &ledger.reading.number, text) orelse return text;
        var out: std.Io.Writer.Allocating = .init(gpa);
        ratio.write(gpa, &out.writer, &average) catch return error.OutOfMemory;
        return out.written();
    }

    fn shownKey(formatter: *Formatter, side: Side, places: [2]?u64, column: abi.ColumnSpec) Error![]const u8 {
        const index = @intFromEnum(side);
        const place = side.of(column);
        return formatter.context.ledger(side).shown(.of(places[index].?, 0), formatter.fields[index][place], &formatter.scratch);
    }

    fn compared(formatter: *Formatter, side: Side, places: [2]?u64, column: u32) Error![]const u8 {
        const index = @intFromEnum(side);
        return formatter.context.ledger(side).value(.of(places[index].?, 0), formatter.fields[index], column, &formatter.scratch);
    }

    /// Splits the rows of an item; a record that is no row goes through the grammar.
    fn parse(formatter: *Formatter, item: Item) Error!void {
        for ([_]Side{ .internal, .external }, placesOf(item), formatter.fields) |side, place, fields| {
            const offset = place orelse continue;
            const ledger = formatter.context.ledger(side);
            if (hasRow(item)) ledger.split(ledger.refAt(offset), fields) else ledger.parseFields(offset, fields[0..ledger.capacity]);
        }
    }

    fn parseKey(formatter: *Formatter, side: Side, offset: u64) void {
        formatter.context.ledger(side).splitKey(offset, formatter.fields[@intFromEnum(side)]);
    }

    /// Why a record was set aside. Its fields were parsed.
    fn reasonOf(formatter: *Formatter, side: Side, offset: u64) Error!faults.Reason {
        const ledger = formatter.context.ledger(side);
        const fields = formatter.fields[@intFromEnum(side)];
        const examined = try ledger.examine(offset, fields, &formatter.scratch);
        const fault: ledger_module.Fault = examined.fault orelse if (examined.event != null) .{ .kind = .event } else return .{ .code = faults.code, .message = "" }; // only if the file changed
        return faults.reason(&formatter.scratch, ledger, formatter.context.all_columns, offset, fields, fault);
    }

    /// One line of the rejects file: path,line,code,message,record.
    pub fn writeReject(formatter: *Formatter, out: *Writer, side: Side, offset: u64) Error!void {
        formatter.scratch.reset();
        const ledger = formatter.context.ledger(side);
        const fields = formatter.fields[@intFromEnum(side)];
        const examined = try ledger.examine(offset, fields, &formatter.scratch);
        const origin = formatter.originOf(side, offset);
        const reason = try formatter.reasonOf(side, offset);
        try writeCsv(out, "", origin.path);
        try out.print(",{d},", .{origin.line});
        const record_text = if (examined.event != null) try ledger.eventText(offset, fields, 3, &formatter.scratch) else ledger.mapping.base[offset..examined.record.end];
        for ([_][]const u8{ reason.code, reason.message, record_text }, 0..) |text, i| {
            if (i != 0) try out.writeByte(',');
            try writeCsv(out, "", text);
        }
        try out.writeByte('\n');
    }
};

pub const rejects_header = "path,line,code,message,record\n";

pub fn isRejected(item: Item) bool {
    return item == .single and item.single.kind == .rejected;
}

/// Orphans and conflicts, like rejected records, are no rows and say why they are there.
fn hasRow(item: Item) bool {
    return item != .single or switch (item.single.kind) {
        .rejected, .orphan, .conflict => false,
        else => true,
    };
}

fn reasonSide(item: Item) ?Side {
    return if (hasRow(item)) null else item.single.side;
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
