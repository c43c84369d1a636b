// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/baseline_command.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/page.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/m_tenant/tenant_config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::platform {

namespace {

constexpr const char* kKeys = "keys";

std::string parameters_markdown(const SystemRegistry& registry) {
    std::string text =
        "# Keys of the baselines\n\n"
        "What `sy-sim baseline` reads: for `gpu` a file with the section `gpu` (`configs/platforms/a100.yaml`), for "
        "`m-tenant` the\nplatform file of the chip (`docs/platform_keys.md`) and, with `--tenant`, a file with the "
        "section `m_tenant`. Keys that are\nleft out have their defaults; `--set section.key=value` overrides them. "
        "`docs/baselines.md` says what they stand for.\n\n"
        "This file is printed by `sy-sim baseline keys`; a test compares the two.\n";
    for (const auto& system : registry.systems()) text += system->parameters_markdown();
    return text;
}

/// Overrides of the design's own section become its parameters.
void sort_overrides(Point& point, const std::string& section, const std::map<std::string, std::string>& overrides) {
    for (const auto& [key, value] : overrides) {
        const bool own = !section.empty() && key.rfind(section + ".", 0) == 0;
        if (own)
            point.parameters[key.substr(section.size() + 1)] = value;
        else
            point.overrides[key] = value;
    }
}

}  // namespace

void BaselineCommand::add_to(CLI::App& app, const SystemRegistry& registry) {
    std::vector<std::string> names = registry.design_names();
    names.emplace_back(kKeys);
    given.watch(app);
    app.add_option("name", name, "a design (sy-sim systems lists them); keys prints docs/baseline_keys.md")
        ->required()
        ->check(CLI::IsMember(names));
    app.add_option("model", model, "model file");
    app.add_option("--platform", platform.file, "platform file of the design's system");
    app.add_option("--tenant", parameters_file, "m-tenant: file with its own keys; default: theirs");
    app.add_option("--set", platform.settings, "override a key: section.key=value")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app.add_option("--trace", trace, "recorded routes (JSON Lines); otherwise what the model file declares");
    app.add_option("--batches", batches, "batches to run; default: all of the trace, or 40")
        ->check(whole_number(1, kMaxBatches));
    app.add_option("--seed", seed, "seed of the route generator; without effect on a trace")->check(whole_number(0));
    app.add_option("--report", report, "folder for report.json and the page index.html");
    timeline.add_to(app);
}

Point BaselineCommand::point(const SystemRegistry& registry) const {
    const SystemDesign design = registry.design(name);
    given.refuse_unused({{"tenant", design.section == kTenantSection, "goes with m-tenant"}});
    Point point;
    point.design = name;
    point.workload = model;
    if (design.reads_platform)
        point.platform = platform.file;
    else
        point.parameters[kFileParameter] = platform.file;
    point.work.trace = trace;
    point.work.batches = batches;
    point.work.seed = seed;
    for (const WorkKey key : keys_of(point.work)) {
        const std::string refusal = registry.refusal(name, key);
        if (!refusal.empty()) throw InputError(std::string("--") + name_of(key), 0, "", refusal);
    }
    if (!parameters_file.empty()) point.parameters[kFileParameter] = parameters_file;
    sort_overrides(point, design.section, parse_overrides(platform.settings));
    if (!design.reads_platform && !point.overrides.empty())
        throw InputError("--set", 0, point.overrides.begin()->first, "expected a known key, found an unknown one");
    return point;
}

int BaselineCommand::run(const SystemRegistry& registry) const {
    if (name == kKeys) {
        if (given.any_but({"name", "quiet"}))
            throw InputError("baseline", 0, name,
                             "expected neither model nor options, found some; leave them out to print the keys");
        fmt::print("{}", parameters_markdown(registry));
        return 0;
    }
    if (model.empty()) throw InputError("baseline", 0, name, "expected a model file behind the design, found none");
    if (platform.file.empty()) throw InputError("baseline", 0, "--platform", "expected a platform file, found none");
    const System& system = registry.system_of_design(name);
    const Point asked = point(registry);
    system.check_platform(asked);
    timeline.check();
    const std::unique_ptr<Plan> plan = system.prepare(asked);
    if (seed && !plan->depends_on_seed())
        throw InputError(
            "--seed", 0, "",
            fmt::format("expected no seed for {}, which is recorded or static, found one; leave it out", model));
    const nlohmann::ordered_json document = timeline.record([&] { return plan->run(); });
    if (!report.empty()) {
        FileContents files;
        files.emplace_back(report + "/report.json", document_text(document));
        files.emplace_back(report + "/index.html",
                           page_html(document.value("model", name), {{"kind", "run"}, {"report", document}}));
        write_files(files);
    }
    fmt::print("{}", system.table(document));
    return document.value("ok", true) ? 0 : kFailedCheck;
}

}  // namespace switchyard::platform
