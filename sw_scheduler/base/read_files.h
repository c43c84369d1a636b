// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

namespace switchyard {

/// While it lives, notes each file that open_input() opens in this thread. They may nest: an outer one has the files of
/// an inner one as well.
class ReadFiles {
public:
    ReadFiles();
    ~ReadFiles();
    ReadFiles(const ReadFiles&) = delete;
    ReadFiles& operator=(const ReadFiles&) = delete;

    /// As they were opened.
    const std::set<std::string>& paths() const { return paths_; }

    static void note(const std::string& path);

private:
    std::set<std::string> paths_;
    ReadFiles* outer_;
};

}  // namespace switchyard
