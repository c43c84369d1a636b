// SPDX-License-Identifier: Apache-2.0
// The system with a chip whose times are a formula of the routes that it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/system/joint_run.h"
#include "switchyard/platform/system/network_work.h"
#include "switchyard/platform/system/system_registry.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform {
std::unique_ptr<System> make_expert_parallel_system(SystemRegistry chips);
}

namespace switchyard::testing {

inline constexpr const char* kExperts = "testbenches/data/experts.yaml";
inline constexpr std::uint32_t kCells = 32;  ///< of a chip's batch

/// A model that only waits.
class FormulaModel : public sc_core::sc_module, public platform::ElaboratedRun {
public:
    FormulaModel(const sc_core::sc_module_name& module_name, std::vector<double> us, platform::BatchGate& gate)
        : sc_module(module_name), us_(std::move(us)), gate_(gate) {
        SWITCHYARD_HAS_PROCESS(FormulaModel);
        SC_THREAD(batches);
    }
    nlohmann::ordered_json report() override { return {{"ok", true}}; }

private:
    void batches() {
        for (std::size_t b = 0; b < us_.size(); ++b) {
            gate_.await_begin(b);
            wait(sc_core::sc_time(us_[b], sc_core::SC_US));
            gate_.note_end(b);
        }
    }

    std::vector<double> us_;
    platform::BatchGate& gate_;
};

/// A batch takes a nanosecond for each multiply-accumulate that its routes ask for, the first one another for each byte
/// of weights.
class FormulaPlan : public platform::Plan {
public:
    explicit FormulaPlan(const platform::Point& point) : work_(platform::read_network_work(point)) {
        const auto speed = point.parameters.find("speed");
        if (speed != point.parameters.end()) speed_ = std::stod(speed->second);
        alone_ = point.parameters.count("alone") != 0;
    }
    nlohmann::ordered_json run() override {
        nlohmann::ordered_json batches = nlohmann::ordered_json::array();
        for (const double us : batch_us()) batches.push_back({{"latency_us", us}});
        return {{"ok", true}, {"fidelity", {{"chip", "formula"}}}, {"batches", batches}};
    }
    std::unique_ptr<platform::ElaboratedRun> elaborate(const std::string& prefix, platform::BatchGate& gate) override {
        if (alone_) return nullptr;
        return std::make_unique<FormulaModel>((prefix + "model").c_str(), batch_us(), gate);
    }

private:
    std::vector<double> batch_us() const {
        std::vector<double> us;
        for (const BatchRouting& routes : work_.routes.batches) {
            std::uint64_t macs = 0;
            for (const sched::Operator& op : work_.model.graph.operators)
                macs += op.macs_per_sample * samples_on(op.path, routes);
            if (us.empty()) macs += work_.model.graph.total_weight_bytes();
            us.push_back(static_cast<double>(macs) * 1e-3 / speed_);
        }
        return us;
    }

    platform::NetworkWork work_;
    double speed_ = 1;
    bool alone_ = false;
};

class FormulaChip : public platform::System {
public:
    std::string name() const override { return "formula"; }
    std::string summary() const override { return "a chip for tests"; }
    std::vector<platform::SystemDesign> designs() const override {
        return {{"formula", {"speed", "alone"}, "", true, platform::all_work_keys()},
                {"formula-of-file", {"file", "speed"}, "formula", false, platform::all_work_keys()}};
    }
    std::unique_ptr<platform::Plan> prepare(const platform::Point& point) const override {
        return std::make_unique<FormulaPlan>(point);
    }
    std::string table(const nlohmann::ordered_json&) const override { return ""; }
};

/// Runs with the platform's sections `text`; the platform file is in a folder of its own.
inline nlohmann::ordered_json run(const std::string& text, std::map<std::string, std::string> overrides = {},
                                  const std::string& workload = kExperts, const std::string& placement = "") {
    const ScratchFolder folder("switchyard-test");
    write_file("chip_file: any.yaml\n" + text, folder.file("platform.yaml"));
    write_file(placement, folder.file("placement.yaml"));
    platform::SystemRegistry chips;
    chips.add(std::make_unique<FormulaChip>());
    const std::unique_ptr<platform::System> system = platform::make_expert_parallel_system(std::move(chips));
    platform::Point point;
    point.design = "expert-parallel";
    point.workload = workload;
    point.platform = folder.file("platform.yaml");
    point.overrides = std::move(overrides);
    point.work.batches = 3;
    point.work.first_batch = 40;
    nlohmann::ordered_json report = system->prepare(point)->run();
    CHECK(report.at("ok") == true);
    system->table(report);
    return report;
}

inline const std::string kFour =
    "cluster: {chip_design: formula}\nlinks: {devices: 4, family: fully_connected, rate_factor: 1}\n";
inline const std::string kOne = "cluster: {chip_design: formula}\nlinks: {devices: 1}\n";

inline double summary(const nlohmann::ordered_json& report, const char* key) {
    return report.at("summary").at(key).get<double>();
}

}  // namespace switchyard::testing
