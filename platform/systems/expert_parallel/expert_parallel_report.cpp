// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/expert_parallel_report.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <numeric>
#include <utility>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"

namespace switchyard::platform::expert_parallel {

using nlohmann::ordered_json;

namespace {

constexpr double kResolutionUs = 1e-6;  ///< SystemC's: a picosecond. A smaller difference of times is rounding.

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <class Get>
double mean_of(const std::vector<BatchTimes>& times, Get get) {
    double sum = 0;
    for (const BatchTimes& batch : times) sum += static_cast<double>(get(batch));
    return sum / static_cast<double>(times.size());
}

/// What a chip has of a layer of experts.
ordered_json experts_json(const DividedWork& work, const ChipParts& parts, const ClusterOutcome& outcome,
                          std::size_t layer, std::size_t chip) {
    double cells = 0;
    for (const std::vector<Exchange>& exchanges : outcome.exchanges)
        cells += static_cast<double>(sched::brainstorm::arriving_cells(exchanges[layer].counts, chip));
    const std::optional<std::size_t> part = parts.experts[layer][chip];
    return {{"experts", sched::brainstorm::experts_on(work.placement[layer], chip)},
            {"cells_of_a_batch", cells / static_cast<double>(outcome.exchanges.size())},
            {"capacity_cells", work.capacity[layer][chip]},
            {"experts_us", part ? mean(outcome.part_us[*part]) : 0}};
}

ordered_json chips_json(const DividedWork& work, const ChipParts& parts, const ClusterOutcome& outcome) {
    const std::vector<sched::brainstorm::ExpertLayer>& layers = work.parts->layers();
    ordered_json chips = ordered_json::array();
    for (std::size_t d = 0; d < work.capacity.front().size(); ++d) {
        std::uint64_t weights = 0;
        double reload_us = 0;
        const auto add = [&](const std::optional<std::size_t>& part) {
            if (!part) return;
            weights += parts.parts()[*part]->weight_bytes;
            reload_us += outcome.reload_us[*part];
        };
        for (const std::optional<std::size_t>& part : parts.between) add(part);
        ordered_json chip{{"chip", d}};
        if (layers.size() == 1) {
            chip.update(experts_json(work, parts, outcome, 0, d));
        } else {
            ordered_json list = ordered_json::array();
            for (std::size_t i = 0; i < layers.size(); ++i) {
                list.push_back({{"router", layers[i].router.name}});
                list.back().update(experts_json(work, parts, outcome, i, d));
            }
            chip["layers"] = std::move(list);
        }
        for (const auto& layer : parts.experts) add(layer[d]);
        chip["reload_us"] = reload_us;
        chip["weight_mb"] = static_cast<double>(weights) * 1e-6;
        if (outcome.joint) {
            chip["busy_share"] = outcome.joint->chip_busy[d];
            chip["reloads_of_a_batch"] = outcome.joint->reloads[d];
        }
        chips.push_back(std::move(chip));
    }
    return chips;
}

ordered_json batches_json(const ClusterOutcome& outcome) {
    ordered_json list = ordered_json::array();
    for (std::size_t b = 0; b < outcome.times.size(); ++b) {
        const BatchTimes& times = outcome.times[b];
        std::uint64_t crossing = 0;
        for (const Exchange& exchange : outcome.exchanges[b])
            for (std::size_t from = 0; from < exchange.counts.size(); ++from)
                for (std::size_t to = 0; to < exchange.counts.size(); ++to)
                    crossing += from == to ? 0 : exchange.counts[from][to];
        list.push_back({{"batch", b},
                        {"latency_us", times.latency_us},
                        {"chips_us", times.chips_us},
                        {"dispatch_us", times.dispatch_us},
                        {"return_us", times.return_us},
                        {"crossing_cells", crossing},
                        {"link_bytes", times.link_bytes}});
    }
    return list;
}

/// One chip: what it says of itself, in the same words.
ordered_json alone_json(const std::vector<double>& alone_us) {
    ordered_json list = ordered_json::array();
    for (std::size_t b = 0; b < alone_us.size(); ++b) list.push_back({{"batch", b}, {"latency_us", alone_us[b]}});
    return list;
}

/// Where the time of a batch goes.
ordered_json time_json(const ordered_json& summary, const ExpertParallelConfig& config, const ChipParts& parts,
                       const ClusterOutcome& outcome) {
    const bool reloads = config.cluster.weights == "reloaded";
    const auto of_part = [&](const std::optional<std::size_t>& part) {
        return part ? mean(outcome.part_us[*part]) + (reloads ? outcome.reload_us[*part] : 0) : 0;
    };
    const double front = of_part(parts.between.front()), back = of_part(parts.between.back());
    double middle = 0;
    for (std::size_t i = 1; i + 1 < parts.between.size(); ++i) middle += of_part(parts.between[i]);
    ordered_json time_us{{"front", front}};
    if (parts.between.size() > 2) time_us["middle"] = middle;
    const double on_chips = summary.at("chips_us");
    time_us["experts"] = on_chips - front - middle - back;
    time_us["back"] = back;
    if (outcome.joint)
        time_us["waits"] = summary.at("latency_us").at("mean").get<double>() - on_chips;
    else
        time_us["links"] = summary.at("links_us");
    return time_us;
}

void add_times(ordered_json& summary, const ExpertParallelConfig& config, const ChipParts& parts,
               const ClusterOutcome& outcome) {
    const auto add = [&](const char* key, const std::vector<BatchTimes>& times, auto get) {
        summary[key] = mean_of(times, get);
    };
    const std::vector<BatchTimes>& alone = outcome.joint ? outcome.without_overlap : outcome.times;
    add("chips_us", outcome.times, [](const BatchTimes& t) { return t.chips_us; });
    add("links_us", alone, [](const BatchTimes& t) { return t.latency_us - t.chips_us; });
    add("links_share", alone, [](const BatchTimes& t) { return 1 - t.chips_us / t.latency_us; });
    if (outcome.joint) {
        const double period_us = outcome.joint->run_us / static_cast<double>(outcome.times.size());
        summary["batches_in_flight"] = config.cluster.batches_in_flight;
        summary["period_us"] = period_us;
        add("without_overlap_us", alone, [](const BatchTimes& t) { return t.latency_us; });
        const double hidden_us = summary.at("without_overlap_us").get<double>() - period_us;
        summary["hidden_us"] = std::abs(hidden_us) < kResolutionUs ? 0 : hidden_us;
        summary["busiest_chip_share"] =
            *std::max_element(outcome.joint->chip_busy.begin(), outcome.joint->chip_busy.end());
    }
    add("dispatch_us", outcome.times, [](const BatchTimes& t) { return t.dispatch_us; });
    add("return_us", outcome.times, [](const BatchTimes& t) { return t.return_us; });
    summary["time_us"] = time_json(summary, config, parts, outcome);
    add("between_chips_mb_of_a_batch", outcome.times,
        [](const BatchTimes& t) { return static_cast<double>(t.link_bytes) * 1e-6; });
}

void add_busiest_link(ordered_json& summary, const ExpertParallelConfig& config, const ClusterOutcome& outcome) {
    const auto busiest = std::max_element(outcome.channel_bytes.begin(), outcome.channel_bytes.end());
    const auto channel = static_cast<unsigned>(busiest - outcome.channel_bytes.begin());
    summary["busiest_link"] = config.topology->channel_name(channel);
    summary["busiest_link_mb_of_a_batch"] =
        static_cast<double>(*busiest) * 1e-6 / static_cast<double>(outcome.times.size());
    if (outcome.joint) summary["busiest_link_share"] = outcome.joint->channel_busy[channel];
}

std::vector<Check> checks_of(const DividedWork& work, const ClusterOutcome& outcome) {
    Checks checks;
    checks.equal("parts of chips whose own checks hold = parts", static_cast<double>(outcome.part_us.size()),
                 static_cast<double>(outcome.part_us.size() - outcome.failed.size()));
    double routed = 0, arrived = 0, expected = 0;
    for (std::size_t b = 0; b < outcome.times.size(); ++b) {
        for (std::size_t i = 0; i < work.capacity.size(); ++i) {
            for (const BatchRouting& own : work.batches[b])
                for (const std::uint64_t mask : own.masks[work.parts->layers()[i].switch_id])
                    routed += static_cast<double>(std::bitset<64>(mask).count());
            for (std::size_t d = 0; d < work.capacity[i].size(); ++d)
                arrived += static_cast<double>(sched::brainstorm::arriving_cells(outcome.exchanges[b][i].counts, d));
        }
        expected += static_cast<double>(outcome.times[b].expected_channel_bytes);
    }
    const double got = std::accumulate(outcome.channel_bytes.begin(), outcome.channel_bytes.end(), 0.0);
    if (outcome.joint)
        checks.equal("bytes that chips receive = bytes that chips send", static_cast<double>(outcome.joint->sent_bytes),
                     static_cast<double>(outcome.joint->received_bytes));
    if (!outcome.times.empty()) {
        checks.equal("cells at experts = cells of all chips", routed, arrived);
        checks.equal("bytes on links = bytes of the messages on their ways", expected, got);
    }
    return checks.take();
}

}  // namespace

void add_outside(const std::string& part, const ordered_json& report, std::vector<std::string>& outside) {
    const ordered_json validation = report.value("validation", ordered_json::object());
    for (const ordered_json& reason : validation.value("outside", ordered_json::array()))
        outside.push_back(fmt::format("{}: {}", part, reason.get<std::string>()));
}

ordered_json expert_parallel_report(const ExpertParallelConfig& config, const DividedWork& work, const ChipParts& parts,
                                    const ClusterOutcome& outcome) {
    const bool divided = !outcome.times.empty();
    const std::vector<double>& alone_us = outcome.part_us[parts.alone];
    std::vector<double> latency_us = alone_us;
    if (divided) {
        latency_us.clear();
        for (const BatchTimes& times : outcome.times) latency_us.push_back(times.latency_us);
    }
    const double chips = config.links.devices;
    const double batch_us =
        outcome.joint ? outcome.joint->run_us / static_cast<double>(outcome.times.size()) : mean(latency_us);
    ordered_json summary{{"batches", latency_us.size()},
                         {"devices", config.links.devices},
                         {"samples_per_batch", work.model.graph.batch_samples() * config.links.devices},
                         {"latency_us", latency_json(latency_us)},
                         {"alone_us", mean(alone_us)},
                         {"speedup_over_alone", chips * mean(alone_us) / batch_us},
                         {"samples_per_ms", work.model.graph.batch_samples() * chips / batch_us * 1e3}};
    ordered_json report{{"format", "switchyard-report"},
                        {"version", 1},
                        {"ok", true},
                        {"model", work.model.graph.name},
                        {"design", "expert-parallel"},
                        {"chip_design", config.cluster.chip_design},
                        {"topology", config.topology ? config.topology->name() : "one chip"},
                        {"routing", {{"source", work.source.kind}}},
                        {"fidelity", outcome.fidelity}};
    if (work.source.kind == "generator") report["routing"]["seed"] = work.source.seed;
    if (divided) add_times(summary, config, parts, outcome);
    if (config.topology) add_busiest_link(summary, config, outcome);
    report["summary"] = std::move(summary);
    report["validation"] = {{"outside", outcome.outside}};
    if (divided) report["chips"] = chips_json(work, parts, outcome);
    report["batches"] = divided ? batches_json(outcome) : alone_json(alone_us);
    const std::vector<Check> checks = checks_of(work, outcome);
    report["ok"] = std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; });
    report["conservation"] = checks_json(checks);
    return report;
}

}  // namespace switchyard::platform::expert_parallel
