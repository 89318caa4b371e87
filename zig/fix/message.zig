//! The FIX parser: finds messages by their own framing, verifies BodyLength and CheckSum, and decodes every field into a
//! direct-indexed table of places. No memory is allocated for a message; nothing is copied. Used by read.zig and bench.zig.
//!
//! A message starts with `8=FIX…`, a separator, and `9=` digits; the separator is what follows the BeginString and is decided
//! for each message. SOH messages are read with vectors; printed ones (`|`, `^A`, …) byte by byte.
const std = @import("std");
const masks = @import("../kernel/masks.zig");
const dictionary = @import("dictionary.zig");

/// How the fields of a message end, in the order in which they are tried.
pub const Separator = enum {
    soh,
    pipe,
    semicolon,
    tab,
    caret_a,
    caret,
    angle_soh,

    pub fn text(separator: Separator) []const u8 {
        return switch (separator) {
            .soh => "\x01",
            .pipe => "|",
            .semicolon => ";",
            .tab => "\t",
            .caret_a => "^A",
            .caret => "^",
            .angle_soh => "<SOH>",
        };
    }
};

/// Why a message is garbled.
pub const Defect = enum { bad_checksum, bad_body_length, bad_tag, bad_data_length, truncated };

/// The place of a field's value, from the message's start.
pub const Field = struct { tag: u32, start: u32, len: u32 };

/// Where a message starts and what its first two fields say.
pub const Start = struct {
    at: u64,
    separator: Separator,
    /// The value of BodyLength; saturated.
    body_length: u64,
    length_start: u64,
    length_end: u64,
};

const max_begin_string = 16;
/// More fields than end in 64 bytes, the data of one of them included.
const fields_per_block = 64;

/// The first message start at `from` or behind it in bytes[0..end].
pub fn findStart(bytes: [*]const u8, from: u64, end: u64) ?Start {
    // Nearly always one stands right behind the last message or its line end.
    if (from < end) if (usualStart(bytes, from + @intFromBool(bytes[from] == '\n'), end)) |start| return start;
    var at = from;
    while (at < end) : (at += 64) {
        var found = masks.equal(masks.load(bytes + at), '8') & masks.equal(masks.load(bytes + at + 1), '=') & masks.equal(masks.load(bytes + at + 2), 'F');
        while (found != 0) : (found &= found - 1) {
            const place = at + @ctz(found);
            if (place >= end) return null;
            if (startAt(bytes, place, end)) |start| return start;
        }
    }
    return null;
}

/// The message start at exactly `at`; null if there is none.
pub fn startAt(bytes: [*]const u8, at: u64, end: u64) ?Start {
    if (usualStart(bytes, at, end)) |start| return start;
    if (end - at < 12 or !std.mem.eql(u8, bytes[at..][0..5], "8=FIX")) return null;
    var place = at + 5;
    while (place < end and place - at < max_begin_string and (std.ascii.isAlphanumeric(bytes[place]) or bytes[place] == '.')) place += 1;
    const separator = separatorAt(bytes, place, end) orelse return null;
    place += separator.text().len;
    if (place + 3 > end or bytes[place] != '9' or bytes[place + 1] != '=' or !std.ascii.isDigit(bytes[place + 2])) return null;
    place += 2;
    const length_start = place;
    var length: u64 = 0;
    while (place < end and std.ascii.isDigit(bytes[place])) : (place += 1) length = @min(length * 10 + (bytes[place] - '0'), 1 << 40);
    return .{ .at = at, .separator = separator, .body_length = length, .length_start = length_start, .length_end = place };
}

/// The start of nearly every message: `8=FIX.4.x` or `8=FIXT.1.1`, SOH, and a BodyLength of one to four digits. Null for any other.
inline fn usualStart(bytes: [*]const u8, at: u64, end: u64) ?Start {
    if (end -| at < 20) return null;
    const name = std.mem.readInt(u64, bytes[at..][0..8], .little);
    const plain = name == comptime std.mem.readInt(u64, "8=FIX.4.", .little);
    if (!plain and name != comptime std.mem.readInt(u64, "8=FIXT.1", .little)) return null;
    const behind = at + if (plain) @as(u64, 9) else 10;
    if (!std.ascii.isDigit(bytes[behind - 1]) or !std.mem.eql(u8, bytes[behind..][0..3], "\x019=")) return null;
    const length_start = behind + 3;
    var length: u64 = 0;
    for (0..5) |i| {
        const digit = bytes[length_start + i] -% '0';
        if (digit <= 9) {
            length = length * 10 + digit;
        } else if (i == 0) {
            return null;
        } else return .{ .at = at, .separator = .soh, .body_length = length, .length_start = length_start, .length_end = length_start + i };
    }
    return null;
}

fn separatorAt(bytes: [*]const u8, at: u64, end: u64) ?Separator {
    for (std.enums.values(Separator)) |separator| if (standsAt(bytes, at, end, separator.text())) return separator;
    return null;
}

fn standsAt(bytes: [*]const u8, at: u64, end: u64, text: []const u8) bool {
    return end - at >= text.len and std.mem.eql(u8, bytes[at..][0..text.len], text);
}

const Slot = struct { generation: u32, start: u32, len: u32 };

pub const Checks = struct {
    verify: bool = true,
    /// Wrong lengths and checksums do not keep a message from being read.
    tolerate: bool = false,
};

/// One message at a time: its fields in order, and the first of each tag by direct index. Not shared between threads.
pub const Parser = struct {
    gpa: std.mem.Allocator,
    bytes: [*]const u8 = undefined,
    start: u64 = 0,
    /// Behind the message, its last separator included.
    end: u64 = 0,
    fields: []Field,
    count: usize = 0,
    generation: u32 = 0,
    slots: *[dictionary.table_tags]Slot,
    /// A check failed and was tolerated.
    warned: ?Defect = null,
    separator: Separator = .soh,

    pub fn init(gpa: std.mem.Allocator) error{OutOfMemory}!Parser {
        const slots = try gpa.create([dictionary.table_tags]Slot);
        errdefer gpa.destroy(slots);
        @memset(slots, .{ .generation = 0, .start = 0, .len = 0 });
        return .{ .gpa = gpa, .slots = slots, .fields = try gpa.alloc(Field, 512) };
    }

    pub fn deinit(parser: *Parser) void {
        parser.gpa.destroy(parser.slots);
        parser.gpa.free(parser.fields);
    }

    /// The value of a tag's first field.
    pub inline fn get(parser: *const Parser, tag: u32) ?[]const u8 {
        if (tag >= dictionary.table_tags) return parser.getCustom(tag);
        const slot = parser.slots[tag];
        if (slot.generation != parser.generation) return null;
        return (parser.bytes + parser.start + slot.start)[0..slot.len];
    }

    /// As `get`; empty where there is no such field.
    pub fn text(parser: *const Parser, tag: u32) []const u8 {
        const value: ?[]const u8 = parser.get(tag);
        return value orelse "";
    }

    fn getCustom(parser: *const Parser, tag: u32) ?[]const u8 {
        for (parser.fields[0..parser.count]) |field| if (field.tag == tag) return parser.valueOf(field);
        return null;
    }

    pub fn valueOf(parser: *const Parser, field: Field) []const u8 {
        return (parser.bytes + parser.start + field.start)[0..field.len];
    }

    pub fn all(parser: *const Parser) []const Field {
        return parser.fields[0..parser.count];
    }

    /// Reads the message at `start` of bytes[0..end], which can be read 64 bytes further. Returns what is wrong with it, or
    /// null; then the fields are there until the next call. Memory is allocated only for a message of more fields than any before.
    pub fn read(parser: *Parser, bytes: [*]const u8, start: Start, end: u64, checks: Checks) error{OutOfMemory}!?Defect {
        parser.bytes = bytes;
        parser.start = start.at;
        parser.separator = start.separator;
        parser.count = 0;
        parser.warned = null;
        parser.generation +%= 1;
        if (parser.generation == 0) {
            @branchHint(.cold);
            @memset(parser.slots, .{ .generation = 0, .start = 0, .len = 0 });
            parser.generation = 1;
        }
        if (usualEnd(bytes, start, end)) |usual| {
            parser.end = usual.body_end + 7;
            return parser.readSoh(start, usual.body_end, usual.sum, checks);
        }
        const body_end = parser.bodyEnd(start, end) orelse blk: {
            const sum_at = parser.findCheckSum(start, end) orelse return .truncated;
            if (!checks.tolerate) return .bad_body_length;
            parser.warned = .bad_body_length;
            break :blk sum_at;
        };
        const stated = parser.statedSum(body_end, end);
        if (stated == null and !checks.tolerate) return .bad_checksum;
        return if (start.separator == .soh) parser.readSoh(start, body_end, stated, checks) else parser.readPrinted(start, body_end, stated, checks);
    }

    /// Where CheckSum stands and what it says, of an SOH message that ends as it should. Null for any other.
    inline fn usualEnd(bytes: [*]const u8, start: Start, end: u64) ?struct { body_end: u64, sum: u8 } {
        const body = start.length_end + 1;
        const behind = body + start.body_length;
        if (start.separator != .soh or bytes[start.length_end] != 1 or start.body_length == 0 or behind + 7 > end) return null;
        const trailer = std.mem.readInt(u64, bytes[behind - 1 ..][0..8], .little);
        const mask = 0xff00_0000_ffff_ffff;
        if (trailer & mask != comptime std.mem.readInt(u64, "\x0110=\x00\x00\x00\x01", .little)) return null;
        var sum: u32 = 0;
        inline for (4..7) |i| {
            const digit: u8 = @as(u8, @truncate(trailer >> 8 * i)) -% '0';
            if (digit > 9) return null;
            sum = sum * 10 + digit;
        }
        return if (sum <= 255) .{ .body_end = behind, .sum = @intCast(sum) } else null;
    }

    /// Where CheckSum stands if BodyLength is right; null if it does not stand there.
    fn bodyEnd(parser: *const Parser, start: Start, end: u64) ?u64 {
        const separator = start.separator.text();
        if (!standsAt(parser.bytes, start.length_end, end, separator)) return null;
        const body = start.length_end + separator.len;
        const behind = if (separator.len == 1) body +| start.body_length else parser.advance(body, start.body_length, end);
        if (behind > end or end - behind < 3 or behind < body + separator.len) return null;
        if (!std.mem.eql(u8, parser.bytes[behind..][0..3], "10=")) return null;
        return if (std.mem.eql(u8, parser.bytes[behind - separator.len ..][0..separator.len], separator)) behind else null;
    }

    /// `units` bytes further, a separator counting as one.
    fn advance(parser: *const Parser, from: u64, units: u64, end: u64) u64 {
        const separator = parser.separator.text();
        var at = from;
        for (0..units) |_| {
            if (at >= end) return end + 1;
            at += if (standsAt(parser.bytes, at, end, separator)) separator.len else 1;
        }
        return at;
    }

    /// The value of CheckSum at `body_end`; null if it is not three digits and their end. Sets where the message ends.
    fn statedSum(parser: *Parser, body_end: u64, end: u64) ?u8 {
        const digits = body_end + 3;
        const separator = parser.separator.text();
        var behind = digits;
        var sum: u32 = 0;
        while (behind < end and behind < digits + 3 and std.ascii.isDigit(parser.bytes[behind])) : (behind += 1) sum = sum * 10 + (parser.bytes[behind] - '0');
        const ended = standsAt(parser.bytes, behind, end, separator);
        parser.end = if (ended) behind + separator.len else behind;
        const over = ended or behind == end or parser.bytes[behind] == '\n' or parser.bytes[behind] == '\r';
        return if (behind == digits + 3 and over and sum <= 255) @intCast(sum) else null;
    }

    /// A separator, `10=`, three digits and their end, before the next message or the end of the file.
    fn findCheckSum(parser: *const Parser, start: Start, end: u64) ?u64 {
        const separator = start.separator.text();
        const next = findStart(parser.bytes, start.at + 1, end);
        const limit = if (next) |s| s.at else end;
        var at = start.length_end;
        while (std.mem.findPos(u8, parser.bytes[0..limit], at, "10=")) |found| : (at = found + 1) {
            if (found + 6 > limit or found < start.length_end + separator.len) continue;
            if (!std.mem.eql(u8, parser.bytes[found - separator.len ..][0..separator.len], separator)) continue;
            for (parser.bytes[found + 3 ..][0..3]) |byte| {
                if (!std.ascii.isDigit(byte)) break;
            } else {
                const behind = found + 6;
                if (behind == end or standsAt(parser.bytes, behind, limit, separator) or parser.bytes[behind] == '\n' or parser.bytes[behind] == '\r') return found;
            }
        }
        return null;
    }

    fn readSoh(parser: *Parser, start: Start, body_end: u64, stated: ?u8, checks: Checks) error{OutOfMemory}!?Defect {
        if (checks.verify or checks.tolerate) if (stated == null or stated.? != sumOf(parser.bytes + start.at, @intCast(body_end - start.at))) {
            if (!checks.tolerate) return .bad_checksum;
            if (parser.warned == null) parser.warned = .bad_checksum;
        };
        const base = parser.bytes + start.at;
        const len: usize = @intCast(parser.end - start.at);
        if (len > std.math.maxInt(u32)) return .bad_body_length;
        // In registers: for all the compiler knows, storing a field changes the parser.
        const slots = parser.slots;
        const generation = parser.generation;
        var at: usize = 0;
        var block: usize = 0;
        blocks: while (block < len) {
            if (parser.fields.len - parser.count < fields_per_block) try parser.grow();
            var next = parser.fields.ptr + parser.count;
            defer parser.count = next - parser.fields.ptr;
            var ends = separatorsIn(base, block, len) & ~masks.firstBits(at -| block);
            while (ends != 0) : (ends &= ends - 1) {
                const field_end = block + @ctz(ends);
                const tag, const name_len = tagAt(base + at) orelse return .bad_tag;
                const value = at + name_len;
                at = field_end + 1;
                next[0] = .{ .tag = tag, .start = @intCast(value), .len = @intCast(field_end - value) };
                next += 1;
                if (tag >= dictionary.table_tags) continue;
                setSlot(&slots[tag], generation, value, field_end - value);
                const data_tag = dictionary.data_tags[tag];
                if (data_tag != 0) {
                    @branchHint(.unlikely);
                    const data = dataAt(base, at, data_tag, base[value..field_end], @intCast(body_end - start.at)) catch return .bad_data_length;
                    if (data.len == 0) continue;
                    next[0] = data;
                    next += 1;
                    setSlot(&slots[data_tag], generation, data.start, data.len);
                    at = @as(usize, data.start) + data.len + 1;
                    block = at & ~@as(usize, 63);
                    continue :blocks;
                }
            }
            block += 64;
        }
        // The last field of a file may lack its separator.
        if (at < len) {
            const tag, const name_len = tagIn(base + at, len - at) orelse return .bad_tag;
            try parser.push(tag, at + name_len, len - at - name_len);
        }
        return null;
    }

    /// The data field at `at` whose length the field before it tells; a length of 0 where there is none.
    fn dataAt(base: [*]const u8, at: usize, data_tag: u32, digits: []const u8, body: usize) error{BadDataLength}!Field {
        const len = lengthOf(digits) orelse return error.BadDataLength;
        const none: Field = .{ .tag = data_tag, .start = 0, .len = 0 };
        const tag, const name_len = tagAt(base + at) orelse return none;
        if (tag != data_tag) return none;
        const behind = at + name_len + len;
        if (behind >= body or base[behind] != 1) return error.BadDataLength;
        return .{ .tag = data_tag, .start = @intCast(at + name_len), .len = @intCast(len) };
    }

    /// The first field of a tag counts; more of them belong to repeating groups.
    inline fn setSlot(slot: *Slot, generation: u32, start: usize, len: usize) void {
        if (slot.generation != generation) slot.* = .{ .generation = generation, .start = @intCast(start), .len = @intCast(len) };
    }

    inline fn separatorsIn(base: [*]const u8, block: usize, len: usize) u64 {
        return masks.equal(masks.load(base + block), 1) & masks.firstBits(len - block);
    }

    inline fn push(parser: *Parser, tag: u32, start: usize, len: usize) error{OutOfMemory}!void {
        if (parser.count == parser.fields.len) try parser.grow();
        parser.fields[parser.count] = .{ .tag = tag, .start = @intCast(start), .len = @intCast(len) };
        parser.count += 1;
        if (tag >= dictionary.table_tags) return;
        const slot = &parser.slots[tag];
        // The first field of a tag counts; more of them belong to repeating groups.
        if (slot.generation == parser.generation) return;
        slot.* = .{ .generation = parser.generation, .start = @intCast(start), .len = @intCast(len) };
    }

    fn grow(parser: *Parser) error{OutOfMemory}!void {
        @branchHint(.cold);
        parser.fields = try parser.gpa.realloc(parser.fields, parser.fields.len * 2);
    }

    /// The general way, for messages whose separators were printed. A piece without a number and `=` in front belongs to the field before it:
    /// then its separator was a byte of the value, and the CheckSum has to confirm it.
    fn readPrinted(parser: *Parser, start: Start, body_end: u64, stated: ?u8, checks: Checks) error{OutOfMemory}!?Defect {
        const separator = start.separator.text();
        const base = parser.bytes + start.at;
        const len: usize = @intCast(parser.end - start.at);
        if (len > std.math.maxInt(u32)) return .bad_body_length;
        const body: usize = @intCast(body_end - start.at);
        var inner: usize = 0;
        var inner_data: usize = 0;
        var at: usize = 0;
        var data_tag: u32 = 0;
        var data_len: usize = 0;
        while (at < len) {
            var field_end = std.mem.findPos(u8, base[0..len], at, separator) orelse len;
            const tag, const value = tagIn(base + at, field_end - at) orelse {
                if (parser.count == 0 or beginsWithNumber(base[at..field_end])) return .bad_tag;
                // The bytes from the end of the last value on, its separator among them, are its value too.
                const last = &parser.fields[parser.count - 1];
                last.len = @intCast(field_end - last.start);
                if (last.tag < dictionary.table_tags and parser.slots[last.tag].start == last.start) parser.slots[last.tag].len = last.len;
                if (at < body) inner += 1;
                at = field_end + separator.len;
                continue;
            };
            if (tag == data_tag and data_tag != 0) {
                const behind = parser.advance(start.at + at + value, data_len, parser.end) - start.at;
                if (data_len > body or behind >= body or !standsAt(base, behind, len, separator)) return .bad_data_length;
                field_end = @intCast(behind);
                inner_data += std.mem.count(u8, base[at + value .. field_end], separator);
            }
            try parser.push(tag, at + value, field_end - at - value);
            data_tag = dictionary.dataTagOf(tag);
            if (data_tag != 0) data_len = lengthOf(base[at + value .. field_end]) orelse return .bad_data_length;
            at = field_end + separator.len;
        }
        const spelled = sumOf(base, body);
        const all_separators = std.mem.count(u8, base[0..body], separator);
        // What printing made of a separator, in the sum: SOH less than its spelling.
        const printed = 1 -% sumOf(separator.ptr, separator.len);
        const outer = all_separators - inner - inner_data;
        // Whether the separators inside data were SOH or themselves is not known: either may be.
        const with_data = spelled +% printed *% @as(u8, @truncate(outer + inner_data));
        const without_data = spelled +% printed *% @as(u8, @truncate(outer));
        if (checks.verify or checks.tolerate) if (stated == null or (stated.? != with_data and stated.? != without_data)) {
            if (!checks.tolerate) return .bad_checksum;
            if (parser.warned == null) parser.warned = .bad_checksum;
        };
        return null;
    }
};

/// A tag and where its value starts, behind `=`. Null for what is no tag: digits without a leading zero, below 2^31.
/// 64 bytes can be read. A separator before the `=` is no digit.
inline fn tagAt(text: [*]const u8) ?struct { u32, usize } {
    const word = std.mem.readInt(u64, text[0..8], .little);
    const marks = word ^ 0x3d3d3d3d3d3d3d3d;
    // The lowest of these bits is right; those above it may not be.
    const found = (marks -% 0x0101010101010101) & ~marks & 0x8080808080808080;
    const mark: u32 = @ctz(found);
    if (mark > 39) return longTagAt(text);
    if (text[0] -% '1' > 8) return null;
    // Behind the digits nothing; in front of them zeros. `mark` is 8 times their number and 7 more.
    const digits: u32 = @intCast((word ^ 0x3030303030303030) << @intCast(39 - mark) & 0xffff_ffff);
    if ((digits | (digits +% 0x06060606)) & 0xf0f0f0f0 != 0) return null;
    const pairs = (digits *% 2561 >> 8) & 0x00ff00ff;
    return .{ pairs *% 6553601 >> 16, (mark + 1) / 8 };
}

/// The same for a field of `len` bytes that no separator need end.
fn tagIn(text: [*]const u8, len: usize) ?struct { u32, usize } {
    const tag, const name_len = tagAt(text) orelse return null;
    return if (name_len <= len) .{ tag, name_len } else null;
}

/// Whether digits and `=` stand in front: a field, also where they are no tag.
fn beginsWithNumber(piece: []const u8) bool {
    const mark = std.mem.findScalar(u8, piece, '=') orelse return false;
    for (piece[0..mark]) |byte| if (!std.ascii.isDigit(byte)) return false;
    return mark != 0;
}

fn longTagAt(text: [*]const u8) ?struct { u32, usize } {
    @branchHint(.cold);
    var value: u64 = 0;
    for (text[0..11], 0..) |byte, i| {
        if (byte == '=') return if (i == 0 or text[0] == '0' or value > std.math.maxInt(i32)) null else .{ @intCast(value), i + 1 };
        if (!std.ascii.isDigit(byte)) return null;
        value = value * 10 + (byte - '0');
    }
    return null;
}

fn lengthOf(digits: []const u8) ?usize {
    return std.fmt.parseInt(u32, digits, 10) catch null;
}

/// The sum of bytes modulo 256. Up to 63 bytes behind them are read.
pub inline fn sumOf(bytes: [*]const u8, len: usize) u8 {
    var sums: masks.Block = @splat(0);
    var at: usize = 0;
    while (at + 64 <= len) : (at += 64) sums +%= masks.load(bytes + at);
    if (at < len) {
        const lanes = std.simd.iota(u8, 64) < @as(masks.Block, @splat(@intCast(len - at)));
        sums +%= @select(u8, lanes, masks.load(bytes + at), @as(masks.Block, @splat(0)));
    }
    return @reduce(.Add, sums);
}

const testing = std.testing;

/// `body` with `|` for separators becomes a whole message, spelled with `separator`.
fn build(arena: std.mem.Allocator, body: []const u8, separator: Separator) ![]u8 {
    var soh: std.ArrayList(u8) = .empty;
    const length = body.len;
    try soh.print(arena, "8=FIX.4.4|9={d}|{s}", .{ length, body });
    std.mem.replaceScalar(u8, soh.items, '|', 1);
    const sum = sumSlowly(soh.items);
    try soh.print(arena, "10={d:0>3}\x01", .{sum});
    var out: std.ArrayList(u8) = .empty;
    for (soh.items) |byte| try out.appendSlice(arena, if (byte == 1) separator.text() else &.{byte});
    const len = out.items.len;
    try out.appendNTimes(arena, 0, 128);
    return out.items[0..len];
}

fn sumSlowly(bytes: []const u8) u8 {
    var sum: u8 = 0;
    for (bytes) |byte| sum +%= byte;
    return sum;
}

const report = "35=8|34=2|49=VENUE|52=20260302-14:30:01.123|56=FIRM|6=10.5|17=E1|31=10.5|32=100|453=2|448=A|452=1|448=B|452=4|9999=x=y|60=20260302-14:30:01|";

fn readOne(parser: *Parser, text: []const u8) !?Defect {
    const start = findStart(text.ptr, 0, text.len) orelse return error.NoStart;
    return parser.read(text.ptr, start, text.len, .{});
}

test "every separator" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var parser: Parser = try .init(testing.allocator);
    defer parser.deinit();
    for (std.enums.values(Separator)) |separator| {
        errdefer std.debug.print("{t}\n", .{separator});
        const text = try build(arena.allocator(), report, separator);
        try testing.expectEqual(null, try readOne(&parser, text));
        try testing.expectEqual(text.len, parser.end);
        try testing.expectEqualStrings("FIX.4.4", parser.get(8).?);
        try testing.expectEqualStrings("E1", parser.get(17).?);
        try testing.expectEqualStrings("A", parser.get(448).?);
        try testing.expectEqualStrings("x=y", parser.get(9999).?);
        try testing.expectEqual(null, parser.get(5000));
        try testing.expectEqual(null, parser.get(55));
        try testing.expectEqual(19, parser.count);
    }
}

test "a cut at every byte is never read, and what is whole always is" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var parser: Parser = try .init(testing.allocator);
    defer parser.deinit();
    for (std.enums.values(Separator)) |separator| {
        const text = try build(arena.allocator(), report, separator);
        const padded = try arena.allocator().alloc(u8, text.len + 128);
        for (0..text.len - separator.text().len) |cut| {
            errdefer std.debug.print("{t} cut at {d} of {d}\n", .{ separator, cut, text.len });
            @memset(padded, 0);
            @memcpy(padded[0..cut], text[0..cut]);
            const start = findStart(padded.ptr, 0, cut) orelse continue;
            const defect = try parser.read(padded.ptr, start, cut, .{});
            try testing.expect(defect == .truncated or defect == .bad_checksum);
        }
    }
}

test "defects" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var parser: Parser = try .init(testing.allocator);
    defer parser.deinit();
    const cases = [_]struct { ?Defect, []const u8 }{
        .{ null, "35=8|95=13|96=AB\x0117=FAKE\x01CD|17=E1|" },
        .{ .bad_data_length, "35=8|95=900|96=ABC|17=E1|" },
        .{ .bad_data_length, "35=8|95=2|96=ABC|17=E1|" },
        .{ .bad_data_length, "35=8|95=x|96=ABC|17=E1|" },
        .{ .bad_tag, "35=8|17E1|" },
        .{ .bad_tag, "35=8|=E1|" },
        .{ .bad_tag, "35=8||17=E1|" },
        .{ .bad_tag, "35=8|99999999999=E1|" },
        .{ .bad_tag, "35=8|4294967296=E1|" },
        .{ .bad_tag, "35=8|017=E1|" },
        .{ .bad_tag, "35=8|-17=E1|" },
        .{ null, "35=8|2147483647=E1|12345678=x|" },
        .{ null, "35=8|58=|17=E1|" },
    };
    for (cases) |case| {
        errdefer std.debug.print("{s}\n", .{case[1]});
        try testing.expectEqual(case[0], try readOne(&parser, try build(arena.allocator(), case[1], .soh)));
    }
    try testing.expectEqual(null, try readOne(&parser, try build(arena.allocator(), cases[0][1], .soh)));
    try testing.expectEqualStrings("AB\x0117=FAKE\x01CD", parser.get(96).?);
    try testing.expectEqualStrings("E1", parser.get(17).?);
}

test "a piece of a printed message is a field if it begins with a number and =, and else part of the value before" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var parser: Parser = try .init(testing.allocator);
    defer parser.deinit();
    for ([_][]const u8{ "99999999999", "4294967313", "2147483648", "99999999999999999999999", "017", "0", "00000000000000017" }) |tag| {
        for (std.enums.values(Separator)) |separator| for ([_]bool{ false, true }) |tolerate| {
            errdefer std.debug.print("{s} {t}\n", .{ tag, separator });
            const body = try std.fmt.allocPrint(arena.allocator(), "35=8|58=x|{s}=E1|17=E2|", .{tag});
            const text = try build(arena.allocator(), body, separator);
            const start = findStart(text.ptr, 0, text.len).?;
            try testing.expectEqual(.bad_tag, try parser.read(text.ptr, start, text.len, .{ .tolerate = tolerate }));
        };
    }
    // Each of these separators was printed, and is a byte of the value.
    for ([_][]const u8{ "y", "=y", "-1=y", "1x=y", "1 =y", "1", "" }) |piece| {
        errdefer std.debug.print("{s}\n", .{piece});
        const value = try std.fmt.allocPrint(arena.allocator(), "x;{s}", .{piece});
        const body = try std.fmt.allocPrint(arena.allocator(), "35=8|58={s}|17=E2|", .{value});
        try testing.expectEqual(null, try readOne(&parser, try build(arena.allocator(), body, .semicolon)));
        try testing.expectEqualStrings(value, parser.text(58));
        try testing.expectEqualStrings("E2", parser.text(17));
    }
}

test "a message of everyday size allocates nothing; a larger one grows the table of fields once" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var parser: Parser = try .init(testing.allocator);
    defer parser.deinit();
    const text = try build(arena.allocator(), report, .soh);
    parser.gpa = testing.failing_allocator;
    for (0..100) |_| try testing.expectEqual(null, try readOne(&parser, text));
    parser.gpa = testing.allocator;
    var long: std.ArrayList(u8) = .empty;
    try long.appendSlice(arena.allocator(), "35=8|");
    for (0..20_000) |i| try long.print(arena.allocator(), "448=P{d}|", .{i});
    try long.appendSlice(arena.allocator(), "17=LAST|");
    try testing.expectEqual(null, try readOne(&parser, try build(arena.allocator(), long.items, .soh)));
    try testing.expectEqualStrings("LAST", parser.get(17).?);
    try testing.expectEqual(20_005, parser.count);
}

test "starts are found by framing alone" {
    const pad = "\x00" ** 128;
    for ([_][]const u8{ "8=FIX", "8=FIX.4.4\x01", "8=FIX.4.4\x0135=8", "18=host 8=FOX", "8=FIX not a message 9=1", "8=FIX.4.4\x019=x", "8=FIX.4.4,9=12,35=8" }) |text| {
        const padded = try std.mem.concat(testing.allocator, u8, &.{ text, pad });
        defer testing.allocator.free(padded);
        try testing.expect(findStart(padded.ptr, 0, text.len) == null);
    }
    const text = "noise 8=FIXT.1.1|9=5|" ++ pad;
    try testing.expectEqual(6, findStart(text, 0, 21).?.at);
}

test "random files: FIX messages, whole and damaged, read with vectors and byte by byte" {
    const rounds = @as(usize, @import("build_options").fuzz_rounds) * 200;
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const whole = try build(arena.allocator(), report ++ "95=13|96=AB\x0117=FAKE\x01CD|58=x|", .soh);
    const text = try arena.allocator().alloc(u8, whole.len + 256);
    var parser: Parser = try .init(testing.allocator);
    defer parser.deinit();
    var other: Parser = try .init(testing.allocator);
    defer other.deinit();
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    var read_whole: usize = 0;
    for (0..rounds) |_| {
        @memset(text, 0);
        @memcpy(text[0..whole.len], whole);
        for (0..random.uintLessThan(usize, 3)) |_| text[random.uintLessThan(usize, whole.len)] = "\x01=|10958\n\x00"[random.uintLessThan(usize, 10)];
        const end = if (random.uintLessThan(u8, 4) == 0) random.uintLessThan(usize, whole.len) else whole.len;
        @memset(text[end..], 0);
        const start = findStart(text.ptr, 0, end) orelse continue;
        // Sums are of little use against damage that is to be read.
        const checks: Checks = .{ .tolerate = random.boolean() };
        const defect = try parser.read(text.ptr, start, end, checks);
        if (defect != null) continue;
        read_whole += 1;
        try testing.expect(parser.end <= end and parser.end > start.at);
        other.bytes = text.ptr;
        other.start = start.at;
        other.separator = start.separator;
        other.count = 0;
        other.generation += 1;
        const body_end = other.bodyEnd(start, end) orelse continue;
        const stated = other.statedSum(body_end, end);
        try testing.expectEqual(null, try other.readPrinted(start, body_end, stated, checks));
        try testing.expectEqual(parser.end, other.end);
        try testing.expectEqualSlices(Field, other.all(), parser.all());
    }
    try testing.expect(read_whole > rounds / 10);
}
