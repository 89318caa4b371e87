//! What both roots (boundary and engine objects) declare to the standard library: no signal stack for every thread of
//! the host, and a panic that ends the process with exit status 2 and one line, never 1.
const std = @import("std");

pub const std_options: std.Options = .{ .signal_stack_size = null, .networking = false };

pub const panic = std.debug.FullPanic(struct {
    fn call(message: []const u8, _: ?usize) noreturn {
        for ([_][]const u8{ "recon: internal error: ", message, "\n" }) |text| _ = std.c.write(2, text.ptr, text.len);
        std.c._exit(2);
    }
}.call);
