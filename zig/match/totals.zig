//! Exact totals over every row of one side: control columns, what the trailers of its files say, and how many source rows
//! the rows of a folded ledger stand for. One per worker and side, fed with what the scan hands over; job.zig merges them.
const std = @import("std");
const abi = @import("../abi.zig");
const record = @import("../csv/record.zig");
const scan = @import("../csv/scan.zig");
const ledger_module = @import("../csv/ledger.zig");
const decimal = @import("../value/decimal.zig");
const findings_module = @import("findings.zig");
const Findings = findings_module.Findings;
const Rule = @import("rule.zig").Rule;
const Ledger = ledger_module.Ledger;
const Ref = ledger_module.Ref;
const Side = ledger_module.Side;
const Sum = decimal.Sum;
const Decimal = decimal.Decimal;

/// The totals of one control column, by the value of another.
pub const ByValue = std.StringArrayHashMapUnmanaged(Sum);

/// What one file came to: all its records, filtered and rejected ones too, and the sums its trailer speaks of.
const File = struct { rows: u64 = 0, sums: []Sum = &.{} };

/// Whether a job needs totals at all: they look at every row.
pub fn areNeeded(job: abi.RunSpec) bool {
    if (job.controls.len != 0) return true;
    return sideNeeds(job.internal) or (if (job.external) |external| sideNeeds(external) else false);
}

fn sideNeeds(spec: abi.LedgerSpec) bool {
    if (spec.origin) |origin| if (origin.grouped) return true;
    return hasTrailer(spec);
}

pub fn hasTrailer(spec: abi.LedgerSpec) bool {
    for (spec.files) |file| if (file.trailer != null) return true;
    return false;
}

pub const Totals = struct {
    gpa: std.mem.Allocator,
    /// Owns the values that control totals are kept by.
    arena: std.heap.ArenaAllocator,
    side: Side,
    ledger: *const Ledger,
    specs: []const abi.ControlSpec,
    controls: []ByValue,
    files: []File,
    /// Source rows behind the rows of a folded ledger; rows of any other.
    weight: u64 = 0,
    fields: []record.Field,
    scratch: ledger_module.Scratch,

    pub fn init(gpa: std.mem.Allocator, side: Side, ledger: *const Ledger, specs: []const abi.ControlSpec) error{OutOfMemory}!Totals {
        var arena: std.heap.ArenaAllocator = .init(gpa);
        errdefer arena.deinit();
        const controls = try arena.allocator().alloc(ByValue, specs.len);
        @memset(controls, .empty);
        const files = try arena.allocator().alloc(File, ledger.spec.files.len);
        for (files, ledger.spec.files) |*file, spec| {
            file.* = .{ .sums = try arena.allocator().alloc(Sum, if (spec.trailer) |trailer| trailer.sums.len else 0) };
            @memset(file.sums, .{});
        }
        const fields = try arena.allocator().alloc(record.Field, ledger.capacity);
        return .{ .gpa = gpa, .arena = arena, .side = side, .ledger = ledger, .specs = specs, .controls = controls, .files = files, .fields = fields, .scratch = .init(gpa) };
    }

    pub fn deinit(totals: *Totals) void {
        for (totals.controls) |*control| for (control.values()) |*sum| sum.deinit(totals.gpa);
        for (totals.files) |file| for (file.sums) |*sum| sum.deinit(totals.gpa);
        totals.scratch.deinit();
        totals.arena.deinit();
    }

    /// Adds what a chunk came to.
    pub fn take(totals: *Totals, output: *const scan.Output) error{OutOfMemory}!void {
        for (output.refs.items) |ref| try totals.addRow(ref, true);
        for (output.missing_keys.items) |offset| try totals.addRow(totals.ledger.refAt(offset), true);
        for (output.filtered.items) |offset| try totals.addRow(totals.ledger.refAt(offset), false);
        for (output.faults.items) |offset| try totals.addFaulty(offset);
    }

    fn addRow(totals: *Totals, ref: Ref, is_used: bool) error{OutOfMemory}!void {
        totals.scratch.reset();
        totals.ledger.split(ref, totals.fields);
        try totals.addToFile(ref.offset, ref);
        if (!is_used) return;
        totals.weight += weightOf(totals.ledger, ref.offset, totals.fields);
        for (totals.specs, totals.controls) |control, *by_value| try totals.addControl(ref, control, by_value);
    }

    /// A rejected row counts in its trailer; of its values, those that can be read.
    fn addFaulty(totals: *Totals, offset: u64) error{OutOfMemory}!void {
        totals.scratch.reset();
        const examined = try totals.ledger.examine(offset, totals.fields, &totals.scratch);
        if (examined.record.problem == .none and examined.record.fields >= totals.ledger.width) return totals.addToFile(offset, .of(offset, 0));
        totals.files[totals.ledger.mapping.fileOf(offset)].rows += 1;
    }

    fn addToFile(totals: *Totals, offset: u64, ref: Ref) error{OutOfMemory}!void {
        const index = totals.ledger.mapping.fileOf(offset);
        const file = &totals.files[index];
        file.rows += 1;
        if (file.sums.len == 0) return;
        for (totals.ledger.spec.files[index].trailer.?.sums, file.sums) |spec, *sum| {
            const text = try totals.ledger.spelledValue(ref, totals.fields[spec.column], &totals.scratch);
            const number = try totals.ledger.reading.number.parse(totals.scratch.gpa(), text) orelse continue;
            try sum.add(totals.gpa, &number);
        }
    }

    fn addControl(totals: *Totals, ref: Ref, control: abi.ControlSpec, by_value: *ByValue) error{OutOfMemory}!void {
        const column = totals.side.of(control);
        const text = try totals.ledger.value(ref, totals.fields, column, &totals.scratch);
        const by = if (control.by) |by| try totals.ledger.value(ref, totals.fields, totals.side.of(by), &totals.scratch) else "";
        const sum = try totals.sumBy(by_value, by);
        const number = try totals.ledger.reading.number.parse(totals.scratch.gpa(), text) orelse return;
        try sum.add(totals.gpa, &number);
    }

    fn sumBy(totals: *Totals, by_value: *ByValue, by: []const u8) error{OutOfMemory}!*Sum {
        const entry = try by_value.getOrPut(totals.arena.allocator(), by);
        if (!entry.found_existing) {
            entry.key_ptr.* = try totals.arena.allocator().dupe(u8, by);
            entry.value_ptr.* = .{};
        }
        return entry.value_ptr;
    }

    /// Adds the number in `column` of the row at `offset`, with the sign of the side; an empty value is nothing.
    fn addValue(totals: *Totals, sum: *Sum, column: u32, offset: u64) error{OutOfMemory}!void {
        totals.scratch.reset();
        const ref = totals.ledger.refAt(offset);
        totals.ledger.split(ref, totals.fields);
        const text = try totals.ledger.value(ref, totals.fields, column, &totals.scratch);
        const number = try totals.ledger.reading.number.parse(totals.scratch.gpa(), text) orelse return;
        try addSigned(totals.gpa, totals.scratch.gpa(), sum, number, totals.side);
    }

    /// Adds all of `other`, which stays as it is.
    pub fn merge(totals: *Totals, other: *const Totals) error{OutOfMemory}!void {
        totals.weight += other.weight;
        for (totals.files, other.files) |*mine, theirs| {
            mine.rows += theirs.rows;
            for (mine.sums, theirs.sums) |*sum, *added| try sum.merge(totals.gpa, added);
        }
        for (totals.controls, other.controls) |*mine, *theirs| for (theirs.keys(), theirs.values()) |by, *added| {
            try (try totals.sumBy(mine, by)).merge(totals.gpa, added);
        };
    }

    /// What is wrong with the trailers of the side's files, one error for each statement that does not hold.
    pub fn checkTrailers(totals: *Totals, arena: std.mem.Allocator, errors: *std.ArrayList(abi.ErrorItem)) error{OutOfMemory}!void {
        for (totals.ledger.spec.files, totals.files) |spec, *file| {
            const trailer = spec.trailer orelse continue;
            if (trailer.count) |text| {
                const rows = try Decimal.fromScaled(arena, file.rows, 0);
                try totals.checkStatement(arena, errors, spec, text, &rows, "rows");
            }
            for (trailer.sums, file.sums) |sum_spec, *sum| {
                const total = try sum.total(arena);
                try totals.checkStatement(arena, errors, spec, sum_spec.text, &total, "as sum");
            }
        }
    }

    fn checkStatement(totals: *Totals, arena: std.mem.Allocator, errors: *std.ArrayList(abi.ErrorItem), file: abi.FileSpec, text: []const u8, found: *const Decimal, what: []const u8) error{OutOfMemory}!void {
        const stated = try totals.ledger.reading.number.parse(arena, ledger_module.trimAscii(text));
        if (stated) |number| {
            const apart = try Decimal.difference(arena, &number, found);
            if (apart.isZero()) return;
        }
        try errors.append(arena, .{
            .code = "trailer",
            .path = file.path,
            .line = file.trailer.?.line,
            .message = try std.fmt.allocPrint(arena, "the trailer says {s} {s}, the file has {f}", .{ text, what, found.* }),
            .hint = "was the file cut, doubled or edited? Ask for it again",
        });
    }
};

/// Whether the totals of a control column differ by exactly what its breaks come to: a second account of every row. True
/// for columns that are not compared as numbers.
pub fn agreesWithBreaks(gpa: std.mem.Allocator, index: usize, internal: *Totals, external: *Totals, rules: []const Rule, findings: *const Findings) error{OutOfMemory}!bool {
    const spec = internal.specs[index];
    const column = for (rules, 0..) |rule, i| {
        if (rule.internal == spec.internal and rule.external == spec.external and rule.type == .decimal) break i;
    } else return true;
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    var apart: Sum = .{};
    defer apart.deinit(gpa);
    for ([_]*Totals{ internal, external }) |side| for (side.controls[index].values()) |*sum| try addSigned(gpa, arena.allocator(), &apart, try sum.total(arena.allocator()), side.side);
    var broken: Sum = .{};
    defer broken.deinit(gpa);
    try broken.merge(gpa, &findings.columns[column].tolerated_sum);
    for (findings.mismatched.items) |pair| {
        try internal.addValue(&broken, spec.internal, pair.internal);
        try external.addValue(&broken, spec.external, pair.external);
    }
    for ([_]*Totals{ internal, external }, &findings.singles) |side, singles| for (singles.items) |single| switch (findings_module.Single.kind(single)) {
        .rejected, .orphan, .conflict => {},
        else => try side.addValue(&broken, side.side.of(spec), findings_module.Single.offset(single)),
    };
    const left = try apart.total(arena.allocator());
    const right = try broken.total(arena.allocator());
    return (try Decimal.difference(arena.allocator(), &left, &right)).isZero();
}

/// Adds what belongs to the external side, takes away what belongs to the internal one.
fn addSigned(gpa: std.mem.Allocator, arena: std.mem.Allocator, sum: *Sum, number: Decimal, side: Side) error{OutOfMemory}!void {
    const signed = if (side == .external) number else try Decimal.difference(arena, &.zero, &number);
    try sum.add(gpa, &signed);
}

/// How many source rows a row stands for. Its fields were split.
pub fn weightOf(ledger: *const Ledger, offset: u64, fields: []const record.Field) u64 {
    if (!ledger.isGrouped()) return 1;
    var places = ledger.placesOf(offset, fields).?;
    var count: u64 = 0;
    while (places.next()) |_| count += 1;
    return count;
}

/// The control totals of both sides, by value in the order of bytes. They outlive the totals, whose arena owns the values.
pub fn compareControls(arena: std.mem.Allocator, specs: []const abi.ControlSpec, internal: *const Totals, external: *const Totals) error{OutOfMemory}![]const abi.ControlTotal {
    var out: std.ArrayList(abi.ControlTotal) = .empty;
    for (specs, internal.controls, external.controls) |spec, *left, *right| {
        var values: std.StringArrayHashMapUnmanaged(void) = .empty;
        for ([_]*const ByValue{ left, right }) |side| for (side.keys()) |by| try values.put(arena, by, {});
        if (spec.by == null) try values.put(arena, "", {});
        std.mem.sort([]const u8, values.keys(), {}, struct {
            fn before(_: void, a: []const u8, b: []const u8) bool {
                return std.mem.lessThan(u8, a, b);
            }
        }.before);
        for (values.keys()) |by| {
            const a = if (left.getPtr(by)) |sum| try sum.total(arena) else Decimal.zero;
            const b = if (right.getPtr(by)) |sum| try sum.total(arena) else Decimal.zero;
            const apart = try Decimal.difference(arena, &b, &a);
            try out.append(arena, .{
                .column = spec.name,
                .by = if (spec.by == null) null else try arena.dupe(u8, by),
                .internal = try std.fmt.allocPrint(arena, "{f}", .{a}),
                .external = try std.fmt.allocPrint(arena, "{f}", .{b}),
                .difference = try std.fmt.allocPrint(arena, "{f}", .{apart}),
            });
        }
    }
    return out.items;
}
