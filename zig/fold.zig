//! One fold from specification to result: reads a ledger, folds the rows that agree in some columns (match/fold.zig), and
//! writes the ledger that a reconciliation then reads. Threads, phases, progress, cancel.
const std = @import("std");
const abi = @import("abi.zig");
const parallel = @import("parallel.zig");
const problems = @import("problems.zig");
const record = @import("csv/record.zig");
const scan = @import("csv/scan.zig");
const reading = @import("csv/reading.zig");
const memory_module = @import("index/memory.zig");
const partition = @import("index/partition.zig");
const match = @import("match/fold.zig");
const totals = @import("match/totals.zig");
const lines_module = @import("breaks/lines.zig");
const OrderedWriter = @import("ordered_writer.zig").OrderedWriter;
const Control = @import("control.zig").Control;
const Ledger = @import("csv/ledger.zig").Ledger;

const chunk_bytes = 256 * 1024;
const checkpoint_bytes = 512;
const write_bytes = 1 << 20;

pub const Error = error{ OutOfMemory, Cancelled, CannotMap, WriteFailed, SpillFailed, InvalidDateFormat } || std.posix.MMapError;

/// Everything in the result is owned by `arena`. Bad rows are in the output, other problems of the input in the result.
pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.FoldSpec, control: *Control) Error!abi.FoldResult {
    var job: Job = .{
        .gpa = gpa,
        .arena = arena,
        .spec = spec,
        .control = control,
        .team = .init(spec.threads, false),
        .memory = .init(
            if (spec.memory_bytes == 0) std.math.maxInt(u64) else spec.memory_bytes,
            if (spec.temp_directory) |path| try arena.dupeZ(u8, path) else null,
        ),
        .writer = .{ .control = control, .fd = spec.output_fd },
    };
    defer job.deinit();
    return job.run() catch |problem| switch (problem) {
        error.SpillFailed => job.failed(try problems.spill(arena, spec.temp_directory.?, &job.memory)),
        error.WriteFailed => job.failed(try problems.write(arena, job.writer.errno.load(.monotonic))),
        error.Cancelled => if (control.vanished.load(.acquire) != 0) job.failed(problems.changed(spec.ledger.files[0].path)) else problem,
        else => problem,
    };
}

/// What one worker found and made.
const Worker = struct {
    rows: partition.Partitions,
    missing_keys: std.ArrayList(u64) = .empty,
    /// Bad rows, and events of a ledger that was derived itself.
    events: std.ArrayList(u64) = .empty,
    unterminated: std.ArrayList(u64) = .empty,
    counts: struct { rows: u64 = 0, ignored: u64 = 0, filtered: u64 = 0 } = .{},
    totals: ?totals.Totals = null,
    folder: ?match.Folder = null,
    failure: ?Error = null,
};

const Job = struct {
    gpa: std.mem.Allocator,
    arena: std.mem.Allocator,
    spec: abi.FoldSpec,
    control: *Control,
    team: parallel.Team,
    memory: memory_module.Memory,
    writer: OrderedWriter,
    ledger: ?Ledger = null,
    columns: match.Columns = undefined,
    workers: []Worker = &.{},
    chunks: []scan.Chunk = &.{},
    lines: lines_module.Lines = undefined,
    partitions: []const partition.Partitions = &.{},
    claims: parallel.Claims = .{ .len = 0 },
    seed: u64 = 0,

    fn deinit(job: *Job) void {
        for (job.workers) |*worker| {
            worker.rows.deinit();
            inline for (.{ "missing_keys", "events", "unterminated" }) |name| @field(worker, name).deinit(job.gpa);
            if (worker.totals) |*t| t.deinit();
            if (worker.folder) |*folder| folder.deinit();
        }
        job.memory.deinit();
        for (job.chunks) |chunk| job.gpa.free(chunk.checkpoints);
        if (job.ledger) |*ledger| ledger.close(job.arena);
    }

    fn run(job: *Job) Error!abi.FoldResult {
        try job.open();
        try job.scanAll();
        if (try job.inputErrors()) |refused| return refused;
        try job.foldAll();
        try job.writeAll();
        if (job.control.isCancelled()) return error.Cancelled;
        var result: abi.FoldResult = .{ .outcome = .done };
        for (job.workers) |*worker| {
            result.rows += worker.counts.rows;
            result.ignored += worker.counts.ignored;
            result.filtered += worker.counts.filtered;
            result.groups += worker.folder.?.groups;
        }
        return result;
    }

    fn failed(job: *Job, item: abi.ErrorItem) Error!abi.FoldResult {
        const items = try job.arena.alloc(abi.ErrorItem, 1);
        items[0] = item;
        return .{ .outcome = .failed, .errors = items, .error_count = 1 };
    }

    fn workerFailure(job: *Job) Error!void {
        for (job.workers) |*worker| if (worker.failure) |failure| if (failure != error.Cancelled) return failure;
        if (job.control.isCancelled()) return error.Cancelled;
    }

    /// Ends the other workers too: they may wait for what this one will never finish.
    fn stop(job: *Job, worker: *Worker, problem: Error) void {
        worker.failure = problem;
        job.control.cancelled.store(1, .monotonic);
    }

    // Reading

    fn open(job: *Job) Error!void {
        _ = std.c.getrandom(std.mem.asBytes(&job.seed), @sizeOf(u64), 0);
        const spec = &job.spec;
        var numbers: std.ArrayList(reading.Typed) = .empty;
        for (spec.sum) |column| try numbers.append(job.arena, .{ .column = column, .type = .decimal });
        for (spec.vwap) |vwap| for ([_]u32{ vwap.price, vwap.weight }) |column| try numbers.append(job.arena, .{ .column = column, .type = .decimal });
        job.ledger = try Ledger.openUsed(job.arena, .internal, spec.ledger, .{ .key = spec.by, .typed = numbers.items }, job.control);
        job.columns = .{ .by = spec.by, .sum = spec.sum, .vwap = spec.vwap, .named = try job.namedColumns() };

        const partitions = partition.countFor(job.ledger.?.estimateRows());
        const workers = try job.arena.alloc(Worker, job.team.threads);
        for (workers, 0..) |*worker, i| {
            worker.* = .{ .rows = try .init(job.gpa, &job.memory, partitions) };
            job.workers = workers[0 .. i + 1];
        }
    }

    fn namedColumns(job: *Job) Error![]const abi.ColumnSpec {
        const columns = try job.arena.alloc(abi.ColumnSpec, job.spec.ledger.width);
        for (columns, job.spec.names, 0..) |*column, name, place| column.* = .{ .name = name, .internal = @intCast(place), .external = @intCast(place) };
        return columns;
    }

    fn scanAll(job: *Job) Error!void {
        const ledger = &job.ledger.?;
        job.chunks = try scan.planChunks(job.arena, ledger, chunk_bytes);
        job.control.enter(.scan, ledger.mapping.bytes());
        job.claims = .{ .len = job.chunks.len };
        job.team.run(job, scanWorker);
        try job.workerFailure();
        job.lines = try .init(job.arena, &ledger.mapping, job.chunks);
    }

    fn scanWorker(job: *Job, index: u32) void {
        const worker = &job.workers[index];
        job.scanChunks(worker) catch |problem| job.stop(worker, problem);
    }

    fn scanChunks(job: *Job, worker: *Worker) Error!void {
        const ledger = &job.ledger.?;
        if (totals.hasTrailer(job.spec.ledger)) worker.totals = try .init(job.gpa, .internal, ledger, &.{});
        var scanner: scan.Scanner = try .init(job.gpa, ledger, job.control, job.seed, 64);
        defer scanner.deinit();
        while (job.claims.take()) |index| {
            const output = try scanner.read(job.chunks, index);
            try job.take(worker, output);
            try job.keepLines(&job.chunks[index]);
            job.control.advance(job.chunks[index].limit - job.chunks[index].begin);
        }
    }

    /// The line of every single row is asked for: checkpoints close enough that little is counted for each.
    fn keepLines(job: *Job, chunk: *scan.Chunk) Error!void {
        const bytes = job.ledger.?.mapping.base;
        var checkpoints: std.ArrayList(scan.Checkpoint) = .empty;
        errdefer checkpoints.deinit(job.gpa);
        var at = chunk.first.load(.monotonic);
        var lines: u64 = 0;
        while (at < chunk.limit) {
            try checkpoints.append(job.gpa, .{ .at = at, .lines = lines });
            const next = @min(at + checkpoint_bytes, chunk.limit);
            lines += std.mem.countScalar(u8, bytes[at..next], '\n');
            at = next;
        }
        const kept = try checkpoints.toOwnedSlice(job.gpa);
        job.gpa.free(chunk.checkpoints);
        chunk.checkpoints = kept;
    }

    fn take(job: *Job, worker: *Worker, output: *const scan.Output) Error!void {
        const rows = output.refs.items.len + output.missing_keys.items.len + output.faults.items.len;
        worker.counts.rows += rows;
        worker.counts.ignored += output.ignored;
        worker.counts.filtered += output.filtered.items.len;
        _ = job.control.rows.fetchAdd(rows, .monotonic);
        if (worker.totals) |*t| try t.take(output);
        for (output.hashes.items, output.refs.items) |hash, ref| try worker.rows.push(hash, ref.offset);
        try worker.missing_keys.appendSlice(job.gpa, output.missing_keys.items);
        try worker.events.appendSlice(job.gpa, output.faults.items);
        for (output.events.items) |event| try worker.events.append(job.gpa, event.at);
        if (output.unterminated) try worker.unterminated.append(job.gpa, output.faults.items[output.faults.items.len - 1]);
    }

    /// The failed result where nothing that was read can be trusted: quotes that never close, trailers that do not hold.
    fn inputErrors(job: *Job) Error!?abi.FoldResult {
        const ledger = &job.ledger.?;
        var open_quotes: std.ArrayList(u64) = .empty;
        for (job.workers) |*worker| try open_quotes.appendSlice(job.arena, worker.unterminated.items);
        std.mem.sort(u64, open_quotes.items, {}, std.sort.asc(u64));
        var errors: std.ArrayList(abi.ErrorItem) = .empty;
        const fields = try job.arena.alloc(record.Field, ledger.capacity);
        for (open_quotes.items) |offset| {
            const item = try problems.badRow(job.arena, ledger, &job.lines, job.columns.named, offset, fields) orelse continue;
            try errors.append(job.arena, item);
        }
        if (errors.items.len == 0 and totals.hasTrailer(job.spec.ledger)) try job.checkTrailers(&errors);
        if (errors.items.len == 0) return null;
        return .{ .outcome = .failed, .errors = errors.items[0..@min(errors.items.len, problems.max_listed)], .error_count = errors.items.len };
    }

    fn checkTrailers(job: *Job, errors: *std.ArrayList(abi.ErrorItem)) Error!void {
        var all: totals.Totals = try .init(job.gpa, .internal, &job.ledger.?, &.{});
        defer all.deinit();
        for (job.workers) |*worker| if (worker.totals) |*mine| try all.merge(mine);
        try all.checkTrailers(job.arena, errors);
    }

    // Folding

    fn foldAll(job: *Job) Error!void {
        const partitions = try job.arena.alloc(partition.Partitions, job.workers.len);
        for (partitions, job.workers) |*out, *worker| out.* = worker.rows;
        job.partitions = partitions;
        for (job.workers) |*worker| worker.folder = try .init(job.gpa, job.control, &job.ledger.?, &job.lines, job.columns);
        const count = partitions[0].cursors.len;
        job.control.enter(.join, count);
        job.claims = .{ .len = count };
        job.team.run(job, foldWorker);
        try job.workerFailure();
    }

    fn foldWorker(job: *Job, index: u32) void {
        const worker = &job.workers[index];
        job.foldPartitions(worker) catch |problem| job.stop(worker, problem);
    }

    fn foldPartitions(job: *Job, worker: *Worker) Error!void {
        const folder = &worker.folder.?;
        while (job.claims.take()) |index| {
            try folder.fold(job.partitions, index);
            job.control.advance(1);
        }
        for (worker.missing_keys.items) |offset| try folder.foldGroup(&.{offset});
        for (worker.events.items) |offset| try folder.foldEvent(offset);
    }

    // Writing

    const Placed = struct { piece: match.Piece, worker: u32 };

    fn writeAll(job: *Job) Error!void {
        var placed: std.ArrayList(Placed) = .empty;
        defer placed.deinit(job.gpa);
        for (job.workers, 0..) |*worker, i| {
            worker.rows.clear();
            try placed.ensureUnusedCapacity(job.gpa, worker.folder.?.pieces.items.len);
            for (worker.folder.?.pieces.items) |piece| placed.appendAssumeCapacity(.{ .piece = piece, .worker = @intCast(i) });
        }
        std.mem.sortUnstable(Placed, placed.items, {}, struct {
            fn before(_: void, a: Placed, b: Placed) bool {
                return a.piece.at < b.piece.at;
            }
        }.before);
        job.control.enter(.write, placed.items.len);
        var buffer: std.ArrayList(u8) = try .initCapacity(job.gpa, write_bytes);
        defer buffer.deinit(job.gpa);
        for (placed.items) |item| {
            try buffer.appendSlice(job.gpa, job.workers[item.worker].folder.?.text.written()[item.piece.start..][0..item.piece.len]);
            if (buffer.items.len >= write_bytes) try job.flush(&buffer);
        }
        try job.flush(&buffer);
    }

    fn flush(job: *Job, buffer: *std.ArrayList(u8)) Error!void {
        job.writer.append(buffer.items);
        buffer.clearRetainingCapacity();
        if (job.control.isCancelled()) return error.Cancelled;
        if (job.writer.failed.load(.monotonic)) return error.WriteFailed;
    }
};
