// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/work_options.h"

#include <CLI/CLI.hpp>

#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/system.h"

namespace switchyard::platform {

void WorkOptions::add_to(CLI::App& app) {
    given.watch(app);
    platform.add_to(app);
    app.add_option("--trace", trace, "recorded routes (JSON Lines); otherwise the model's generator or trace has them");
    app.add_option("--batches", batches, "batches to run; default: all of the trace, or 40")
        ->check(whole_number(1, kMaxBatches));
    app.add_option("--seed", seed, "seed of the route generator; without effect on a trace")->check(whole_number(0));
    app.add_option("--report", report, "folder for report.json, the page index.html and, of an image, speed.json");
    timeline.add_to(app);
}

}  // namespace switchyard::platform
