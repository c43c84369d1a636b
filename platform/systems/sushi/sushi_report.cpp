// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/sushi/rooflines.h"

namespace switchyard::platform::sushi {

using namespace sched::sushi;
using nlohmann::ordered_json;

namespace {

/// Queries of a report's list; longer streams have none.
constexpr std::size_t kMaxListed = 2000;

/// Rank by rounding up: of one value all are that one.
double percentile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(rank, 1) - 1];
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

/// Closed forms by SubNet and SubGraph, as far as queries had them.
class Costs {
public:
    Costs(const SushiWork& work, const SupernetMemory& memory, const SushiConfig& config)
        : work_(work), memory_(memory), shape_(config.shape(work.buffers)) {}
    const std::vector<hw::LayerCost>& of(std::size_t subnet, std::size_t subgraph) {
        const auto [found, is_new] = costs_.try_emplace({subnet, subgraph});
        if (is_new)
            found->second =
                subnet_costs(memory_.program, memory_.program.subnets[subnet],
                             work_.table.subgraphs.empty() ? nullptr : &work_.table.subgraphs[subgraph].slices, shape_);
        return found->second;
    }

private:
    const SushiWork& work_;
    const SupernetMemory& memory_;
    hw::AcceleratorShape shape_;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<hw::LayerCost>> costs_;
};

struct Parts {
    double compute = 0, inputs = 0, weights = 0, outputs = 0;
};

/// What cached weights hit (appendix A.4), mean of the queries: by the encoding, and by bytes.
ordered_json hits_json(const SushiWork& work, const std::vector<ServedQuery>& served) {
    std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> known;
    double encoded = 0, bytes = 0;
    for (const ServedQuery& query : served) {
        const auto [found, is_new] = known.try_emplace({query.subnet, query.subgraph});
        if (is_new) {
            const std::vector<sched::WeightSlice> subnet =
                slices_of(work.supernet, work.supernet.subnets[query.subnet]);
            const std::vector<sched::WeightSlice>& subgraph = work.table.subgraphs[query.subgraph].slices;
            found->second = {hit_ratio(encode(subnet), encode(subgraph)),
                             static_cast<double>(shared_bytes(work.supernet, subnet, subgraph)) /
                                 static_cast<double>(bytes_of(work.supernet, subgraph))};
        }
        encoded += found->second.first;
        bytes += found->second.second;
    }
    const auto count = static_cast<double>(served.size());
    return {{"encoding", encoded / count}, {"bytes", bytes / count}};
}

ordered_json layers_json(const SushiWork& work, const SushiConfig& config, const std::vector<hw::LayerCost>& costs,
                         std::size_t subnet, ordered_json& summary) {
    const double us = 1 / config.accelerator.clock_ghz / 1e3;
    ordered_json layers = ordered_json::array();
    const std::vector<DpuLayer> on_dpu = dpu_layers(config.dpu, work.supernet.subnets[subnet]);
    double log_sum = 0, low = 1e300, high = 0;
    std::size_t count = 0;
    for (std::size_t l = 0; l < costs.size(); ++l) {
        const LayerUse& use = work.supernet.subnets[subnet].layers[l];
        const hw::LayerCost& cost = costs[l];
        const double layer_us = cost.cycles * us, speedup = on_dpu[l].us / layer_us;
        const bool is_3x3 = use.layer.side == 3 && !use.layer.depthwise;
        if (is_3x3) {
            log_sum += std::log(speedup);
            low = std::min(low, speedup);
            high = std::max(high, speedup);
            ++count;
        }
        layers.push_back(
            {{"layer", use.name},
             {"is_3x3", is_3x3},
             {"latency_us", layer_us},
             {"compute_us", cost.compute_cycles * us},
             {"operations_per_byte", 2 * static_cast<double>(cost.macs) / static_cast<double>(cost.offchip_bytes())},
             {"gigaoperations_per_s", 2e-3 * static_cast<double>(cost.macs) / layer_us},
             {"over_dpu", speedup}});
    }
    if (count > 0)
        summary["layers_3x3_over_dpu"] = {
            {"min", low}, {"geometric_mean", std::exp(log_sum / static_cast<double>(count))}, {"max", high}};
    return layers;
}

/// What a report is made of, with the figures that several of its parts need.
class Reporter {
public:
    Reporter(const SushiWork& work, const SushiConfig& config, const SushiDesign& design, const SupernetMemory& memory,
             const SushiRun& run)
        : work_(work),
          config_(config),
          design_(design),
          run_(run),
          costs_(work, memory, config),
          count_(static_cast<double>(run.served.size())) {
        for (const SubNet& subnet : work.supernet.subnets) by_subnet_[subnet.name] = 0;
        for (const ServedQuery& query : run.served) {
            service_.push_back(query.service_us);
            response_.push_back(query.response_us);
            accuracy_.push_back(work.supernet.subnets[query.subnet].accuracy);
            ++by_subnet_[work.supernet.subnets[query.subnet].name];
            macs_ += work.supernet.subnets[query.subnet].macs();
        }
    }

    ordered_json report() {
        ordered_json report{{"format", "switchyard-report"},
                            {"version", 1},
                            {"ok", true},
                            {"model", work_.supernet.name},
                            {"design", design_.name},
                            {"fidelity",
                             {{"accelerator", run_.on_accelerator ? config_.accelerator.impl : "roofline"},
                              {"array", config_.array.impl}}}};
        ordered_json summary = this->summary();
        if (std::string(design_.server) == "dpu") add_dpu(report, summary);
        if (run_.on_accelerator) add_accelerator(report, summary);
        const std::vector<Check> held = checks();
        report["ok"] = std::all_of(held.begin(), held.end(), [](const Check& check) { return check.ok; });
        report["summary"] = summary;
        report["served"] = by_subnet_;
        report["storage_kib"] = work_.buffers.total_kib();
        if (run_.served.size() <= kMaxListed) report["batches"] = batches();
        report["conservation"] = checks_json(held);
        return report;
    }

private:
    /// The SubNet whose layers the report lists.
    std::size_t shown() const { return config_.scheduler.only_subnet > 0 ? config_.scheduler.only_subnet - 1 : 0; }

    ordered_json summary() const {
        // Without a persistent buffer, by its closed form: the same queries.
        double reference_us = 0, reference_accuracy = 0;
        std::uint64_t unmet = 0;
        const Constraint constraint = config_.scheduler.chosen_constraint();
        for (const sched::Query& query : work_.queries) {
            const std::size_t subnet = config_.scheduler.only_subnet > 0
                                           ? config_.scheduler.only_subnet - 1
                                           : choose_subnet(work_.table, work_.reference_us, query, constraint).subnet;
            reference_us += work_.reference_us[subnet];
            reference_accuracy += work_.supernet.subnets[subnet].accuracy;
        }
        for (const ServedQuery& query : run_.served) unmet += query.met ? 0 : 1;
        return {{"batches", run_.served.size()},
                {"latency_us", latency_json(service_)},
                {"response_us",
                 {{"mean", mean(response_)},
                  {"p50", percentile(response_, 0.5)},
                  {"p95", percentile(response_, 0.95)},
                  {"p99", percentile(response_, 0.99)}}},
                {"run_us_per_query", (run_.end_us - run_.begin_us) / count_},
                {"accuracy", mean(accuracy_)},
                {"accuracy_gain_points", mean(accuracy_) - reference_accuracy / count_},
                {"latency_saved", 1 - mean(service_) * count_ / reference_us},
                {"unmet", unmet},
                {"fills", run_.fills}};
    }

    void add_dpu(ordered_json& report, ordered_json& summary) const {
        const std::vector<DpuLayer> layers = dpu_layers(config_.dpu, work_.supernet.subnets[shown()]);
        double us = 0, bytes = 0, fastest = 0;
        for (std::size_t l = 0; l < layers.size(); ++l) {
            const LayerUse& use = work_.supernet.subnets[shown()].layers[l];
            if (use.layer.side == 3 && !use.layer.depthwise) report["layers_3x3_us"][use.name] = layers[l].us;
            us += layers[l].us;
            bytes += static_cast<double>(layers[l].bytes);
            fastest = std::max(fastest, static_cast<double>(layers[l].bytes) / layers[l].us);
        }
        summary["port_mb_per_s"] = {{"mean", bytes / us}, {"max", fastest}};
    }

    void add_accelerator(ordered_json& report, ordered_json& summary) {
        Parts parts;
        for (const ServedQuery& query : run_.served) {
            for (const hw::LayerCost& cost : costs_.of(query.subnet, query.subgraph)) {
                parts.compute += cost.compute_cycles;
                parts.inputs += cost.input_cycles;
                parts.weights += cost.weight_cycles;
                parts.outputs += cost.output_cycles;
            }
        }
        const double us = 1 / config_.accelerator.clock_ghz / 1e3 / count_;
        const double bytes = static_cast<double>(run_.offchip_bytes() - run_.bytes_before);
        summary["offchip_bytes"] = bytes / count_;
        summary["offchip_uj"] = bytes * 8 * config_.dram.pj_per_bit * 1e-6 / count_;
        summary["weight_bytes"] = static_cast<double>(run_.controller.weight_bytes) / count_;
        summary["operations_per_byte"] = 2 * static_cast<double>(macs_) / bytes;
        summary["gigaoperations_per_s"] = 2e-3 * static_cast<double>(macs_) / (mean(service_) * count_);
        summary["peak_gigaoperations_per_s"] =
            static_cast<double>(config_.array.shape().peak_operations_per_cycle()) * config_.accelerator.clock_ghz;
        summary["breakdown_us"] = {{"compute", parts.compute * us},
                                   {"off-chip inputs", parts.inputs * us},
                                   {"off-chip weights", parts.weights * us},
                                   {"off-chip outputs", parts.outputs * us}};
        if (design_.caches()) summary["hit_ratio"] = hits_json(work_, run_.served);
        report["layers"] =
            layers_json(work_, config_, costs_.of(shown(), run_.served.back().subgraph), shown(), summary);
        for (const ordered_json& layer : report["layers"])
            if (layer.at("is_3x3") == true)
                report["layers_3x3_us"][text_of(layer.at("layer"))] = layer.at("latency_us");
    }

    std::vector<Check> checks() const {
        Checks checks;
        checks.equal("queries served = queries of the stream", static_cast<double>(work_.queries.size()), count_);
        checks.equal("commands that failed", 0, static_cast<double>(run_.failures));
        if (!run_.on_accelerator) return checks.take();
        checks.at_most("bytes of the persistent buffer", static_cast<double>(work_.buffers.bytes().persistent),
                       static_cast<double>(run_.max_persistent_bytes));
        if (config_.accelerator.impl == "cycle") {
            checks.equal("bytes of DRAM = bytes of the stages", static_cast<double>(run_.offchip_bytes()),
                         static_cast<double>(run_.dram.read_bytes + run_.dram.write_bytes));
            checks.equal("multiply-accumulates of the array = those of the SubNets", static_cast<double>(macs_),
                         static_cast<double>(run_.array_macs));
        }
        if (config_.accelerator.functional)
            checks.equal("results equal to the golden reference", count_, static_cast<double>(run_.equal_results));
        return checks.take();
    }

    ordered_json batches() const {
        ordered_json batches = ordered_json::array();
        for (std::size_t q = 0; q < run_.served.size(); ++q)
            batches.push_back({{"batch", q},
                               {"latency_us", run_.served[q].service_us},
                               {"subnet", work_.supernet.subnets[run_.served[q].subnet].name},
                               {"wanted_accuracy", work_.queries[q].accuracy},
                               {"wanted_latency_us", work_.queries[q].latency_us},
                               {"accuracy", work_.supernet.subnets[run_.served[q].subnet].accuracy}});
        return batches;
    }

    const SushiWork& work_;
    const SushiConfig& config_;
    const SushiDesign& design_;
    const SushiRun& run_;
    Costs costs_;
    double count_;
    std::vector<double> service_, response_, accuracy_;
    std::uint64_t macs_ = 0;
    std::map<std::string, std::uint64_t> by_subnet_;
};

}  // namespace

ordered_json sushi_report(const SushiWork& work, const SushiConfig& config, const SushiDesign& design,
                          const SupernetMemory& memory, const SushiRun& run) {
    return Reporter(work, config, design, memory, run).report();
}

}  // namespace switchyard::platform::sushi
