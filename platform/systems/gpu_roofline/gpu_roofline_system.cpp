// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/batch_report.h"
#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/network_work.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/gpu_roofline/gpu.h"

namespace switchyard::platform {

namespace {

/// The parameter `file`, or the point's platform file, or the A100 of the defaults. Throws InputError.
GpuConfig gpu_of(const Point& point) {
    const std::string file = section_file(point.parameters);
    std::map<std::string, std::string> overrides = section_overrides(point.parameters, kGpuSection);
    return read_gpu_config(file.empty() ? point.platform : file, overrides);
}

/// The host launches kernels as a batch's routes ask for them, so that nothing is prepared.
class GpuPlan : public Plan {
public:
    explicit GpuPlan(const Point& point) : gpu_(gpu_of(point)), work_(read_network_work(point)) {}

    bool depends_on_seed() const override { return work_.routes.source.kind == sched::kGenerator; }
    nlohmann::ordered_json run() override {
        return run_gpu(work_.model.graph, work_.routes.batches, work_.routes.source, gpu_);
    }

private:
    GpuConfig gpu_;
    NetworkWork work_;
};

class GpuRooflineSystem : public System {
public:
    std::string name() const override { return kGpuRoofline; }
    std::string summary() const override { return "a GPU as rooflines with waves and a launch queue"; }
    std::vector<SystemDesign> designs() const override {
        std::vector<std::string> keys = names_in_section(gpu_keys());
        keys.insert(keys.begin(), kFileParameter);
        return {{"gpu", keys, kGpuSection, false, all_work_keys()}};
    }
    void check_parameters(const Point& point) const override {
        System::check_parameters(point);
        gpu_of(point);
    }
    void check_workload(const Point& point) const override { sched::read_model(point.workload); }
    void check_platform(const Point& point) const override { gpu_of(point); }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        return std::make_unique<GpuPlan>(point);
    }
    std::string table(const nlohmann::ordered_json& report) const override { return batch_table(report); }
    std::string parameters_markdown() const override {
        return section_markdown(kGpuSection, "the GPU, its host and its driver", gpu_keys());
    }
};

}  // namespace

std::unique_ptr<System> make_gpu_roofline_system() {
    return std::make_unique<GpuRooflineSystem>();
}

}  // namespace switchyard::platform
