// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/expert_batch.h"

#include <algorithm>

#include "switchyard/hw/link/collective_run.h"

namespace switchyard::platform::expert_parallel {

using sched::CollectiveProgram;

namespace {

constexpr double kNsPerUs = 1e3;

CollectiveProgram all_to_all(const sched::LinkTopology& topology, const Exchange& exchange, bool back) {
    const std::uint64_t bytes = back ? exchange.result_bytes : exchange.cell_bytes;
    const sched::CellCounts counts = back ? sched::brainstorm::transposed(exchange.counts) : exchange.counts;
    if (exchange.padded)
        return sched::padded_all_to_all(topology, counts, bytes, exchange.padded_cells, exchange.costs);
    return back ? sched::brainstorm::known_all_to_all(topology, counts, bytes, exchange.costs)
                : sched::sparse_all_to_all(topology, counts, bytes, exchange.costs);
}

/// Runs the program, adds its bytes to `times`, and returns when all has arrived at each device, microseconds: not
/// before `ready_us`.
std::vector<double> run(const std::shared_ptr<const sched::LinkTopology>& topology,
                        const hw::MessageEngine::Config& messages, const CollectiveProgram& program,
                        std::vector<double> ready_us, BatchTimes& times) {
    const hw::CollectiveResult result = hw::run_collective(topology, messages, program);
    for (std::size_t i = 0; i < program.transfers.size(); ++i) {
        const sched::Transfer& transfer = program.transfers[i];
        double& at = ready_us[transfer.to];
        at = std::max(at, result.arrival_ns[i] / kNsPerUs);
        if (transfer.from == transfer.to) continue;
        times.link_bytes += transfer.on_wire();
        times.expected_channel_bytes += transfer.on_wire() * topology->route(transfer.from, transfer.to).size();
    }
    times.bytes_of_channel.resize(result.channel_bytes.size());
    for (std::size_t c = 0; c < result.channel_bytes.size(); ++c) {
        times.bytes_of_channel[c] += result.channel_bytes[c];
        times.channel_bytes += result.channel_bytes[c];
    }
    return ready_us;
}

}  // namespace

BatchTimes time_batch(const std::shared_ptr<const sched::LinkTopology>& topology,
                      const hw::MessageEngine::Config& messages, const ChipTimes& chips, const Exchange& exchange) {
    BatchTimes times;
    times.chips_us =
        chips.front_us + *std::max_element(chips.experts_us.begin(), chips.experts_us.end()) + chips.back_us;
    times.latency_us = times.chips_us;
    if (topology == nullptr) return times;
    const std::size_t n = topology->devices();
    // From the end of the front part, which all chips reach together.
    const std::vector<double> cells_us =
        run(topology, messages, all_to_all(*topology, exchange, false), std::vector<double>(n), times);
    times.dispatch_us = *std::max_element(cells_us.begin(), cells_us.end());
    std::vector<double> end_us(n), end_ns(n);
    for (std::size_t d = 0; d < n; ++d) {
        end_us[d] = cells_us[d] + chips.experts_us[d];
        end_ns[d] = end_us[d] * kNsPerUs;
    }
    CollectiveProgram way_back = all_to_all(*topology, exchange, true);
    sched::brainstorm::delay_senders(way_back, end_ns);
    const std::vector<double> back_us = run(topology, messages, way_back, end_us, times);
    const double last_us = *std::max_element(back_us.begin(), back_us.end());
    times.return_us = last_us - *std::max_element(end_us.begin(), end_us.end());
    times.latency_us = chips.front_us + last_us + chips.back_us;
    return times;
}

}  // namespace switchyard::platform::expert_parallel
