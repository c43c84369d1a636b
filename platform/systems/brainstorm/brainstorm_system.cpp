// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/brainstorm/brainstorm_report.h"
#include "switchyard/platform/systems/brainstorm/library_kernels.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/brainstorm/fusion.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

using namespace sched::brainstorm;

constexpr std::size_t kBatches = 4;  ///< if nothing else is said

RoutedNetwork network_of(const Point& point, const brainstorm::BrainstormConfig& config) {
    std::map<std::string, std::string> overrides = config.network_overrides;
    RoutedNetwork network = read_routed_network(point.workload, overrides);
    return network;
}

BranchDesign branch_design(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& [known, design] : branch_designs()) {
        if (known == name) return design;
        names.push_back(known);
    }
    throw InputError("design: " + not_one_of(name, names));
}

class BrainstormPlan : public Plan {
public:
    explicit BrainstormPlan(const Point& point)
        : design_(point.design),
          config_(brainstorm::read_brainstorm_config(point.platform, point.overrides)),
          network_(network_of(point, config_)) {
        const brainstorm::MechanismConfig& mechanisms = config_.mechanisms;
        const std::uint64_t seed = point.work.seed.value_or(1);
        if (seed == mechanisms.profile_seed)
            throw InputError(
                "--set", 0, "brainstorm.profile_seed",
                fmt::format("expected a seed other than that of the run, found {} for both, and a profile must "
                            "not know the routes of the run",
                            seed));
        const NetworkProfile profile(network_, config_.links.devices, mechanisms.profile_seed, 0,
                                     mechanisms.profile_batches, sched::CellProfile::Level::correlation);
        const BranchDesign design = branch_design(point.design);
        std::vector<std::vector<std::uint64_t>> tuned;
        const std::vector<std::uint64_t> declared = config_.tuned_loads();
        for (std::size_t r = 0; r < profile.cells().routers(); ++r) {
            // A router that sent nothing anywhere has no kernels of its own: one for a cell stands in.
            const bool any = profile.cells().load_percentile(r, 1) > 0;
            tuned.push_back(
                !declared.empty() ? declared
                : any ? sched::brainstorm::tuned_loads(profile.cells(), r, config_.percentiles(), mechanisms.load_unit)
                      : std::vector<std::uint64_t>{1});
        }
        StageCompiler stages(network_, design, describe_gpu(config_.gpu), &brainstorm::library_kernel, tuned);
        BatchCompiler batches(network_, stages, profile, config_.scheduler_mechanisms(), config_.topology);
        const std::size_t count = point.work.batches > 0 ? point.work.batches : kBatches;
        for (std::size_t i = 0; i < count; ++i)
            batches_.push_back(batches.compile(
                stage_routes(network_, network_.routes, config_.links.devices, seed, point.work.first_batch + i)));
        const std::uint64_t room = config_.gpu.device_memory.bytes;
        for (const BatchProgram& batch : batches_) {
            const std::uint64_t each = batch.peak_weight_bytes / config_.links.devices;
            if (each > room)
                throw Infeasible(
                    point.workload, 0, "",
                    fmt::format("expected at most the {:.3f} GB of device memory for weights, found {:.3f} GB a device",
                                static_cast<double>(room) * 1e-9, static_cast<double>(each) * 1e-9));
        }
    }

    ordered_json run() override {
        return brainstorm::brainstorm_report(config_, network_, design_, batches_,
                                             brainstorm::run_cluster(config_, batches_, network_.cells));
    }

private:
    std::string design_;
    brainstorm::BrainstormConfig config_;
    RoutedNetwork network_;
    std::vector<BatchProgram> batches_;
};

class BrainstormSystem : public System {
public:
    std::string name() const override { return "brainstorm"; }
    std::string summary() const override {
        return "networks of cells and routers on GPUs, optimised by their profiles, and what it is compared with";
    }
    std::vector<SystemDesign> designs() const override {
        std::vector<SystemDesign> designs;
        for (const auto& [design, how] : branch_designs())
            designs.push_back({design, {}, "", true, {WorkKey::batches, WorkKey::first_batch, WorkKey::seed}});
        return designs;
    }
    void check_workload(const Point& point) const override {
        std::map<std::string, std::string> overrides;
        read_routed_network(point.workload, overrides);
    }
    void check_platform(const Point& point) const override {
        brainstorm::read_brainstorm_config(point.platform, point.overrides);
    }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        return std::make_unique<BrainstormPlan>(point);
    }
    std::string table(const ordered_json& report) const override {
        const ordered_json& summary = report.at("summary");
        const auto row = [&](const char* title, const char* key, const char* unit) {
            const ordered_json& value = summary.at(key);
            return report_row(title, value.is_null() ? "none" : fmt::format("{:.3f}{}", number_of(value), unit));
        };
        std::string text =
            report_row("GPU", text_of(report.at("gpu"))) + report_row("topology", text_of(report.at("topology"))) +
            report_row("latency of a batch", fmt::format("{:.1f} us", number_of(summary.at("latency_us").at("mean")))) +
            row("kernels of a batch", "kernels_of_a_batch", "") +
            row("read-backs of a batch", "read_backs_of_a_batch", "") +
            row("cells computed over cells routed", "padding", "") +
            row("prediction accuracy", "prediction_accuracy", "") +
            row("between devices, a batch", "crossing_mb_of_a_batch", " MB") +
            row("weights on the device, peak", "peak_weight_mb", " MB");
        return text + check_rows(report.at("conservation"));
    }
    std::string parameters_markdown() const override {
        return section_markdown("brainstorm",
                                "host, links and mechanisms of Brainstorm, sections of a platform file (the GPU: "
                                "docs/gpu_keys.md)",
                                brainstorm::brainstorm_keys());
    }
};

}  // namespace

std::unique_ptr<System> make_brainstorm_system() {
    return std::make_unique<BrainstormSystem>();
}

}  // namespace switchyard::platform
