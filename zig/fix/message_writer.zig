//! Writes FIX messages with the right BodyLength and CheckSum. Used by `recon generate --format fix` (generate.zig).
const std = @import("std");
const Writer = std.Io.Writer;

const soh = 1;
const max_body_bytes = 1024;

/// One message at a time: `begin`, its fields in order, `finish`. Values that do not fit the body are a fault of the caller.
pub const MessageWriter = struct {
    bytes: [max_body_bytes]u8 = undefined,
    len: usize = 0,

    pub fn begin(message: *MessageWriter, msg_type: []const u8) void {
        message.len = 0;
        message.text(35, msg_type);
    }

    pub fn text(message: *MessageWriter, comptime tag: u32, value: []const u8) void {
        message.append(comptime std.fmt.comptimePrint("{d}=", .{tag}));
        message.append(value);
        message.end();
    }

    pub fn number(message: *MessageWriter, comptime tag: u32, value: u64) void {
        message.append(comptime std.fmt.comptimePrint("{d}=", .{tag}));
        message.len += std.fmt.printInt(message.bytes[message.len..], value, 10, .lower, .{});
        message.end();
    }

    /// A day of March 2026 as LocalMktDate.
    pub fn date(message: *MessageWriter, comptime tag: u32, day: u64) void {
        message.append(comptime std.fmt.comptimePrint("{d}=202603", .{tag}));
        message.digits(day, 2);
        message.end();
    }

    /// UTCTimestamp with milliseconds: `ms` after the start of a day.
    pub fn time(message: *MessageWriter, comptime tag: u32, comptime month: []const u8, day: u64, ms: u64) void {
        message.append(comptime std.fmt.comptimePrint("{d}={s}", .{ tag, month }));
        message.digits(day, 2);
        message.append("-");
        message.digits(ms / 3_600_000 % 24, 2);
        message.append(":");
        message.digits(ms / 60_000 % 60, 2);
        message.append(":");
        message.digits(ms / 1000 % 60, 2);
        message.append(".");
        message.digits(ms % 1000, 3);
        message.end();
    }

    pub fn finish(message: *const MessageWriter, out: *Writer) Writer.Error!void {
        var head_buffer: [32]u8 = undefined;
        const head = std.fmt.bufPrint(&head_buffer, "8=FIX.4.4\x019={d}\x01", .{message.len}) catch unreachable;
        const body = message.bytes[0..message.len];
        const sum = sumOf(head) +% sumOf(body);
        try out.writeAll(head);
        try out.writeAll(body);
        try out.writeAll(&.{ '1', '0', '=', '0' + sum / 100, '0' + sum / 10 % 10, '0' + sum % 10, soh, '\n' });
    }

    fn digits(message: *MessageWriter, value: u64, comptime count: usize) void {
        var rest = value;
        var at = message.len + count;
        message.len = at;
        while (at > message.len - count) : (rest /= 10) {
            at -= 1;
            message.bytes[at] = '0' + @as(u8, @intCast(rest % 10));
        }
    }

    fn append(message: *MessageWriter, value: []const u8) void {
        @memcpy(message.bytes[message.len..][0..value.len], value);
        message.len += value.len;
    }

    fn end(message: *MessageWriter) void {
        message.bytes[message.len] = soh;
        message.len += 1;
    }
};

fn sumOf(bytes: []const u8) u8 {
    var sum: u8 = 0;
    for (bytes) |byte| sum +%= byte;
    return sum;
}

test "a message has its body length and checksum" {
    var message: MessageWriter = .{};
    message.begin("0");
    message.number(34, 7);
    message.time(52, "202604", 1, 3_723_004);
    message.date(75, 9);
    var buffer: [200]u8 = undefined;
    var out: Writer = .fixed(&buffer);
    try message.finish(&out);
    try std.testing.expectEqualStrings("8=FIX.4.4\x019=47\x0135=0\x0134=7\x0152=20260401-01:02:03.004\x0175=20260309\x0110=178\x01\n", out.buffered());
}
