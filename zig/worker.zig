//! What one worker of a reconciliation found. Written by that worker alone while a phase runs; put together by job.zig
//! when all are done. Filled by job.zig (scan, join) and walk.zig (side by side).
const std = @import("std");
const abi = @import("abi.zig");
const scan = @import("csv/scan.zig");
const memory_module = @import("index/memory.zig");
const partition = @import("index/partition.zig");
const totals = @import("match/totals.zig");
const Findings = @import("match/findings.zig").Findings;

pub const Error = error{ OutOfMemory, Cancelled, CannotMap, WriteFailed, SpillFailed, Unfit, InvalidTolerance, InvalidDateFormat, TotalsDisagree } || std.posix.MMapError;

pub const Worker = struct {
    gpa: std.mem.Allocator,
    /// Rows to join, by side.
    partitions: [2]partition.Partitions,
    /// Pairs that the aligned walk settled.
    settled: partition.Partitions,
    totals: [2]?totals.Totals = @splat(null),
    events: [2]std.ArrayList(scan.Event) = @splat(.empty),
    filtered: [2]u64 = @splat(0),
    faults: [2]std.ArrayList(u64) = @splat(.empty),
    missing_keys: [2]std.ArrayList(u64) = @splat(.empty),
    unterminated: [2]std.ArrayList(u64) = @splat(.empty),
    ignored: [2]u64 = @splat(0),
    rows: [2]u64 = @splat(0),
    findings: Findings,
    failure: ?Error = null,

    pub fn init(gpa: std.mem.Allocator, memory: *memory_module.Memory, partitions: usize, spec: *const abi.RunSpec) error{OutOfMemory}!Worker {
        return .{
            .gpa = gpa,
            .partitions = .{ try .init(gpa, memory, partitions), try .init(gpa, memory, partitions) },
            .settled = try .init(gpa, memory, partitions),
            .findings = try .init(gpa, spec.compare.len, spec.only_keys != null),
        };
    }

    pub fn deinit(worker: *Worker) void {
        for (&worker.partitions) |*p| p.deinit();
        worker.settled.deinit();
        worker.findings.deinit();
        for (&worker.totals) |*side| if (side.*) |*t| t.deinit();
        inline for (.{ "faults", "missing_keys", "unterminated", "events" }) |name| for (&@field(worker, name)) |*list| list.deinit(worker.gpa);
    }

    /// Gives back the rows that were to be joined.
    pub fn clearRows(worker: *Worker) void {
        for (&worker.partitions) |*p| p.clear();
        worker.settled.clear();
    }

    /// Forgets a walk that was given up.
    pub fn forgetWalk(worker: *Worker) void {
        worker.failure = null;
        worker.rows = @splat(0);
        worker.ignored = @splat(0);
        for (&worker.faults) |*list| list.clearRetainingCapacity();
        worker.clearRows();
        worker.findings.clear();
    }
};
