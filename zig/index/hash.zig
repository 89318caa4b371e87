//! Hash of a key: folded 64 x 64 to 128 bit multiplication, any CPU. Chooses partitions and slots; a match is always
//! decided by comparing key bytes.
const std = @import("std");

/// How many bytes behind a key may be read (and are masked away).
pub const read_ahead_bytes = 16;

const k0: u64 = 0x9e37_79b9_7f4a_7c15;
const k1: u64 = 0xd6e8_feb8_6659_fd93;
const k2: u64 = 0xa076_1d64_78bd_642f;

const keep_mask: [32]u8 = @as([16]u8, @splat(0xff)) ++ @as([16]u8, @splat(0));

/// One key, or one part of a composite key. `ptr[0..len + read_ahead_bytes]` must be readable.
pub inline fn ofBytes(seed: u64, ptr: [*]const u8, len: usize) u64 {
    var state = seed ^ k0 *% (len + 1);
    var at: usize = 0;
    while (len - at > 16) : (at += 16) {
        const words: [2]u64 = @bitCast(ptr[at..][0..16].*);
        state = fold(words[0] ^ state, words[1] ^ k1);
    }
    const loaded: @Vector(16, u8) = ptr[at..][0..16].*;
    const mask: @Vector(16, u8) = keep_mask[16 - (len - at) ..][0..16].*;
    const words: [2]u64 = @bitCast(loaded & mask);
    return finish(fold(words[0] ^ state, words[1] ^ k2));
}

/// Adds one more part to a composite key's hash. The order of parts counts.
pub inline fn combine(whole: u64, part: u64) u64 {
    return finish(fold(whole ^ k1, part ^ k2) +% whole);
}

inline fn fold(a: u64, b: u64) u64 {
    const product = std.math.mulWide(u64, a, b);
    return @as(u64, @truncate(product)) ^ @as(u64, @truncate(product >> 64));
}

inline fn finish(value: u64) u64 {
    const mixed = value *% k0;
    return mixed ^ (mixed >> 32);
}

test "bytes behind the key do not count, every byte of the key does" {
    const a = "T1234567890123456789,100.5" ++ "0123456789abcdef";
    const b = "T1234567890123456789;999.9" ++ "fedcba9876543210";
    for (0..21) |len| try std.testing.expectEqual(ofBytes(7, a.ptr, len), ofBytes(7, b.ptr, len));
    for (0..20) |len| {
        var changed = a.*;
        changed[len] ^= 1;
        try std.testing.expect(ofBytes(7, a.ptr, len + 1) != ofBytes(7, &changed, len + 1));
    }
}

test "sequential ids spread evenly over partitions and slots" {
    var high: [64]u32 = @splat(0);
    var low: [64]u32 = @splat(0);
    var buffer: [32]u8 = @splat(0);
    for (0..64_000) |i| {
        const key = try std.fmt.bufPrint(buffer[0..16], "T{d:0>9}", .{i});
        const hash = ofBytes(42, key.ptr, key.len);
        high[hash >> 58] += 1;
        low[hash & 63] += 1;
    }
    for (high, low) |h, l| {
        try std.testing.expect(h > 800 and h < 1200);
        try std.testing.expect(l > 800 and l < 1200);
    }
}
