// The path of the engine library: inside the executable the embedded copy, in a checkout the built file. Read by library.ts.
import library from "../../zig-out/lib/librecon.so" with { type: "file" };

export default library;
