//! Single-byte and UTF-16 encodings to UTF-8, for the spool. What is not valid in the encoding comes out as bytes that
//! are not valid UTF-8 either, so that the engine refuses it in keys and compared columns and passes it elsewhere.
const std = @import("std");

pub const Encoding = enum(u32) { windows_1252, iso_8859_1, utf_16le, utf_16be };

pub const Done = struct { consumed: usize, written: usize };

/// `out` holds at least 3 bytes per input byte. A unit that is split at the end of `in` is not consumed.
pub fn toUtf8(encoding: Encoding, in: []const u8, out: []u8) Done {
    return switch (encoding) {
        .windows_1252 => singleByte(in, out, &windows_1252_upper),
        .iso_8859_1 => singleByte(in, out, null),
        .utf_16le => utf16(.little, in, out),
        .utf_16be => utf16(.big, in, out),
    };
}

/// Code points of bytes 0x80 to 0x9f in Windows code page 1252 (Unicode consortium, CP1252.TXT); 0 where undefined.
const windows_1252_upper = [32]u16{
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0,
    0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
};

fn singleByte(in: []const u8, out: []u8, upper: ?*const [32]u16) Done {
    var written: usize = 0;
    for (in) |byte| {
        if (byte < 0x80) {
            out[written] = byte;
            written += 1;
            continue;
        }
        const point: u21 = if (upper != null and byte < 0xa0) upper.?[byte - 0x80] else byte;
        written += encode(if (point == 0) null else point, byte, out[written..]);
    }
    return .{ .consumed = in.len, .written = written };
}

fn utf16(comptime endian: std.builtin.Endian, in: []const u8, out: []u8) Done {
    var at: usize = 0;
    var written: usize = 0;
    while (at + 2 <= in.len) {
        const unit = std.mem.readInt(u16, in[at..][0..2], endian);
        if (unit & 0xfc00 != 0xd800) {
            const lone_low = unit & 0xfc00 == 0xdc00;
            written += encode(if (lone_low) null else unit, 0xff, out[written..]);
            at += 2;
            continue;
        }
        if (at + 4 > in.len) break;
        const low = std.mem.readInt(u16, in[at + 2 ..][0..2], endian);
        if (low & 0xfc00 == 0xdc00) {
            const point = 0x10000 + (@as(u21, unit & 0x3ff) << 10 | (low & 0x3ff));
            written += encode(point, 0xff, out[written..]);
            at += 4;
        } else {
            written += encode(null, 0xff, out[written..]);
            at += 2;
        }
    }
    return .{ .consumed = at, .written = written };
}

/// Writes one code point, or `invalid` (a byte that no UTF-8 text holds alone) for null.
fn encode(point: ?u21, invalid: u8, out: []u8) usize {
    const value = point orelse {
        out[0] = invalid;
        return 1;
    };
    var buffer: [4]u8 = undefined;
    const len = std.unicode.utf8Encode(value, &buffer) catch unreachable; // surrogates were sorted out by the caller
    @memcpy(out[0..len], buffer[0..len]);
    return len;
}

test "windows-1252, with a byte that is undefined there" {
    var out: [30]u8 = undefined;
    const done = toUtf8(.windows_1252, "So\xe9\x80\x81", &out);
    try std.testing.expectEqualStrings("Soé€\x81", out[0..done.written]);
}

test "iso-8859-1 keeps C1 controls" {
    var out: [30]u8 = undefined;
    const done = toUtf8(.iso_8859_1, "\xe9\x80", &out);
    try std.testing.expectEqualStrings("é\u{80}", out[0..done.written]);
}

test "utf-16 pairs, lone surrogates and a split unit" {
    var out: [64]u8 = undefined;
    const done = toUtf8(.utf_16le, "A\x00\x3d\xd8\x00\xdeB\x00\x00\xdc\x3d\xd8C\x00\x3d\xd8", &out);
    try std.testing.expectEqualStrings("A\u{1f600}B\xff\xffC", out[0..done.written]);
    try std.testing.expectEqual(14, done.consumed);
    const big = toUtf8(.utf_16be, "\x00A\x20\xac\x00", &out);
    try std.testing.expectEqualStrings("A€", out[0..big.written]);
    try std.testing.expectEqual(4, big.consumed);
}
