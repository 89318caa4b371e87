//! One reconciliation from specification to result: threads, phases, progress, cancel. Plans, pairing and output are
//! called from here and know nothing of each other.
const std = @import("std");
const abi = @import("abi.zig");
const build_level = @import("level.zig").level;
const parallel = @import("parallel.zig");
const clock = @import("clock.zig");
const problems = @import("problems.zig");
const record = @import("csv/record.zig");
const scan = @import("csv/scan.zig");
const ledger_module = @import("csv/ledger.zig");
const memory_module = @import("index/memory.zig");
const partition = @import("index/partition.zig");
const compare = @import("match/compare.zig");
const findings_module = @import("match/findings.zig");
const hash_join = @import("match/hash_join.zig");
const side_by_side = @import("match/side_by_side.zig");
const rule = @import("match/rule.zig");
const totals = @import("match/totals.zig");
const hints = @import("match/hints.zig");
const format = @import("breaks/format.zig");
const write = @import("breaks/write.zig");
const lines_module = @import("breaks/lines.zig");
const sort = @import("breaks/sort.zig");
const worker_module = @import("worker.zig");
const Control = @import("control.zig").Control;
const Walk = @import("walk.zig").Walk;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Findings = findings_module.Findings;
const Worker = worker_module.Worker;

pub const Error = worker_module.Error;

/// Everything in the result is owned by `arena`. Problems of the input are in the result, not errors.
pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.RunSpec, control: *Control) Error!abi.RunResult {
    var job: Job = .{ .gpa = gpa, .arena = arena, .spec = spec, .control = control, .team = .init(spec.threads, spec.pin) };
    defer job.deinit();
    return job.run() catch |problem| switch (problem) {
        error.SpillFailed => job.spillProblem(),
        error.Cancelled => if (control.vanished.load(.acquire) != 0) job.vanished() else problem,
        else => problem,
    };
}

/// One side while it is scanned.
const SideState = struct {
    ledger: Ledger,
    chunks: []scan.Chunk,
    ignored: u64 = 0,
    filtered: u64 = 0,
    rows: u64 = 0,
    events: std.ArrayList(scan.Event) = .empty,
    totals: ?totals.Totals = null,
    faults: std.ArrayList(u64) = .empty,
    missing_keys: std.ArrayList(u64) = .empty,
    /// The records among `faults` whose quote never closes: one a file at most.
    unterminated: std.ArrayList(u64) = .empty,
    lines: ?lines_module.Lines = null,
};

const Job = struct {
    gpa: std.mem.Allocator,
    arena: std.mem.Allocator,
    spec: abi.RunSpec,
    control: *Control,
    sides: [2]?SideState = @splat(null),
    workers: []Worker = &.{},
    findings: ?Findings = null,
    seed: u64 = 0,
    partitions: usize = 1,
    memory: memory_module.Memory = undefined,
    team: parallel.Team,
    claims: parallel.Claims = .{ .len = 0 },
    phases: std.ArrayList(abi.PhaseTime) = .empty,
    phase_start_ns: u64 = 0,
    write_errno: i32 = 0,
    /// Where the external rows of the pairs are that were settled side by side.
    runs: []const side_by_side.Run = &.{},
    rows: hash_join.Rows = undefined,
    rules: []rule.Rule = &.{},
    controls: []const abi.ControlTotal = &.{},
    plan: abi.Plan = .hash,
    plan_reason: []const u8 = "",

    fn deinit(job: *Job) void {
        if (job.findings) |*findings| findings.deinit();
        for (job.workers) |*worker| worker.deinit();
        if (job.workers.len != 0) job.memory.deinit();
        for (&job.sides) |*side| if (side.*) |*s| {
            for (s.chunks) |chunk| job.gpa.free(chunk.checkpoints);
            if (s.totals) |*t| t.deinit();
            s.ledger.close(job.arena);
        };
    }

    fn run(job: *Job) Error!abi.RunResult {
        job.phase_start_ns = clock.now();
        try job.open();
        if (!try job.walkAll()) try job.scanAll();
        if (try job.inputErrors()) |refused| return refused;
        if (try job.checkTotals()) |refused| return refused;
        try job.joinAll();
        try job.gatherFindings();
        try job.proveTotals();
        try job.sortAll();
        var result = try job.count();
        if (job.spec.external != null) try job.findHints(&result);
        job.writeAll(&result) catch |problem| return if (problem == error.WriteFailed) job.writeProblem() else problem;
        if (job.control.vanished.load(.acquire) != 0) return job.vanished();
        if (job.control.isCancelled()) return error.Cancelled;
        result.phases = job.phases.items;
        return result;
    }

    fn state(job: *Job, side: Side) *SideState {
        return &job.sides[@intFromEnum(side)].?;
    }

    fn endPhase(job: *Job, name: []const u8) Error!void {
        const now = clock.now();
        try job.phases.append(job.arena, .{ .name = name, .ns = now - job.phase_start_ns });
        job.phase_start_ns = now;
        if (job.control.isCancelled()) return error.Cancelled;
    }

    // Opening

    fn open(job: *Job) Error!void {
        // Random, so that no file can be made whose keys all collide; results do not depend on it.
        _ = std.c.getrandom(std.mem.asBytes(&job.seed), @sizeOf(u64), 0);
        for ([_]Side{ .internal, .external }, [_]?abi.LedgerSpec{ job.spec.internal, job.spec.external }) |side, spec| {
            const ledger = try Ledger.open(job.arena, side, spec orelse continue, job.spec, job.control);
            job.sides[@intFromEnum(side)] = .{ .ledger = ledger, .chunks = &.{} };
        }
        try job.makeRules();
        job.partitions = job.partitionCount();
        const limit = if (job.spec.memory_bytes == 0) std.math.maxInt(u64) else job.spec.memory_bytes;
        job.memory = .init(limit, if (job.spec.temp_directory) |path| try job.arena.dupeZ(u8, path) else null);
        const workers = try job.arena.alloc(Worker, job.team.threads);
        for (workers, 0..) |*worker, i| {
            worker.* = try .init(job.gpa, &job.memory, job.partitions, &job.spec);
            job.workers = workers[0 .. i + 1];
        }
    }

    fn makeRules(job: *Job) Error!void {
        const internal = &job.state(.internal).ledger;
        const external = if (job.sides[1]) |*s| &s.ledger else internal;
        job.rules = try job.arena.alloc(rule.Rule, job.spec.compare.len);
        for (job.rules, job.spec.compare) |*out, column| out.* = try .init(job.arena, column, internal, external);
    }

    /// By the rows of both sides, which are estimated from the first bytes.
    fn partitionCount(job: *Job) usize {
        var rows: u64 = 0;
        for (&job.sides) |*side| if (side.*) |*s| {
            rows += s.ledger.estimateRows();
        };
        return partition.countFor(rows);
    }

    // Scanning

    /// Reads both ledgers side by side if they are in the same order. False if the rows have to be found by hash; then
    /// nothing of what was seen is kept.
    fn walkAll(job: *Job) Error!bool {
        if (job.spec.external == null or job.spec.only_keys != null) return false;
        if (job.spec.plan == .hash) {
            job.plan_reason = "asked for: rows found by key hash";
            return false;
        }
        if (totals.areNeeded(job.spec)) {
            job.plan_reason = "totals look at every row: rows found by key hash";
            return false;
        }
        var walk: Walk = .{
            .gpa = job.gpa,
            .arena = job.arena,
            .control = job.control,
            .team = &job.team,
            .workers = job.workers,
            .ledgers = .{ &job.state(.internal).ledger, &job.state(.external).ledger },
            .rules = job.rules,
            .seed = job.seed,
            .chunk_bytes = job.spec.chunk_bytes,
            .hash_mask = scan.hashMask(job.spec.hash_bits),
        };
        const walked = try walk.run();
        job.plan_reason = walk.reason;
        const found = walked orelse return false;
        job.plan = found.plan;
        job.runs = found.runs;
        for (&job.sides, found.chunks) |*side, chunks| side.*.?.chunks = chunks;
        try job.gatherScan();
        return true;
    }

    fn scanAll(job: *Job) Error!void {
        var bytes: u64 = 0;
        var chunks: usize = 0;
        for (&job.sides) |*side| if (side.*) |*s| {
            s.chunks = try scan.planChunks(job.arena, &s.ledger, job.spec.chunk_bytes);
            bytes += s.ledger.mapping.bytes();
            chunks += s.chunks.len;
        };
        job.control.enter(.scan, bytes);
        job.claims = .{ .len = chunks };
        job.team.run(job, scanWorker);
        try job.workerFailure();
        try job.gatherScan();
    }

    /// What the workers counted becomes the sides'.
    fn gatherScan(job: *Job) Error!void {
        for (job.workers) |*worker| for (0..2) |i| {
            const side = if (job.sides[i]) |*s| s else continue;
            side.ignored += worker.ignored[i];
            side.filtered += worker.filtered[i];
            try side.events.appendSlice(job.arena, worker.events[i].items);
            side.rows += worker.rows[i];
            try side.faults.appendSlice(job.arena, worker.faults[i].items);
            try side.missing_keys.appendSlice(job.arena, worker.missing_keys[i].items);
            try side.unterminated.appendSlice(job.arena, worker.unterminated[i].items);
        };
        for (&job.sides) |*side| if (side.*) |*s| {
            s.lines = try .init(job.arena, &s.ledger.mapping, s.chunks);
            std.mem.sort(u64, s.faults.items, {}, std.sort.asc(u64));
            std.mem.sort(u64, s.unterminated.items, {}, std.sort.asc(u64));
        };
        try job.endPhase("scan");
    }

    fn scanWorker(job: *Job, index: u32) void {
        const worker = &job.workers[index];
        job.scanChunks(worker) catch |problem| job.stop(worker, problem);
    }

    fn stop(job: *Job, worker: *Worker, problem: Error) void {
        worker.failure = problem;
        // The others wait for chunks that this worker will never finish.
        job.control.cancelled.store(1, .monotonic);
    }

    fn workerFailure(job: *Job) Error!void {
        for (job.workers) |*worker| if (worker.failure) |failure| if (failure != error.Cancelled) return failure;
        for (job.workers) |*worker| if (worker.failure) |failure| return failure;
    }

    fn scanChunks(job: *Job, worker: *Worker) Error!void {
        var scanners: [2]?scan.Scanner = @splat(null);
        defer for (&scanners) |*scanner| if (scanner.*) |*s| s.deinit();
        var filter: KeyFilter = try .init(job);
        defer filter.deinit();
        while (job.claims.take()) |claimed| {
            const first_len = job.state(.internal).chunks.len;
            const side: usize = @intFromBool(claimed >= first_len);
            const s = &job.sides[side].?;
            if (scanners[side] == null) scanners[side] = try .init(job.gpa, &s.ledger, job.control, job.seed, job.spec.hash_bits);
            const index = if (side == 0) claimed else claimed - first_len;
            const output = try scanners[side].?.read(s.chunks, index);
            try job.take(worker, side, output, &filter);
            job.control.advance(s.chunks[index].limit - s.chunks[index].begin);
            _ = job.control.rows.fetchAdd(output.refs.items.len, .monotonic);
        }
    }

    fn take(job: *Job, worker: *Worker, side: usize, output: *const scan.Output, filter: *KeyFilter) Error!void {
        worker.ignored[side] += output.ignored;
        worker.filtered[side] += output.filtered.items.len;
        try worker.events[side].appendSlice(job.gpa, output.events.items);
        if (totals.areNeeded(job.spec)) {
            if (worker.totals[side] == null) worker.totals[side] = try .init(job.gpa, @enumFromInt(side), &job.sides[side].?.ledger, job.spec.controls);
            try worker.totals[side].?.take(output);
        }
        worker.rows[side] += output.refs.items.len + output.missing_keys.items.len + output.faults.items.len;
        try worker.faults[side].appendSlice(job.gpa, output.faults.items);
        try worker.missing_keys[side].appendSlice(job.gpa, output.missing_keys.items);
        if (output.unterminated) try worker.unterminated[side].append(job.gpa, output.faults.items[output.faults.items.len - 1]);
        for (output.hashes.items, output.refs.items) |hash, ref| {
            if (job.spec.only_keys != null) if (!try filter.wants(&job.sides[side].?.ledger, ref)) continue;
            try worker.partitions[side].push(hash, ref.offset);
        }
    }

    // Errors of the input

    /// The failed result if there are bad rows that end the run; null if it goes on.
    fn inputErrors(job: *Job) Error!?abi.RunResult {
        if (job.control.vanished.load(.acquire) != 0) return try job.vanished();
        var bad_rows: u64 = 0;
        var fatal = job.spec.on_bad_row == .fail;
        var items: std.ArrayList(abi.ErrorItem) = .empty;
        for (&job.sides) |*side| if (side.*) |*s| {
            bad_rows += s.faults.items.len;
            const fields = try job.arena.alloc(record.Field, s.ledger.capacity);
            // Rows that may be set aside are no errors beside a quote that never closes.
            const listed = if (job.spec.on_bad_row == .fail) s.faults.items else s.unterminated.items;
            fatal = fatal or s.unterminated.items.len != 0;
            for (listed[0..@min(listed.len, problems.max_listed - items.items.len)]) |offset| {
                try items.append(job.arena, try job.errorItem(s, offset, fields) orelse continue);
            }
        };
        if (bad_rows == 0 or !fatal) return null;
        return job.failed(items.items, if (job.spec.on_bad_row == .fail) bad_rows else items.items.len);
    }

    fn errorItem(job: *Job, side: *SideState, offset: u64, fields: []record.Field) Error!?abi.ErrorItem {
        return problems.badRow(job.arena, &side.ledger, &side.lines.?, try job.allColumns(), offset, fields);
    }

    /// Trailers that do not hold end the run; control totals are only told.
    fn checkTotals(job: *Job) Error!?abi.RunResult {
        if (!totals.areNeeded(job.spec)) return null;
        var errors: std.ArrayList(abi.ErrorItem) = .empty;
        for (&job.sides, 0..) |*side, i| if (side.*) |*s| {
            s.totals = try .init(job.gpa, @enumFromInt(i), &s.ledger, job.spec.controls);
            for (job.workers) |*worker| if (worker.totals[i]) |*mine| try s.totals.?.merge(mine);
            try s.totals.?.checkTrailers(job.arena, &errors);
        };
        if (errors.items.len != 0) return job.failed(errors.items[0..@min(errors.items.len, problems.max_listed)], errors.items.len);
        if (job.spec.external != null)
            job.controls = try totals.compareControls(job.arena, job.spec.controls, &job.state(.internal).totals.?, &job.state(.external).totals.?);
        return null;
    }

    /// Control totals and breaks are two accounts of the same rows.
    fn proveTotals(job: *Job) Error!void {
        if (job.spec.external == null or job.spec.only_keys != null) return;
        for (0..job.spec.controls.len) |index| {
            const internal = &job.state(.internal).totals.?;
            const external = &job.state(.external).totals.?;
            if (!try totals.agreesWithBreaks(job.gpa, index, internal, external, job.rules, &job.findings.?)) return error.TotalsDisagree;
        }
    }

    fn allColumns(job: *Job) Error![]const abi.ColumnSpec {
        return std.mem.concat(job.arena, abi.ColumnSpec, &.{ job.spec.key, job.spec.compare });
    }

    fn vanished(job: *Job) Error!abi.RunResult {
        return job.failedWith(problems.changed(job.spec.internal.files[0].path));
    }

    fn failedWith(job: *Job, item: abi.ErrorItem) Error!abi.RunResult {
        const items = try job.arena.alloc(abi.ErrorItem, 1);
        items[0] = item;
        return job.failed(items, 1);
    }

    fn failed(job: *Job, items: []const abi.ErrorItem, error_count: u64) abi.RunResult {
        return .{ .outcome = .failed, .errors = items, .error_count = error_count, .threads = job.team.threads, .level = build_level, .phases = job.phases.items };
    }

    // Joining

    fn joinAll(job: *Job) Error!void {
        job.control.enter(.join, job.partitions);
        job.claims = .{ .len = job.partitions };
        var written: [3][]partition.Partitions = undefined;
        for (&written, 0..) |*list, i| {
            list.* = try job.arena.alloc(partition.Partitions, job.workers.len);
            for (list.*, job.workers) |*out, *worker| out.* = if (i < 2) worker.partitions[i] else worker.settled;
        }
        job.rows = .{ .internal = written[0], .external = written[1], .settled = written[2], .runs = job.runs };
        job.team.run(job, joinWorker);
        try job.workerFailure();
        for (&job.sides, 0..) |*side, i| if (side.*) |*s| {
            const first = &job.workers[0].findings;
            for (s.missing_keys.items) |offset| try first.single(@enumFromInt(i), offset, .missing_key);
            for (s.faults.items) |offset| try first.single(@enumFromInt(i), offset, .rejected);
            for (s.events.items) |event| try first.single(@enumFromInt(i), event.at, event.kind);
        };
        try job.endPhase("join");
    }

    fn joinWorker(job: *Job, index: u32) void {
        const worker = &job.workers[index];
        job.joinPartitions(worker) catch |problem| job.stop(worker, problem);
    }

    fn newComparer(job: *Job) Error!compare.Comparer {
        const internal = &job.state(.internal).ledger;
        const external = if (job.sides[1]) |*s| &s.ledger else internal;
        return .init(job.gpa, internal, external, job.rules);
    }

    fn joinPartitions(job: *Job, worker: *Worker) Error!void {
        var comparer: compare.Comparer = try job.newComparer();
        defer comparer.deinit(job.gpa);
        var joiner: hash_join.Joiner = try .init(job.gpa, job.control, &comparer, &worker.findings, job.spec.unique);
        defer joiner.deinit();
        while (job.claims.take()) |index| {
            if (job.control.isCancelled()) return error.Cancelled;
            try joiner.join(job.rows, index);
            job.control.advance(1);
        }
    }

    // Results

    fn gatherFindings(job: *Job) Error!void {
        job.findings = try .init(job.gpa, job.spec.compare.len, job.spec.only_keys != null);
        for (job.workers) |*worker| {
            try job.findings.?.merge(&worker.findings);
            worker.clearRows();
        }
    }

    fn sortAll(job: *Job) Error!void {
        job.control.enter(.sort, 1);
        const findings = &job.findings.?;
        try sort.pairs(job.gpa, findings.mismatched.items);
        for (&findings.singles) |*list| try sort.singles(job.gpa, list.items);
        if (findings.matched_pairs) |*pairs| try sort.pairs(job.gpa, pairs.items);
        try job.endPhase("sort");
    }

    fn count(job: *Job) Error!abi.RunResult {
        const findings = &job.findings.?;
        var result: abi.RunResult = .{
            .outcome = .done,
            .matched = findings.matched,
            .plan = job.plan,
            .plan_reason = job.plan_reason,
            .threads = job.team.threads,
            .level = build_level,
        };
        for ([_]*abi.SideCounts{ &result.internal, &result.external }, &job.sides, 0..) |counts, *side, i| if (side.*) |*s| {
            counts.ignored = s.ignored;
            counts.filtered = s.filtered;
            counts.distinct_keys = findings.distinct_keys[i];
            try job.countRows(counts, s, @enumFromInt(i));
            if (job.spec.external == null) counts.missing = 0;
        };
        result.breaks = breakCounts(findings);
        if (job.spec.external == null) result.breaks.missing_external = 0;
        result.columns = try job.columnCounts();
        result.controls = job.controls;
        result.notes = try job.notes();
        job.control.breaks.store(findings.mismatched.items.len + findings.singles[0].items.len + findings.singles[1].items.len, .monotonic);
        return result;
    }

    /// Rows of one side by what became of them; the rows of a folded ledger count as what they were folded from.
    fn countRows(job: *Job, counts: *abi.SideCounts, side: *SideState, which: Side) Error!void {
        const findings = &job.findings.?;
        var weigher: Weigher = .{ .ledger = &side.ledger, .fields = try job.arena.alloc(record.Field, side.ledger.capacity) };
        for (findings.singles[@intFromEnum(which)].items) |single| {
            const offset = findings_module.Single.offset(single);
            switch (findings_module.Single.kind(single)) {
                .mismatch => unreachable,
                .missing_external, .missing_internal => counts.missing += weigher.weigh(offset),
                .duplicate_internal, .duplicate_external => counts.duplicate += weigher.weigh(offset),
                .missing_key => counts.missing_key += weigher.weigh(offset),
                .rejected => counts.rejected += 1,
                .orphan, .conflict => {},
            }
        }
        if (!side.ledger.isGrouped()) {
            counts.rows = side.rows;
            counts.matched = findings.matched;
            counts.mismatch = findings.mismatched.items.len;
            return;
        }
        for (findings.mismatched.items) |pair| counts.mismatch += weigher.weigh(which.of(pair));
        counts.rows = side.totals.?.weight + counts.rejected;
        counts.matched = side.totals.?.weight - counts.mismatch - counts.missing - counts.duplicate - counts.missing_key;
    }

    const Weigher = struct {
        ledger: *const Ledger,
        fields: []record.Field,

        fn weigh(weigher: *Weigher, offset: u64) u64 {
            if (!weigher.ledger.isGrouped()) return 1;
            weigher.ledger.split(weigher.ledger.refAt(offset), weigher.fields);
            return totals.weightOf(weigher.ledger, offset, weigher.fields);
        }
    };

    fn columnCounts(job: *Job) Error![]abi.ColumnCounts {
        const counts = try job.arena.alloc(abi.ColumnCounts, job.spec.compare.len);
        for (counts, job.findings.?.columns) |*out, *tally| {
            const total = try tally.sum.total(job.arena);
            const tolerated = try tally.tolerated_sum.total(job.arena);
            out.* = .{
                .tolerated = tally.tolerated,
                .tolerated_sum = try std.fmt.allocPrint(job.arena, "{f}", .{tolerated}),
                .mismatches = tally.mismatches,
                .numeric = tally.numeric,
                .equal_by_value = tally.equal_by_value,
                .sum_of_differences = try std.fmt.allocPrint(job.arena, "{f}", .{total}),
            };
        }
        return counts;
    }

    fn notes(job: *Job) Error![]abi.Note {
        if (!job.findings.?.paired_in_order) return &.{};
        const list = try job.arena.alloc(abi.Note, 1);
        list[0] = .{
            .code = "large_group",
            .message = "a key has so many different rows on both sides (more than 1,000,000 candidate pairs) that its rest was paired in sorted order: is the key the right one?",
        };
        return list;
    }

    fn findHints(job: *Job, result: *abi.RunResult) Error!void {
        job.control.enter(.hints, 1);
        result.hints = try hints.find(job.gpa, job.arena, .{
            .internal = &job.state(.internal).ledger,
            .external = &job.state(.external).ledger,
            .rules = job.rules,
            .findings = &job.findings.?,
            .seed = job.seed,
            .control = job.control,
            .team = &job.team,
        });
        try job.endPhase("hints");
    }

    // Output

    fn writeAll(job: *Job, result: *abi.RunResult) Error!void {
        var context: format.Context = .{
            .ledgers = @splat(null),
            .lines = @splat(null),
            .key = job.spec.key,
            .rules = job.rules,
            .all_columns = try job.allColumns(),
            .explain = job.spec.only_keys != null,
        };
        for (&job.sides, &context.ledgers, &context.lines) |*side, *ledger, *lines| if (side.*) |*s| {
            ledger.* = &s.ledger;
            lines.* = &s.lines.?;
        };
        job.control.enter(.write, 1);
        if (job.spec.external != null) result.shown = try job.show(&context);
        if (job.spec.breaks_fd >= 0) try job.writeFile(&context, job.spec.breaks_fd, switch (job.spec.breaks_format) {
            .csv => .csv,
            .jsonl => .jsonl,
        });
        if (job.spec.rejects_fd >= 0) try job.writeFile(&context, job.spec.rejects_fd, .rejects);
        try job.endPhase("write");
    }

    fn show(job: *Job, context: *const format.Context) Error![]const []const u8 {
        var formatter: format.Formatter = try .init(job.gpa, context);
        defer formatter.deinit();
        var sequence: write.Sequence = .{ .findings = &job.findings.? };
        var shown: std.ArrayList([]const u8) = .empty;
        while (shown.items.len < job.spec.limit) {
            const item = sequence.next() orelse break;
            var text: std.Io.Writer.Allocating = .init(job.arena);
            formatter.writeJson(&text.writer, sequence.number, item) catch return error.OutOfMemory;
            try shown.append(job.arena, text.written());
        }
        return shown.items;
    }

    fn writeFile(job: *Job, context: *const format.Context, fd: i32, kind: write.Output.Kind) Error!void {
        var output: write.Output = .{
            .gpa = job.gpa,
            .context = context,
            .kind = kind,
            .writer = .{ .control = job.control, .fd = fd },
            .sequence = .{ .findings = &job.findings.? },
        };
        output.write(&job.team) catch |problem| {
            job.write_errno = output.writer.errno.load(.monotonic);
            return problem;
        };
    }

    fn spillProblem(job: *Job) Error!abi.RunResult {
        return job.failedWith(try problems.spill(job.arena, job.spec.temp_directory.?, &job.memory));
    }

    fn writeProblem(job: *Job) Error!abi.RunResult {
        return job.failedWith(try problems.write(job.arena, job.write_errno));
    }
};

/// Breaks, not rows: a folded row is one.
fn breakCounts(findings: *const Findings) abi.BreakCounts {
    var counts: abi.BreakCounts = .{ .mismatch = findings.mismatched.items.len };
    for (findings.singles) |singles| for (singles.items) |single| switch (findings_module.Single.kind(single)) {
        .mismatch => unreachable,
        inline else => |kind| @field(counts, @tagName(kind)) += 1,
    };
    return counts;
}

/// Lets only the rows of certain keys through (recon explain).
const KeyFilter = struct {
    gpa: std.mem.Allocator,
    keys: []const []const []const u8,
    fields: []record.Field,
    scratch: ledger_module.Scratch,

    fn init(job: *Job) Error!KeyFilter {
        var width: u32 = 0;
        for (&job.sides) |*side| if (side.*) |*s| {
            width = @max(width, s.ledger.capacity);
        };
        return .{
            .gpa = job.gpa,
            .keys = job.spec.only_keys orelse &.{},
            .fields = try job.gpa.alloc(record.Field, width),
            .scratch = .init(job.gpa),
        };
    }

    fn deinit(filter: *KeyFilter) void {
        filter.gpa.free(filter.fields);
        filter.scratch.deinit();
    }

    fn wants(filter: *KeyFilter, ledger: *const Ledger, ref: Ref) Error!bool {
        filter.scratch.reset();
        ledger.split(ref, filter.fields);
        for (filter.keys) |key| if (try filter.has(ledger, ref, key)) return true;
        return false;
    }

    fn has(filter: *KeyFilter, ledger: *const Ledger, ref: Ref, key: []const []const u8) Error!bool {
        for (ledger.key, key) |column, wanted| {
            const value = try ledger.value(ref, filter.fields, column, &filter.scratch);
            if (!std.mem.eql(u8, value, try ledger.normalized(wanted, &filter.scratch))) return false;
        }
        return true;
    }
};
