//! Prints the TypeScript view of abi.zig. Run by `zig build abi`, never linked into the library.
const std = @import("std");
const abi = @import("abi.zig");
const Writer = std.Io.Writer;

pub fn main(init: std.process.Init) !void {
    var buffer: [4096]u8 = undefined;
    var stdout = std.Io.File.stdout().writer(init.io, &buffer);
    const out = &stdout.interface;

    var body: Writer.Allocating = .init(init.gpa);
    defer body.deinit();
    try writeBody(&body.writer);
    const fingerprint: u32 = @truncate(std.hash.Wyhash.hash(0, body.written()));

    if (wantsFingerprint(init)) {
        try out.print("pub const fingerprint: u32 = {d};\n", .{fingerprint});
    } else {
        try out.writeAll("// Written by `zig build abi` from zig/abi.zig. Do not edit.\n\n");
        try out.print("export const fingerprint = {d};\n\n", .{fingerprint});
        try out.writeAll(body.written());
    }
    try out.flush();
}

fn wantsFingerprint(init: std.process.Init) bool {
    var args = init.minimal.args.iterate();
    while (args.next()) |arg| if (std.mem.eql(u8, arg, "--fingerprint")) return true;
    return false;
}

fn writeBody(out: *Writer) !void {
    @setEvalBranchQuota(20_000);
    inline for (@typeInfo(@TypeOf(abi.records)).@"struct".fields) |entry| try writeRecord(out, entry.name, @field(abi.records, entry.name));
    inline for (@typeInfo(@TypeOf(abi.number_enums)).@"struct".fields) |entry| try writeNumberEnum(out, entry.name, @field(abi.number_enums, entry.name));
    inline for (@typeInfo(@TypeOf(abi.text_enums)).@"struct".fields) |entry| try writeTextEnum(out, entry.name, @field(abi.text_enums, entry.name));
    inline for (@typeInfo(@TypeOf(abi.documents)).@"struct".fields) |entry| try writeDocument(out, entry.name, @field(abi.documents, entry.name));
}

/// Byte offsets of an extern struct.
fn writeRecord(out: *Writer, comptime name: []const u8, comptime T: type) !void {
    try out.print("/** Byte offsets of the `{s}` record. */\nexport const {s} = {{ size: {d}", .{ name, name, @sizeOf(T) });
    inline for (@typeInfo(T).@"struct".fields) |field| try out.print(", {s}: {d}", .{ field.name, @offsetOf(T, field.name) });
    try out.writeAll(" } as const;\n\n");
}

fn writeNumberEnum(out: *Writer, comptime name: []const u8, comptime T: type) !void {
    try out.print("export const {s} = {{", .{name});
    inline for (@typeInfo(T).@"enum".fields, 0..) |field, i| try out.print("{s} {s}: {d}", .{ if (i == 0) "" else ",", field.name, field.value });
    try out.writeAll(" } as const;\n\n");
}

fn writeTextEnum(out: *Writer, comptime name: []const u8, comptime T: type) !void {
    try out.print("export type {s} =", .{name});
    inline for (@typeInfo(T).@"enum".fields, 0..) |field, i| try out.print("{s} \"{s}\"", .{ if (i == 0) "" else " |", field.name });
    try out.writeAll(";\n\n");
}

fn writeDocument(out: *Writer, comptime name: []const u8, comptime T: type) !void {
    switch (@typeInfo(T)) {
        .@"struct" => |info| {
            try out.print("export interface {s} {{\n", .{name});
            inline for (info.fields) |field| {
                const optional = isInput(name) and field.default_value_ptr != null;
                try out.print("  {s}{s}: {s};\n", .{ field.name, if (optional) "?" else "", comptime typeName(field.type) });
            }
            try out.writeAll("}\n\n");
        },
        .@"union" => |info| {
            try out.print("export type {s} =\n", .{name});
            inline for (info.fields, 0..) |field, i| {
                const last = i + 1 == info.fields.len;
                try out.print("  | {{ {s}: {s} }}{s}\n", .{ field.name, comptime typeName(field.type), if (last) ";\n" else "" });
            }
        },
        else => @compileError("not a document: " ++ name),
    }
}

/// Specs go in with defaults left out; results always come out whole.
fn isInput(comptime name: []const u8) bool {
    return std.mem.endsWith(u8, name, "Spec");
}

fn typeName(comptime T: type) []const u8 {
    if (T == []const u8) return "string";
    return switch (@typeInfo(T)) {
        .bool => "boolean",
        .int => "number",
        .optional => |info| typeName(info.child) ++ " | null",
        .pointer => |info| typeName(info.child) ++ "[]",
        .@"enum", .@"struct", .@"union" => shortName(T),
        else => @compileError("no TypeScript form for " ++ @typeName(T)),
    };
}

fn shortName(comptime T: type) []const u8 {
    inline for (.{ abi.text_enums, abi.documents }) |group| {
        inline for (@typeInfo(@TypeOf(group)).@"struct".fields) |entry| if (@field(group, entry.name) == T) return entry.name;
    }
    @compileError("not listed in abi.zig: " ++ @typeName(T));
}
