const abi = @import("../abi.zig");
pub const Zone = struct {
    spec: abi.ZoneSpec,
    pub fn init(spec: abi.ZoneSpec) Zone {
        return .{ .spec = spec };
    }
};
