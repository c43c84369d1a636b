// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard {

/// A file or a pipe that is read piece by piece, and opened once.
class InputFile {
public:
    /// Throws InputError as open_input().
    explicit InputFile(const std::string& path) : path_(path), file_(open_input(path)) {}

    /// Reads `count` bytes, or what is left. Throws InputError for a read that fails.
    std::size_t read(void* to, std::size_t count);
    /// Of a regular file: what is read next is `bytes` further on.
    void skip(std::uint64_t bytes) { file_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur); }
    /// The rest of the file, of which `expected` bytes are expected: no more than one byte beyond them is read.
    std::string rest(std::uint64_t expected);
    /// Bytes of a regular file, whichever were read; nothing for a pipe.
    std::optional<std::uint64_t> size() const;
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::ifstream file_;
};

/// Is there anything of this name? A name that leads nowhere, such as a loop of links, is none.
bool exists(const std::string& path);
bool is_folder(const std::string& path);
/// The target of links and the names without "..", where there are any; the path itself otherwise.
std::string resolved(const std::string& path);

}  // namespace switchyard
