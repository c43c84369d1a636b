// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard {

/// A folder for temporary files, which is removed with all that is in it.
class ScratchFolder {
public:
    /// `name`: with which the folder's begins. Throws InputError if none can be made.
    explicit ScratchFolder(const std::string& name)
        : path_((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
        if (mkdtemp(path_.data()) == nullptr) throw InputError(path_, 0, "", "cannot be made");
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    /// The same, with this text in it.
    std::string file(const std::string& name, const std::string& text) const {
        write_file(text, file(name));
        return file(name);
    }

private:
    std::string path_;
};

}  // namespace switchyard
