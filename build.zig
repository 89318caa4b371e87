//! Builds librecon.so (one engine object per CPU level, run-time choice), the generated TypeScript view of the
//! boundary, the baselines of `recon bench`, and the Zig tests. Called by scripts/build.ts; steps: install, abi, test, fuzz,
//! race, fmt.
const std = @import("std");
const builtin = @import("builtin");

comptime {
    const wanted: std.SemanticVersion = .{ .major = 0, .minor = 16, .patch = 0 };
    if (builtin.zig_version.order(wanted) != .eq) @compileError("recon builds with Zig 0.16.0, this is " ++ builtin.zig_version_string);
}

const Level = struct { name: []const u8, model: ?*const std.Target.Cpu.Model };

const x86_levels = [_]Level{
    .{ .name = "v2", .model = &std.Target.x86.cpu.x86_64_v2 },
    .{ .name = "v3", .model = &std.Target.x86.cpu.x86_64_v3 },
    .{ .name = "v4", .model = &std.Target.x86.cpu.x86_64_v4 },
};
const arm_levels = [_]Level{.{ .name = "arm64", .model = null }};

pub fn build(b: *std.Build) void {
    const arch = b.option(std.Target.Cpu.Arch, "arch", "x86_64 or aarch64 (default: this machine's)") orelse builtin.cpu.arch;
    const optimize = b.standardOptimizeOption(.{});
    const only = b.option([]const u8, "level", "Build the engine for this CPU level only: a quick build for development");
    const filters = b.option([]const []const u8, "test-filter", "Only run tests whose name contains this") orelse &.{};
    const target = b.resolveTargetQuery(query(arch, if (arch == .x86_64) x86_levels[0].model else null));

    const emit = b.addExecutable(.{ .name = "emit", .root_module = b.createModule(.{
        .root_source_file = b.path("zig/emit.zig"),
        .target = b.graph.host,
    }) });
    const generated = b.addRunArtifact(emit).captureStdOut(.{});
    const update = b.addUpdateSourceFiles();
    update.addCopyFileToSource(generated, "src/generated/abi.ts");
    b.step("abi", "Rewrite src/generated/abi.ts from zig/abi.zig").dependOn(&update.step);
    const emit_fingerprint = b.addRunArtifact(emit);
    emit_fingerprint.addArg("--fingerprint");
    const fingerprint = b.createModule(.{ .root_source_file = emit_fingerprint.captureStdOut(.{ .basename = "fingerprint.zig" }) });

    const root = b.createModule(.{
        .root_source_file = b.path("zig/root.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .strip = optimize != .Debug,
    });
    root.addImport("fingerprint", fingerprint);
    const root_options = b.addOptions();
    root_options.addOption(?[]const u8, "only_level", only);
    root.addOptions("build_options", root_options);
    for (levels(arch)) |level| {
        if (only) |name| if (!std.mem.eql(u8, name, level.name)) continue;
        root.addObject(engineObject(b, arch, level, optimize));
    }
    const library = b.addLibrary(.{ .name = "recon", .root_module = root, .linkage = .dynamic, .use_llvm = true });
    b.installArtifact(library);
    b.installArtifact(baseline(b, target));

    b.step("test", "Run the Zig tests").dependOn(zigTests(b, optimize, filters, 60, .{}));
    b.step("fuzz", "Hold the scanner against the grammar, and the FIX parser against its slow way, on many random files").dependOn(zigTests(b, .ReleaseSafe, &.{ "random files", "canary" }, 5000, .{}));
    b.step("race", "Run the scanner's parallel tests under ThreadSanitizer").dependOn(zigTests(b, .Debug, &.{"random files"}, 4, .{ .sanitize_thread = true }));

    const fmt = b.addFmt(.{ .paths = &.{ "build.zig", "zig" }, .check = true });
    b.step("fmt", "Check formatting").dependOn(&fmt.step);
}

const TestVariant = struct { sanitize_thread: bool = false };

/// The Zig tests, with `fuzz_rounds` random files where they are made.
fn zigTests(b: *std.Build, optimize: std.builtin.OptimizeMode, filters: []const []const u8, fuzz_rounds: u32, variant: TestVariant) *std.Build.Step {
    const options = b.addOptions();
    options.addOption([]const u8, "level", if (builtin.cpu.arch == .x86_64) "v2" else "arm64");
    options.addOption(u32, "fuzz_rounds", fuzz_rounds);
    const module = b.createModule(.{
        .root_source_file = b.path("zig/tests.zig"),
        .target = b.graph.host,
        .optimize = optimize,
        .link_libc = true,
        .sanitize_thread = variant.sanitize_thread,
    });
    module.addOptions("build_options", options);
    const tests = b.addTest(.{ .filters = filters, .root_module = module, .use_llvm = if (variant.sanitize_thread) true else null });
    return &b.addRunArtifact(tests).step;
}

/// What `recon bench` measures the engine against. A library of its own, because it carries libc++; always optimised, because
/// it is only ever timed.
fn baseline(b: *std.Build, target: std.Build.ResolvedTarget) *std.Build.Step.Compile {
    const module = b.createModule(.{ .target = target, .optimize = .ReleaseFast, .link_libc = true, .link_libcpp = true, .strip = true });
    module.addCSourceFiles(.{
        .root = b.path("zig/baseline"),
        .files = &.{ "baseline.cpp", "conventional_fix.cpp" },
        .flags = &.{ "-std=c++20", "-O3", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden" },
    });
    const library = b.addLibrary(.{ .name = "recon_baseline", .root_module = module, .linkage = .dynamic });
    library.setVersionScript(b.path("zig/baseline/exports.map"));
    return library;
}

fn levels(arch: std.Target.Cpu.Arch) []const Level {
    return if (arch == .x86_64) &x86_levels else &arm_levels;
}

fn query(arch: std.Target.Cpu.Arch, model: ?*const std.Target.Cpu.Model) std.Target.Query {
    return .{
        .cpu_arch = arch,
        .os_tag = .linux,
        .abi = .gnu,
        .glibc_version = .{ .major = 2, .minor = 28, .patch = 0 },
        .cpu_model = if (model) |m| .{ .explicit = m } else .baseline,
    };
}

/// The whole per-row engine, compiled once more for one CPU level under a symbol of its own.
fn engineObject(b: *std.Build, arch: std.Target.Cpu.Arch, level: Level, optimize: std.builtin.OptimizeMode) *std.Build.Step.Compile {
    const options = b.addOptions();
    options.addOption([]const u8, "level", level.name);
    const module = b.createModule(.{
        .root_source_file = b.path("zig/engine.zig"),
        .target = b.resolveTargetQuery(query(arch, level.model)),
        .optimize = optimize,
        .link_libc = true,
        .pic = true,
        .strip = optimize != .Debug,
    });
    module.addOptions("build_options", options);
    return b.addObject(.{ .name = b.fmt("engine_{s}", .{level.name}), .root_module = module, .use_llvm = true });
}
