// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/replaceable.h"

#include <filesystem>
#include <fstream>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/output_marker.h"

namespace switchyard {

namespace fs = std::filesystem;

namespace {

Existing replaceable_files = Existing::any;

}  // namespace

void set_replaceable(Existing which) {
    replaceable_files = which;
}

Existing replaceable() {
    return replaceable_files;
}

bool is_written_by_us(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    std::ifstream file(path, std::ios::binary);
    std::string beginning(kMarkerBytes, '\0');
    file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    beginning.resize(static_cast<std::size_t>(file.gcount()));
    return has_output_marker(beginning);
}

void check_replaceable(const std::string& path) {
    std::error_code error;
    if (replaceable_files == Existing::any || !fs::is_regular_file(path, error) || fs::file_size(path, error) == 0)
        return;
    if (!is_written_by_us(path))
        throw InputError(path, 0, "",
                         "expected no file, or one of this program, found another file; choose another name, or "
                         "replace it with --force");
}

}  // namespace switchyard
