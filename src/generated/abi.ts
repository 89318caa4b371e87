// Written by `zig build abi` from zig/abi.zig. Do not edit.

export const fingerprint = 831029707;

/** Byte offsets of the `Progress` record. */
export const Progress = { size: 40, done_units: 0, total_units: 8, rows: 16, breaks: 24, phase: 32, reserved: 36 } as const;

export const Status = { ok: 0, finished: 1, invalid_argument: -1, stale_handle: -2, still_running: -3, too_many_jobs: -4, out_of_memory: -5 } as const;

export const Phase = { idle: 0, scan: 1, join: 2, sort: 3, hints: 4, write: 5, done: 6 } as const;

export const CpuLevel = { v2: 0, v3: 1, v4: 2, arm64: 3 } as const;

export type Plan = "auto" | "hash" | "merge";

export type OnBadRow = "fail" | "reject";

export type BreaksFormat = "csv" | "jsonl";

export type ValueType = "auto" | "text" | "decimal" | "timestamp" | "date" | "ratio";

export type Negative = "plain" | "accounting";

export type ToleranceUnit = "absolute" | "bps" | "percent";

export type FixSource = "tag" | "root" | "trade_date" | "group";

export type FixChecks = "fail" | "warn";

export type FixMultileg = "legs" | "summary" | "all";

export type Order = "same" | "shuffled" | "disjoint";

export type Ids = "sequential" | "uuid";

export type GenerateFormat = "csv" | "fix";

export type BenchPart = "scan" | "hash" | "table" | "decimal" | "split" | "fix_parse" | "fix_parse_unchecked" | "fix_fields" | "fix_log";

export type Outcome = "done" | "failed" | "cancelled";

export type BreakType = "mismatch" | "missing_external" | "missing_internal" | "duplicate_internal" | "duplicate_external" | "missing_key" | "rejected" | "orphan" | "conflict";

export type CpuLevelName = "v2" | "v3" | "v4" | "arm64";

export interface FileSpec {
  fd: number;
  path: string;
  size: number;
  start?: number;
  line?: number;
  end?: number | null;
  trailer?: TrailerSpec | null;
}

export interface TrailerSpec {
  line: number;
  count?: string | null;
  sums?: TrailerSumSpec[];
}

export interface TrailerSumSpec {
  column: number;
  text: string;
}

export interface NumberSpec {
  decimal?: number;
  thousands?: number | null;
  negative?: Negative;
  currency?: string[];
}

export interface ZoneSpec {
  name: string;
  offset_s: number;
  changes?: ZoneChangeSpec[];
}

export interface ZoneChangeSpec {
  at_s: number;
  offset_s: number;
}

export interface MapSpec {
  column: number;
  codes: CodeSpec[];
}

export interface CodeSpec {
  from: string;
  to: string;
}

export interface SignSpec {
  column: number;
  by: number;
  negative: string[];
  positive: string[];
}

export interface FilterSpec {
  column: number;
  in: string[];
}

export interface OriginSpec {
  paths: string[];
  grouped?: boolean;
}

export interface ToleranceSpec {
  amount: string;
  unit?: ToleranceUnit;
  cap?: string | null;
}

export interface ToleranceBySpec {
  column: number;
  cases: ToleranceCaseSpec[];
}

export interface ToleranceCaseSpec {
  value: string;
  tolerance: ToleranceSpec;
}

export interface ControlSpec {
  name: string;
  internal: number;
  external: number;
  by?: ControlBySpec | null;
}

export interface ControlBySpec {
  internal: number;
  external: number;
}

export interface VwapSpec {
  price: number;
  weight: number;
}

export interface FoldSpec {
  ledger: LedgerSpec;
  names: string[];
  by: number[];
  sum?: number[];
  vwap?: VwapSpec[];
  output_fd: number;
  threads?: number;
  memory_bytes?: number;
  temp_directory?: string | null;
}

export interface FixColumnSpec {
  source?: FixSource;
  tag?: number;
  role_tag?: number;
  role?: string;
}

export interface FixSpec {
  files: FileSpec[];
  columns?: FixColumnSpec[];
  checks?: FixChecks;
  multileg?: FixMultileg;
  output_fd?: number;
  audit?: boolean;
  threads?: number;
  chunk_bytes?: number;
}

export interface LedgerSpec {
  files: FileSpec[];
  delimiter: number;
  quote?: number | null;
  width: number;
  trailing?: boolean;
  trim?: boolean;
  fold_case?: boolean;
  number?: NumberSpec;
  date_format?: string | null;
  zone?: ZoneSpec | null;
  nulls?: string[];
  maps?: MapSpec[];
  signs?: SignSpec[];
  where?: FilterSpec[];
  origin?: OriginSpec | null;
}

export interface ColumnSpec {
  name: string;
  internal: number;
  external: number;
  type?: ValueType;
  tolerance?: ToleranceSpec | null;
  tolerance_by?: ToleranceBySpec | null;
}

export interface RunSpec {
  internal: LedgerSpec;
  external?: LedgerSpec | null;
  key: ColumnSpec[];
  compare: ColumnSpec[];
  controls?: ControlSpec[];
  on_bad_row?: OnBadRow;
  unique?: boolean;
  breaks_fd?: number;
  breaks_format?: BreaksFormat;
  rejects_fd?: number;
  limit?: number;
  only_keys?: string[][] | null;
  threads?: number;
  pin?: boolean;
  memory_bytes?: number;
  plan?: Plan;
  temp_directory?: string | null;
  chunk_bytes?: number;
  hash_bits?: number;
}

export interface SampleSpec {
  file: FileSpec;
  delimiter?: number | null;
  quote?: number | null;
  trim?: boolean;
  records?: number;
}

export interface GenerateSpec {
  internal_fd: number;
  external_fd: number;
  truth_fd: number;
  rows: number;
  seed: number;
  order?: Order;
  ids?: Ids;
  format?: GenerateFormat;
  extra_columns?: number;
  header?: boolean;
  breaks?: number;
  missing?: number;
  duplicates?: number;
  benign?: number;
  quoted_percent?: number;
  threads?: number;
}

export interface BenchSpec {
  part: BenchPart;
  file: FileSpec;
  message_bytes?: number;
  group?: number;
  tags?: number[];
  rounds?: number;
  threads?: number;
  pin?: boolean;
}

export type JobSpec =
  | { run: RunSpec }
  | { sample: SampleSpec }
  | { generate: GenerateSpec }
  | { fold: FoldSpec }
  | { fix: FixSpec }
  | { bench: BenchSpec };

export interface ErrorItem {
  code: string;
  path: string;
  line: number;
  column: number;
  message: string;
  hint: string;
}

export interface SideCounts {
  rows: number;
  matched: number;
  mismatch: number;
  missing: number;
  duplicate: number;
  missing_key: number;
  rejected: number;
  ignored: number;
  filtered: number;
  distinct_keys: number;
}

export interface BreakCounts {
  mismatch: number;
  missing_external: number;
  missing_internal: number;
  duplicate_internal: number;
  duplicate_external: number;
  missing_key: number;
  rejected: number;
  orphan: number;
  conflict: number;
}

export interface ColumnCounts {
  mismatches: number;
  numeric: number;
  sum_of_differences: string;
  equal_by_value: number;
  tolerated: number;
  tolerated_sum: string;
}

export interface ControlTotal {
  column: string;
  by: string | null;
  internal: string;
  external: string;
  difference: string;
}

export interface FoldResult {
  outcome: Outcome;
  errors: ErrorItem[];
  error_count: number;
  rows: number;
  ignored: number;
  filtered: number;
  groups: number;
}

export interface FixTypeCount {
  type: string;
  count: number;
}

export interface FixResult {
  outcome: Outcome;
  errors: ErrorItem[];
  messages: number;
  by_type: FixTypeCount[];
  executions: number;
  repeats: number;
  busts: number;
  corrections: number;
  orphans: number;
  conflicts: number;
  rejected: number;
  warnings: number;
  skipped_bytes: number;
  gaps: number;
  cum_qty_mismatches: number;
  avg_px_mismatches: number;
  present: number[];
  findings: ErrorItem[];
  finding_count: number;
  notes: Note[];
  bytes: number;
}

export interface Hint {
  code: string;
  rows: number;
  option: string | null;
  column: string | null;
  value: string | null;
}

export interface Note {
  code: string;
  message: string;
}

export interface PhaseTime {
  name: string;
  ns: number;
}

export interface RunResult {
  outcome: Outcome;
  errors: ErrorItem[];
  error_count: number;
  internal: SideCounts;
  external: SideCounts;
  matched: number;
  breaks: BreakCounts;
  columns: ColumnCounts[];
  controls: ControlTotal[];
  hints: Hint[];
  notes: Note[];
  shown: string[];
  plan: Plan;
  plan_reason: string;
  threads: number;
  level: CpuLevelName;
  phases: PhaseTime[];
}

export interface SampleField {
  text: string;
  quoted: boolean;
  utf8: boolean;
}

export interface SampleRecord {
  line: number;
  start: number;
  end: number;
  fields: SampleField[];
  problem: ErrorItem | null;
}

export interface SampleCandidate {
  delimiter: number;
  fields: number;
}

export interface SampleResult {
  outcome: Outcome;
  errors: ErrorItem[];
  delimiter: number;
  candidates: SampleCandidate[];
  ignored: number;
  ignored_before: number;
  records: SampleRecord[];
}

export interface GenerateResult {
  outcome: Outcome;
  errors: ErrorItem[];
  internal_rows: number;
  external_rows: number;
  breaks: number;
  benign: number;
  bytes: number;
}

export interface BenchResult {
  outcome: Outcome;
  errors: ErrorItem[];
  group: number;
  samples_ns: number[];
  digest: string;
  allocations: number;
  level: CpuLevelName;
}

