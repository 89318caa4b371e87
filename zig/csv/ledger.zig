//! One side of a reconciliation as the engine reads it: mapped bytes, dialect, and which columns are key and compared.
//! Rows are known by a `Ref`; fields and values are split out of the bytes again whenever they are needed.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("record.zig");
const masks = @import("../kernel/masks.zig");
const Mapping = @import("../source/mapping.zig").Mapping;
const reading_module = @import("reading.zig");
const Control = @import("../control.zig").Control;
const Reading = reading_module.Reading;

/// Where a row is: offset in the mapping and length without line end (saturated; then parsed again).
pub const Ref = packed struct(u64) {
    offset: u48,
    len: u16,

    pub const saturated: u16 = std.math.maxInt(u16);

    pub fn of(offset: u64, len: u64) Ref {
        return .{ .offset = @intCast(offset), .len = @intCast(@min(len, saturated)) };
    }
};

pub const Side = enum(u1) {
    internal,
    external,

    /// What `pair`, which has one of something for each side, has for this one.
    pub inline fn of(side: Side, pair: anytype) @TypeOf(pair.internal) {
        return if (side == .internal) pair.internal else pair.external;
    }
};

/// Why a row is bad. `at` is the offending byte, or null where only the line is known.
pub const Fault = struct {
    kind: Kind,
    at: ?u64 = null,
    /// The number of fields for `width`, the column's place for faults of one value.
    detail: u32 = 0,
    /// The value of a column that breaks a rule, as the file has it but for doubled quotes.
    text: []const u8 = "",

    pub const Kind = enum {
        text_after_quote,
        blank_before_quote,
        unterminated,
        too_long,
        width,
        trailing_value,
        nul_in_key,
        not_utf8,
        /// A rejected message or row of the source that a derived ledger was written from.
        event,
        unmapped,
        unsigned,
        twice_signed,
        not_a_number,
        not_a_time,
        no_zone,
        skipped_time,
        repeated_time,
        not_a_date,
    };
};

/// What a record is. `filtered` and `event` records are no rows of the reconciliation.
pub const Examined = struct {
    record: record.Record,
    fault: ?Fault = null,
    filtered: bool = false,
    event: ?abi.BreakType = null,
};

const Checked = struct { column: u32, is_key: bool };

pub const Ledger = struct {
    side: Side,
    spec: abi.LedgerSpec,
    mapping: Mapping,
    dialect: record.Dialect,
    /// Fields every record must have, the unnamed last one (empty, or the origin) included.
    width: u32,
    /// Room for fields that `examine` needs.
    capacity: u32,
    reading: Reading,
    key: []const u32,
    compare: []const u32,
    /// Key and compared columns and those that rules read, by place, for the checks of every row.
    checked: []const Checked,
    /// Fields 0..needed hold every column that is used, 0..key_needed the key and what its values are read by.
    needed: u32,
    key_needed: u32 = 0,
    /// No rule changes any value: values are what the file spells.
    is_plain: bool = false,

    /// How many fields an event has behind its origin: kind, code, message, record.
    const event_fields = 4;

    /// `arena` owns what is allocated; `close` unmaps.
    pub fn open(arena: std.mem.Allocator, side: Side, spec: abi.LedgerSpec, job: abi.RunSpec, control: *Control) !Ledger {
        const used: Used = .{
            .key = try columnsOf(arena, side, job.key),
            .compare = try columnsOf(arena, side, job.compare),
            .typed = try typedColumns(arena, side, job),
            .others = try otherColumns(arena, side, job),
        };
        return openUsed(arena, side, spec, used, control);
    }

    /// The columns of one side that a job uses, by place: `typed` are validated on every row, `others` are read by rules.
    pub const Used = struct {
        key: []const u32,
        compare: []const u32 = &.{},
        typed: []const reading_module.Typed = &.{},
        others: []const u32 = &.{},
    };

    pub fn openUsed(arena: std.mem.Allocator, side: Side, spec: abi.LedgerSpec, used: Used, control: *Control) !Ledger {
        const width = spec.width + @intFromBool(spec.trailing) + @intFromBool(spec.origin != null);
        var ledger: Ledger = .{
            .side = side,
            .spec = spec,
            .mapping = undefined,
            .dialect = .{ .delimiter = spec.delimiter, .quote = spec.quote, .trim = spec.trim },
            .width = width,
            .capacity = if (spec.origin == null) width else width + event_fields,
            .reading = undefined,
            .key = used.key,
            .compare = used.compare,
            .checked = &.{},
            .needed = 0,
        };
        ledger.reading = try .init(arena, spec, used.typed);
        ledger.is_plain = !spec.trim and !spec.fold_case and spec.nulls.len == 0 and spec.maps.len == 0 and spec.signs.len == 0;
        ledger.checked = try checkedColumns(arena, &ledger, used);
        ledger.needed = if (spec.origin == null) ledger.checked[ledger.checked.len - 1].column + 1 else width;
        std.debug.assert(ledger.needed <= width);
        // A mapped or signed key may read any column.
        ledger.key_needed = if (ledger.hasVerbatimKeys()) std.mem.max(u32, used.key) + 1 else ledger.needed;
        ledger.mapping = try Mapping.open(arena, spec.files, control);
        return ledger;
    }

    fn checkedColumns(arena: std.mem.Allocator, ledger: *const Ledger, used: Used) ![]const Checked {
        var checked: std.ArrayList(Checked) = .empty;
        for (used.key) |column| try checked.append(arena, .{ .column = column, .is_key = true });
        var all: std.ArrayList(u32) = .empty;
        try all.appendSlice(arena, used.compare);
        try all.appendSlice(arena, used.others);
        try ledger.reading.addColumns(arena, &all);
        for (ledger.spec.files) |file| if (file.trailer) |trailer| for (trailer.sums) |sum| try all.append(arena, sum.column);
        std.mem.sort(u32, all.items, {}, std.sort.asc(u32));
        for (all.items, 0..) |column, i| {
            const seen = i != 0 and all.items[i - 1] == column;
            if (!seen and std.mem.findScalar(u32, used.key, column) == null) try checked.append(arena, .{ .column = column, .is_key = false });
        }
        std.mem.sort(Checked, checked.items, {}, struct {
            fn before(_: void, a: Checked, b: Checked) bool {
                return a.column < b.column;
            }
        }.before);
        return checked.items;
    }

    pub fn close(ledger: *Ledger, arena: std.mem.Allocator) void {
        ledger.mapping.close(arena);
    }

    /// About how many rows there are, from the first bytes of each file.
    pub fn estimateRows(ledger: *const Ledger) u64 {
        var rows: u64 = 0;
        for (ledger.mapping.files) |file| {
            const sample = @min(file.end - file.first, 64 * 1024);
            const lines = std.mem.countScalar(u8, ledger.mapping.base[file.first..][0..sample], '\n') + 1;
            rows += (file.end - file.first) / (sample / lines + 1) + 1;
        }
        return rows;
    }

    /// Whether keys are the file's own bytes, but for quotes.
    pub fn hasVerbatimKeys(ledger: *const Ledger) bool {
        for (ledger.key) |column| if (!ledger.reading.keeps(column)) return false;
        return !ledger.dialect.trim and !ledger.spec.fold_case and ledger.reading.nulls.len == 0;
    }

    pub fn fileEnd(ledger: *const Ledger, offset: u64) u64 {
        return ledger.mapping.files[ledger.mapping.fileOf(offset)].end;
    }

    /// Splits a well-formed row into its first `needed` fields; `out` holds as many.
    pub fn split(ledger: *const Ledger, ref: Ref, out: []record.Field) void {
        const wanted = out[0..ledger.needed];
        const whole = if (ref.len == Ref.saturated) ledger.refAt(ref.offset) else ref;
        if (whole.len == Ref.saturated or !ledger.splitPlain(whole, wanted)) ledger.parseFields(ref.offset, wanted);
    }

    /// Splits a well-formed row as far as its key goes, or further.
    pub fn splitKey(ledger: *const Ledger, offset: u64, out: []record.Field) void {
        if (ledger.spec.origin != null or !ledger.splitPlainKey(offset, out[0..ledger.key_needed])) ledger.split(ledger.refAt(offset), out);
    }

    /// False where a quote, the row's end or the end of what is looked at comes first.
    fn splitPlainKey(ledger: *const Ledger, offset: u64, wanted: []record.Field) bool {
        const row = ledger.mapping.base + offset;
        const behind: u32 = @intCast(@min(max_seen_bytes, ledger.fileEnd(offset) - offset));
        var count: usize = 0;
        var start: u32 = 0;
        var at: u32 = 0;
        while (at < behind) : (at += 64) {
            const block = masks.load(row + at);
            const line_ends = masks.equal(block, '\n');
            const quotes = if (ledger.dialect.quote) |quote| masks.equal(block, quote) else 0;
            var delimiters = masks.equal(block, ledger.dialect.delimiter);
            const stops = line_ends | quotes;
            if (stops != 0) delimiters &= masks.firstBits(@ctz(stops));
            while (delimiters != 0) : (delimiters &= delimiters - 1) {
                const end = at + @ctz(delimiters);
                if (end >= behind) return false;
                wanted[count] = .{ .start = start, .len = end - start, .form = .plain };
                count += 1;
                if (count == wanted.len) return true;
                start = end + 1;
            }
            if (stops != 0) return false;
        }
        return false;
    }

    /// The well-formed row at `offset`, with its length where that is plainly seen in its first bytes.
    pub inline fn refAt(ledger: *const Ledger, offset: u64) Ref {
        const row = ledger.mapping.base + offset;
        const behind: usize = @intCast(@min(max_seen_bytes, ledger.fileEnd(offset) - offset));
        var separator_before: u64 = 1;
        var inside_before: u64 = 0;
        var at: usize = 0;
        while (at < behind) : (at += 64) {
            const block = masks.load(row + at);
            var line_ends = masks.equal(block, '\n');
            const quotes = if (ledger.dialect.quote) |quote| masks.equal(block, quote) else 0;
            if (quotes | inside_before != 0) {
                // Only quotes that open where a field starts, or double one, are surely no data.
                const inside = masks.prefixXor(quotes) ^ inside_before;
                const closing = quotes & ~inside;
                const separators = (masks.equal(block, ledger.dialect.delimiter) | line_ends) & ~inside;
                const openable = (separators | closing) << 1 | separator_before;
                line_ends &= ~inside;
                if (quotes & inside & ~openable & (line_ends ^ (line_ends -% 1)) != 0) return .of(offset, Ref.saturated);
                inside_before = @as(u64, 0) -% (inside >> 63);
                separator_before = (separators | closing) >> 63;
            } else separator_before = masks.equal(block, ledger.dialect.delimiter) >> 63;
            if (line_ends == 0) continue;
            const end = at + @ctz(line_ends);
            if (end >= behind) break;
            return .of(offset, end - @intFromBool(end != 0 and row[end - 1] == '\r'));
        }
        return .of(offset, Ref.saturated);
    }

    const max_seen_bytes = 4096;

    /// The fields of the record at `offset`, which was well-formed when it was scanned. Should the file have changed
    /// since, missing fields come out empty: the run ends with an error, and must not fault before.
    pub fn parseFields(ledger: *const Ledger, offset: u64, out: []record.Field) void {
        const whole = record.parse(ledger.mapping.base, offset, ledger.fileEnd(offset), ledger.dialect, out);
        if (whole.fields < out.len) @memset(out[whole.fields..], empty_field);
    }

    const empty_field: record.Field = .{ .start = 0, .len = 0, .form = .plain };

    /// The vector way for rows without quotes; false when a quote is seen.
    fn splitPlain(ledger: *const Ledger, ref: Ref, wanted: []record.Field) bool {
        const row = ledger.mapping.base + ref.offset;
        const len: u32 = ref.len;
        var count: u32 = 0;
        var start: u32 = 0;
        var at: u32 = 0;
        while (at < len) : (at += 64) {
            const block = masks.load(row + at);
            const inside = masks.firstBits(len - at);
            if (ledger.dialect.quote) |quote| if (masks.equal(block, quote) & inside != 0) return false;
            var delimiters = masks.equal(block, ledger.dialect.delimiter) & inside;
            while (delimiters != 0) : (delimiters &= delimiters - 1) {
                const end = at + @ctz(delimiters);
                wanted[count] = .{ .start = start, .len = end - start, .form = .plain };
                count += 1;
                start = end + 1;
                if (count == wanted.len) return true;
            }
        }
        wanted[count] = .{ .start = start, .len = len - start, .form = .plain };
        @memset(wanted[count + 1 ..], empty_field);
        return true;
    }

    /// The field as the file has it, unescaped: what reports show. `scratch` is used only for escaped fields.
    pub fn shown(ledger: *const Ledger, ref: Ref, field: record.Field, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const content = (ledger.mapping.base + ref.offset + field.start)[0..field.len];
        if (field.form != .escaped) return content;
        return record.unescape(content, ledger.dialect.quote.?, try scratch.take(content.len));
    }

    /// The field as it is matched and compared: unescaped, trimmed, case folded, null words emptied, mapped, signed.
    /// `fields` are those of the row, split at least as far as rules read.
    pub inline fn value(ledger: *const Ledger, ref: Ref, fields: []const record.Field, column: u32, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const field = fields[column];
        if (ledger.is_plain and field.form != .escaped) return (ledger.mapping.base + ref.offset + field.start)[0..field.len];
        return ledger.ruledValue(ref, fields, column, scratch);
    }

    fn ruledValue(ledger: *const Ledger, ref: Ref, fields: []const record.Field, column: u32, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const spelled = try ledger.spelledValue(ref, fields[column], scratch);
        if (spelled.len == 0 or ledger.reading.keeps(column)) return spelled;
        const rule = ledger.reading.columns[column];
        const mapped = if (rule.map) |map| map.get(spelled) orelse spelled else spelled;
        const sign = rule.sign orelse return mapped;
        if (try ledger.signOf(ref, fields, sign, scratch) != .negative) return mapped;
        const signed = try scratch.take(mapped.len + 1);
        signed[0] = '-';
        @memcpy(signed[1..], mapped);
        return signed;
    }

    /// Unescaped, trimmed, case folded, null words emptied.
    pub fn spelledValue(ledger: *const Ledger, ref: Ref, field: record.Field, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const bytes = try ledger.normalized(try ledger.shown(ref, field, scratch), scratch);
        return if (ledger.reading.isNull(bytes)) "" else bytes;
    }

    /// `--trim` and `--fold-case` as this side has them.
    pub fn normalized(ledger: *const Ledger, text: []const u8, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        const bytes = if (ledger.dialect.trim) trimAscii(text) else text;
        if (!ledger.spec.fold_case) return bytes;
        return std.ascii.lowerString(try scratch.take(bytes.len), bytes);
    }

    /// The sign that a code gives: what the code's column maps it to counts first, then the code itself.
    fn signOf(ledger: *const Ledger, ref: Ref, fields: []const record.Field, sign: *const reading_module.Sign, scratch: *Scratch) error{OutOfMemory}!reading_module.Sign.Found {
        const code = try ledger.spelledValue(ref, fields[sign.by], scratch);
        const mapped = if (ledger.reading.columns[sign.by].map) |map| map.get(code) orelse code else code;
        const found = sign.find(mapped);
        return if (found == .unknown) sign.find(code) else found;
    }

    /// Reads and checks the record at `start`. `fields` holds `capacity` entries and is filled.
    pub fn examine(ledger: *const Ledger, start: u64, fields: []record.Field, scratch: *Scratch) error{OutOfMemory}!Examined {
        std.debug.assert(fields.len >= ledger.capacity);
        const whole = record.parse(ledger.mapping.base, start, ledger.fileEnd(start), ledger.dialect, fields[0..ledger.capacity]);
        if (whole.blank) return .{ .record = whole };
        if (ledger.eventOf(start, whole, fields)) |kind|
            return .{ .record = whole, .event = kind, .fault = if (kind == .rejected) .{ .kind = .event } else null };
        if (ledger.structuralFault(start, whole, fields)) |fault| return .{ .record = whole, .fault = fault };
        const ref: Ref = .of(start, whole.end - start);
        if (try ledger.isFiltered(ref, fields, scratch)) return .{ .record = whole, .filtered = true };
        const fault = ledger.encodingFault(start, fields) orelse try ledger.ruleFault(ref, fields, scratch);
        return .{ .record = whole, .fault = fault };
    }

    /// The kind of event that a record of a derived ledger is; null for a row.
    fn eventOf(ledger: *const Ledger, start: u64, whole: record.Record, fields: []const record.Field) ?abi.BreakType {
        if (ledger.spec.origin == null or whole.fields != ledger.width + event_fields) return null;
        const field = fields[ledger.width];
        return std.meta.stringToEnum(abi.BreakType, (ledger.mapping.base + start + field.start)[0..field.len]);
    }

    /// Field `index` of an event: 1 code, 2 message, 3 record. `fields` are those that `examine` filled.
    pub fn eventText(ledger: *const Ledger, start: u64, fields: []const record.Field, index: u32, scratch: *Scratch) error{OutOfMemory}![]const u8 {
        return ledger.shown(.of(start, 0), fields[ledger.width + index], scratch);
    }

    /// Whether a well-formed row with the fields split is left out by `where`.
    pub fn isFiltered(ledger: *const Ledger, ref: Ref, fields: []const record.Field, scratch: *Scratch) error{OutOfMemory}!bool {
        for (ledger.reading.filters) |*filter| {
            if (!filter.has(try ledger.spelledValue(ref, fields[filter.column], scratch))) return true;
        }
        return false;
    }

    /// What is wrong with the values of a well-formed row under the rules of its columns.
    pub fn ruleFault(ledger: *const Ledger, ref: Ref, fields: []const record.Field, scratch: *Scratch) error{OutOfMemory}!?Fault {
        const reading = &ledger.reading;
        for (reading.mapped) |column| {
            const code = try ledger.spelledValue(ref, fields[column], scratch);
            if (code.len != 0 and !reading.columns[column].map.?.contains(code)) return try ledger.faultIn(.unmapped, ref, fields, column, column, scratch);
        }
        for (reading.signed) |column| {
            const number = try ledger.spelledValue(ref, fields[column], scratch);
            if (number.len == 0) continue;
            const sign = reading.columns[column].sign.?;
            if (try ledger.signOf(ref, fields, sign, scratch) == .unknown) return try ledger.faultIn(.unsigned, ref, fields, sign.by, column, scratch);
            const scanned = reading.number.scan(number) orelse return try ledger.faultIn(.not_a_number, ref, fields, column, column, scratch);
            if (scanned.signed) return try ledger.faultIn(.twice_signed, ref, fields, column, column, scratch);
        }
        for (reading.typed) |typed| {
            const text = try ledger.value(ref, fields, typed.column, scratch);
            if (reading.faultOf(typed.type, text)) |kind| return try ledger.faultIn(kind, ref, fields, typed.column, typed.column, scratch);
        }
        return null;
    }

    /// A fault of the value in `at`, told of `column`.
    fn faultIn(ledger: *const Ledger, kind: Fault.Kind, ref: Ref, fields: []const record.Field, at: u32, column: u32, scratch: *Scratch) error{OutOfMemory}!Fault {
        return .{ .kind = kind, .at = ref.offset + fields[at].start, .detail = column, .text = try ledger.shown(ref, fields[at], scratch) };
    }

    fn structuralFault(ledger: *const Ledger, start: u64, whole: record.Record, fields: []const record.Field) ?Fault {
        switch (whole.problem) {
            .none => {},
            .text_after_quote => return .{ .kind = .text_after_quote, .at = whole.at },
            .blank_before_quote => return .{ .kind = .blank_before_quote, .at = whole.at },
            .unterminated => return .{ .kind = .unterminated, .at = whole.at },
            .too_long => return .{ .kind = .too_long },
        }
        if (whole.fields != ledger.width) return .{ .kind = .width, .detail = whole.fields };
        if (ledger.spec.trailing and fields[ledger.width - 1].len != 0)
            return .{ .kind = .trailing_value, .at = start + fields[ledger.width - 1].start };
        return null;
    }

    fn encodingFault(ledger: *const Ledger, start: u64, fields: []const record.Field) ?Fault {
        for (ledger.checked) |checked| {
            const field = fields[checked.column];
            const first = start + field.start;
            const bytes = (ledger.mapping.base + first)[0..field.len];
            const nul = if (checked.is_key) std.mem.findScalar(u8, bytes, 0) else null;
            const invalid = firstInvalidUtf8(bytes);
            if (nul) |n| if (n < invalid orelse bytes.len) return .{ .kind = .nul_in_key, .at = first + n };
            if (invalid) |i| return .{ .kind = .not_utf8, .at = first + i, .detail = checked.column };
        }
        return null;
    }

    /// Where a row of a derived ledger comes from.
    pub const Place = struct { file: u32, line: u64 };

    /// The places in the origin of the row or event whose `fields` were split, in order; null for a ledger of its own.
    pub fn placesOf(ledger: *const Ledger, start: u64, fields: []const record.Field) ?Places {
        if (ledger.spec.origin == null) return null;
        const field = fields[ledger.width - 1];
        return .{ .rest = (ledger.mapping.base + start + field.start)[0..field.len] };
    }

    /// The file of a place in the origin. One that our own jobs did not write stands for a file that changed since.
    pub fn pathAt(ledger: *const Ledger, place: Place) []const u8 {
        const origin_paths = ledger.spec.origin.?.paths;
        return origin_paths[@min(place.file, origin_paths.len - 1)];
    }

    /// How many files rows come from.
    pub fn paths(ledger: *const Ledger) usize {
        return if (ledger.spec.origin) |origin| origin.paths.len else ledger.mapping.files.len;
    }

    pub fn isGrouped(ledger: *const Ledger) bool {
        return if (ledger.spec.origin) |origin| origin.grouped else false;
    }

    pub const Places = struct {
        rest: []const u8,

        pub fn next(places: *Places) ?Place {
            if (places.rest.len == 0) return null;
            const text = std.mem.cutScalar(u8, places.rest, ',') orelse .{ places.rest, "" };
            places.rest = text[1];
            const file, const line = std.mem.cutScalar(u8, text[0], ':') orelse .{ "0", text[0] };
            // Digits that our own jobs wrote; should the file have changed since, the run ends with an error.
            return .{ .file = std.fmt.parseInt(u32, file, 10) catch 0, .line = std.fmt.parseInt(u64, line, 10) catch 0 };
        }
    };
};

/// Columns of declared types, and control totals, which are numbers.
fn typedColumns(arena: std.mem.Allocator, side: Side, job: abi.RunSpec) ![]const reading_module.Typed {
    var typed: std.ArrayList(reading_module.Typed) = .empty;
    for (job.compare) |column| switch (column.type) {
        .decimal, .timestamp, .date => try typed.append(arena, .{ .column = side.of(column), .type = column.type }),
        .auto, .text, .ratio => {},
    };
    for (job.controls) |control| try typed.append(arena, .{ .column = side.of(control), .type = .decimal });
    return typed.items;
}

fn otherColumns(arena: std.mem.Allocator, side: Side, job: abi.RunSpec) ![]const u32 {
    var others: std.ArrayList(u32) = .empty;
    for (job.controls) |control| if (control.by) |by| try others.append(arena, side.of(by));
    if (side == .internal) for (job.compare) |column| if (column.tolerance_by) |by| try others.append(arena, by.column);
    return others.items;
}

fn columnsOf(arena: std.mem.Allocator, side: Side, specs: []const abi.ColumnSpec) ![]u32 {
    const columns = try arena.alloc(u32, specs.len);
    for (specs, columns) |spec, *column| column.* = side.of(spec);
    return columns;
}

/// ASCII 09 to 0D and 20, as `--trim` says; a no-break space stays.
pub fn trimAscii(bytes: []const u8) []const u8 {
    return std.mem.trim(u8, bytes, "\t\n\x0b\x0c\r ");
}

pub fn firstInvalidUtf8(bytes: []const u8) ?usize {
    var at: usize = 0;
    while (at < bytes.len) {
        if (bytes[at] < 0x80) {
            at += 1;
            continue;
        }
        const len = std.unicode.utf8ByteSequenceLength(bytes[at]) catch return at;
        if (at + len > bytes.len) return at;
        if (!std.unicode.utf8ValidateSlice(bytes[at..][0..len])) return at;
        at += len;
    }
    return null;
}

/// Memory for unescaped and folded values of one pair; `reset` before the next.
pub const Scratch = struct {
    arena: std.heap.ArenaAllocator,

    pub fn init(allocator: std.mem.Allocator) Scratch {
        return .{ .arena = .init(allocator) };
    }

    pub fn deinit(scratch: *Scratch) void {
        scratch.arena.deinit();
    }

    /// For what lives until the next `reset`.
    pub fn gpa(scratch: *Scratch) std.mem.Allocator {
        return scratch.arena.allocator();
    }

    pub fn reset(scratch: *Scratch) void {
        // Most pairs need none, and giving back nothing is not free either.
        if (scratch.arena.state.used_list == null and scratch.arena.state.free_list == null) return;
        _ = scratch.arena.reset(.{ .retain_with_limit = 1 << 20 });
    }

    /// At least `len` bytes, with room to read ahead behind them.
    pub fn take(scratch: *Scratch, len: usize) error{OutOfMemory}![]u8 {
        return (try scratch.arena.allocator().alloc(u8, len + 64))[0..len];
    }
};

test "the first byte that is not UTF-8" {
    try std.testing.expectEqual(null, firstInvalidUtf8("Société €"));
    try std.testing.expectEqual(4, firstInvalidUtf8("Soci\xe9t\xe9"));
    try std.testing.expectEqual(1, firstInvalidUtf8("a\xed\xa0\x80"));
    try std.testing.expectEqual(0, firstInvalidUtf8("\xc3"));
}
