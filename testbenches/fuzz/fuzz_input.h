// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include "switchyard/sw_scheduler/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace switchyard::fuzz {

/// The bytes that the target has been given: what its reader quotes of them is no word of its own.
inline std::string& input() {
    static std::string bytes;
    return bytes;
}

/// A file in memory with these bytes, for readers that take a path.
class MemoryFile {
public:
    MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
        input().assign(reinterpret_cast<const char*>(data), size);
        for (std::size_t at = 0; at < size;) {
            const ssize_t written = write(descriptor_, data + at, size - at);
            if (written <= 0) std::abort();
            at += static_cast<std::size_t>(written);
        }
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

private:
    int descriptor_;
};

/// Calls `read`, which may refuse its input by InputError in words of ours. Every other exception is a fault of the
/// reader: it is not caught, and ends the process.
template <class Read>
void try_reading(const Read& read) {
    try {
        read();
    } catch (const InputError& error) {
        const std::string message = error.what();
        for (const char* const foreign : {"json.exception", "basic_string", "vector::", "bad conversion", "bad_alloc",
                                          "yaml-cpp", "map::at", "std::", "filesystem error"}) {
            if (message.find(foreign) == std::string::npos || input().find(foreign) != std::string::npos) continue;
            fmt::print(stderr, "a message in foreign words: {}\n", message);
            std::abort();
        }
    }
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
    return input().assign(reinterpret_cast<const char*>(data), size);
}

}  // namespace switchyard::fuzz
