// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/expert_batch.h"

#include <algorithm>

#include "switchyard/hw/link/collective_run.h"

namespace switchyard::platform::expert_parallel {

using sched::CollectiveProgram;

namespace {

constexpr double kNsPerUs = 1e3;

/// Runs the program, adds its bytes to `times`, and returns when all has arrived at each device, microseconds: not
/// before `ready_us`.
std::vector<double> run(const std::shared_ptr<const sched::LinkTopology>& topology,
                        const hw::MessageEngine::Config& messages, const CollectiveProgram& program,
                        std::vector<double> ready_us, BatchTimes& times) {
    const hw::CollectiveResult result = hw::run_collective(topology, messages, program);
    for (std::size_t i = 0; i < program.transfers.size(); ++i) {
        double& at = ready_us[program.transfers[i].to];
        at = std::max(at, result.arrival_ns[i] / kNsPerUs);
    }
    count_bytes(*topology, program, times);
    times.bytes_of_channel.resize(result.channel_bytes.size());
    for (std::size_t c = 0; c < result.channel_bytes.size(); ++c) times.bytes_of_channel[c] += result.channel_bytes[c];
    return ready_us;
}

}  // namespace

CollectiveProgram all_to_all(const sched::LinkTopology& topology, const Exchange& exchange, bool back) {
    const std::uint64_t bytes = back ? exchange.result_bytes : exchange.cell_bytes;
    const sched::CellCounts counts = back ? sched::brainstorm::transposed(exchange.counts) : exchange.counts;
    if (exchange.padded)
        return sched::padded_all_to_all(topology, counts, bytes, exchange.padded_cells, exchange.costs);
    return back ? sched::brainstorm::known_all_to_all(topology, counts, bytes, exchange.costs)
                : sched::sparse_all_to_all(topology, counts, bytes, exchange.costs);
}

void count_bytes(const sched::LinkTopology& topology, const CollectiveProgram& program, BatchTimes& times) {
    for (const sched::Transfer& transfer : program.transfers) {
        if (transfer.from == transfer.to) continue;
        times.link_bytes += transfer.on_wire();
        times.expected_channel_bytes += transfer.on_wire() * topology.route(transfer.from, transfer.to).size();
    }
}

BatchTimes time_batch(const std::shared_ptr<const sched::LinkTopology>& topology,
                      const hw::MessageEngine::Config& messages, const ChipTimes& chips,
                      const std::vector<Exchange>& exchanges) {
    const auto latest = [](const std::vector<double>& us) { return *std::max_element(us.begin(), us.end()); };
    BatchTimes times;
    for (const double us : chips.between_us) times.chips_us += us;
    for (const std::vector<double>& us : chips.experts_us) times.chips_us += latest(us);
    times.latency_us = times.chips_us;
    if (topology == nullptr) return times;
    const std::size_t n = topology->devices();
    const auto in_ns = [](std::vector<double> us) {
        for (double& value : us) value *= kNsPerUs;
        return us;
    };
    std::vector<double> ready_us(n);  // from the end of the front part, which all chips reach together
    for (std::size_t layer = 0; layer < exchanges.size(); ++layer) {
        if (layer > 0)
            for (double& us : ready_us) us += chips.between_us[layer];
        CollectiveProgram there = all_to_all(*topology, exchanges[layer], false);
        sched::brainstorm::delay_senders(there, in_ns(ready_us));
        const std::vector<double> cells_us = run(topology, messages, there, ready_us, times);
        times.dispatch_us += latest(cells_us) - latest(ready_us);
        std::vector<double> end_us(n);
        for (std::size_t d = 0; d < n; ++d) end_us[d] = cells_us[d] + chips.experts_us[layer][d];
        CollectiveProgram way_back = all_to_all(*topology, exchanges[layer], true);
        sched::brainstorm::delay_senders(way_back, in_ns(end_us));
        ready_us = run(topology, messages, way_back, end_us, times);
        times.return_us += latest(ready_us) - latest(end_us);
    }
    times.latency_us = chips.between_us.front() + latest(ready_us) + chips.between_us.back();
    return times;
}

}  // namespace switchyard::platform::expert_parallel
