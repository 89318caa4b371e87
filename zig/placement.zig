//! Which core each worker is pinned to (`--pin`): the cores this process may use, one NUMA node filled before the next,
//! so that memory a worker touches first lies on its own node. Read from Linux's sysfs; used by parallel.zig.
const std = @import("std");
const sysfs = @import("sysfs.zig");

pub const max_cores = 1024;

/// Core numbers in the order in which workers take them.
pub const Cores = struct {
    list: [max_cores]u16 = undefined,
    len: usize = 0,

    pub fn slice(cores: *const Cores) []const u16 {
        return cores.list[0..cores.len];
    }

    fn append(cores: *Cores, core: u16) void {
        if (cores.len == max_cores or std.mem.findScalar(u16, cores.slice(), core) != null) return;
        cores.list[cores.len] = core;
        cores.len += 1;
    }
};

/// The cores of this machine that the process may run on.
pub fn read() Cores {
    return readFrom("/sys/devices/system/node", std.posix.sched_getaffinity(0) catch return .{});
}

/// `nodes` is a folder with node0/cpulist and so on; without it the order is that of the core numbers.
fn readFrom(nodes: []const u8, allowed: std.os.linux.cpu_set_t) Cores {
    var cores: Cores = .{};
    for (0..64) |node| {
        var path: [256]u8 = undefined;
        var text: [4096]u8 = undefined;
        const name = std.fmt.bufPrintSentinel(&path, "{s}/node{d}/cpulist", .{ nodes, node }, 0) catch return cores;
        appendList(&cores, sysfs.read(name, &text), allowed);
    }
    for (0..max_cores) |core| if (isAllowed(allowed, @intCast(core))) cores.append(@intCast(core));
    return cores;
}

/// A list in the kernel's form: `0-3,8,10-11`.
fn appendList(cores: *Cores, text: []const u8, allowed: std.os.linux.cpu_set_t) void {
    var parts = std.mem.tokenizeAny(u8, text, ",\n");
    while (parts.next()) |part| {
        var ends = std.mem.splitScalar(u8, part, '-');
        const first = std.fmt.parseInt(u16, ends.first(), 10) catch continue;
        const last = if (ends.next()) |end| std.fmt.parseInt(u16, end, 10) catch continue else first;
        var core = first;
        while (core <= last and core < max_cores) : (core += 1) if (isAllowed(allowed, core)) cores.append(core);
    }
}

fn isAllowed(allowed: std.os.linux.cpu_set_t, core: u16) bool {
    const bits = @bitSizeOf(usize);
    return allowed[core / bits] >> @intCast(core % bits) & 1 != 0;
}

/// Pins the calling thread; refused by the kernel, it stays where it is.
pub fn pinTo(core: u16) void {
    var set: std.os.linux.cpu_set_t = @splat(0);
    set[core / @bitSizeOf(usize)] |= @as(usize, 1) << @intCast(core % @bitSizeOf(usize));
    std.os.linux.sched_setaffinity(0, &set) catch {};
}

test "a faked topology: node by node, allowed cores only" {
    const io = std.testing.io;
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    try tmp.dir.createDirPath(io, "node0");
    try tmp.dir.createDirPath(io, "node1");
    try tmp.dir.writeFile(io, .{ .sub_path = "node0/cpulist", .data = "0-1,4-5\n" });
    try tmp.dir.writeFile(io, .{ .sub_path = "node1/cpulist", .data = "2-3,6\n" });
    var path: [256]u8 = undefined;
    const nodes = try std.fmt.bufPrint(&path, ".zig-cache/tmp/{s}", .{tmp.sub_path});
    var allowed: std.os.linux.cpu_set_t = @splat(0);
    allowed[0] = 0b1111_1101;
    try std.testing.expectEqualSlices(u16, &.{ 0, 4, 5, 2, 3, 6, 7 }, readFrom(nodes, allowed).slice());
    try std.testing.expectEqualSlices(u16, &.{ 0, 2, 3, 4, 5, 6, 7 }, readFrom("/no/such/folder", allowed).slice());
}
