// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/compare_command.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/page.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/json_kind.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

void CompareCommand::add_to(CLI::App& app) {
    app.add_option("reports", reports, "report.json of two or more runs, or their folders")
        ->required()
        ->expected(2, 16);
    app.add_option("-o,--output", output, "the page (HTML)")->required();
}

int CompareCommand::run() const {
    ordered_json documents = ordered_json::array(), names = ordered_json::array();
    for (const std::string& given : reports) {
        const bool folder = is_folder(given);
        const std::string path = folder ? given + (given.back() == '/' ? "" : "/") + "report.json" : given;
        ordered_json report = parse_ordered_json(read_file(path, kMaxReportBytes), path);
        const ordered_json format = report.is_object() ? report.value("format", ordered_json()) : ordered_json();
        if (format != "switchyard-report")
            throw InputError(path, 0, "format", "expected switchyard-report, found " + json_kind(format));
        documents.push_back(std::move(report));
        names.push_back(given);
    }
    const std::string title = fmt::format("Comparison of {} reports", documents.size());
    FileContents files;
    files.emplace_back(output, page_html(title, {{"kind", "compare"}, {"names", names}, {"reports", documents}}));
    write_files(files);
    fmt::print("{} reports side by side: {}\n", documents.size(), output);
    return 0;
}

}  // namespace switchyard::platform
