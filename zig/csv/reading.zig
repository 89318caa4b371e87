//! How the values of one side are read: its number, date and time formats, null words, maps, signs and filters. Built
//! once per ledger from its specification; read by ledger.zig, which applies it, and by match/, which compares values.
const std = @import("std");
const abi = @import("../abi.zig");
const ledger_module = @import("ledger.zig");
const NumberFormat = @import("../value/number_format.zig").NumberFormat;
const DateFormat = @import("../value/date.zig").DateFormat;
const Zone = @import("../value/zone.zig").Zone;
const timestamp = @import("../value/timestamp.zig");
const Kind = ledger_module.Fault.Kind;

/// A column whose values must fit a type.
pub const Typed = struct {
    column: u32,
    type: abi.ValueType,

    fn before(_: void, a: Typed, b: Typed) bool {
        return a.column < b.column;
    }
};

pub const Map = std.StringHashMapUnmanaged([]const u8);
const Set = std.StringHashMapUnmanaged(void);

pub const Sign = struct {
    /// The column that holds the code.
    by: u32,
    negative: Set,
    positive: Set,

    pub const Found = enum { negative, positive, unknown };

    pub fn find(sign: *const Sign, code: []const u8) Found {
        if (sign.negative.contains(code)) return .negative;
        return if (sign.positive.contains(code)) .positive else .unknown;
    }
};

pub const Filter = struct {
    column: u32,
    in: Set,

    pub fn has(filter: *const Filter, value: []const u8) bool {
        return filter.in.contains(value);
    }
};

/// What rules do to the values of one column.
const Column = struct { map: ?*const Map = null, sign: ?*const Sign = null };

/// Immutable after `init`; shared by all threads.
pub const Reading = struct {
    number: NumberFormat,
    dates: DateFormat,
    zone: ?Zone,
    nulls: []const []const u8,
    /// By place; empty where no column has a map or a sign.
    columns: []const Column,
    mapped: []const u32,
    signed: []const u32,
    filters: []const Filter,
    /// By place.
    typed: []const Typed,

    /// No rules at all.
    pub const as_spelled: Reading = .{
        .number = .{},
        .dates = .{},
        .zone = null,
        .nulls = &.{},
        .columns = &.{},
        .mapped = &.{},
        .signed = &.{},
        .filters = &.{},
        .typed = &.{},
    };

    /// `arena` owns everything. Words and codes are folded and trimmed as the values they are held against.
    pub fn init(arena: std.mem.Allocator, spec: abi.LedgerSpec, typed: []const Typed) !Reading {
        const words: Words = .{ .arena = arena, .trim = spec.trim, .fold_case = spec.fold_case };
        const sorted = try arena.dupe(Typed, typed);
        std.mem.sort(Typed, sorted, {}, Typed.before);
        const filters = try arena.alloc(Filter, spec.where.len);
        for (filters, spec.where) |*filter, where| filter.* = .{ .column = where.column, .in = try words.set(where.in) };
        const mapped = try arena.alloc(u32, spec.maps.len);
        for (mapped, spec.maps) |*place, map| place.* = map.column;
        const signed = try arena.alloc(u32, spec.signs.len);
        for (signed, spec.signs) |*place, sign| place.* = sign.column;
        return .{
            .number = .{
                .decimal = spec.number.decimal,
                .thousands = spec.number.thousands,
                .negative = if (spec.number.negative == .plain) .plain else .accounting,
                .currency = spec.number.currency,
            },
            .dates = try .init(spec.date_format),
            .zone = if (spec.zone) |zone| .init(zone) else null,
            .nulls = try words.list(spec.nulls),
            .columns = if (mapped.len != 0 or signed.len != 0) try columnRules(arena, words, spec) else &.{},
            .mapped = mapped,
            .signed = signed,
            .filters = filters,
            .typed = sorted,
        };
    }

    fn columnRules(arena: std.mem.Allocator, words: Words, spec: abi.LedgerSpec) ![]const Column {
        const columns = try arena.alloc(Column, spec.width);
        @memset(columns, .{});
        for (spec.maps) |map| columns[map.column].map = try words.map(map.codes);
        for (spec.signs) |sign| {
            const owned = try arena.create(Sign);
            owned.* = .{ .by = sign.by, .negative = try words.set(sign.negative), .positive = try words.set(sign.positive) };
            columns[sign.column].sign = owned;
        }
        return columns;
    }

    /// The columns that rules read.
    pub fn addColumns(reading: *const Reading, arena: std.mem.Allocator, list: *std.ArrayList(u32)) !void {
        try list.appendSlice(arena, reading.mapped);
        for (reading.signed) |column| try list.appendSlice(arena, &.{ column, reading.columns[column].sign.?.by });
        for (reading.filters) |filter| try list.append(arena, filter.column);
        for (reading.typed) |typed| try list.append(arena, typed.column);
    }

    /// Whether values of `column` are what the file spells, apart from null words.
    pub fn keeps(reading: *const Reading, column: u32) bool {
        if (reading.columns.len == 0 or column >= reading.columns.len) return true;
        return reading.columns[column].map == null and reading.columns[column].sign == null;
    }

    pub fn isNull(reading: *const Reading, text: []const u8) bool {
        for (reading.nulls) |word| if (std.mem.eql(u8, word, text)) return true;
        return false;
    }

    /// Whether more than types is to be looked at in every row.
    pub fn judgesRows(reading: *const Reading) bool {
        return reading.filters.len != 0 or reading.mapped.len != 0 or reading.signed.len != 0;
    }

    /// Whether a field is surely a value of its type as it stands; false means that it has to be read with care.
    pub inline fn isUsual(reading: *const Reading, value_type: abi.ValueType, text: []const u8) bool {
        if (text.len == 0) return true;
        return switch (value_type) {
            .decimal => if (reading.number.isDefault()) NumberFormat.isUsual(text) else reading.number.scan(text) != null,
            .timestamp, .date => reading.faultOf(value_type, text) == null,
            .auto, .text, .ratio => true,
        };
    }

    /// Why a value does not fit its type; null if it does. An empty value fits every type.
    pub fn faultOf(reading: *const Reading, value_type: abi.ValueType, text: []const u8) ?Kind {
        if (text.len == 0) return null;
        switch (value_type) {
            .auto, .text, .ratio => return null,
            .decimal => return if (reading.number.scan(text) == null) .not_a_number else null,
            .date => return if (reading.dates.parse(text) == null) .not_a_date else null,
            .timestamp => return switch (reading.time(text)) {
                .value => null,
                .not_a_time => .not_a_time,
                .no_zone => .no_zone,
                .skipped => .skipped_time,
                .repeated => .repeated_time,
            },
        }
    }

    pub fn time(reading: *const Reading, text: []const u8) timestamp.Result {
        return timestamp.parse(text, if (reading.zone) |*zone| zone else null, &reading.dates);
    }
};

/// Words of rules as they are held against values.
const Words = struct {
    arena: std.mem.Allocator,
    trim: bool,
    fold_case: bool,

    fn one(words: Words, text: []const u8) ![]const u8 {
        const bytes = if (words.trim) ledger_module.trimAscii(text) else text;
        return if (words.fold_case) std.ascii.allocLowerString(words.arena, bytes) else bytes;
    }

    fn list(words: Words, texts: []const []const u8) ![]const []const u8 {
        const out = try words.arena.alloc([]const u8, texts.len);
        for (texts, out) |text, *word| word.* = try words.one(text);
        return out;
    }

    fn set(words: Words, texts: []const []const u8) !Set {
        var out: Set = .empty;
        for (texts) |text| try out.put(words.arena, try words.one(text), {});
        return out;
    }

    fn map(words: Words, codes: []const abi.CodeSpec) !*const Map {
        const out = try words.arena.create(Map);
        out.* = .empty;
        for (codes) |code| try out.put(words.arena, try words.one(code.from), try words.one(code.to));
        return out;
    }
};
