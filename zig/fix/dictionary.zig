//! What the parser has to know of tags: which field tells another's length, and which belong to the standard header and
//! trailer. From fields.csv (FIX 4.0 to 5.0 SP2 and FIXT.1.1, after the FIX Trading Community's field definitions), which
//! TypeScript reads too: names and types are its business.
const std = @import("std");

/// Tags from here on are in no table: custom ones.
pub const table_tags = 2048;

const Row = struct { tag: u32, in_frame: bool, length_tag: ?u32 };

/// For the tag of a length, the tag of the data that follows it; 0 for every other tag.
pub const data_tags: [table_tags]u16 = tables.data_tags;
/// Tags of the standard header and trailer: what may differ from one copy of a message to the next.
const frame_tags = tables.frame_tags;

pub fn dataTagOf(tag: u32) u32 {
    return if (tag < table_tags) data_tags[tag] else 0;
}

pub fn isInFrame(tag: u32) bool {
    return tag < table_tags and frame_tags.isSet(tag);
}

const tables = blk: {
    @setEvalBranchQuota(2_000_000);
    var data: [table_tags]u16 = @splat(0);
    var frame: std.StaticBitSet(table_tags) = .initEmpty();
    var lines = std.mem.splitScalar(u8, std.mem.trimEnd(u8, @embedFile("fields.csv"), "\n"), '\n');
    _ = lines.next();
    while (lines.next()) |line| {
        const row = parseRow(line);
        if (row.in_frame) frame.set(row.tag);
        if (row.length_tag) |length| data[length] = row.tag;
    }
    break :blk .{ .data_tags = data, .frame_tags = frame };
};

/// `tag,name,type,section,length_tag,earlier_names`
fn parseRow(line: []const u8) Row {
    var cells = std.mem.splitScalar(u8, line, ',');
    const tag = number(cells.next().?);
    _ = cells.next();
    _ = cells.next();
    const section = cells.next().?;
    const length_tag = cells.next().?;
    return .{ .tag = tag, .in_frame = section.len != 0, .length_tag = if (length_tag.len == 0) null else number(length_tag) };
}

fn number(text: []const u8) u32 {
    var value: u32 = 0;
    for (text) |digit| value = value * 10 + (digit - '0');
    return value;
}

test "lengths, header and trailer" {
    try std.testing.expectEqual(96, dataTagOf(95));
    try std.testing.expectEqual(89, dataTagOf(93));
    try std.testing.expectEqual(213, dataTagOf(212));
    try std.testing.expectEqual(0, dataTagOf(9));
    for ([_]u32{ 8, 9, 10, 34, 35, 43, 49, 52, 56, 97, 122, 213, 1128 }) |tag| try std.testing.expect(isInFrame(tag));
    for ([_]u32{ 17, 31, 32, 60, 75, 9999, 5000 }) |tag| try std.testing.expect(!isInFrame(tag));
}
