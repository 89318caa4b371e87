//! Root of the Zig tests: every file's own tests, and the scanner held against the grammar on all small files.
test {
    _ = @import("cpu.zig");
    _ = @import("parallel.zig");
    _ = @import("placement.zig");
    _ = @import("source/transcode.zig");
    _ = @import("csv/record.zig");
    _ = @import("csv/ledger.zig");
    _ = @import("csv/scan_test.zig");
    _ = @import("kernel/masks.zig");
    _ = @import("index/hash.zig");
    _ = @import("index/partition.zig");
    _ = @import("match/compare.zig");
    _ = @import("match/findings.zig");
    _ = @import("match/fold.zig");
    _ = @import("match/hints.zig");
    _ = @import("match/side_by_side.zig");
    _ = @import("breaks/sort.zig");
    _ = @import("fix/message_writer.zig");
    _ = @import("generate.zig");
    _ = @import("fix/dictionary.zig");
    _ = @import("fix/message.zig");
    _ = @import("value/date.zig");
    _ = @import("value/decimal.zig");
    _ = @import("value/number_format.zig");
    _ = @import("value/ratio.zig");
    _ = @import("value/timestamp.zig");
    _ = @import("value/zone.zig");
    _ = @import("value/tolerance.zig");
}
