// A FIX parser as it is commonly written: every field copied into a std::map<int, std::string>, BodyLength and CheckSum
// verified where asked for. Timed here, so that no call from outside is in the numbers; called by src/bench/baseline.ts.
#include "conventional_fix.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <new>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

/// Of this library, by any thread; only looked at while one thread runs.
uint64_t allocations = 0;

} // namespace

void* operator new(size_t size) {
    __atomic_store_n(&allocations, __atomic_load_n(&allocations, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace {

constexpr char soh = '\x01';

using Message = std::map<int, std::string>;

template <typename T> void keepAlive(const T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

/// Fills `message`; false where the text is not a well-formed message.
bool parse(std::string_view text, bool checked, Message& message) {
    message.clear();
    size_t start = 0;
    while (start < text.size()) {
        const size_t equals = text.find('=', start);
        if (equals == std::string_view::npos) return false;
        const size_t end = text.find(soh, equals);
        if (end == std::string_view::npos) return false;
        const int tag = std::stoi(std::string(text.substr(start, equals - start)));
        message[tag] = std::string(text.substr(equals + 1, end - equals - 1));
        start = end + 1;
    }
    if (!checked) return true;
    const auto length = message.find(9);
    const auto sum = message.find(10);
    if (length == message.end() || sum == message.end()) return false;
    const size_t body = text.find(soh, text.find("\x01" "9=") + 1) + 1;
    const size_t trailer = text.rfind("\x01" "10=") + 1;
    unsigned total = 0;
    for (size_t i = 0; i < trailer; i++) total += static_cast<unsigned char>(text[i]);
    return std::stoul(length->second) == trailer - body && std::stoul(sum->second) == total % 256;
}

using Clock = std::chrono::steady_clock;

uint64_t nanosecondsSince(Clock::time_point started) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started).count());
}

/// `FixBatch` in src/bench/baseline.ts has the same layout: 64-bit numbers in this order.
struct Batch {
    /// In: messages of `message_bytes` each; every `group` of them is one sample.
    uint64_t messages;
    uint64_t message_bytes;
    uint64_t group;
    uint64_t rounds;
    uint64_t checked;
    uint64_t tags[4];
    /// Out: FNV-1a of the four fields of every message, each followed by a zero byte.
    uint64_t digest;
    uint64_t allocations;
    /// Four fields of one message, the median of all messages.
    uint64_t four_fields_ps;
};

uint64_t digestOf(uint64_t digest, std::string_view value) {
    for (const char byte : value) digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    return digest * 0x100000001b3;
}

const std::string& fieldOf(const Message& message, uint64_t tag) {
    const auto field = message.find(static_cast<int>(tag));
    if (field == message.end()) throw std::runtime_error("a message lacks a field");
    return field->second;
}

void parseOrThrow(std::string_view text, bool checked, Message& message) {
    if (!parse(text, checked, message)) throw std::runtime_error("a message is not well-formed");
}

/// What four look-ups cost in a message that was just parsed, many times over.
uint64_t timeFields(const Message& message, const Batch& batch) {
    constexpr int repeats = 256;
    const auto started = Clock::now();
    for (int i = 0; i < repeats; i++) {
        keepAlive(message);
        size_t read = 0;
        for (const uint64_t tag : batch.tags) {
            const std::string& value = fieldOf(message, tag);
            read += reinterpret_cast<size_t>(value.data()) + value.size();
        }
        keepAlive(read);
    }
    return nanosecondsSince(started) * 1000 / repeats;
}

void pinToFirst() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &allowed)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

class Pinned {
  public:
    Pinned() {
        sched_getaffinity(0, sizeof before, &before);
        pinToFirst();
    }
    ~Pinned() {
        sched_setaffinity(0, sizeof before, &before);
    }

  private:
    cpu_set_t before;
};

void measure(const char* bytes, Batch& batch, uint64_t* samples) {
    const auto textOf = [&](uint64_t i) { return std::string_view(bytes + i * batch.message_bytes, batch.message_bytes); };
    Message message;
    std::map<uint64_t, uint64_t> field_times;
    batch.digest = 0xcbf29ce484222325;
    for (uint64_t i = 0; i < batch.messages; i++) {
        parseOrThrow(textOf(i), true, message);
        for (const uint64_t tag : batch.tags) batch.digest = digestOf(batch.digest, fieldOf(message, tag));
        field_times[timeFields(message, batch)]++;
    }
    uint64_t seen = 0;
    for (const auto& [ps, count] : field_times) {
        batch.four_fields_ps = ps;
        if ((seen += count) * 2 >= batch.messages) break;
    }
    const uint64_t before = allocations;
    for (uint64_t round = 0; round < batch.rounds; round++) {
        for (uint64_t i = 0; i < batch.messages; i += batch.group) {
            const auto started = Clock::now();
            for (uint64_t j = i; j < i + batch.group; j++) {
                parseOrThrow(textOf(j), batch.checked != 0, message);
                keepAlive(message);
            }
            *samples++ = nanosecondsSince(started);
        }
    }
    batch.allocations = allocations - before;
}

} // namespace

uint64_t conventional_fix::parseLog(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    std::string line;
    Message message;
    uint64_t messages = 0;
    while (std::getline(file, line)) {
        parseOrThrow(line, true, message);
        keepAlive(message);
        messages++;
    }
    return messages;
}

/// `samples` has room for rounds * messages / group numbers. Returns 0, or -1 with a text that ends in a zero byte in
/// `error`.
extern "C" __attribute__((visibility("default"))) int32_t recon_baseline_fix(
    const char* bytes, Batch* batch, uint64_t* samples, char* error, uint64_t error_length) {
    try {
        const Pinned pinned;
        measure(bytes, *batch, samples);
        return 0;
    } catch (const std::exception& problem) {
        std::string_view(problem.what()).substr(0, error_length - 1).copy(error, error_length - 1);
        return -1;
    }
}
