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
/// `ratio` is a sum of products over a sum of weights, `2001/300`: what a group's average price is folded to.
pub const ValueType = enum { auto, text, decimal, timestamp, date, ratio };
pub const Negative = enum { plain, accounting };
/// What a tolerance's amount is: a difference (numbers, seconds, days), or a share of the larger magnitude.
pub const ToleranceUnit = enum { absolute, bps, percent };
/// `root`: the first ExecID of the chain of ExecRefIDs; `trade_date`: 75, else the day of 60.
pub const FixSource = enum { tag, root, trade_date, group };
pub const FixChecks = enum { fail, warn };
pub const FixMultileg = enum { legs, summary, all };
pub const Order = enum { same, shuffled, disjoint };
pub const Ids = enum { sequential, uuid };
pub const GenerateFormat = enum { csv, fix };
/// What `BenchSpec` measures. The first five are parts of the engine on a CSV ledger; `fix_parse` and the two behind it go
/// over messages of one length, `fix_log` over a whole log.
pub const BenchPart = enum { scan, hash, table, decimal, split, fix_parse, fix_parse_unchecked, fix_fields, fix_log };
pub const Outcome = enum { done, failed, cancelled };
pub const BreakType = enum {
    mismatch,
    missing_external,
    missing_internal,
    duplicate_internal,
    duplicate_external,
    missing_key,
    rejected,
    orphan,
    conflict,
};

/// One open, seekable file. `path` is what is shown; only `fd` is read, and TypeScript closes it after release.
/// `start` is the byte where the first data record begins (behind mark and header), `line` its 1-based physical line;
/// `end` is the byte behind the last record where that is not the end of the file (a stop line, a trailer).
pub const FileSpec = struct {
    fd: i32,
    path: []const u8,
    size: u64,
    start: u64 = 0,
    line: u64 = 1,
    end: ?u64 = null,
    trailer: ?TrailerSpec = null,
};

/// What the control record of a file says: checked against all its rows, filtered and rejected ones too.
pub const TrailerSpec = struct {
    line: u64,
    count: ?[]const u8 = null,
    sums: []const TrailerSumSpec = &.{},
};

pub const TrailerSumSpec = struct { column: u32, text: []const u8 };

/// How numbers are spelled on one side; marks are checked by TypeScript.
pub const NumberSpec = struct {
    decimal: u8 = '.',
    thousands: ?u8 = null,
    negative: Negative = .plain,
    currency: []const []const u8 = &.{},
};

/// Seconds east of UTC: `offset_s` until the first change, then what the last change at or before the instant says.
pub const ZoneSpec = struct {
    name: []const u8,
    offset_s: i32,
    changes: []const ZoneChangeSpec = &.{},
};

/// `at_s`: seconds since 1970-01-01T00:00:00Z; changes are ascending.
pub const ZoneChangeSpec = struct { at_s: i64, offset_s: i32 };

/// A value map of one column: a value that is not among `codes` makes the row bad; an empty value stays empty.
pub const MapSpec = struct { column: u32, codes: []const CodeSpec };
pub const CodeSpec = struct { from: []const u8, to: []const u8 };

/// The number in `column` takes its sign from the code in `by`; another code there makes the row bad.
pub const SignSpec = struct {
    column: u32,
    by: u32,
    negative: []const []const u8,
    positive: []const []const u8,
};

/// Rows whose `column` holds none of `in` are counted as filtered and used no further.
pub const FilterSpec = struct { column: u32, in: []const []const u8 };

/// A ledger that was written by a `fix` or `fold` job: a last column without a name says where each row comes from,
/// `[FILE:]LINE` or several of them with commas between, FILE being an index in `paths`. A record with four more fields
/// behind it (kind, code, message, record) is no row but an event: `rejected`, `orphan` or `conflict`.
/// With `grouped` rows stand for their members: counts are of these.
pub const OriginSpec = struct { paths: []const []const u8, grouped: bool = false };

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
    number: NumberSpec = .{},
    /// Letters as in `dd/MM/yyyy`; ISO 8601 and YYYYMMDD where nothing is said.
    date_format: ?[]const u8 = null,
    zone: ?ZoneSpec = null,
    /// Spellings of an empty value.
    nulls: []const []const u8 = &.{},
    maps: []const MapSpec = &.{},
    signs: []const SignSpec = &.{},
    where: []const FilterSpec = &.{},
    origin: ?OriginSpec = null,
};

/// One key part or one compared column: its shown name (the internal side's) and its 0-based place on each side. A key
/// part has neither type nor tolerance.
pub const ColumnSpec = struct {
    name: []const u8,
    internal: u32,
    external: u32,
    type: ValueType = .auto,
    tolerance: ?ToleranceSpec = null,
    /// The tolerance by the value of another column of the internal side; `tolerance` holds for values not listed.
    tolerance_by: ?ToleranceBySpec = null,
};

/// `amount` and `cap` are plain decimals without a sign. Absolute amounts are seconds for timestamps, days for dates.
pub const ToleranceSpec = struct {
    amount: []const u8,
    unit: ToleranceUnit = .absolute,
    cap: ?[]const u8 = null,
};

pub const ToleranceBySpec = struct { column: u32, cases: []const ToleranceCaseSpec };
pub const ToleranceCaseSpec = struct { value: []const u8, tolerance: ToleranceSpec };

/// A total of each side, by the value of another column where one is given.
pub const ControlSpec = struct {
    name: []const u8,
    internal: u32,
    external: u32,
    by: ?ControlBySpec = null,
};

pub const ControlBySpec = struct { internal: u32, external: u32 };

/// A reconciliation. Without `external` the internal ledger is only read, checked and counted.
pub const RunSpec = struct {
    internal: LedgerSpec,
    external: ?LedgerSpec = null,
    key: []const ColumnSpec,
    compare: []const ColumnSpec,
    controls: []const ControlSpec = &.{},
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

/// The files of a generated pair. `quoted_percent` of the rows are written with every field quoted. With `format` fix the
/// external file is a FIX log. `extra_columns` of ten bytes stand behind the others (benchmarks of wide ledgers only).
pub const GenerateSpec = struct {
    internal_fd: i32,
    external_fd: i32,
    truth_fd: i32,
    rows: u64,
    seed: u64,
    order: Order = .same,
    ids: Ids = .sequential,
    format: GenerateFormat = .csv,
    extra_columns: u32 = 0,
    header: bool = true,
    breaks: u64 = 0,
    missing: u64 = 0,
    duplicates: u64 = 0,
    benign: u64 = 0,
    quoted_percent: u32 = 0,
    threads: u32 = 1,
};

/// Folds the rows of one ledger that agree in the columns `by` into one row each, and writes a ledger with an origin
/// (see `OriginSpec`): CSV with commas and double quotes, the columns `by`, `sum` and `vwap` in that order, no header.
/// Rows agree by values as they are compared; what is written in `by` columns is the first row's value as its file has it,
/// sums are plain decimals with the decimal mark of the ledger, averages two of them, `numerator/denominator`, and empty where no row has a value. Rows without a
/// key stay alone. Where weights add up to zero every row of the group is written as `rejected`.
pub const FoldSpec = struct {
    ledger: LedgerSpec,
    /// Of all the ledger's columns, for what is said of bad rows.
    names: []const []const u8,
    by: []const u32,
    sum: []const u32 = &.{},
    vwap: []const VwapSpec = &.{},
    output_fd: i32,
    threads: u32 = 1,
    memory_bytes: u64 = 0,
    temp_directory: ?[]const u8 = null,
};

/// The sum of `price` times `weight` over the sum of `weight`.
pub const VwapSpec = struct { price: u32, weight: u32 };

/// Reads FIX logs and writes their effective executions as a ledger with an origin (see `OriginSpec`): CSV with commas
/// and double quotes, one column for each of `columns`, no header.
pub const FixSpec = struct {
    files: []const FileSpec,
    columns: []const FixColumnSpec = &.{},
    checks: FixChecks = .fail,
    multileg: FixMultileg = .legs,
    /// -1: nothing is written (recon fix).
    output_fd: i32 = -1,
    /// CumQty, AvgPx and sequence numbers are checked too, and findings returned.
    audit: bool = false,
    threads: u32 = 1,
    /// For tests: bytes per unit of parallel work.
    chunk_bytes: u32 = 4 << 20,
};

/// `tag` is the column's tag (of the group's first field with `group`, whose entry has `role` in `role_tag`).
pub const FixColumnSpec = struct {
    source: FixSource = .tag,
    tag: u32 = 0,
    role_tag: u32 = 0,
    role: []const u8 = "",
};

/// One part of the engine, timed inside the engine: `rounds` times over the same input after one round that is not
/// counted. For messages, `message_bytes` is the length of each, `group` how many of them make one sample (of `fix_fields`:
/// how often the fields are read), `tags` the fields that are read.
pub const BenchSpec = struct {
    part: BenchPart,
    file: FileSpec,
    message_bytes: u32 = 0,
    group: u32 = 1,
    tags: []const u32 = &.{},
    rounds: u32 = 1,
    threads: u32 = 1,
    pin: bool = false,
};

/// What a job is. Exactly one member is set.
pub const JobSpec = union(enum) {
    run: RunSpec,
    sample: SampleSpec,
    generate: GenerateSpec,
    fold: FoldSpec,
    fix: FixSpec,
    bench: BenchSpec,
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
    filtered: u64 = 0,
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
    orphan: u64 = 0,
    conflict: u64 = 0,
};

/// Per compared column, over the mismatched pairs. `sum_of_differences` is exact, external minus internal,
/// over the pairs in which both values are numbers; `numeric` counts those.
pub const ColumnCounts = struct {
    mismatches: u64 = 0,
    numeric: u64 = 0,
    sum_of_differences: []const u8 = "0",
    equal_by_value: u64 = 0,
    /// Matched pairs that differ within the tolerance, and the sum of their differences.
    tolerated: u64 = 0,
    tolerated_sum: []const u8 = "0",
};

/// Totals of a control column; `by` is null where it has no such column.
pub const ControlTotal = struct {
    column: []const u8,
    by: ?[]const u8 = null,
    internal: []const u8,
    external: []const u8,
    difference: []const u8,
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
    controls: []const ControlTotal = &.{},
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

/// `rows` counts what the folded rows were made of, rejected ones and those without a key too.
pub const FoldResult = struct {
    outcome: Outcome,
    errors: []const ErrorItem = &.{},
    error_count: u64 = 0,
    rows: u64 = 0,
    ignored: u64 = 0,
    filtered: u64 = 0,
    groups: u64 = 0,
};

pub const FixTypeCount = struct { type: []const u8, count: u64 };

/// `executions` are effective ones, after busts and corrections. `present` counts, for each of the columns, the
/// executions that have it.
pub const FixResult = struct {
    outcome: Outcome,
    errors: []const ErrorItem = &.{},
    messages: u64 = 0,
    by_type: []const FixTypeCount = &.{},
    executions: u64 = 0,
    repeats: u64 = 0,
    busts: u64 = 0,
    corrections: u64 = 0,
    orphans: u64 = 0,
    conflicts: u64 = 0,
    rejected: u64 = 0,
    warnings: u64 = 0,
    skipped_bytes: u64 = 0,
    gaps: u64 = 0,
    cum_qty_mismatches: u64 = 0,
    avg_px_mismatches: u64 = 0,
    present: []const u64 = &.{},
    /// Up to 1,000 findings in log order; `finding_count` counts all. With `checks` warn, what was let pass is among them.
    findings: []const ErrorItem = &.{},
    finding_count: u64 = 0,
    notes: []const Note = &.{},
    bytes: u64 = 0,
};

/// Each sample is the time of `group` items (rows, messages), one or more samples a round. `digest` says what was read, so
/// that programs can be compared; `allocations` were made in all timed rounds together.
pub const BenchResult = struct {
    outcome: Outcome,
    errors: []const ErrorItem = &.{},
    group: u64 = 0,
    samples_ns: []const u64 = &.{},
    digest: []const u8 = "",
    allocations: u64 = 0,
    level: CpuLevel = .v2,
};

/// Everything that is generated, in the order it is written.
pub const records = .{ .Progress = Progress };
pub const number_enums = .{ .Status = Status, .Phase = Phase, .CpuLevel = CpuLevel };
pub const text_enums = .{
    .Plan = Plan,
    .OnBadRow = OnBadRow,
    .BreaksFormat = BreaksFormat,
    .ValueType = ValueType,
    .Negative = Negative,
    .ToleranceUnit = ToleranceUnit,
    .FixSource = FixSource,
    .FixChecks = FixChecks,
    .FixMultileg = FixMultileg,
    .Order = Order,
    .Ids = Ids,
    .GenerateFormat = GenerateFormat,
    .BenchPart = BenchPart,
    .Outcome = Outcome,
    .BreakType = BreakType,
    .CpuLevelName = CpuLevel,
};
pub const documents = .{
    .FileSpec = FileSpec,
    .TrailerSpec = TrailerSpec,
    .TrailerSumSpec = TrailerSumSpec,
    .NumberSpec = NumberSpec,
    .ZoneSpec = ZoneSpec,
    .ZoneChangeSpec = ZoneChangeSpec,
    .MapSpec = MapSpec,
    .CodeSpec = CodeSpec,
    .SignSpec = SignSpec,
    .FilterSpec = FilterSpec,
    .OriginSpec = OriginSpec,
    .ToleranceSpec = ToleranceSpec,
    .ToleranceBySpec = ToleranceBySpec,
    .ToleranceCaseSpec = ToleranceCaseSpec,
    .ControlSpec = ControlSpec,
    .ControlBySpec = ControlBySpec,
    .VwapSpec = VwapSpec,
    .FoldSpec = FoldSpec,
    .FixColumnSpec = FixColumnSpec,
    .FixSpec = FixSpec,
    .LedgerSpec = LedgerSpec,
    .ColumnSpec = ColumnSpec,
    .RunSpec = RunSpec,
    .SampleSpec = SampleSpec,
    .GenerateSpec = GenerateSpec,
    .BenchSpec = BenchSpec,
    .JobSpec = JobSpec,
    .ErrorItem = ErrorItem,
    .SideCounts = SideCounts,
    .BreakCounts = BreakCounts,
    .ColumnCounts = ColumnCounts,
    .ControlTotal = ControlTotal,
    .FoldResult = FoldResult,
    .FixTypeCount = FixTypeCount,
    .FixResult = FixResult,
    .Hint = Hint,
    .Note = Note,
    .PhaseTime = PhaseTime,
    .RunResult = RunResult,
    .SampleField = SampleField,
    .SampleRecord = SampleRecord,
    .SampleCandidate = SampleCandidate,
    .SampleResult = SampleResult,
    .GenerateResult = GenerateResult,
    .BenchResult = BenchResult,
};
