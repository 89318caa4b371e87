// The conventional FIX parser that `recon bench fix` measures the engine's against. Used by baseline.cpp.
#pragma once
#include <cstdint>

namespace conventional_fix {

/// Reads a log of one message a line and verifies each. Returns how many there are; throws std::runtime_error at the first
/// that is not right.
uint64_t parseLog(const char* path);

} // namespace conventional_fix
