//! Puts breaks in file order: least-significant-digit radix sort by place, for lists of tens of millions.
const std = @import("std");
const Pair = @import("../match/findings.zig").Pair;

/// Shorter lists are sorted by comparison.
const radix_from = 4096;
const digit_bits = 11;

pub fn singles(gpa: std.mem.Allocator, items: []u64) error{OutOfMemory}!void {
    try byKey(u64, gpa, items, identity);
}

pub fn pairs(gpa: std.mem.Allocator, items: []Pair) error{OutOfMemory}!void {
    try byKey(Pair, gpa, items, internalOf);
}

fn identity(item: u64) u64 {
    return item;
}

fn internalOf(item: Pair) u64 {
    return item.internal;
}

fn byKey(comptime T: type, gpa: std.mem.Allocator, items: []T, comptime key: fn (T) u64) error{OutOfMemory}!void {
    if (items.len < radix_from) {
        std.mem.sortUnstable(T, items, {}, struct {
            fn before(_: void, a: T, b: T) bool {
                return key(a) < key(b);
            }
        }.before);
        return;
    }
    if (std.sort.isSorted(T, items, {}, struct {
        fn before(_: void, a: T, b: T) bool {
            return key(a) < key(b);
        }
    }.before)) return;
    const other = try gpa.alloc(T, items.len);
    defer gpa.free(other);
    var all: u64 = 0;
    for (items) |item| all |= key(item);
    var from = items;
    var to = other;
    var shift: u32 = 0;
    while (shift < 64 and all >> @intCast(shift) != 0) : (shift += digit_bits) {
        var starts: [1 << digit_bits]usize = @splat(0);
        for (from) |item| starts[digit(key(item), shift)] += 1;
        var total: usize = 0;
        for (&starts) |*start| {
            const count = start.*;
            start.* = total;
            total += count;
        }
        for (from) |item| {
            const start = &starts[digit(key(item), shift)];
            to[start.*] = item;
            start.* += 1;
        }
        std.mem.swap([]T, &from, &to);
    }
    if (from.ptr != items.ptr) @memcpy(items, from);
}

fn digit(value: u64, shift: u32) usize {
    return @intCast((value >> @intCast(shift)) & ((1 << digit_bits) - 1));
}

test "sorted like a comparison sort" {
    const gpa = std.testing.allocator;
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    for ([_]usize{ 0, 1, 100, 5000, 20_000 }) |len| {
        const items = try gpa.alloc(u64, len);
        defer gpa.free(items);
        for (items) |*item| item.* = prng.random().int(u52);
        const expected = try gpa.dupe(u64, items);
        defer gpa.free(expected);
        std.mem.sort(u64, expected, {}, std.sort.asc(u64));
        try singles(gpa, items);
        try std.testing.expectEqualSlices(u64, expected, items);
    }
}
