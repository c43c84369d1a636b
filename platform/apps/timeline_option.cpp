// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/timeline_option.h"

#include <utility>

#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/system/timeline_file.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::platform {

void TimelineOption::add_to(CLI::App& app) {
    CLI::Option* const name = app.add_option("--timeline", file, "file for a timeline, for ui.perfetto.dev");
    app.add_option("--timeline-window", window, "only from BEGIN to END, in microseconds of simulated time")
        ->type_name("BEGIN:END")
        ->needs(name);
}

void TimelineOption::check() const {
    if (!window.empty()) parse_timeline_window(window);
}

nlohmann::ordered_json TimelineOption::record(const std::function<nlohmann::ordered_json()>& simulate) const {
    if (file.empty()) return simulate();
    make_folder_of(file);
    TimelineFile timeline(file, window.empty() ? TimelineFile::Window{} : parse_timeline_window(window),
                          static_cast<double>(sc_core::sc_time(1, sc_core::SC_US).value()));
    struct Current {
        explicit Current(ActivityLog& log) { ActivityLog::set_current(&log); }
        ~Current() { ActivityLog::set_current(nullptr); }
    } const current(timeline);
    nlohmann::ordered_json result = simulate();
    if (timeline.empty())
        throw InputError(
            "--timeline", 0, file,
            "expected a run with a timeline, found one without, as of a formula (docs/timeline.md); leave it out");
    timeline.finish();
    return result;
}

}  // namespace switchyard::platform
