// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/hw/gpu/occupancy.h"
#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/ace/ace_report.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

/// Inputs of a point: as many as its work has batches, one by default. Kernels are `scale` times as large.
ace::AceWork work_of(const Point& point, unsigned scale) {
    ace::AceWork work;
    work.model = sched::read_stream_model(point.workload);
    const std::size_t inputs = point.work.batches > 0 ? point.work.batches : 1;
    for (std::size_t i = 0; i < inputs; ++i)
        work.inputs.push_back(work.model.generate({point.work.seed.value_or(1), point.work.first_batch + i}));
    if (scale == 1) return work;
    for (sched::GeneratedStream& input : work.inputs)
        for (sched::GpuKernel& kernel : input.kernels) {
            kernel = sched::enlarged(kernel, scale);
            const std::string message = sched::validation_error(kernel);
            if (!message.empty())
                throw InputError(point.workload, 0, "",
                                 fmt::format("kernel {}, run.kernel_scale {}: {}", kernel.name, scale, message));
        }
    return work;
}

/// Throws InputError for a kernel that fits no multiprocessor.
void check_kernels(const ace::AceWork& work, const ace::AceConfig& config, const std::string& workload) {
    for (const sched::GeneratedStream& input : work.inputs) {
        std::size_t number = 0;
        for (const sched::GpuKernel& kernel : input.kernels) {
            const std::string message =
                hw::fit_error(config.gpu.gpu.multiprocessors, hw::kernel_packet(kernel, number, 0));
            if (!message.empty())
                throw InputError(workload, 0, "", fmt::format("kernel {} ({}): {}", number, kernel.name, message));
            ++number;
        }
    }
}

class AcePlan : public Plan {
public:
    explicit AcePlan(const Point& point)
        : config_(ace::read_ace_config(point.platform, point.overrides)),
          work_(work_of(point, config_.run.kernel_scale)),
          design_(point.design) {
        check_kernels(work_, config_, point.workload);
    }

    bool depends_on_seed() const override { return work_.model.input_dependent; }
    ordered_json run() override {
        return ace::ace_report(work_, config_, design_, ace::run_ace(work_, config_, design_));
    }

private:
    ace::AceConfig config_;
    ace::AceWork work_;
    std::string design_;
};

class AceSystem : public System {
public:
    std::string name() const override { return "ace"; }
    std::string summary() const override {
        return "out-of-order execution of kernels on a GPU, and what it is compared with";
    }
    std::vector<SystemDesign> designs() const override {
        std::vector<SystemDesign> designs;
        for (const std::string& design : ace::ace_designs())
            designs.push_back({design, {}, "", true, {WorkKey::batches, WorkKey::first_batch, WorkKey::seed}});
        return designs;
    }
    void check_workload(const Point& point) const override { sched::read_stream_model(point.workload); }
    void check_platform(const Point& point) const override { ace::read_ace_config(point.platform, point.overrides); }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        return std::make_unique<AcePlan>(point);
    }
    std::string table(const ordered_json& report) const override {
        const ordered_json& summary = report.at("summary");
        const auto number = [&](const char* key) { return fmt::format("{:.3f}", number_of(summary.at(key))); };
        return report_row("GPU", text_of(report.at("gpu"))) +
               report_row("kernels", std::to_string(report.at("kernels").at("count").get<std::uint64_t>())) +
               report_row("latency of an input",
                          fmt::format("{:.1f} us", number_of(summary.at("latency_us").at("mean")))) +
               report_row("occupancy", number("occupancy")) +
               report_row("kernels that run at a time", number("mean_running_kernels")) +
               check_rows(report.at("conservation"));
    }
    std::string parameters_markdown() const override {
        return section_markdown(
            "ace",
            "the host of a GPU and its scheduling window, sections of a platform file (the GPU: docs/gpu_keys.md)",
            ace::ace_keys());
    }
};

}  // namespace

std::unique_ptr<System> make_ace_system() {
    return std::make_unique<AceSystem>();
}

}  // namespace switchyard::platform
