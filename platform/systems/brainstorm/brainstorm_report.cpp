// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/brainstorm_report.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"

namespace switchyard::platform::brainstorm {

using nlohmann::ordered_json;
using sched::brainstorm::BatchProgram;
using sched::brainstorm::HostStep;
using sched::brainstorm::HostSteps;

namespace {

/// Of nothing there is no share and no mean: null.
ordered_json ratio(double a, double b) {
    return b > 0 ? ordered_json(a / b) : ordered_json();
}

/// Kernels that a run must have launched, at the least: those of a wrong prediction need not all be there.
std::uint64_t certain_launches(const HostSteps& steps) {
    std::uint64_t count = 0;
    for (const HostStep& step : steps) {
        count += step.kind == HostStep::Kind::launch || step.kind == HostStep::Kind::collective;
        if (!step.speculation) continue;
        count += certain_launches(step.speculation->check) +
                 certain_launches(step.speculation->hit ? step.speculation->predicted : step.speculation->actual);
    }
    return count;
}

/// What all batches of a program ask for together.
struct Asked {
    BatchProgram::Counts sum;
    std::uint64_t peak = 0, launches = 0, transfers = 0, transfer_bytes = 0;
    std::uint64_t kernels_with_weights = 0;
    bool speculates = false;

    void add(const BatchProgram::Counts& counts) {
        sum.decisions += counts.decisions;
        sum.predicted += counts.predicted;
        sum.hits += counts.hits;
        sum.routed_cells += counts.routed_cells;
        sum.padded_cells += counts.padded_cells;
        sum.decided_cells += counts.decided_cells;
        sum.dropped_cells += counts.dropped_cells;
        sum.crossing_cells += counts.crossing_cells;
        sum.crossing_bytes += counts.crossing_bytes;
        sum.loads += counts.loads;
        sum.loads_on_demand += counts.loads_on_demand;
        sum.loads_in_vain += counts.loads_in_vain;
        sum.loaded_bytes += counts.loaded_bytes;
        sum.profile_updates += counts.profile_updates;
    }
    void add(const BatchProgram& batch) {
        add(batch.counts);
        peak = std::max(peak, batch.peak_weight_bytes);
        for (const HostSteps& steps : batch.devices) {
            launches += certain_launches(steps);
            for (const HostStep& step : steps) speculates |= step.kind == HostStep::Kind::speculate;
        }
        for (const sched::CollectiveProgram& collective : batch.collectives)
            for (const sched::Transfer& transfer : collective.transfers) {
                if (transfer.from == transfer.to) continue;
                ++transfers;
                transfer_bytes += transfer.on_wire();
            }
        kernels_with_weights += batch.kernels_with_weights;
    }
};

std::vector<Check> checks_of(const Asked& asked, const ClusterOutcome& outcome) {
    const BatchProgram::Counts& sum = asked.sum;
    Checks checks;
    checks.equal("kernels completed = kernels launched", static_cast<double>(outcome.host.launches),
                 static_cast<double>(outcome.kernels));
    if (asked.speculates)
        checks.at_most("kernels of the program <= kernels launched", static_cast<double>(outcome.host.launches),
                       static_cast<double>(asked.launches));
    else
        checks.equal("kernels launched = kernels of the program", static_cast<double>(asked.launches),
                     static_cast<double>(outcome.host.launches));
    checks.equal("messages that arrived = transfers of the collectives", static_cast<double>(asked.transfers),
                 static_cast<double>(outcome.exchange.messages));
    checks.equal("bytes of messages = bytes of the collectives", static_cast<double>(asked.transfer_bytes),
                 static_cast<double>(outcome.exchange.bytes));
    checks.equal("loads of weights = loads of the program", static_cast<double>(sum.loads),
                 static_cast<double>(outcome.host.loads));
    checks.at_most("cells with padding >= cells that are routed",
                   static_cast<double>(std::max(sum.padded_cells, sum.routed_cells)),
                   static_cast<double>(sum.routed_cells));
    if (outcome.contents.cells > 0) {
        const auto all = static_cast<double>(outcome.contents.cells);
        checks.equal("cells that lie once where their routes end = cells", all,
                     static_cast<double>(outcome.contents.arrived));
        checks.equal("cells with unchanged contents = cells", all, static_cast<double>(outcome.contents.intact));
    }
    if (asked.kernels_with_weights > 0)
        checks.equal("kernels of the decisions that find their weights = all of them",
                     static_cast<double>(asked.kernels_with_weights), static_cast<double>(outcome.weights.in_place));
    return checks.take();
}

ordered_json batches_json(const std::vector<BatchProgram>& batches, const ClusterOutcome& outcome) {
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const BatchProgram::Counts& counts = batches[i].counts;
        list.push_back({{"batch", i},
                        {"latency_us", outcome.us[i]},
                        {"routed_cells", counts.routed_cells},
                        {"padded_cells", counts.padded_cells},
                        {"crossing_cells", counts.crossing_cells},
                        {"predicted", counts.predicted},
                        {"hits", counts.hits}});
    }
    return list;
}

ordered_json summary_json(const BrainstormConfig& config, const sched::brainstorm::RoutedNetwork& network,
                          std::size_t batches, const Asked& asked, const ClusterOutcome& outcome) {
    const BatchProgram::Counts& sum = asked.sum;
    const auto n = static_cast<double>(batches), devices = static_cast<double>(config.links.devices);
    const double total_us = std::accumulate(outcome.us.begin(), outcome.us.end(), 0.0);
    const double batch_us = total_us / n;
    const double cells = static_cast<double>(network.cells) * devices;
    const hw::MultiprocessorConfig& sm = config.gpu.gpu.multiprocessors;
    const auto busiest = outcome.channel_bytes.empty()
                             ? 0
                             : *std::max_element(outcome.channel_bytes.begin(), outcome.channel_bytes.end());
    return {{"batches", batches},
            {"devices", config.links.devices},
            {"latency_us", latency_json(outcome.us)},
            {"cells_per_ms", ratio(cells * 1e3, batch_us)},
            {"inputs_per_second_and_device",
             ratio(cells / static_cast<double>(network.cells_per_input) * 1e6 / devices, batch_us)},
            {"occupancy", ratio(outcome.warp_ns, outcome.busy_ns * sm.max_warps)},
            {"busy_share", outcome.busy_ns * 1e-3 / (total_us * sm.count * devices)},
            {"kernels_of_a_batch", static_cast<double>(outcome.host.launches) / n},
            {"read_backs_of_a_batch", static_cast<double>(outcome.host.read_backs) / n},
            {"decisions_of_a_batch", static_cast<double>(sum.decisions) / n},
            {"padding", ratio(static_cast<double>(sum.padded_cells), static_cast<double>(sum.routed_cells))},
            {"dropped_share", ratio(static_cast<double>(sum.dropped_cells), static_cast<double>(sum.decided_cells))},
            {"prediction_accuracy", ratio(static_cast<double>(sum.hits), static_cast<double>(sum.predicted))},
            {"crossing_cells_of_a_batch", static_cast<double>(sum.crossing_cells) / n},
            {"crossing_mb_of_a_batch", static_cast<double>(sum.crossing_bytes) * 1e-6 / n},
            {"busiest_link_mb_of_a_batch", static_cast<double>(busiest) * 1e-6 / n},
            {"exchange_share", outcome.exchange.waiting_ns * 1e-3 / (total_us * devices)},
            {"weight_mb", static_cast<double>(network.fixed_weight_bytes() + network.branch_weight_bytes()) * 1e-6},
            {"peak_weight_mb", static_cast<double>(asked.peak) * 1e-6},
            {"profile_updates_of_a_batch", static_cast<double>(sum.profile_updates) / n}};
}

}  // namespace

ordered_json brainstorm_report(const BrainstormConfig& config, const sched::brainstorm::RoutedNetwork& network,
                               const std::string& design, const std::vector<BatchProgram>& batches,
                               const ClusterOutcome& outcome) {
    Asked asked;
    for (const BatchProgram& batch : batches) asked.add(batch);
    const BatchProgram::Counts& sum = asked.sum;
    const std::vector<Check> held = checks_of(asked, outcome);
    return {{"format", "switchyard-report"},
            {"version", 1},
            {"ok", std::all_of(held.begin(), held.end(), [](const Check& check) { return check.ok; })},
            {"model", network.name},
            {"design", design},
            {"fidelity", {{"gpu", config.gpu.gpu.impl}, {"links", "messages"}}},
            {"gpu", config.gpu.gpu.name},
            {"topology", config.topology ? config.topology->name() : "one device"},
            {"summary", summary_json(config, network, batches.size(), asked, outcome)},
            {"counters",
             {{"kernels", outcome.kernels},
              {"ctas", outcome.ctas},
              {"rollbacks", outcome.host.rollbacks},
              {"abandoned_steps", outcome.host.abandoned_steps},
              {"loads", sum.loads},
              {"loads_on_demand", sum.loads_on_demand},
              {"loads_in_vain", sum.loads_in_vain},
              {"loaded_bytes", sum.loaded_bytes},
              {"messages", outcome.exchange.messages},
              {"message_bytes", outcome.exchange.bytes},
              {"moved_content_bytes", outcome.contents.moved_bytes}}},
            {"batches", batches_json(batches, outcome)},
            {"conservation", checks_json(held)}};
}

}  // namespace switchyard::platform::brainstorm
