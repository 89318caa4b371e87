//! 64 bytes at a time as bit masks: lane 0 is bit 0. One spelling; the compiler makes two to four vector
//! comparisons of it, by the CPU level of the object.
const std = @import("std");

pub const Block = @Vector(64, u8);

/// `ptr[0..64]` must be readable.
pub inline fn load(ptr: [*]const u8) Block {
    return ptr[0..64].*;
}

pub inline fn equal(block: Block, byte: u8) u64 {
    return @bitCast(block == @as(Block, @splat(byte)));
}

/// Half a block: for what is mostly shorter, and lies in fewer cache lines.
pub const Half = @Vector(32, u8);

/// `ptr[0..32]` must be readable.
pub inline fn loadHalf(ptr: [*]const u8) Half {
    return ptr[0..32].*;
}

pub inline fn equalHalf(half: Half, byte: u8) u32 {
    return @bitCast(half == @as(Half, @splat(byte)));
}

/// Bits of bytes from `first` to `last`, both included.
pub inline fn within(block: Block, first: u8, last: u8) u64 {
    return @bitCast(block -% @as(Block, @splat(first)) <= @as(Block, @splat(last - first)));
}

/// Bits of bytes that are NUL or not ASCII.
pub inline fn suspicious(block: Block) u64 {
    const shifted = block -% @as(Block, @splat(1));
    return @bitCast(shifted >= @as(Block, @splat(0x7f)));
}

/// A mask of the first `count` bits; all of them from 64 on.
pub inline fn firstBits(count: usize) u64 {
    return if (count >= 64) ~@as(u64, 0) else (@as(u64, 1) << @intCast(count)) - 1;
}

/// Bit i is the parity of bits 0..i: the regions between quotes.
pub inline fn prefixXor(mask: u64) u64 {
    var shifted = mask;
    inline for (.{ 1, 2, 4, 8, 16, 32 }) |by| shifted ^= shifted << by;
    return shifted;
}

/// Whether bytes[0..len] are equal; reads up to 63 bytes behind both.
pub inline fn sameBytes(a: [*]const u8, b: [*]const u8, len: usize) bool {
    var at: usize = 0;
    while (at < len) : (at += 64) {
        const same: u64 = @bitCast(load(a + at) == load(b + at));
        if (~same & firstBits(len - at) != 0) return false;
    }
    return true;
}

test "masks" {
    var text: [64]u8 = @splat('.');
    text[3] = ',';
    text[63] = 0;
    text[10] = 0x80;
    text[11] = 0x7f;
    const block = load(&text);
    try std.testing.expectEqual(@as(u64, 1 << 3), equal(block, ','));
    try std.testing.expectEqual(@as(u64, 1 << 63 | 1 << 10), suspicious(block));
    try std.testing.expectEqual(@as(u64, 1 << 3), within(block, '+', ','));
    try std.testing.expectEqual(@as(u64, 0b0111_0110), prefixXor(0b1001_1010) & 0xff);
    try std.testing.expectEqual(@as(u64, 7), firstBits(3));
    var other = text;
    other[40] = 'x';
    try std.testing.expect(sameBytes(&text, &other, 40));
    try std.testing.expect(!sameBytes(&text, &other, 41));
}
