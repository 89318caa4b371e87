//! Both ledgers read side by side by all workers, where their rows are in one order: cut into segments, walked, and what
//! that came to put together. How one segment is walked is match/side_by_side.zig's. Used by job.zig, before the scan.
const std = @import("std");
const abi = @import("abi.zig");
const parallel = @import("parallel.zig");
const scan = @import("csv/scan.zig");
const compare = @import("match/compare.zig");
const rule = @import("match/rule.zig");
const side_by_side = @import("match/side_by_side.zig");
const worker_module = @import("worker.zig");
const Control = @import("control.zig").Control;
const Ledger = @import("csv/ledger.zig").Ledger;
const RowReader = @import("csv/row_reader.zig").RowReader;
const Error = worker_module.Error;
const Worker = worker_module.Worker;

/// What a walk came to, besides what the workers found.
pub const Walked = struct {
    plan: abi.Plan,
    /// The segments as the chunks by which line numbers are found. Their checkpoints are the caller's.
    chunks: [2][]scan.Chunk,
    /// Where the external row of each settled pair is.
    runs: []const side_by_side.Run,
};

pub const Walk = struct {
    gpa: std.mem.Allocator,
    arena: std.mem.Allocator,
    control: *Control,
    team: *const parallel.Team,
    workers: []Worker,
    ledgers: [2]*const Ledger,
    rules: []const rule.Rule,
    seed: u64,
    chunk_bytes: u64,
    hash_mask: u64,
    order: side_by_side.Order = .unsorted,
    segments: []side_by_side.Segment = &.{},
    outcomes: []side_by_side.Outcome = &.{},
    claims: parallel.Claims = .{ .len = 0 },
    /// Why the plan is what it is.
    reason: []const u8 = "",

    /// Null if the rows have to be found by hash; then the workers have nothing of what was seen.
    pub fn run(walk: *Walk) Error!?Walked {
        var planner: side_by_side.Planner = .{
            .arena = walk.arena,
            .ledgers = walk.ledgers,
            .same_layout = compare.sameLayout(walk.ledgers[0], walk.ledgers[1]),
            .chunk_bytes = walk.chunk_bytes,
        };
        const plan = try planner.plan() orelse {
            walk.reason = planner.reason;
            return null;
        };
        walk.order = plan.order;
        walk.segments = plan.segments;
        walk.outcomes = try walk.arena.alloc(side_by_side.Outcome, plan.segments.len);
        @memset(walk.outcomes, .{});
        errdefer walk.dropOutcomes();
        walk.control.enter(.scan, walk.ledgers[0].mapping.bytes() + walk.ledgers[1].mapping.bytes());
        walk.claims = .{ .len = plan.segments.len };
        walk.team.run(walk, work);
        if (try walk.isUnfit()) {
            walk.reason = "keys are not in order on both sides: rows found by key hash";
            walk.dropOutcomes();
            for (walk.workers) |*worker| worker.forgetWalk();
            return null;
        }
        walk.reason = switch (plan.order) {
            .ascending => "both sides strictly ascending by key",
            .descending => "both sides strictly descending by key",
            .by_length => "both sides strictly ascending by key, shorter keys first",
            .unsorted => "rows in the same order, keys unsorted: compared side by side, uniqueness proved by hash",
        };
        return try walk.gather();
    }

    fn work(walk: *Walk, index: u32) void {
        const worker = &walk.workers[index];
        walk.walkSegments(worker) catch |problem| {
            worker.failure = problem;
            walk.claims.next.store(walk.claims.len, .monotonic);
        };
    }

    fn walkSegments(walk: *Walk, worker: *Worker) Error!void {
        var comparer: compare.Comparer = try .init(walk.gpa, walk.ledgers[0], walk.ledgers[1], walk.rules);
        defer comparer.deinit(walk.gpa);
        const readers = try walk.gpa.create([2]RowReader);
        defer walk.gpa.destroy(readers);
        var walker: side_by_side.Walker = .{
            .gpa = walk.gpa,
            .control = walk.control,
            .seed = walk.seed,
            .hash_mask = walk.hash_mask,
            .comparer = &comparer,
            .findings = &worker.findings,
            .settled = &worker.settled,
            .unsettled = .{ &worker.partitions[0], &worker.partitions[1] },
            .faults = &worker.faults,
            .readers = readers,
        };
        defer walker.deinit();
        while (walk.claims.take()) |index| {
            const segment = &walk.segments[index];
            const next = if (index + 1 < walk.segments.len) &walk.segments[index + 1] else null;
            walk.outcomes[index] = try walker.walk(walk.order, segment, index == 0, next);
            for (walk.ledgers, segment.from, segment.to) |ledger, from, to| ledger.mapping.release(from, to);
            walk.control.advance(segment.bytes());
        }
        worker.rows = walker.rows;
        worker.ignored = walker.ignored;
    }

    /// Whether the rows turned out not to be in the order they were taken for.
    fn isUnfit(walk: *Walk) Error!bool {
        var unfit = false;
        for (walk.workers) |*worker| if (worker.failure) |failure| switch (failure) {
            error.Unfit => unfit = true,
            else => return failure,
        };
        if (walk.control.isCancelled()) return error.Cancelled;
        return unfit;
    }

    fn dropOutcomes(walk: *Walk) void {
        for (walk.outcomes) |*outcome| outcome.deinit(walk.gpa);
    }

    fn gather(walk: *Walk) Error!Walked {
        var walked: Walked = .{ .plan = if (walk.order == .unsorted) .hash else .merge, .chunks = undefined, .runs = undefined };
        for (&walked.chunks, 0..) |*chunks, side| {
            chunks.* = try walk.arena.alloc(scan.Chunk, walk.segments.len);
            for (chunks.*, walk.segments, walk.outcomes) |*chunk, segment, outcome| chunk.* = .{
                .file = 0,
                .begin = segment.from[side],
                .limit = segment.to[side],
                .first = .init(segment.from[side]),
                .lines = outcome.lines[side],
                .checkpoints = outcome.checkpoints[side],
            };
        }
        var runs: std.ArrayList(side_by_side.Run) = .empty;
        for (walk.outcomes) |outcome| try runs.appendSlice(walk.arena, outcome.runs);
        for (walk.outcomes) |outcome| walk.gpa.free(outcome.runs);
        walked.runs = runs.items;
        return walked;
    }
};
