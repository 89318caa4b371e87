//! The control block of one job: what root.zig (boundary) and one engine object (per CPU level) share.
//! Extern, because both are compiled apart; atomics, because TypeScript polls while workers run.
const std = @import("std");
const abi = @import("abi.zig");

pub const Control = extern struct {
    /// The JobSpec as JSON. Owned by root.zig until release.
    spec: [*]const u8,
    spec_len: usize,
    /// The result document, allocated with malloc by the engine; freed by root.zig.
    result: ?[*]u8 = null,
    result_len: usize = 0,
    cancelled: std.atomic.Value(u32) = .init(0),
    /// Set by the SIGBUS guard when a page of a mapped ledger vanished.
    vanished: std.atomic.Value(u32) = .init(0),
    finished: std.atomic.Value(u32) = .init(0),
    phase: std.atomic.Value(u32) = .init(0),
    done_units: std.atomic.Value(u64) = .init(0),
    total_units: std.atomic.Value(u64) = .init(0),
    rows: std.atomic.Value(u64) = .init(0),
    breaks: std.atomic.Value(u64) = .init(0),

    /// Whether the job should end now: it was cancelled, or what it reads is gone.
    pub fn isCancelled(control: *const Control) bool {
        return control.cancelled.load(.monotonic) | control.vanished.load(.monotonic) != 0;
    }

    pub fn enter(control: *Control, phase: abi.Phase, total_units: u64) void {
        control.done_units.store(0, .monotonic);
        control.total_units.store(total_units, .monotonic);
        control.phase.store(@intFromEnum(phase), .monotonic);
    }

    pub fn advance(control: *Control, units: u64) void {
        _ = control.done_units.fetchAdd(units, .monotonic);
    }
};
