// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

namespace fs = std::filesystem;

std::size_t InputFile::read(void* to, std::size_t count) {
    errno = 0;
    file_.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
    if (file_.bad()) throw InputError(path_, 0, "", fmt::format("cannot be read: {}", std::strerror(errno)));
    return static_cast<std::size_t>(file_.gcount());
}

std::string InputFile::rest(std::uint64_t expected) {
    // Memory for what comes: a pipe may end long before.
    constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
    std::string bytes;
    const std::uint64_t room = size() ? expected + 1 : kChunk;
    for (std::uint64_t filled = 0;;) {
        const std::uint64_t count = std::min(expected + 1 - filled, std::max(room, filled));
        bytes.resize(filled + count);
        const std::size_t got = read(bytes.data() + filled, count);
        filled += got;
        if (got == count && filled <= expected) continue;
        bytes.resize(filled);
        return bytes;
    }
}

std::optional<std::uint64_t> InputFile::size() const {
    std::error_code error;
    if (!fs::is_regular_file(path_, error)) return std::nullopt;
    const std::uintmax_t bytes = fs::file_size(path_, error);
    return error ? std::nullopt : std::optional<std::uint64_t>(bytes);
}

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
}

bool is_folder(const std::string& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

std::string resolved(const std::string& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    if (error) return path;
    const fs::path found = fs::weakly_canonical(absolute, error);
    return error ? absolute.lexically_normal().string() : found.string();
}

}  // namespace switchyard
