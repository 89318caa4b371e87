//! The first records of one file, for TypeScript's decisions on delimiter, header and columns. Uses the same grammar
//! as the scan, so that what was sampled is what will be read.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("record.zig");
const ledger_module = @import("ledger.zig");
const faults = @import("faults.zig");
const Control = @import("../control.zig").Control;
const Mapping = @import("../source/mapping.zig").Mapping;

/// In the order in which ties are decided.
const candidates = [_]u8{ ',', '\t', ';', '|' };
const max_fields = 1 << 20;

/// Everything in the result is owned by `arena`.
pub fn run(arena: std.mem.Allocator, spec: abi.SampleSpec, control: *Control) !abi.SampleResult {
    var mapping = try Mapping.open(arena, &.{spec.file}, control);
    defer mapping.close(arena);
    var sampler: Sampler = .{ .arena = arena, .spec = spec, .mapping = &mapping, .fields = try arena.alloc(record.Field, 4096) };
    const result = try sampler.sample();
    if (control.vanished.load(.acquire) != 0) return error.Vanished;
    return result;
}

const Sampler = struct {
    arena: std.mem.Allocator,
    spec: abi.SampleSpec,
    mapping: *const Mapping,
    fields: []record.Field,

    fn sample(sampler: *Sampler) !abi.SampleResult {
        const file = sampler.mapping.files[0];
        const first = sampler.firstRecord(file.first, file.end);
        const counted = try sampler.arena.alloc(abi.SampleCandidate, candidates.len);
        for (candidates, counted) |delimiter, *out| out.* = .{ .delimiter = delimiter, .fields = sampler.countFields(first.at, file.end, delimiter) };
        const delimiter = sampler.spec.delimiter orelse mostFields(counted);

        var records: std.ArrayList(abi.SampleRecord) = .empty;
        var ignored = first.ignored;
        var at = first.at;
        var line = file.first_line + first.lines;
        while (at < file.end and records.items.len < sampler.spec.records) {
            const whole = try sampler.parse(at, file.end, delimiter);
            if (whole.blank) ignored += 1 else try records.append(sampler.arena, try sampler.describe(at, line, whole, delimiter));
            line += std.mem.countScalar(u8, sampler.mapping.base[at..whole.next], '\n');
            at = whole.next;
        }
        return .{
            .outcome = .done,
            .delimiter = delimiter,
            .candidates = counted,
            .ignored = ignored,
            .ignored_before = first.ignored,
            .records = records.items,
        };
    }

    const First = struct { at: u64, ignored: u64, lines: u64 };

    /// Skips blank lines. Whether a line of tabs is one depends on the delimiter, which is not known yet where it is
    /// detected; tabs alone split no record, so such a line is blank then.
    fn firstRecord(sampler: *Sampler, first: u64, end: u64) First {
        var at = first;
        var ignored: u64 = 0;
        var lines: u64 = 0;
        while (at < end) {
            const whole = record.parse(sampler.mapping.base, at, end, sampler.dialect(sampler.spec.delimiter orelse ','), &.{});
            if (!whole.blank) break;
            ignored += 1;
            lines += @intFromBool(whole.next > at and sampler.mapping.base[whole.next - 1] == '\n');
            at = whole.next;
        }
        return .{ .at = at, .ignored = ignored, .lines = lines };
    }

    fn dialect(sampler: *const Sampler, delimiter: u8) record.Dialect {
        return .{ .delimiter = delimiter, .quote = sampler.spec.quote, .trim = sampler.spec.trim };
    }

    fn countFields(sampler: *Sampler, at: u64, end: u64, delimiter: u8) u32 {
        if (at >= end or delimiter == sampler.spec.quote) return 0;
        const whole = record.parse(sampler.mapping.base, at, end, sampler.dialect(delimiter), &.{});
        return if (whole.problem == .none) whole.fields else 0;
    }

    fn mostFields(counted: []const abi.SampleCandidate) u8 {
        var best = counted[0];
        for (counted[1..]) |candidate| if (candidate.fields > best.fields) {
            best = candidate;
        };
        return best.delimiter;
    }

    fn parse(sampler: *Sampler, at: u64, end: u64, delimiter: u8) !record.Record {
        const whole = record.parse(sampler.mapping.base, at, end, sampler.dialect(delimiter), sampler.fields);
        if (whole.fields <= sampler.fields.len or whole.problem != .none) return whole;
        if (whole.fields > max_fields) return error.TooManyColumns;
        sampler.fields = try sampler.arena.alloc(record.Field, whole.fields);
        return record.parse(sampler.mapping.base, at, end, sampler.dialect(delimiter), sampler.fields);
    }

    fn describe(sampler: *Sampler, at: u64, line: u64, whole: record.Record, delimiter: u8) !abi.SampleRecord {
        var described: abi.SampleRecord = .{ .line = line, .start = at, .end = whole.next };
        if (whole.problem != .none) {
            described.problem = try sampler.problemOf(at, line, whole);
            return described;
        }
        const fields = try sampler.arena.alloc(abi.SampleField, whole.fields);
        for (sampler.fields[0..whole.fields], fields) |field, *out| {
            const content = sampler.mapping.base[at + field.start ..][0..field.len];
            const text = if (field.form == .escaped) record.unescape(content, sampler.dialect(delimiter).quote.?, try sampler.arena.alloc(u8, content.len)) else content;
            const valid = ledger_module.firstInvalidUtf8(text) == null;
            out.* = .{ .text = try replaceInvalid(sampler.arena, text), .quoted = field.form != .plain, .utf8 = valid };
        }
        described.fields = fields;
        return described;
    }

    fn problemOf(sampler: *Sampler, at: u64, line: u64, whole: record.Record) !abi.ErrorItem {
        const fault: ledger_module.Fault = .{ .at = whole.at, .kind = switch (whole.problem) {
            .none => unreachable,
            .text_after_quote => .text_after_quote,
            .blank_before_quote => .blank_before_quote,
            .unterminated => .unterminated,
            .too_long => .too_long,
        } };
        const before = sampler.mapping.base[0..whole.at];
        const line_start = if (std.mem.findScalarLast(u8, before, '\n')) |lf| lf + 1 else 0;
        return .{
            .code = faults.code,
            .path = sampler.spec.file.path,
            .line = line + std.mem.countScalar(u8, sampler.mapping.base[at..whole.at], '\n'),
            .column = whole.at - line_start + 1,
            .message = faults.grammarMessage(fault),
            .hint = faults.hint(fault),
        };
    }
};

fn replaceInvalid(arena: std.mem.Allocator, text: []const u8) ![]const u8 {
    var out: std.ArrayList(u8) = .empty;
    var rest = text;
    while (ledger_module.firstInvalidUtf8(rest)) |at| {
        try out.appendSlice(arena, rest[0..at]);
        try out.appendSlice(arena, "\u{fffd}");
        rest = rest[at + 1 ..];
    }
    try out.appendSlice(arena, rest);
    return out.items;
}
