// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::testing {

/// A folder of one test in the system's temporary directory, which is gone with the object.
class ScratchFolder {
public:
    /// `name`: tells the folders of one process apart.
    explicit ScratchFolder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() / ("switchyard_" + name + "_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// The path of a file in it.
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    /// Writes a file in it; its path.
    std::string file(const std::string& name, const std::string& text) const {
        write_file(text, *this / name);
        return *this / name;
    }

private:
    std::filesystem::path path_;
};

}  // namespace switchyard::testing
