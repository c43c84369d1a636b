// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/system/joint_run.h"
#include "switchyard/platform/system/network_work.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/adyna/chip_choice.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/platform/systems/adyna/rescheduler.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

constexpr const char* kSampling = "sampling";
constexpr const char* kWithout = "without";
constexpr const char* kUnitSamples = "unit_samples";
constexpr const char* kInvocation = "invocation";
constexpr const char* kRouting = "routing";
constexpr const char* kInFlight = "batches_in_flight";
constexpr const char* kReschedule = "reschedule";

std::string parameter(const Point& point, const char* key) {
    const auto found = point.parameters.find(key);
    return found == point.parameters.end() ? "" : found->second;
}

/// 0 if the parameter is not there. Throws InputError unless it is a number from 1 on.
std::uint32_t number(const Point& point, const char* key, const char* wanted) {
    const std::string text = parameter(point, key);
    std::uint32_t value = 0;
    if (text.empty()) return 0;
    if (parse_plain_number(text, value) != Parsed::ok || value == 0)
        throw InputError(fmt::format("design {}: {}: expected {}, found {}", point.design, key, wanted, text));
    return value;
}

NetworkImageOptions options_of(const Point& point) {
    NetworkImageOptions options;
    options.design = point.design;
    options.sampling = parameter(point, kSampling);
    const std::string without = parameter(point, kWithout);
    if (!without.empty()) boost::split(options.without, without, boost::is_space(), boost::token_compress_on);
    const std::string invocation = parameter(point, kInvocation);
    if (!invocation.empty()) options.invocation = invocation;
    const std::string routing = parameter(point, kRouting);
    if (!routing.empty()) options.routing = routing;
    options.batches_in_flight = std::max(1U, number(point, kInFlight, "a number of batches"));
    options.unit_samples = number(point, kUnitSamples, "a number of samples");
    return options;
}

/// A kernel image, with everything that a run of it needs.
class KernelImagePlan : public Plan {
public:
    explicit KernelImagePlan(const Point& point)
        : platform_(read_platform(point.platform, point.overrides)),
          work_(read_network_work(point)),
          options_(options_of(point)),
          reschedule_interval_(number(point, kReschedule, "a number of batches")),
          compiled_(compile_network(work_.model, platform_, options_)) {
        work_.routes.batches = joined_batches(work_.routes.batches, options_.batches_in_flight, point.workload);
        if (reschedule_interval_ % options_.batches_in_flight != 0)
            throw InputError(fmt::format("design {}: {}: expected a multiple of the {} batches in flight, found {}",
                                         point.design, kReschedule, options_.batches_in_flight, reschedule_interval_));
        if (sched::design_of(compiled_.image.meta).has(sched::Mechanism::routing)) return;
        work_.routes.source = {"every branch", 0};
        work_.routes.batches.assign(work_.routes.batches.size(), every_branch(compiled_.image.meta));
    }

    ordered_json cost() const override {
        std::size_t kernels = 0;
        for (const TileProgram& tile : compiled_.image.tiles) kernels += tile.kernels.size();
        return {{"image_bytes", compiled_.bytes.size()},
                {"kernels", kernels},
                {"segments", compiled_.image.chip.segments.size()}};
    }

    bool depends_on_seed() const override { return work_.routes.source.kind == sched::kGenerator; }

    ordered_json run() override {
        RunOptions run;
        Rescheduler rescheduler(work_.model, platform_, options_, compiled_.image,
                                expected_routes(work_.model, options_));
        run.reschedule_interval = reschedule_interval_ / options_.batches_in_flight;
        if (run.reschedule_interval > 0)
            run.reschedule = [&rescheduler](const SimulatedHost::Profile& read_back) { return rescheduler(read_back); };
        const auto run_on = [&](const PlatformConfig& chosen) {
            const RunResult result =
                run_simulation(chosen, compiled_.image, compiled_.bytes, work_.routes.batches, run);
            return ordered_json{
                {kReport, make_report(chosen, compiled_.image, work_.routes.batches, work_.routes.source, result)}};
        };
        return run_on_chosen_chip(platform_, run_on).at(kReport);
    }

    std::unique_ptr<ElaboratedRun> elaborate(const std::string& prefix, BatchGate& gate) override {
        if (platform_.chip.impl == "auto")
            throw InputError("", 0, "chip.impl", "expected stages or tiles among other models, found auto");
        if (reschedule_interval_ > 0)
            throw InputError(
                fmt::format("{}: expected 0 for a chip in one simulation with other models, found {}; leave it out",
                            kReschedule, reschedule_interval_));
        return std::make_unique<AmongOthers>(*this, prefix, gate);
    }

private:
    class AmongOthers : public ElaboratedRun {
    public:
        AmongOthers(const KernelImagePlan& plan, const std::string& prefix, BatchGate& gate)
            : plan_(plan),
              simulation_(prefix, plan.platform_, plan.compiled_.image, plan.compiled_.bytes, plan.work_.routes.batches,
                          options_of_run(gate)) {}
        ordered_json report() override {
            const RunResult result = simulation_.finish();
            return make_report(plan_.platform_, plan_.compiled_.image, plan_.work_.routes.batches,
                               plan_.work_.routes.source, result);
        }

    private:
        static RunOptions options_of_run(BatchGate& gate) {
            RunOptions run;
            run.before_batch = [&gate](std::size_t batch) { gate.await_begin(batch); };
            run.batch_ended = [&gate](std::size_t batch) { gate.note_end(batch); };
            run.sends_inputs = gate.host_sends_inputs();
            run.fetches_outputs = gate.host_fetches_outputs();
            return run;
        }

        const KernelImagePlan& plan_;
        Simulation simulation_;
    };

    PlatformConfig platform_;
    NetworkWork work_;
    NetworkImageOptions options_;
    std::uint32_t reschedule_interval_;
    NetworkImage compiled_;
};

/// Adyna, its ablations and M-tile, which runs on the same chip: a scheduler and one kernel image each.
class AdynaSystem : public System {
public:
    std::string name() const override { return "adyna"; }
    std::string summary() const override {
        return "tiles with many kernels, dynamic dispatch, switch and merge in the network interface";
    }
    std::vector<SystemDesign> designs() const override {
        const std::vector<WorkKey>& all = all_work_keys();
        return {{"adyna",
                 {kSampling, kWithout, kInvocation, kRouting, kInFlight, kUnitSamples, kReschedule},
                 "",
                 true,
                 all},
                {"adyna-static", {kWithout, kInvocation, kRouting, kInFlight, kUnitSamples}, "", true, all},
                {"full-kernel", {kWithout, kInvocation, kRouting, kInFlight, kUnitSamples, kReschedule}, "", true, all},
                {"real-time", {kWithout, kInvocation, kRouting, kInFlight, kUnitSamples}, "", true, all},
                // Every sample takes every branch: of routes, it has the number of batches.
                {"m-tile",
                 {kWithout, kInFlight, kUnitSamples},
                 "",
                 true,
                 {WorkKey::batches, WorkKey::batch_size, WorkKey::trace}}};
    }
    void check_workload(const Point& point) const override { sched::read_model(point.workload); }
    void check_platform(const Point& point) const override { read_platform(point.platform, point.overrides); }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        return std::make_unique<KernelImagePlan>(point);
    }
    std::string table(const ordered_json& report) const override { return report_table(report); }
};

}  // namespace

std::unique_ptr<System> make_adyna_system() {
    return std::make_unique<AdynaSystem>();
}

}  // namespace switchyard::platform
