//! Chooses the widest engine object that CPU and operating system allow; `RECON_CPU` forces a lower one.
const std = @import("std");
const builtin = @import("builtin");
const Level = @import("abi.zig").CpuLevel;

pub const Error = error{ UnknownLevel, UnsupportedLevel };

/// The level in use: what `RECON_CPU` names, else the best this machine has.
pub fn choose() Error!Level {
    const best = detect();
    const wanted = std.c.getenv("RECON_CPU") orelse return best;
    const level = std.meta.stringToEnum(Level, std.mem.span(wanted)) orelse return error.UnknownLevel;
    const same_family = (level == .arm64) == (best == .arm64);
    return if (same_family and @intFromEnum(level) <= @intFromEnum(best)) level else error.UnsupportedLevel;
}

pub fn detect() Level {
    if (builtin.cpu.arch != .x86_64) return .arm64;
    const leaf1 = cpuid(1, 0);
    const operating_system_saves_state = bit(leaf1.ecx, 27) and bit(leaf1.ecx, 28);
    if (!operating_system_saves_state) return .v2;
    const state = xcr0();
    if (state & 0x6 != 0x6) return .v2;
    const leaf7 = cpuid(7, 0);
    const extended = cpuid(0x8000_0001, 0);
    const has_v3 = bit(leaf7.ebx, 5) and bit(leaf7.ebx, 3) and bit(leaf7.ebx, 8) and // AVX2, BMI1, BMI2
        bit(leaf1.ecx, 12) and bit(leaf1.ecx, 22) and bit(leaf1.ecx, 29) and // FMA, MOVBE, F16C
        bit(extended.ecx, 5); // LZCNT
    if (!has_v3) return .v2;
    const has_v4 = bit(leaf7.ebx, 16) and bit(leaf7.ebx, 17) and bit(leaf7.ebx, 28) and bit(leaf7.ebx, 30) and bit(leaf7.ebx, 31);
    return if (has_v4 and state & 0xe6 == 0xe6) .v4 else .v3;
}

const Leaf = struct { eax: u32, ebx: u32, ecx: u32, edx: u32 };

fn cpuid(leaf: u32, subleaf: u32) Leaf {
    var eax: u32 = undefined;
    var ebx: u32 = undefined;
    var ecx: u32 = undefined;
    var edx: u32 = undefined;
    asm volatile ("cpuid"
        : [eax] "={eax}" (eax),
          [ebx] "={ebx}" (ebx),
          [ecx] "={ecx}" (ecx),
          [edx] "={edx}" (edx),
        : [leaf] "{eax}" (leaf),
          [subleaf] "{ecx}" (subleaf),
    );
    return .{ .eax = eax, .ebx = ebx, .ecx = ecx, .edx = edx };
}

fn xcr0() u32 {
    return asm volatile ("xgetbv"
        : [low] "={eax}" (-> u32),
        : [index] "{ecx}" (@as(u32, 0)),
        : .{ .edx = true });
}

fn bit(word: u32, comptime index: u5) bool {
    return word & (1 << index) != 0;
}

test "what is detected is what is used, unless the environment says otherwise" {
    if (std.c.getenv("RECON_CPU") == null) try std.testing.expectEqual(detect(), try choose());
}
