// What the engine is measured against: three conventional C++ programs on one thread, the floor that memory sets for
// any program, and (conventional_fix.cpp) a FIX parser. Built into librecon_baseline.so, which only `recon bench` loads (src/bench/baseline.ts); the engine
// shares nothing with it. Every call blocks until its work is done.
//
// The baselines read plain CSV as generated for benchmarks: a header, no quotes, no key twice on a side.
#include "conventional_fix.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

enum class Kind : uint32_t {
    first_field,
    all_fields,
    reconcile,
    read_mapped,
    read_mapped_ahead,
    read_copied,
    fix_log,
};

/// `Result` in src/bench/baseline.ts has the same layout.
struct Result {
    uint64_t records;
    uint64_t matched;
    uint64_t mismatch;
    uint64_t missing_external;
    uint64_t missing_internal;
    uint64_t elapsed_ns;
};

/// The compiler must believe that somebody looks at the value, and at everything it points to.
template <typename T> void keepAlive(const T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

std::ifstream openLedger(const char* path, std::string& line) {
    std::ifstream file(path, std::ios::binary);
    if (!file || !std::getline(file, line)) throw std::runtime_error(std::string("cannot read ") + path);
    return file;
}

/// Calls `use` with every line behind the header.
template <typename Use> void forEachLine(const char* path, Use use) {
    std::string line;
    std::ifstream file = openLedger(path, line);
    while (std::getline(file, line)) use(line);
    if (file.bad()) throw std::runtime_error(std::string("cannot read ") + path);
}

void splitFields(const std::string& line, std::vector<std::string>& fields) {
    fields.clear();
    size_t start = 0;
    for (size_t end; (end = line.find(',', start)) != std::string::npos; start = end + 1)
        fields.emplace_back(line, start, end - start);
    fields.emplace_back(line, start);
}

void readFirstField(const char* path, Result& result) {
    forEachLine(path, [&](const std::string& line) {
        const std::string key = line.substr(0, line.find(','));
        keepAlive(key);
        result.records++;
    });
}

void readAllFields(const char* path, Result& result) {
    std::vector<std::string> fields;
    forEachLine(path, [&](const std::string& line) {
        splitFields(line, fields);
        keepAlive(fields);
        result.records++;
    });
}

/// A plain decimal in two parts without what does not change its value.
struct Plain {
    bool negative;
    std::string_view whole;
    std::string_view fraction;
    bool operator==(const Plain&) const = default;
};

bool isDigits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool parsePlain(std::string_view text, Plain& plain) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const size_t point = text.find('.');
    plain.whole = text.substr(0, point);
    plain.fraction = {};
    if (!isDigits(plain.whole) || (plain.whole.size() > 1 && plain.whole[0] == '0')) return false;
    if (point != std::string_view::npos) {
        plain.fraction = text.substr(point + 1);
        if (!isDigits(plain.fraction)) return false;
        plain.fraction = plain.fraction.substr(0, plain.fraction.find_last_not_of('0') + 1);
    }
    plain.negative = negative && !(plain.whole == "0" && plain.fraction.empty());
    return true;
}

/// The engine's rule for values of type auto.
bool equalValues(const std::string& a, const std::string& b) {
    if (a == b) return true;
    Plain left, right;
    return parsePlain(a, left) && parsePlain(b, right) && left == right;
}

struct Trade {
    std::vector<std::string> fields;
    bool found = false;
};

using Trades = std::unordered_map<std::string, Trade>;

bool equalTrades(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 1; i < a.size(); i++)
        if (!equalValues(a[i], b[i])) return false;
    return true;
}

/// Rows by the size of the file and the length of its first lines.
size_t estimateRows(const char* path) {
    std::string line;
    std::ifstream file = openLedger(path, line);
    size_t lines = 0, bytes = 0;
    while (lines < 1000 && std::getline(file, line)) {
        lines++;
        bytes += line.size() + 1;
    }
    struct stat info;
    if (lines == 0 || stat(path, &info) != 0) return 0;
    return static_cast<size_t>(info.st_size) * lines / bytes + 1;
}

void reconcile(const char* internal, const char* external, Trades& trades, Result& result) {
    trades.reserve(estimateRows(internal));
    std::vector<std::string> fields;
    forEachLine(internal, [&](const std::string& line) {
        splitFields(line, fields);
        std::string key = fields[0];
        if (!trades.try_emplace(std::move(key), Trade{fields}).second)
            throw std::runtime_error("a key occurs twice: " + fields[0]);
        result.records++;
    });
    keepAlive(trades);
    forEachLine(external, [&](const std::string& line) {
        splitFields(line, fields);
        result.records++;
        const auto trade = trades.find(fields[0]);
        if (trade == trades.end()) {
            result.missing_internal++;
            return;
        }
        if (trade->second.found) throw std::runtime_error("a key occurs twice: " + fields[0]);
        trade->second.found = true;
        (equalTrades(trade->second.fields, fields) ? result.matched : result.mismatch)++;
    });
    for (const auto& [key, trade] : trades) result.missing_external += !trade.found;
}

/// A file that is read in pieces by several threads.
class Input {
  public:
    explicit Input(const char* path) : fd(open(path, O_RDONLY | O_CLOEXEC)) {
        struct stat info;
        if (fd < 0 || fstat(fd, &info) != 0) throw std::runtime_error(std::string("cannot read ") + path);
        size = static_cast<size_t>(info.st_size);
    }
    Input(const Input&) = delete;
    ~Input() {
        if (bytes != nullptr) munmap(bytes, size);
        if (fd >= 0) close(fd);
    }
    void map() {
        if (size == 0) return;
        void* const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
        if (mapped == MAP_FAILED) throw std::runtime_error("cannot map a ledger");
        bytes = static_cast<char*>(mapped);
    }
    int fd = -1;
    size_t size = 0;
    char* bytes = nullptr;
};

/// Touches every byte at the speed of memory: eight independent sums of 16 bytes.
uint64_t sum(const char* bytes, size_t length) {
    using Lanes = uint64_t __attribute__((vector_size(16), aligned(1), may_alias));
    Lanes sums[8] = {};
    size_t at = 0;
    for (; at + sizeof sums <= length; at += sizeof sums) {
        const Lanes* const lanes = reinterpret_cast<const Lanes*>(bytes + at);
        for (int i = 0; i < 8; i++) sums[i] += lanes[i];
    }
    uint64_t total = 0;
    for (const Lanes& lane : sums) total += lane[0] + lane[1];
    for (; at < length; at++) total += static_cast<unsigned char>(bytes[at]);
    return total;
}

/// All of `length` bytes at `offset` through a buffer that stays in the core's cache.
uint64_t sumCopied(const Input& input, size_t offset, size_t length, std::vector<char>& buffer) {
    uint64_t total = 0;
    for (size_t done = 0; done < length;) {
        const size_t wanted = std::min(buffer.size(), length - done);
        const ssize_t got = pread(input.fd, buffer.data(), wanted, static_cast<off_t>(offset + done));
        if (got <= 0) throw std::runtime_error("cannot read a ledger");
        total += sum(buffer.data(), static_cast<size_t>(got));
        done += static_cast<size_t>(got);
    }
    return total;
}

uint64_t sumMapped(const Input& input, size_t offset, size_t length, bool ahead) {
    // Advice only: older kernels refuse it, and the pages then come one fault after the other.
    constexpr int populate_read = 22;
    if (ahead) madvise(input.bytes + offset, length, populate_read);
    return sum(input.bytes + offset, length);
}

/// All threads read all bytes of both files once, and do nothing else.
void readAll(Kind kind, const char* internal, const char* external, uint32_t threads) {
    constexpr size_t piece_bytes = 2 << 20;
    constexpr size_t buffer_bytes = 512 << 10;
    Input inputs[] = {Input(internal), Input(external)};
    const bool copied = kind == Kind::read_copied;
    if (!copied)
        for (Input& input : inputs) input.map();
    const size_t pieces[] = {
        (inputs[0].size + piece_bytes - 1) / piece_bytes,
        (inputs[1].size + piece_bytes - 1) / piece_bytes,
    };
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> total{0};
    std::atomic<bool> failed{false};
    const auto work = [&] {
        try {
            std::vector<char> buffer(copied ? buffer_bytes : 0);
            uint64_t own = 0;
            for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces[0] + pieces[1];) {
                const bool second = i >= pieces[0];
                const Input& input = inputs[second];
                const size_t offset = (second ? i - pieces[0] : i) * piece_bytes;
                const size_t length = std::min(piece_bytes, input.size - offset);
                own += copied ? sumCopied(input, offset, length, buffer)
                              : sumMapped(input, offset, length, kind == Kind::read_mapped_ahead);
            }
            total.fetch_add(own, std::memory_order_relaxed);
        } catch (...) {
            failed = true;
        }
    };
    std::vector<std::thread> workers;
    for (uint32_t i = 1; i < threads; i++) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
    if (failed) throw std::runtime_error("cannot read a ledger");
    keepAlive(total);
}

void perform(
    Kind kind, const char* internal, const char* external, uint32_t threads, Trades& trades, Result& result) {
    switch (kind) {
    case Kind::first_field:
        readFirstField(internal, result);
        readFirstField(external, result);
        return;
    case Kind::all_fields:
        readAllFields(internal, result);
        readAllFields(external, result);
        return;
    case Kind::reconcile:
        reconcile(internal, external, trades, result);
        return;
    case Kind::fix_log:
        result.records = conventional_fix::parseLog(internal);
        return;
    case Kind::read_mapped:
    case Kind::read_mapped_ahead:
    case Kind::read_copied:
        readAll(kind, internal, external, threads);
        return;
    }
    throw std::runtime_error("there is no such baseline");
}

} // namespace

/// Paths end in a zero byte. Returns 0 with `result` filled, or -1 with a text of at most `message_length` bytes, zero
/// included, in `message`.
extern "C" __attribute__((visibility("default"))) int32_t recon_baseline_run(
    uint32_t kind, const char* internal, const char* external, uint32_t threads, Result* result, char* message,
    uint64_t message_length) {
    using Clock = std::chrono::steady_clock;
    *result = {};
    try {
        // Freed outside the measured time: a program would just end.
        Trades trades;
        const auto started = Clock::now();
        perform(static_cast<Kind>(kind), internal, external, threads, trades, *result);
        const auto elapsed = Clock::now() - started;
        result->elapsed_ns = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
        Trades().swap(trades);
        // What the next run in this process is given must be as fresh as what this one was given.
        malloc_trim(0);
        return 0;
    } catch (const std::exception& error) {
        std::string_view(error.what()).substr(0, message_length - 1).copy(message, message_length - 1);
        return -1;
    } catch (...) {
        return -1;
    }
}
