// The path of the baselines' library: inside the executable the embedded copy, in a checkout the built file. Read by baseline.ts.
import library from "../../zig-out/lib/librecon_baseline.so" with { type: "file" };

export default library;
