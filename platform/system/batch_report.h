// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/energy.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

namespace switchyard::platform {

/// Relative difference of two sums that add up the same in another order.
inline constexpr double kSumTolerance = 1e-9;

/// When batches begin and end if the host moves the next batch's input and the last one's output while one runs, as
/// SimulatedHost does: a batch begins when the one before has ended and its input is there.
class BatchClock {
public:
    /// `input_us`, `output_us`: of a batch on the host's link. `latency_us`: of each batch, one at least.
    BatchClock(double input_us, double output_us, const std::vector<double>& latency_us);

    double start_us(std::size_t batch) const { return start_us_[batch]; }
    double run_us() const { return run_us_; }  ///< from the first batch's begin to the last one's end

private:
    std::vector<double> start_us_;
    double run_us_ = 0;
};

/// What the reports of both baselines are made of; docs/report_format.md. Batches in the order of the routing.
struct BatchRun {
    std::string design;
    std::vector<double> latency_us;
    std::vector<std::uint64_t> macs;     ///< useful, by batch
    double input_us = 0, output_us = 0;  ///< as of BatchClock
    double peak_macs_per_us = 0;
    double peak_bytes_per_us = 0;
    double hbm_read_bytes = 0, hbm_written_bytes = 0;  ///< the host's transfers included
};

/// "format" to "batches" of the report but for "platform", "fidelity" and "energy", which are filled in as given.
/// "ok" if all checks hold.
nlohmann::ordered_json batch_report(const sched::DynGraph& graph, const sched::RoutingSource& source,
                                    const BatchRun& run, nlohmann::ordered_json platform,
                                    nlohmann::ordered_json fidelity, nlohmann::ordered_json energy,
                                    const std::vector<Check>& checks);

/// The report for people.
std::string batch_table(const nlohmann::ordered_json& report);

}  // namespace switchyard::platform
