//! Bad rows in words: one code and text per kind of fault, for errors, rejected breaks and the rejects file alike.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("record.zig");
const ledger_module = @import("ledger.zig");
const Ledger = ledger_module.Ledger;
const Fault = ledger_module.Fault;
const Scratch = ledger_module.Scratch;

pub const code = "bad_row";

pub const Reason = struct { code: []const u8, message: []const u8 };

/// The code and text of a fault of the record at `start`, whose `fields` were filled by `examine`. Lives as long as
/// what `scratch` holds.
pub fn reason(scratch: *Scratch, ledger: *const Ledger, columns: []const abi.ColumnSpec, start: u64, fields: []const record.Field, fault: Fault) error{OutOfMemory}!Reason {
    if (fault.kind == .event) return .{
        .code = try ledger.eventText(start, fields, 1, scratch),
        .message = try ledger.eventText(start, fields, 2, scratch),
    };
    return .{ .code = code, .message = try message(scratch.gpa(), ledger, columns, fault) };
}

fn message(arena: std.mem.Allocator, ledger: *const Ledger, columns: []const abi.ColumnSpec, fault: Fault) error{OutOfMemory}![]const u8 {
    const name = nameOf(ledger, columns, fault.detail);
    const text = shorten(fault.text);
    return switch (fault.kind) {
        .text_after_quote, .blank_before_quote, .unterminated, .too_long => grammarMessage(fault),
        .width => std.fmt.allocPrint(arena, "{d} field{s} where {d} are expected", .{ fault.detail, if (fault.detail == 1) "" else "s", ledger.width }),
        .trailing_value => "a value in the last column, which has no name",
        .nul_in_key => "a NUL byte in a key",
        .not_utf8 => std.fmt.allocPrint(arena, "column {s} holds a byte that is not valid in the encoding the file is read in", .{name}),
        .event => unreachable, // told by `reason`
        .unmapped => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", which its map does not list", .{ name, text }),
        .unsigned => std.fmt.allocPrint(arena, "the sign of {s} is not known: its code is \"{s}\"", .{ name, text }),
        .twice_signed => std.fmt.allocPrint(arena, "column {s} holds \"{s}\": it has a sign and takes one from another column too", .{ name, text }),
        .not_a_number => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", which is no number in this side's format", .{ name, text }),
        .not_a_time => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", which is no timestamp", .{ name, text }),
        .no_zone => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", a time without a zone, and none is declared", .{ name, text }),
        .skipped_time => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", a local time that the zone skips", .{ name, text }),
        .repeated_time => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", a local time that the zone has twice", .{ name, text }),
        .not_a_date => std.fmt.allocPrint(arena, "column {s} holds \"{s}\", which is no date in this side's format", .{ name, text }),
    };
}

/// A value in a message, not longer than it is useful, and cut between characters.
fn shorten(text: []const u8) []const u8 {
    if (text.len <= 80) return text;
    var end: usize = 80;
    while (end > 0 and text[end] & 0xC0 == 0x80) end -= 1;
    return text[0..end];
}

/// The faults of the grammar alone.
pub fn grammarMessage(fault: Fault) []const u8 {
    return switch (fault.kind) {
        .text_after_quote => "text after a closing quote",
        .blank_before_quote => "a blank stands before an opening quote",
        .unterminated => "a quote is opened here and never closed",
        .too_long => "a record of 4 GiB or more",
        else => unreachable,
    };
}

pub fn hint(fault: Fault) []const u8 {
    return switch (fault.kind) {
        .text_after_quote => "a quote inside a quoted field is written twice; --quote none reads quotes as data; --on-bad-row reject sets such rows aside",
        .blank_before_quote => "--trim drops blanks around quoted fields; --on-bad-row reject sets such rows aside",
        .unterminated => "nothing behind it can be trusted: was the file cut? --quote none reads quotes as data",
        .too_long => "check the line ends and quotes of the file",
        .width => "was the row cut, or does a value hold the delimiter? --on-bad-row reject sets such rows aside",
        .trailing_value => "give the column a name, or --on-bad-row reject sets such rows aside",
        .nul_in_key => "was the file damaged, or is it UTF-16? --on-bad-row reject sets such rows aside",
        .event => "--on-bad-row reject sets such records aside",
        .unmapped => "add the code to the map of the column, or --on-bad-row reject sets such rows aside",
        .unsigned => "add the code to negative or positive of signed_by, or --on-bad-row reject sets such rows aside",
        .twice_signed => "leave signed_by out for this side (on = ...), or --on-bad-row reject sets such rows aside",
        .not_a_number => "decimal, thousands, negative, currency and null of the side say how it spells numbers; --type COL=text compares bytes",
        .not_a_time => "ISO 8601 and FIX times are read; --type COL=text compares bytes; null names words for an empty value",
        .no_zone => "timezone of the side names the zone of such times",
        .skipped_time, .repeated_time => "have the sender write UTC or an offset, or --on-bad-row reject sets such rows aside",
        .not_a_date => "date_format of the side says how it spells dates; ISO 8601 and YYYYMMDD are read without it",
        .not_utf8 => "name the file's encoding, for example --encoding windows-1252, or leave the column out with --ignore",
    };
}

fn nameOf(ledger: *const Ledger, columns: []const abi.ColumnSpec, place: u32) []const u8 {
    for (columns) |column| if (ledger.side.of(column) == place) return column.name;
    return "?";
}
