//! The scanner against the grammar: every file of up to a few bytes over the bytes that matter, cut into tiny chunks,
//! read by one worker and by two that wait for each other; and longer random ones that cross tiles.
const std = @import("std");
const scan = @import("scan.zig");
const record = @import("record.zig");
const ledger_module = @import("ledger.zig");
const Control = @import("../control.zig").Control;
const File = @import("../source/mapping.zig").File;
const Ledger = ledger_module.Ledger;

const gpa = std.testing.allocator;
/// `zig build fuzz` asks for more.
const fuzz_rounds = @import("build_options").fuzz_rounds;
const pad = 4096;

/// What reading a whole ledger comes to, in file order.
const Reading = struct {
    refs: std.ArrayList(u64) = .empty,
    missing_keys: std.ArrayList(u64) = .empty,
    faults: std.ArrayList(u64) = .empty,
    ignored: u64 = 0,
    lines: u64 = 0,

    fn deinit(reading: *Reading) void {
        reading.refs.deinit(gpa);
        reading.missing_keys.deinit(gpa);
        reading.faults.deinit(gpa);
    }

    fn clear(reading: *Reading) void {
        reading.refs.clearRetainingCapacity();
        reading.missing_keys.clearRetainingCapacity();
        reading.faults.clearRetainingCapacity();
        reading.ignored = 0;
        reading.lines = 0;
    }

    fn add(reading: *Reading, output: *const scan.Output) !void {
        for (output.refs.items) |ref| try reading.refs.append(gpa, @bitCast(ref));
        try reading.missing_keys.appendSlice(gpa, output.missing_keys.items);
        try reading.faults.appendSlice(gpa, output.faults.items);
        reading.ignored += output.ignored;
        reading.lines += output.lines;
    }

    fn expectEqual(expected: *Reading, actual: *Reading) !void {
        inline for (.{ "refs", "missing_keys", "faults" }) |name| {
            std.mem.sort(u64, @field(expected, name).items, {}, std.sort.asc(u64));
            std.mem.sort(u64, @field(actual, name).items, {}, std.sort.asc(u64));
            try std.testing.expectEqualSlices(u64, @field(expected, name).items, @field(actual, name).items);
        }
        try std.testing.expectEqual(expected.ignored, actual.ignored);
        try std.testing.expectEqual(expected.lines, actual.lines);
    }
};

const Fixture = struct {
    bytes: []u8,
    files: [1]File = undefined,
    ledger: Ledger = undefined,
    control: Control = .{ .spec = undefined, .spec_len = 0 },
    expected: Reading = .{},
    actual: Reading = .{},

    fn init(capacity: usize) !*Fixture {
        const fixture = try gpa.create(Fixture);
        fixture.* = .{ .bytes = try gpa.alloc(u8, capacity + pad) };
        return fixture;
    }

    fn deinit(fixture: *Fixture) void {
        fixture.expected.deinit();
        fixture.actual.deinit();
        gpa.free(fixture.bytes);
        gpa.destroy(fixture);
    }

    fn load(fixture: *Fixture, text: []const u8, width: u32, key: []const u32, trim: bool) void {
        @memcpy(fixture.bytes[0..text.len], text);
        @memset(fixture.bytes[text.len..], 0);
        fixture.files[0] = .{ .path = "test", .begin = 0, .first = 0, .end = text.len, .first_line = 1 };
        fixture.ledger = .{
            .side = .internal,
            .spec = .{ .files = &.{}, .delimiter = ',', .width = width },
            .capacity = width,
            .reading = .as_spelled,
            .mapping = .{ .base = fixture.bytes.ptr, .files = &fixture.files, .range = &.{} },
            .dialect = .{ .delimiter = ',', .quote = '"', .trim = trim },
            .width = width,
            .key = key,
            .compare = &.{},
            .checked = if (key.len == 1) &.{.{ .column = 0, .is_key = true }} else &.{ .{ .column = 0, .is_key = true }, .{ .column = 1, .is_key = true } },
            .needed = @intCast(key.len),
        };
    }

    /// The grammar, record by record.
    fn readSlowly(fixture: *Fixture) !void {
        const reading = &fixture.expected;
        reading.clear();
        const ledger = &fixture.ledger;
        const end = fixture.files[0].end;
        var fields: [8]record.Field = undefined;
        var scratch: ledger_module.Scratch = .init(gpa);
        defer scratch.deinit();
        var at: u64 = 0;
        while (at < end) {
            scratch.reset();
            const examined = try ledger.examine(at, &fields, &scratch);
            reading.lines += std.mem.countScalar(u8, fixture.bytes[at..examined.record.next], '\n');
            if (examined.record.blank) {
                reading.ignored += 1;
            } else if (examined.fault != null) {
                try reading.faults.append(gpa, at);
            } else {
                var any = false;
                const ref: ledger_module.Ref = .of(at, examined.record.end - at);
                for (ledger.key) |column| any = any or (try ledger.value(ref, &fields, column, &scratch)).len != 0;
                if (any) try reading.refs.append(gpa, @bitCast(ref)) else try reading.missing_keys.append(gpa, at);
            }
            at = examined.record.next;
        }
    }

    fn freeChunks(chunks: []scan.Chunk) void {
        for (chunks) |chunk| gpa.free(chunk.checkpoints);
        gpa.free(chunks);
    }

    fn readAlone(fixture: *Fixture, chunk_bytes: u64) !void {
        fixture.actual.clear();
        const chunks = try scan.planChunks(gpa, &fixture.ledger, chunk_bytes);
        defer freeChunks(chunks);
        var scanner: scan.Scanner = try .init(gpa, &fixture.ledger, &fixture.control, 1, 64);
        defer scanner.deinit();
        for (0..chunks.len) |i| try fixture.actual.add(try scanner.read(chunks, i));
    }

    const Half = struct { fixture: *Fixture, chunks: []scan.Chunk, first: usize, reading: Reading = .{}, failure: ?anyerror = null };

    fn readHalf(half: *Half) void {
        readEverySecond(half) catch |problem| {
            half.failure = problem;
        };
    }

    fn readEverySecond(half: *Half) !void {
        var scanner: scan.Scanner = try .init(gpa, &half.fixture.ledger, &half.fixture.control, 1, 64);
        defer scanner.deinit();
        var i = half.first;
        while (i < half.chunks.len) : (i += 2) try half.reading.add(try scanner.read(half.chunks, i));
    }

    /// Two workers take turns, so that each guesses while the other still reads.
    fn readTogether(fixture: *Fixture, chunk_bytes: u64) !void {
        fixture.actual.clear();
        const chunks = try scan.planChunks(gpa, &fixture.ledger, chunk_bytes);
        defer freeChunks(chunks);
        var halves = [_]Half{ .{ .fixture = fixture, .chunks = chunks, .first = 0 }, .{ .fixture = fixture, .chunks = chunks, .first = 1 } };
        defer for (&halves) |*half| half.reading.deinit();
        const thread = try std.Thread.spawn(.{}, readHalf, .{&halves[1]});
        readHalf(&halves[0]);
        thread.join();
        for (&halves) |*half| {
            if (half.failure) |failure| return failure;
            inline for (.{ "refs", "missing_keys", "faults" }) |name| try @field(fixture.actual, name).appendSlice(gpa, @field(half.reading, name).items);
            fixture.actual.ignored += half.reading.ignored;
            fixture.actual.lines += half.reading.lines;
        }
    }

    fn check(fixture: *Fixture, text: []const u8) !void {
        errdefer std.debug.print("file: \"{f}\"\n", .{std.zig.fmtString(text)});
        try fixture.readSlowly();
        for ([_]u64{ 1, 3, 1 << 20 }) |chunk_bytes| {
            try fixture.readAlone(chunk_bytes);
            try fixture.expected.expectEqual(&fixture.actual);
        }
    }
};

test "every file of up to six bytes" {
    const alphabet = "a,\"\n\r";
    const fixture = try Fixture.init(16);
    defer fixture.deinit();
    var text: [6]u8 = undefined;
    for (1..text.len + 1) |len| {
        const count = try std.math.powi(usize, alphabet.len, len);
        for (0..count) |number| {
            var rest = number;
            for (text[0..len]) |*byte| {
                byte.* = alphabet[rest % alphabet.len];
                rest /= alphabet.len;
            }
            fixture.load(text[0..len], 1 + @as(u32, @intCast(number % 2)), &.{0}, number % 3 == 0);
            try fixture.check(text[0..len]);
        }
    }
}

/// A random file of whole pieces; odd rounds mix in everything that is hard to split.
fn randomText(random: std.Random, round: usize, text: *std.ArrayList(u8)) !void {
    const easy = [_][]const u8{ "abc", ",", "\n", "1.50", "\r\n" };
    const hard = [_][]const u8{ "abc,1\n", "\"a,\n\"\"b\",2\r\n", "T9,", "\"", "\n", "x\"y,5\n", "\xc3\xa9,1\n", "\xff,2\n", "\n \n", "\"a\" ,1\n", "\"k\",\"v\"\n" };
    const pieces: []const []const u8 = if (round % 2 == 0) &easy else &hard;
    text.clearRetainingCapacity();
    const wanted = random.intRangeAtMost(usize, 1, 40_000);
    while (text.items.len < wanted) {
        const unusual = random.uintLessThan(u8, 8) == 0;
        try text.appendSlice(gpa, pieces[if (unusual) random.uintLessThan(usize, pieces.len) else 0]);
    }
}

fn readRandomFiles(rounds: usize, random: std.Random) !void {
    const fixture = try Fixture.init(64 * 1024);
    defer fixture.deinit();
    var text: std.ArrayList(u8) = .empty;
    defer text.deinit(gpa);
    for (0..rounds) |round| {
        try randomText(random, round, &text);
        fixture.load(text.items, 2, if (round % 3 == 0) &.{ 0, 1 } else &.{0}, round % 5 == 0);
        try fixture.readSlowly();
        for ([_]u64{ 64, 1000, 8192, 1 << 20 }) |chunk_bytes| {
            try fixture.readAlone(chunk_bytes);
            try fixture.expected.expectEqual(&fixture.actual);
            try fixture.readTogether(chunk_bytes);
            try fixture.expected.expectEqual(&fixture.actual);
        }
    }
}

test "random files across tiles and chunks, one worker and two" {
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    try readRandomFiles(fuzz_rounds, prng.random());
}

test "canary: the same files find a reader that is wrong" {
    const fixture = try Fixture.init(64 * 1024);
    defer fixture.deinit();
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    var text: std.ArrayList(u8) = .empty;
    defer text.deinit(gpa);
    var caught = false;
    for (0..fuzz_rounds) |round| {
        try randomText(prng.random(), round, &text);
        fixture.load(text.items, 2, &.{0}, false);
        try fixture.readSlowly();
        fixture.ledger.dialect.quote = null;
        try fixture.readAlone(1000);
        caught = caught or fixture.expected.faults.items.len != fixture.actual.faults.items.len or fixture.expected.refs.items.len != fixture.actual.refs.items.len;
    }
    try std.testing.expect(caught);
}
