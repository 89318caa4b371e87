//! Writes the breaks file in order while several workers format: each claims the next batch of breaks, formats it into
//! memory of its own, and writes when its turn comes. Numbers, order and bytes do not depend on the workers.
const std = @import("std");
const parallel = @import("../parallel.zig");
const format = @import("format.zig");
const findings_module = @import("../match/findings.zig");
const OrderedWriter = @import("../ordered_writer.zig").OrderedWriter;
const Findings = findings_module.Findings;
const Single = findings_module.Single;

const batch_items = 2048;

/// All breaks of a run, merged from sorted lists: those with an internal row by its place, then the others by external place.
pub const Sequence = struct {
    findings: *const Findings,
    pair: usize = 0,
    matched: usize = 0,
    internal: usize = 0,
    external: usize = 0,
    number: u64 = 0,

    pub fn next(sequence: *Sequence) ?format.Item {
        const item = sequence.choose() orelse return null;
        if (item != .matched) sequence.number += 1;
        return item;
    }

    fn choose(sequence: *Sequence) ?format.Item {
        const findings = sequence.findings;
        const matched: []const findings_module.Pair = if (findings.matched_pairs) |pairs| pairs.items else &.{};
        const none = std.math.maxInt(u64);
        const pair_at = if (sequence.pair < findings.mismatched.items.len) findings.mismatched.items[sequence.pair].internal else none;
        const matched_at = if (sequence.matched < matched.len) matched[sequence.matched].internal else none;
        const singles = findings.singles[0].items;
        const single_at = if (sequence.internal < singles.len) Single.offset(singles[sequence.internal]) else none;
        const least = @min(pair_at, matched_at, single_at);
        if (least == none) return sequence.chooseExternal();
        if (least == single_at) {
            defer sequence.internal += 1;
            return .{ .single = .{ .side = .internal, .offset = least, .kind = Single.kind(singles[sequence.internal]) } };
        }
        if (least == pair_at) {
            defer sequence.pair += 1;
            return .{ .mismatch = findings.mismatched.items[sequence.pair] };
        }
        defer sequence.matched += 1;
        return .{ .matched = matched[sequence.matched] };
    }

    fn chooseExternal(sequence: *Sequence) ?format.Item {
        const singles = sequence.findings.singles[1].items;
        if (sequence.external >= singles.len) return null;
        const single = singles[sequence.external];
        sequence.external += 1;
        return .{ .single = .{ .side = .external, .offset = Single.offset(single), .kind = Single.kind(single) } };
    }
};

pub const Error = error{ OutOfMemory, Cancelled, WriteFailed };

/// Everything one output file needs; lives on the caller's stack while workers run.
pub const Output = struct {
    gpa: std.mem.Allocator,
    context: *const format.Context,
    kind: Kind,
    writer: OrderedWriter,
    sequence: Sequence,
    lock: std.c.pthread_mutex_t = .{},
    tickets: u64 = 0,
    out_of_memory: std.atomic.Value(bool) = .init(false),

    pub const Kind = enum { csv, jsonl, rejects };

    /// Writes the file from its first byte. On WriteFailed `writer.errno` says why.
    pub fn write(output: *Output, team: *const parallel.Team) Error!void {
        var header: std.Io.Writer.Allocating = .init(output.gpa);
        defer header.deinit();
        switch (output.kind) {
            .csv => output.context.writeCsvHeader(&header.writer) catch return error.OutOfMemory,
            .rejects => header.writer.writeAll(format.rejects_header) catch return error.OutOfMemory,
            .jsonl => {},
        }
        output.writer.goDirect();
        output.writer.append(header.written());
        team.run(output, work);
        output.writer.finish();
        if (output.writer.control.isCancelled()) return error.Cancelled;
        if (output.out_of_memory.load(.monotonic)) return error.OutOfMemory;
        if (output.writer.failed.load(.acquire)) return error.WriteFailed;
    }

    fn work(output: *Output, _: u32) void {
        output.writeBatches() catch {
            output.out_of_memory.store(true, .monotonic);
            output.writer.failed.store(true, .release);
        };
    }

    fn writeBatches(output: *Output) error{OutOfMemory}!void {
        var formatter: format.Formatter = try .init(output.gpa, output.context);
        defer formatter.deinit();
        var text: std.Io.Writer.Allocating = .init(output.gpa);
        defer text.deinit();
        const items = try output.gpa.alloc(format.Item, batch_items);
        defer output.gpa.free(items);
        while (!output.writer.isOver()) {
            const batch = output.claim(items) orelse return;
            text.clearRetainingCapacity();
            for (batch.items, 0..) |item, i| {
                output.formatOne(&formatter, &text.writer, batch.first_number + i, item) catch return error.OutOfMemory;
            }
            output.writer.put(batch.ticket, text.written());
        }
    }

    const Batch = struct { items: []const format.Item, ticket: u64, first_number: u64 };

    fn claim(output: *Output, buffer: []format.Item) ?Batch {
        _ = std.c.pthread_mutex_lock(&output.lock);
        defer _ = std.c.pthread_mutex_unlock(&output.lock);
        const first_number = output.sequence.number + 1;
        var count: usize = 0;
        while (count < buffer.len) : (count += 1) buffer[count] = output.sequence.next() orelse break;
        if (count == 0) return null;
        defer output.tickets += 1;
        return .{ .items = buffer[0..count], .ticket = output.tickets, .first_number = first_number };
    }

    fn formatOne(output: *Output, formatter: *format.Formatter, out: *std.Io.Writer, number: u64, item: format.Item) format.Error!void {
        switch (output.kind) {
            .csv => try formatter.writeCsvLines(out, number, item),
            .jsonl => try formatter.writeJson(out, number, item),
            .rejects => if (format.isRejected(item)) try formatter.writeReject(out, item.single.side, item.single.offset),
        }
    }
};
