//! Parts of the engine, timed alone and inside the engine, so that no call from outside is in the numbers: for
//! `bun run bench` (bench/run.ts) and `recon bench fix` (src/bench/fix.ts). Nothing else calls it.
const std = @import("std");
const abi = @import("abi.zig");
const clock = @import("clock.zig");
const decimal = @import("value/decimal.zig");
const fix = @import("fix/bench.zig");
const hash = @import("index/hash.zig");
const ledger_module = @import("csv/ledger.zig");
const memory_module = @import("index/memory.zig");
const partition = @import("index/partition.zig");
const placement = @import("placement.zig");
const record = @import("csv/record.zig");
const scan = @import("csv/scan.zig");
const Control = @import("control.zig").Control;
const Findings = @import("match/findings.zig").Findings;
const Joiner = @import("match/hash_join.zig").Joiner;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;

/// Columns of a generated ledger, and where its price is.
const ledger_width = 7;
const price_column = 4;
const seed = 42;

pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.BenchSpec, control: *Control) !abi.BenchResult {
    // The job's thread ends with the job.
    if (spec.pin) pinToFirst();
    return switch (spec.part) {
        .scan, .hash, .table, .decimal, .split => runOnLedger(gpa, arena, spec, control),
        .fix_parse, .fix_parse_unchecked, .fix_fields, .fix_log => fix.run(gpa, arena, spec, control),
    };
}

fn runOnLedger(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.BenchSpec, control: *Control) !abi.BenchResult {
    const side: abi.LedgerSpec = .{ .files = &.{spec.file}, .delimiter = ',', .width = ledger_width };
    var ledger: Ledger = try .openUsed(arena, .internal, side, .{ .key = &.{0}, .compare = &.{price_column} }, control);
    defer ledger.close(arena);
    var bench: LedgerBench = .{ .gpa = gpa, .ledger = &ledger, .control = control };
    defer bench.deinit();
    try bench.readRows();
    try bench.readPrices();
    const samples = try arena.alloc(u64, spec.rounds);
    for (0..spec.rounds + 1) |round| {
        const started = clock.now();
        const result = try bench.once(spec.part);
        std.mem.doNotOptimizeAway(result);
        if (round > 0) samples[round - 1] = clock.now() - started;
        if (control.isCancelled()) return error.Cancelled;
    }
    return .{ .outcome = .done, .group = bench.refs.items.len, .samples_ns = samples, .level = @import("level.zig").level };
}

const LedgerBench = struct {
    gpa: std.mem.Allocator,
    ledger: *const Ledger,
    control: *Control,
    refs: std.ArrayList(Ref) = .empty,
    hashes: std.ArrayList(u64) = .empty,
    /// Every price, and behind it the same number with one zero more.
    prices: std.ArrayList(u8) = .empty,
    price_ends: std.ArrayList(u32) = .empty,

    fn deinit(bench: *LedgerBench) void {
        inline for (.{ "refs", "hashes", "prices", "price_ends" }) |name| @field(bench, name).deinit(bench.gpa);
    }

    fn once(bench: *LedgerBench, part: abi.BenchPart) !u64 {
        return switch (part) {
            .scan => bench.scanAll(false),
            .hash => bench.hashKeys(),
            .table => bench.fillTable(),
            .decimal => bench.comparePrices(),
            .split => bench.splitRows(),
            else => unreachable,
        };
    }

    fn readRows(bench: *LedgerBench) !void {
        _ = try bench.scanAll(true);
    }

    fn readPrices(bench: *LedgerBench) !void {
        var fields: [ledger_width]record.Field = undefined;
        for (bench.refs.items) |ref| {
            bench.ledger.split(ref, &fields);
            const price = bench.bytesOf(ref, fields[price_column]);
            for (0..2) |i| {
                try bench.prices.appendSlice(bench.gpa, price);
                if (i == 1) try bench.prices.append(bench.gpa, '0');
                try bench.price_ends.append(bench.gpa, @intCast(bench.prices.items.len));
            }
        }
    }

    fn bytesOf(bench: *const LedgerBench, ref: Ref, field: record.Field) []const u8 {
        return (bench.ledger.mapping.base + ref.offset + field.start)[0..field.len];
    }

    /// Finds every row and hashes its key.
    fn scanAll(bench: *LedgerBench, keep: bool) !u64 {
        const chunks = try scan.planChunks(bench.gpa, bench.ledger, 256 * 1024);
        defer bench.gpa.free(chunks);
        var scanner: scan.Scanner = try .init(bench.gpa, bench.ledger, bench.control, seed, 64);
        defer scanner.deinit();
        var rows: u64 = 0;
        for (0..chunks.len) |index| {
            const output = try scanner.read(chunks, index);
            rows += output.refs.items.len;
            if (!keep) continue;
            try bench.refs.appendSlice(bench.gpa, output.refs.items);
            try bench.hashes.appendSlice(bench.gpa, output.hashes.items);
        }
        return rows;
    }

    /// Hashes the first ten bytes of every row: a sequential id.
    fn hashKeys(bench: *const LedgerBench) u64 {
        var sum: u64 = 0;
        for (bench.refs.items) |ref| sum +%= hash.ofBytes(seed, bench.ledger.mapping.base + ref.offset, 10);
        return sum;
    }

    /// Spreads all rows over partitions and puts each partition into a table.
    fn fillTable(bench: *LedgerBench) !u64 {
        var memory: memory_module.Memory = .init(std.math.maxInt(u64), null);
        defer memory.deinit();
        const count = std.math.clamp(std.math.ceilPowerOfTwo(usize, bench.refs.items.len / 4096 + 1) catch 1, 1, 8192);
        var partitions: partition.Partitions = try .init(bench.gpa, &memory, count);
        defer partitions.deinit();
        for (bench.hashes.items, bench.refs.items) |key_hash, ref| try partitions.push(key_hash, ref.offset);
        var findings: Findings = try .init(bench.gpa, 0, false);
        defer findings.deinit();
        // Settled rows are only put into the table: nothing is compared.
        var joiner: Joiner = try .init(bench.gpa, bench.control, undefined, &findings, false);
        defer joiner.deinit();
        for (0..count) |index| _ = try joiner.settle(.{ .settled = (&partitions)[0..1], .runs = &.{}, .internal = &.{}, .external = &.{} }, index);
        return findings.matched;
    }

    /// Compares every price with another spelling of it.
    fn comparePrices(bench: *const LedgerBench) u64 {
        var equal: u64 = 0;
        var start: u32 = 0;
        var row: usize = 0;
        while (row < bench.price_ends.items.len) : (row += 2) {
            const middle = bench.price_ends.items[row];
            const end = bench.price_ends.items[row + 1];
            equal += @intFromBool(decimal.equalPlain(bench.prices.items[start..middle], bench.prices.items[middle..end]));
            start = end;
        }
        return equal;
    }

    /// Finds the fields of every row.
    fn splitRows(bench: *const LedgerBench) u64 {
        var sum: u64 = 0;
        var fields: [ledger_width]record.Field = undefined;
        for (bench.refs.items) |ref| {
            bench.ledger.split(ref, &fields);
            sum +%= fields[ledger_width - 1].start;
        }
        return sum;
    }
};

/// Pins the calling thread to the first core it may use.
fn pinToFirst() void {
    const cores = placement.read();
    if (cores.len != 0) placement.pinTo(cores.list[0]);
}
