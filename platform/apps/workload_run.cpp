// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/workload_run.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/page.h"
#include "switchyard/platform/system/point_setting.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/sections.h"

namespace switchyard::platform {

namespace {

/// "section.key" of all keys.
std::vector<std::string> with_section(const std::string& section, std::vector<std::string> keys) {
    for (std::string& key : keys) key.insert(0, section + ".");
    return keys;
}

/// The point's settings. "gpu.launch_us" is the parameter `launch_us` of a design with the section `gpu`.
void set_all(const std::vector<std::string>& settings, const SystemDesign& design, Point& point) {
    const std::string own = design.section.empty() ? "" : design.section + ".";
    for (const auto& [key, value] : parse_overrides(settings)) {
        const bool is_own = !own.empty() && key.rfind(own, 0) == 0;
        const std::string name = is_own ? key.substr(own.size()) : key;
        if (name == kFileParameter && !design.reads_platform)
            throw InputError("--set", 0, key, "expected the file as --platform, found it as a key");
        if (point.parameters.count(name) != 0)
            throw InputError("--set", 0, key, "expected the key once, found it with and without its section");
        if (is_own)  // never a key of the work or the platform
            point.parameters[name] = value;
        else
            apply_setting({"--set", 0}, key, value, point);
    }
    if (!design.reads_platform && !point.overrides.empty())
        refuse_left_overrides(point.overrides, with_section(design.section, design.parameters));
}

Point point_of(const WorkloadRun& options, const WorkOptions& work, const SystemRegistry& registry) {
    Point point;
    point.design = registry.design_for(work.platform.file, options.design);
    const SystemDesign design = registry.design(point.design);
    point.workload = options.workload;
    if (design.reads_platform)
        point.platform = work.platform.file;
    else
        point.parameters[kFileParameter] = work.platform.file;
    point.work.trace = work.trace;
    point.work.batches = work.batches;
    point.work.seed = work.seed;
    set_all(work.platform.settings, design, point);
    for (const WorkKey key : keys_of(point.work)) {
        const std::string refusal = registry.refusal(point.design, key);
        const char* const option = key == WorkKey::batch_size ? "--set: " : "--";
        if (!refusal.empty()) throw InputError(option + std::string(name_of(key)), 0, "", refusal);
    }
    return point;
}

}  // namespace

std::string system_keys_markdown(const SystemRegistry& registry) {
    std::string text =
        "# Keys of the systems\n\n"
        "The sections of platform files of the systems other than the chip of tiles, whose keys are in "
        "`docs/platform_keys.md`. The\ndesigns `gpu` and `m-tenant` read one section: `gpu` a file with the section "
        "`gpu` (`configs/platforms/a100.yaml`), `m-tenant`\nthe platform file of the chip and, with `--set file=FILE`, "
        "a file with the section `m_tenant`. Keys that are left out have\ntheir defaults; `--set section.key=value` "
        "overrides them.\n\n"
        "This file is printed by `sy-sim keys systems`; a test compares the two.\n";
    for (const auto& system : registry.systems()) text += system->parameters_markdown();
    return text;
}

void WorkloadRun::add_to(CLI::App& app) {
    app.add_option("--workload", workload, "workload file of the platform's system (docs/experiments.md)")
        ->group(kGroup);
    app.add_option("--design", design,
                   "a design for the platform's system (sy-sim systems lists them); default: the one with its name")
        ->group(kGroup);
}

int WorkloadRun::run(const WorkOptions& work, const SystemRegistry& registry) const {
    const Point asked = point_of(*this, work, registry);
    const System& system = registry.system_of_design(asked.design);
    system.check_platform(asked);
    work.timeline.check();
    const std::unique_ptr<Plan> plan = system.prepare(asked);
    if (work.seed && !plan->depends_on_seed())
        throw InputError(
            "--seed", 0, "",
            fmt::format("expected no seed for {}, which is recorded or static, found one; leave it out", workload));
    const nlohmann::ordered_json document = work.timeline.record([&] { return plan->run(); });
    if (!work.report.empty()) {
        FileContents files;
        files.emplace_back(work.report + "/report.json", document_text(document));
        files.emplace_back(work.report + "/index.html",
                           page_html(document.value("model", asked.design), {{"kind", "run"}, {"report", document}}));
        write_files(files);
    }
    fmt::print("{}", system.table(document));
    return document.value("ok", true) ? 0 : kFailedCheck;
}

}  // namespace switchyard::platform
