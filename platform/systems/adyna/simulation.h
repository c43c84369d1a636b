// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/system/counters.h"
#include "switchyard/platform/systems/adyna/host.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/trace.h"
#include "switchyard/tlm/time_use.h"

namespace switchyard::platform {

struct RunOptions {
    unsigned profile_interval = 0;     ///< read the profilers back every N batches as well; 0: at the end only
    unsigned reschedule_interval = 0;  ///< SimulatedHost::Job
    std::function<SimulatedHost::Schedule(const SimulatedHost::Profile&)> reschedule;
    std::function<void(std::size_t)> before_batch, batch_ended;  ///< SimulatedHost::Job
    std::function<bool()> ends_early;                  ///< SimulatedHost::Job; the result then has fewer batches
    bool sends_inputs = true, fetches_outputs = true;  ///< SimulatedHost::Job
    NetworkValues* values = nullptr;  ///< null: sizes only; must agree with the platform's chip.functional
};

struct RunResult {
    SimulatedHost::Result host;
    Counters before_run;  ///< just before the first doorbell: image, weights and first input are in
    Counters after_run;   ///< just after the last interrupt
    Counters at_end;      ///< nothing moves any more
    OperatorTimes times;  ///< of the run, tile-cycles by operator id
    std::vector<SegmentTime> segments;
    std::vector<double> link_busy_cycles;  ///< of the run, as ChipModel has them
    /// With values, after the last batch: the CRC-32 of each tensor in HBM, by name; samples that do not reach a tensor
    /// leave in it what was there before.
    std::map<std::string, std::uint32_t> tensors;
    double end_ns = 0;        ///< simulated time from the beginning to the end
    double host_seconds = 0;  ///< of elaboration and simulation, on this machine's clock
};

/// A chip and its host, elaborated; who has elaborated all that stands in the simulation starts it. `platform`, `image`
/// and `routing` must outlive it; `prefix` begins the names of its modules, which must be unique.
class Simulation {
public:
    Simulation(const std::string& prefix, const PlatformConfig& platform, const Image& image,
               std::vector<std::uint8_t> image_bytes, const std::vector<BatchRouting>& routing,
               const RunOptions& options);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Once, when nothing can happen any more. Throws as run_simulation().
    RunResult finish();

private:
    class Inside;
    std::unique_ptr<Inside> inside_;
};

/// Builds the platform and runs one batch for each element of `routing`, on the chip that `chip.impl` names; what
/// `auto` means is decided before (run_on_chosen_chip). At most once a process: SystemC elaborates once. Throws
/// ModelError or sc_report if a model gives up, std::runtime_error that lists what waits for what if nothing can happen
/// any more before the host has finished.
RunResult run_simulation(const PlatformConfig& platform, const Image& image, std::vector<std::uint8_t> image_bytes,
                         const std::vector<BatchRouting>& routing, const RunOptions& options = {});

}  // namespace switchyard::platform
