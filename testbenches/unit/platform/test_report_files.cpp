// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
namespace fs = std::filesystem;

TEST_CASE("a report is written whole, into folders that need not exist", "[report]") {
    const fs::path folder = fs::temp_directory_path() / ("switchyard_report_" + std::to_string(getpid()));
    const fs::path file = folder / "a" / "report.json";
    const nlohmann::ordered_json document = {{"z", 1}, {"a", 0.1}};
    platform::write_json(document, file.string());
    CHECK(parse_ordered_json(read_file(file, kMaxJsonBytes), file) == document);
    CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
    fs::remove_all(folder);
}

TEST_CASE("a report that cannot be written is an error that names the file", "[report]") {
    CHECK_THROWS_WITH(platform::write_json({{"a", 1}}, "/dev/null/report.json"),
                      "/dev/null/report.json: cannot be written: Not a directory");
}
