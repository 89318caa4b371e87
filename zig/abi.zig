//! Every type that both languages read. `src/generated/abi.ts` is written from this file by `zig build abi`
//! (see emit.zig); a test fails when it is stale, and `recon_abi_fingerprint` refuses a library of another build.
//!
//! Cold data crosses the boundary as JSON in the shape of the structs below, progress as one `Progress` record
//! copied out by poll, rows never.
const std = @import("std");

/// What a call returns. Zero and above is success, negatives are refusals; the text is in `recon_last_error`.
pub const Status = enum(i32) {
    ok = 0,
    finished = 1,
    invalid_argument = -1,
    stale_handle = -2,
    still_running = -3,
    too_many_jobs = -4,
    out_of_memory = -5,
};

pub const Phase = enum(u32) { idle, scan, join, sort, hints, write, done };

/// Copied out by `recon_job_poll`. `done_units` of `total_units` belong to the current phase.
pub const Progress = extern struct {
    done_units: u64 = 0,
    total_units: u64 = 0,
    rows: u64 = 0,
    breaks: u64 = 0,
    phase: Phase = .idle,
    reserved: u32 = 0,
};

pub const CpuLevel = enum(u8) { v2, v3, v4, arm64 };

pub const Plan = enum { auto, hash, merge };
pub const OnBadRow = enum { fail, reject };
pub const BreaksFormat = enum { csv, jsonl };
pub const ValueType = enum { auto, text };
pub const Order = enum { same, shuffled, disjoint };
pub const Ids = enum { sequential, uuid };
pub const Outcome = enum { done, failed, cancelled };
pub const BreakType = enum {
    mismatch,
    missing_external,
    missing_internal,
    duplicate_internal,
    duplicate_external,
    missing_key,
    rejected,
};

/// One open, seekable file. `path` is what is shown; only `fd` is read, and TypeScript closes it after release.
/// `start` is the byte where the first data record begins (behind mark and header), `line` its 1-based physical line.
pub const FileSpec = struct {
    fd: i32,
    path: []const u8,
    size: u64,
    start: u64 = 0,
    line: u64 = 1,
};

/// How the records of one side are read. `width` is the number of named columns; `trailing` says that one more,
/// empty and unnamed, stands behind them in every record.
pub const LedgerSpec = struct {
    files: []const FileSpec,
    delimiter: u8,
    quote: ?u8 = '"',
    width: u32,
    trailing: bool = false,
    trim: bool = false,
    fold_case: bool = false,
};

/// One key part or one compared column: its shown name (the internal side's) and its 0-based place on each side.
pub const ColumnSpec = struct {
    name: []const u8,
    internal: u32,
    external: u32,
    type: ValueType = .auto,
};

/// A reconciliation. Without `external` the internal ledger is only read, checked and counted.
pub const RunSpec = struct {
    internal: LedgerSpec,
    external: ?LedgerSpec = null,
    key: []const ColumnSpec,
    compare: []const ColumnSpec,
    on_bad_row: OnBadRow = .fail,
    unique: bool = false,
    /// File descriptors opened by TypeScript, -1 for none. Written from the start, never closed here.
    breaks_fd: i32 = -1,
    breaks_format: BreaksFormat = .jsonl,
    rejects_fd: i32 = -1,
    /// Breaks returned in `RunResult.shown`.
    limit: u32 = 10,
    /// Only rows with one of these keys are used, and `shown` describes every pair of theirs (recon explain).
    only_keys: ?[]const []const []const u8 = null,
    threads: u32 = 1,
    pin: bool = false,
    memory_bytes: u64 = 0,
    plan: Plan = .auto,
    temp_directory: ?[]const u8 = null,
    /// For tests: bytes per unit of parallel work, and how many bits of each key's hash are kept.
    chunk_bytes: u32 = 256 * 1024,
    hash_bits: u8 = 64,
};

/// The first records of one file, for header and delimiter decisions. A null delimiter is detected.
pub const SampleSpec = struct {
    file: FileSpec,
    delimiter: ?u8 = null,
    quote: ?u8 = '"',
    trim: bool = false,
    records: u32 = 2,
};

/// The files of a generated pair. `quoted_percent` of the rows are written with every field quoted.
pub const GenerateSpec = struct {
    internal_fd: i32,
    external_fd: i32,
    truth_fd: i32,
    rows: u64,
    seed: u64,
    order: Order = .same,
    ids: Ids = .sequential,
    header: bool = true,
    breaks: u64 = 0,
    missing: u64 = 0,
    duplicates: u64 = 0,
    benign: u64 = 0,
    quoted_percent: u32 = 0,
    threads: u32 = 1,
};

/// What a job is. Exactly one member is set.
pub const JobSpec = union(enum) {
    run: RunSpec,
    sample: SampleSpec,
    generate: GenerateSpec,
};

/// One thing that is wrong with the input. `line` 0 means the whole file, `column` 0 the whole line.
pub const ErrorItem = struct {
    code: []const u8,
    path: []const u8,
    line: u64 = 0,
    column: u64 = 0,
    message: []const u8,
    hint: []const u8 = "",
};

/// Physical rows of one side. rows = matched + mismatch + missing + duplicate + missing_key + rejected.
pub const SideCounts = struct {
    rows: u64 = 0,
    matched: u64 = 0,
    mismatch: u64 = 0,
    missing: u64 = 0,
    duplicate: u64 = 0,
    missing_key: u64 = 0,
    rejected: u64 = 0,
    ignored: u64 = 0,
    distinct_keys: u64 = 0,
};

pub const BreakCounts = struct {
    mismatch: u64 = 0,
    missing_external: u64 = 0,
    missing_internal: u64 = 0,
    duplicate_internal: u64 = 0,
    duplicate_external: u64 = 0,
    missing_key: u64 = 0,
    rejected: u64 = 0,
};

/// Per compared column, over the mismatched pairs. `sum_of_differences` is exact, external minus internal,
/// over the pairs in which both values are numbers; `numeric` counts those.
pub const ColumnCounts = struct {
    mismatches: u64 = 0,
    numeric: u64 = 0,
    sum_of_differences: []const u8 = "0",
    equal_by_value: u64 = 0,
};

/// A near miss. `option` is null where no option would join the rows.
pub const Hint = struct {
    code: []const u8,
    rows: u64,
    option: ?[]const u8 = null,
    column: ?[]const u8 = null,
    value: ?[]const u8 = null,
};

pub const Note = struct { code: []const u8, message: []const u8 };

pub const PhaseTime = struct { name: []const u8, ns: u64 };

pub const RunResult = struct {
    outcome: Outcome,
    /// Up to 20, internal side first; `error_count` counts all. With `outcome` failed there is at least one.
    errors: []const ErrorItem = &.{},
    error_count: u64 = 0,
    internal: SideCounts = .{},
    external: SideCounts = .{},
    matched: u64 = 0,
    breaks: BreakCounts = .{},
    columns: []const ColumnCounts = &.{},
    hints: []const Hint = &.{},
    notes: []const Note = &.{},
    /// Breaks as JSON texts, in the form of a line of the `.jsonl` file.
    shown: []const []const u8 = &.{},
    plan: Plan = .hash,
    plan_reason: []const u8 = "",
    threads: u32 = 1,
    level: CpuLevel = .v2,
    phases: []const PhaseTime = &.{},
};

/// One field of a sampled record: its text after unescaping (bytes that are not UTF-8 replaced).
pub const SampleField = struct { text: []const u8, quoted: bool, utf8: bool };

/// `end` is the byte behind the record's line end. A malformed record has an error and no fields.
pub const SampleRecord = struct {
    line: u64,
    start: u64,
    end: u64,
    fields: []const SampleField = &.{},
    problem: ?ErrorItem = null,
};

pub const SampleCandidate = struct { delimiter: u8, fields: u32 };

pub const SampleResult = struct {
    outcome: Outcome,
    errors: []const ErrorItem = &.{},
    delimiter: u8 = ',',
    /// How many fields the first record has under each candidate delimiter.
    candidates: []const SampleCandidate = &.{},
    /// Blank lines ahead of the first record and between the sampled ones.
    ignored: u64 = 0,
    /// Blank lines ahead of the first record alone.
    ignored_before: u64 = 0,
    records: []const SampleRecord = &.{},
};

pub const GenerateResult = struct {
    outcome: Outcome,
    errors: []const ErrorItem = &.{},
    internal_rows: u64 = 0,
    external_rows: u64 = 0,
    breaks: u64 = 0,
    benign: u64 = 0,
    bytes: u64 = 0,
};

/// Everything that is generated, in the order it is written.
pub const records = .{ .Progress = Progress };
pub const number_enums = .{ .Status = Status, .Phase = Phase, .CpuLevel = CpuLevel };
pub const text_enums = .{
    .Plan = Plan,
    .OnBadRow = OnBadRow,
    .BreaksFormat = BreaksFormat,
    .ValueType = ValueType,
    .Order = Order,
    .Ids = Ids,
    .Outcome = Outcome,
    .BreakType = BreakType,
    .CpuLevelName = CpuLevel,
};
pub const documents = .{
    .FileSpec = FileSpec,
    .LedgerSpec = LedgerSpec,
    .ColumnSpec = ColumnSpec,
    .RunSpec = RunSpec,
    .SampleSpec = SampleSpec,
    .GenerateSpec = GenerateSpec,
    .JobSpec = JobSpec,
    .ErrorItem = ErrorItem,
    .SideCounts = SideCounts,
    .BreakCounts = BreakCounts,
    .ColumnCounts = ColumnCounts,
    .Hint = Hint,
    .Note = Note,
    .PhaseTime = PhaseTime,
    .RunResult = RunResult,
    .SampleField = SampleField,
    .SampleRecord = SampleRecord,
    .SampleCandidate = SampleCandidate,
    .SampleResult = SampleResult,
    .GenerateResult = GenerateResult,
};
