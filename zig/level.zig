//! Which CPU level this object was compiled for.
const std = @import("std");
const abi = @import("abi.zig");

pub const level: abi.CpuLevel = std.meta.stringToEnum(abi.CpuLevel, @import("build_options").level).?;
