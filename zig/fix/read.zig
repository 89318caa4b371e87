//! The `fix` job: logs to a ledger of their effective executions (abi.FixSpec), or to the audit of `recon fix`.
const std = @import("std");
const abi = @import("../abi.zig");
const parallel = @import("../parallel.zig");
const record = @import("../csv/record.zig");
const log_module = @import("log.zig");
const executions_module = @import("executions.zig");
const audit = @import("audit.zig");
const Mapping = @import("../source/mapping.zig").Mapping;
const Control = @import("../control.zig").Control;
const OrderedWriter = @import("../ordered_writer.zig").OrderedWriter;
const Parser = @import("message.zig").Parser;
const Log = log_module.Log;
const Executions = executions_module.Executions;

pub const max_findings = 1000;
const batch_entries = 2048;

pub const Error = error{ OutOfMemory, Cancelled, CannotMap, Vanished } || std.posix.MMapError;

/// Everything in the result is owned by `arena`.
pub fn run(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.FixSpec, control: *Control) Error!abi.FixResult {
    var mapping = try Mapping.open(arena, spec.files, control);
    defer mapping.close(arena);
    return readMapped(gpa, arena, spec, &mapping, control) catch |problem| if (control.vanished.load(.acquire) != 0) error.Vanished else problem;
}

fn readMapped(gpa: std.mem.Allocator, arena: std.mem.Allocator, spec: abi.FixSpec, mapping: *const Mapping, control: *Control) Error!abi.FixResult {
    const team: parallel.Team = .init(spec.threads, false);
    var seed: u64 = 0;
    _ = std.c.getrandom(std.mem.asBytes(&seed), @sizeOf(u64), 0);
    var log: Log = .{ .gpa = gpa, .mapping = mapping, .spec = spec, .control = control, .seed = seed };
    defer log.deinit();
    try log.read(&team);
    var executions: Executions = try .init(gpa, &log);
    defer executions.deinit();
    try executions.apply();

    var result = try resultOf(arena, &log, &executions);
    var findings: Findings = .{ .arena = arena, .log = &log };
    if (spec.audit) try audit.run(gpa, &log, &executions, &findings, &result);
    try listFindings(&findings, &log, &executions);
    result.findings = findings.sorted();
    result.finding_count = findings.count;
    if (spec.output_fd >= 0) {
        var writing: Writing = .{
            .gpa = gpa,
            .log = &log,
            .executions = &executions,
            .writer = .{ .control = control, .fd = spec.output_fd },
            .present = try arena.alloc(std.atomic.Value(u64), spec.columns.len),
        };
        if (try writing.write(&team)) |errno| return writeProblem(arena, errno);
        const present = try arena.alloc(u64, spec.columns.len);
        for (present, writing.present) |*out, *counted| out.* = counted.load(.monotonic);
        result.present = present;
    }
    if (control.vanished.load(.acquire) != 0) return error.Vanished;
    if (control.isCancelled()) return error.Cancelled;
    return result;
}

fn resultOf(arena: std.mem.Allocator, log: *const Log, executions: *const Executions) Error!abi.FixResult {
    const bytes = log.mapping.bytes();
    var effective: u64 = 0;
    for (executions.list.items) |execution| effective += @intFromBool(!execution.busted);
    return .{
        .outcome = .done,
        .messages = log.counts.messages,
        .by_type = try log.counts.byType(arena),
        .executions = effective,
        .repeats = executions.count(.repeat),
        .busts = executions.count(.bust),
        .corrections = executions.count(.correction),
        .orphans = executions.count(.orphan),
        .conflicts = executions.count(.conflict),
        .rejected = executions.count(.rejected),
        .warnings = log.warnings.items.len,
        .skipped_bytes = bytes - log.counts.read_bytes,
        .bytes = bytes,
        .notes = try notes(arena, log, executions),
    };
}

/// Logs that are not in the order of their names leave busts ahead of what they take back.
fn notes(arena: std.mem.Allocator, log: *const Log, executions: *const Executions) Error![]const abi.Note {
    if (log.mapping.files.len < 2 or executions.count(.orphan) == 0) return &.{};
    var later: u64 = 0;
    var parser: Parser = try .init(log.gpa);
    defer parser.deinit();
    for (executions.actions, log.entries.items, 0..) |action, entry, i| {
        if (action != .orphan or !try log.reread(&parser, entry.at)) continue;
        const reference = parser.get(19) orelse continue;
        const last = executions.by_own.get(log_module.ownHash(log.seed, parser.text(49), reference)) orelse continue;
        later += @intFromBool(executions.ids.items[last].entry > i);
    }
    if (later == 0) return &.{};
    const list = try arena.alloc(abi.Note, 1);
    list[0] = .{ .code = "log_order", .message = try std.fmt.allocPrint(arena, "{d} orphan{s} refer to executions that come later: files of a pattern are read in the order of their names; are these logs in order?", .{ later, if (later == 1) "" else "s" }) };
    return list;
}

fn writeProblem(arena: std.mem.Allocator, errno: i32) Error!abi.FixResult {
    const reason = OrderedWriter.reason(errno);
    const items = try arena.alloc(abi.ErrorItem, 1);
    items[0] = .{ .code = "spill", .path = "", .message = try std.fmt.allocPrint(arena, "cannot write the executions to a temporary file: {s}", .{reason.text}), .hint = "name a directory with more room with --temp" };
    return .{ .outcome = .failed, .errors = items };
}

/// What is wrong with a log, up to `max_findings` of it.
pub const Findings = struct {
    arena: std.mem.Allocator,
    log: *const Log,
    list: std.ArrayList(Placed) = .empty,
    count: u64 = 0,

    const Placed = struct { at: u64, item: abi.ErrorItem };

    pub fn add(findings: *Findings, at: u64, line: u64, code: []const u8, comptime format: []const u8, arguments: anytype) error{OutOfMemory}!void {
        findings.count += 1;
        if (findings.list.items.len >= 4 * max_findings) return;
        try findings.list.append(findings.arena, .{ .at = at, .item = .{
            .code = code,
            .path = findings.log.mapping.files[findings.log.mapping.fileOf(at)].path,
            .line = line,
            .message = try std.fmt.allocPrint(findings.arena, format, arguments),
        } });
    }

    fn sorted(findings: *Findings) []const abi.ErrorItem {
        std.mem.sort(Placed, findings.list.items, {}, struct {
            fn before(_: void, a: Placed, b: Placed) bool {
                return a.at < b.at;
            }
        }.before);
        const items = findings.arena.alloc(abi.ErrorItem, @min(max_findings, findings.list.items.len)) catch return &.{};
        for (items, findings.list.items[0..items.len]) |*item, placed| item.* = placed.item;
        return items;
    }
};

fn listFindings(findings: *Findings, log: *const Log, executions: *Executions) Error!void {
    for (log.warnings.items) |warning| try findings.add(warning.at, warning.line, @tagName(warning.problem), "{s}; read all the same", .{problemText(warning.problem)});
    const parser = &executions.parsers[0];
    for (executions.actions, log.entries.items) |action, entry| switch (action) {
        .rejected => try findings.add(entry.at, entry.line, @tagName(entry.problem), "{s}", .{problemText(entry.problem)}),
        .orphan, .conflict => {
            _ = try log.reread(parser, entry.at);
            try findings.add(entry.at, entry.line, @tagName(action), "{s}", .{try eventText(findings.arena, action, parser)});
        },
        else => {},
    };
}

fn problemText(problem: log_module.Problem) []const u8 {
    return switch (problem) {
        .bad_checksum => "the CheckSum is not that of the message",
        .bad_body_length => "BodyLength does not lead to the CheckSum",
        .bad_tag => "a field without a valid tag",
        .bad_data_length => "the length of a data field is not that of its data",
        .truncated => "the message is cut: it has no CheckSum",
        .bad_row => "LastQty(32) is no number",
    };
}

fn eventText(arena: std.mem.Allocator, action: executions_module.Action, parser: *const Parser) error{OutOfMemory}![]const u8 {
    if (action == .conflict) return "an execution with this sender, trade date and ExecID was reported with other content; the first one stays";
    const reference = parser.get(19) orelse return "a bust or correction without ExecRefID";
    return std.fmt.allocPrint(arena, "a bust or correction of ExecID {s}, which is not there (any more)", .{reference});
}

/// Writes the ledger, batch by batch in log order.
const Writing = struct {
    gpa: std.mem.Allocator,
    log: *const Log,
    executions: *const Executions,
    writer: OrderedWriter,
    present: []std.atomic.Value(u64),
    claims: parallel.Claims = .{ .len = 0 },
    out_of_memory: std.atomic.Value(bool) = .init(false),

    /// Returns the errno of a write that failed.
    fn write(writing: *Writing, team: *const parallel.Team) Error!?i32 {
        for (writing.present) |*counted| counted.* = .init(0);
        const count = writing.log.entries.items.len;
        writing.claims = .{ .len = (count + batch_entries - 1) / batch_entries };
        writing.log.control.enter(.write, writing.claims.len);
        team.run(writing, work);
        if (writing.log.control.isCancelled()) return error.Cancelled;
        if (writing.out_of_memory.load(.monotonic)) return error.OutOfMemory;
        return if (writing.writer.failed.load(.acquire)) writing.writer.errno.load(.monotonic) else null;
    }

    fn work(writing: *Writing, _: u32) void {
        writing.writeBatches() catch {
            writing.out_of_memory.store(true, .monotonic);
            writing.writer.failed.store(true, .release);
        };
    }

    fn writeBatches(writing: *Writing) error{OutOfMemory}!void {
        var text: std.Io.Writer.Allocating = .init(writing.gpa);
        defer text.deinit();
        var rows: Rows = .{ .log = writing.log, .executions = writing.executions, .out = &text.writer, .parser = try .init(writing.gpa), .other = try .init(writing.gpa), .present = try writing.gpa.alloc(u64, writing.present.len) };
        defer rows.deinit(writing.gpa);
        @memset(rows.present, 0);
        while (writing.claims.take()) |batch| {
            if (writing.writer.isOver()) return;
            text.clearRetainingCapacity();
            const from = batch * batch_entries;
            for (from..@min(from + batch_entries, writing.log.entries.items.len)) |i| rows.write(i) catch return error.OutOfMemory;
            writing.writer.put(batch, text.written());
            writing.log.control.advance(1);
        }
        for (writing.present, rows.present) |*all, mine| _ = all.fetchAdd(mine, .monotonic);
    }
};

/// One worker's rows. Not shared between threads.
const Rows = struct {
    log: *const Log,
    executions: *const Executions,
    out: *std.Io.Writer,
    parser: Parser,
    /// For the message that a chain began with.
    other: Parser,
    present: []u64,

    const WriteError = std.Io.Writer.Error || error{OutOfMemory};

    fn deinit(rows: *Rows, gpa: std.mem.Allocator) void {
        rows.parser.deinit();
        rows.other.deinit();
        gpa.free(rows.present);
    }

    fn write(rows: *Rows, index: usize) WriteError!void {
        const action = rows.executions.actions[index];
        switch (action) {
            .fill, .correction => {
                const execution = rows.executions.list.items[rows.executions.executions_of[index]];
                if (!execution.busted and execution.values == index) try rows.writeExecution(index, execution.root);
            },
            .orphan, .conflict, .rejected => try rows.writeEvent(index, action),
            .bust, .repeat => {},
        }
    }

    fn writeExecution(rows: *Rows, index: usize, root: u32) WriteError!void {
        const entry = &rows.log.entries.items[index];
        if (!try rows.log.reread(&rows.parser, entry.at)) return; // only if the file changed: then the run ends with an error
        const first = if (root == index) &rows.parser else blk: {
            _ = try rows.log.reread(&rows.other, rows.log.entries.items[root].at);
            break :blk &rows.other;
        };
        try rows.writeColumns(first, true);
        try rows.writeOrigin(entry);
        try rows.out.writeByte('\n');
    }

    fn writeColumns(rows: *Rows, first: *const Parser, is_counted: bool) WriteError!void {
        for (rows.log.spec.columns, rows.present) |column, *present| {
            const value = valueOf(&rows.parser, first, column);
            if (is_counted) present.* += @intFromBool(value != null);
            try record.writeField(rows.out, "", value orelse "");
            try rows.out.writeByte(',');
        }
    }

    fn writeOrigin(rows: *Rows, entry: *const log_module.Entry) WriteError!void {
        if (rows.log.mapping.files.len > 1) try rows.out.print("{d}:", .{rows.log.mapping.fileOf(entry.at)});
        try rows.out.print("{d}", .{entry.line});
    }

    fn writeEvent(rows: *Rows, index: usize, action: executions_module.Action) WriteError!void {
        const entry = &rows.log.entries.items[index];
        const source = rows.recordOf(entry.at);
        if (action == .rejected) {
            try rows.out.splatByteAll(',', rows.log.spec.columns.len);
        } else {
            _ = try rows.log.reread(&rows.parser, entry.at);
            try rows.writeColumns(&rows.parser, false);
        }
        try rows.writeOrigin(entry);
        var buffer: [4096]u8 = undefined;
        var fixed: std.heap.FixedBufferAllocator = .init(&buffer);
        const code = if (action == .rejected) @tagName(entry.problem) else @tagName(action);
        const text = if (action == .rejected) problemText(entry.problem) else eventText(fixed.allocator(), action, &rows.parser) catch "a bust or correction of what is not there";
        for ([_][]const u8{ @tagName(action), code, text, source }) |value| {
            try rows.out.writeByte(',');
            try record.writeField(rows.out, "", value);
        }
        try rows.out.writeByte('\n');
    }

    /// What the log has at a garbled message: to the end of its line.
    fn recordOf(rows: *const Rows, at: u64) []const u8 {
        const rest = rows.log.mapping.base[at..@min(rows.log.fileEnd(at), at + 65_536)];
        const line = rest[0 .. std.mem.findScalar(u8, rest, '\n') orelse rest.len];
        return std.mem.trimEnd(u8, line, "\r");
    }
};

/// The value of a column in a message; null if it has none. `first` is the message that the chain began with.
fn valueOf(parser: *const Parser, first: *const Parser, column: abi.FixColumnSpec) ?[]const u8 {
    return switch (column.source) {
        .tag => parser.get(column.tag),
        .root => first.get(17),
        .trade_date => blk: {
            const date = log_module.tradeDateOf(parser);
            break :blk if (date.len == 0) null else date;
        },
        .group => groupValue(parser, column),
    };
}

/// The value of `tag` in the entry of a repeating group whose `role_tag` is `role`. Entries begin at each repeat of
/// whichever of the two tags comes first.
fn groupValue(parser: *const Parser, column: abi.FixColumnSpec) ?[]const u8 {
    var first_tag: u32 = 0;
    var value: ?[]const u8 = null;
    var is_role = false;
    for (parser.all()) |field| {
        if (field.tag != column.tag and field.tag != column.role_tag) continue;
        if (first_tag == 0) first_tag = field.tag;
        if (field.tag == first_tag) {
            if (is_role and value != null) return value;
            value = null;
            is_role = false;
        }
        if (field.tag == column.tag) value = parser.valueOf(field) else is_role = std.mem.eql(u8, parser.valueOf(field), column.role);
    }
    return if (is_role) value else null;
}
