//! Bad rows in words: one text per kind of fault, for errors, rejected breaks and the rejects file alike.
const std = @import("std");
const abi = @import("../abi.zig");
const ledger_module = @import("ledger.zig");
const Ledger = ledger_module.Ledger;
const Fault = ledger_module.Fault;

pub const code = "bad_row";

pub fn message(arena: std.mem.Allocator, ledger: *const Ledger, columns: []const abi.ColumnSpec, fault: Fault) error{OutOfMemory}![]const u8 {
    return switch (fault.kind) {
        .text_after_quote, .blank_before_quote, .unterminated, .too_long => grammarMessage(fault),
        .width => std.fmt.allocPrint(arena, "{d} field{s} where {d} are expected", .{ fault.detail, if (fault.detail == 1) "" else "s", ledger.width }),
        .trailing_value => "a value in the last column, which has no name",
        .nul_in_key => "a NUL byte in a key",
        .not_utf8 => std.fmt.allocPrint(arena, "column {s} holds a byte that is not valid in the encoding the file is read in", .{nameOf(ledger, columns, fault.detail)}),
    };
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
        .not_utf8 => "name the file's encoding, for example --encoding windows-1252, or leave the column out with --ignore",
    };
}

fn nameOf(ledger: *const Ledger, columns: []const abi.ColumnSpec, place: u32) []const u8 {
    for (columns) |column| if ((if (ledger.side == .internal) column.internal else column.external) == place) return column.name;
    return "?";
}
