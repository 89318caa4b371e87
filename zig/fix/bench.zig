//! What the FIX parser costs, timed inside the engine: messages of one length, four fields of a parsed message, and a whole
//! log. For `recon bench fix` (src/bench/fix.ts); called by bench.zig.
const std = @import("std");
const abi = @import("../abi.zig");
const clock = @import("../clock.zig");
const message = @import("message.zig");
const parallel = @import("../parallel.zig");
const Control = @import("../control.zig").Control;
const Mapping = @import("../source/mapping.zig").Mapping;
const Parser = message.Parser;

const chunk_bytes = 1 << 20;

/// What is read of an ExecutionReport and of a NewOrderSingle (src/bench/fix-messages.ts): constants, as in a program that
/// reads them.
const known_tags = [_][4]u32{ .{ 17, 55, 32, 31 }, .{ 11, 55, 38, 44 } };

pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.BenchSpec, control: *Control) !abi.BenchResult {
    var mapping: Mapping = try .open(arena, &.{spec.file}, control);
    defer mapping.close(arena);
    if (spec.part == .fix_log) return readLog(gpa, arena, spec, control, &mapping);
    if (spec.message_bytes == 0 or spec.group == 0) return error.InvalidSpecification;
    var bench: MessageBench = .{ .spec = spec, .bytes = mapping.base[0..spec.file.size], .parser = try .init(gpa) };
    defer bench.deinit(gpa);
    var result = switch (spec.part) {
        .fix_parse => try bench.parseAll(.{}, arena),
        .fix_parse_unchecked => try bench.parseAll(.{ .verify = false }, arena),
        .fix_fields => inline for (known_tags) |tags| {
            if (std.mem.eql(u32, spec.tags, &tags)) break try bench.readFields(tags, arena);
        } else return error.InvalidSpecification,
        else => unreachable,
    };
    result.level = @import("../level.zig").level;
    return result;
}

/// Messages of one length, one behind the other.
const MessageBench = struct {
    spec: abi.BenchSpec,
    bytes: []const u8,
    parser: Parser,
    refusing: Refusing = .{},

    fn deinit(bench: *MessageBench, gpa: std.mem.Allocator) void {
        bench.parser.gpa = gpa;
        bench.parser.deinit();
    }

    fn messages(bench: *const MessageBench) usize {
        return bench.bytes.len / bench.spec.message_bytes;
    }

    /// Every message, `group` of them between two looks at the clock. Whoever asks for memory meanwhile gets none.
    fn parseAll(bench: *MessageBench, checks: message.Checks, arena: std.mem.Allocator) !abi.BenchResult {
        const groups = bench.messages() / bench.spec.group;
        const samples = try arena.alloc(u64, groups * bench.spec.rounds);
        const digest = try bench.digestOf();
        bench.parser.gpa = bench.refusing.allocator();
        for (0..bench.spec.rounds + 1) |round| for (0..groups) |group| {
            const started = clock.now();
            for (0..bench.spec.group) |i| {
                try bench.parse(group * bench.spec.group + i, checks);
                std.mem.doNotOptimizeAway(bench.parser.slots);
            }
            const elapsed_ns = clock.now() - started;
            if (round > 0) samples[(round - 1) * groups + group] = elapsed_ns;
        };
        return .{
            .outcome = .done,
            .group = bench.spec.group,
            .samples_ns = samples,
            .digest = try std.fmt.allocPrint(arena, "{x:0>16}", .{digest}),
            .allocations = bench.refusing.attempts,
        };
    }

    inline fn parse(bench: *MessageBench, index: usize, checks: message.Checks) !void {
        const at = index * bench.spec.message_bytes;
        const start = message.startAt(bench.bytes.ptr, at, bench.bytes.len) orelse return error.Malformed;
        if (try bench.parser.read(bench.bytes.ptr, start, bench.bytes.len, checks) != null) return error.Malformed;
    }

    /// For each message, how long `group` readings of its four fields take after it was parsed.
    fn readFields(bench: *MessageBench, comptime tags: [4]u32, arena: std.mem.Allocator) !abi.BenchResult {
        const samples = try arena.alloc(u64, bench.messages());
        for (samples, 0..) |*sample, index| {
            try bench.parse(index, .{});
            const started = clock.now();
            for (0..bench.spec.group) |_| {
                // Nothing may be remembered from one reading to the next.
                std.mem.doNotOptimizeAway(&bench.parser);
                var read: usize = 0;
                inline for (tags) |tag| {
                    const value = bench.parser.get(tag) orelse return error.Malformed;
                    read +%= @intFromPtr(value.ptr) +% value.len;
                }
                std.mem.doNotOptimizeAway(read);
            }
            sample.* = clock.now() - started;
        }
        return .{ .outcome = .done, .group = bench.spec.group, .samples_ns = samples };
    }

    /// FNV-1a of the fields `tags` of every message, each followed by a zero byte; as in zig/baseline/conventional_fix.cpp.
    fn digestOf(bench: *MessageBench) !u64 {
        const prime = 0x100_0000_01b3;
        var digest: u64 = 0xcbf2_9ce4_8422_2325;
        for (0..bench.messages()) |index| {
            try bench.parse(index, .{});
            for (bench.spec.tags) |tag| {
                for (bench.parser.get(tag) orelse return error.Malformed) |byte| digest = (digest ^ byte) *% prime;
                digest *%= prime;
            }
        }
        return digest;
    }
};

fn readLog(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.BenchSpec, control: *const Control, mapping: *const Mapping) !abi.BenchResult {
    var log: LogBench = .{ .gpa = gpa, .control = control, .bytes = mapping.base, .end = spec.file.size, .claims = undefined, .chunks = undefined };
    log.chunks = try arena.alloc(LogBench.Chunk, @intCast((spec.file.size + chunk_bytes - 1) / chunk_bytes));
    const samples = try arena.alloc(u64, spec.rounds);
    const team: parallel.Team = .init(spec.threads, spec.pin);
    for (0..spec.rounds + 1) |round| {
        const started = clock.now();
        log.claims = .{ .len = log.chunks.len };
        team.run(&log, LogBench.work);
        try log.prove();
        if (round > 0) samples[round - 1] = clock.now() - started;
    }
    return .{ .outcome = .done, .group = log.messages(), .samples_ns = samples, .level = @import("../level.zig").level };
}

/// Every message of a log, verified, in chunks by any worker.
const LogBench = struct {
    gpa: std.mem.Allocator,
    control: *const Control,
    bytes: [*]const u8,
    end: u64,
    claims: parallel.Claims,
    chunks: []Chunk,
    failed: std.atomic.Value(bool) = .init(false),

    /// `first` is where its first message starts, `next` where the first one behind it does.
    const Chunk = struct { first: u64, next: u64, messages: u64 };

    fn work(log: *LogBench, _: u32) void {
        log.readChunks() catch log.failed.store(true, .monotonic);
    }

    fn readChunks(log: *LogBench) !void {
        var parser: Parser = try .init(log.gpa);
        defer parser.deinit();
        while (log.claims.take()) |index| {
            if (log.control.isCancelled()) return error.Cancelled;
            log.chunks[index] = try log.readChunk(&parser, index * chunk_bytes);
        }
    }

    fn readChunk(log: *const LogBench, parser: *Parser, begin: u64) !Chunk {
        const limit = @min(begin + chunk_bytes, log.end);
        var found = message.findStart(log.bytes, begin, log.end);
        var chunk: Chunk = .{ .first = if (found) |start| start.at else log.end, .next = log.end, .messages = 0 };
        while (found) |start| : (found = message.findStart(log.bytes, parser.end, log.end)) {
            if (start.at >= limit) {
                chunk.next = start.at;
                break;
            }
            if (try parser.read(log.bytes, start, log.end, .{}) != null) return error.Malformed;
            std.mem.doNotOptimizeAway(parser.slots);
            chunk.messages += 1;
        }
        return chunk;
    }

    /// Each chunk must have begun where the one before it ended.
    fn prove(log: *const LogBench) !void {
        if (log.failed.load(.monotonic)) return error.Malformed;
        for (log.chunks[0 .. log.chunks.len - 1], log.chunks[1..]) |chunk, behind| {
            if (chunk.next != behind.first) return error.Malformed;
        }
    }

    fn messages(log: *const LogBench) u64 {
        var total: u64 = 0;
        for (log.chunks) |chunk| total += chunk.messages;
        return total;
    }
};

/// Refuses every request for memory and counts them.
const Refusing = struct {
    attempts: u64 = 0,

    fn allocator(refusing: *Refusing) std.mem.Allocator {
        return .{ .ptr = refusing, .vtable = &.{
            .alloc = alloc,
            .resize = std.mem.Allocator.noResize,
            .remap = std.mem.Allocator.noRemap,
            .free = std.mem.Allocator.noFree,
        } };
    }

    fn alloc(context: *anyopaque, _: usize, _: std.mem.Alignment, _: usize) ?[*]u8 {
        const refusing: *Refusing = @ptrCast(@alignCast(context));
        refusing.attempts += 1;
        return null;
    }
};
