// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/sushi/rooflines.h"
#include "switchyard/platform/systems/sushi/sushi_chip.h"
#include "switchyard/platform/systems/sushi/sushi_host.h"

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

/// Inputs go to DRAM before a query, results are compared after it.
class ValueCheck {
public:
    ValueCheck(const SushiWork& work, const SupernetMemory& memory, SushiChip& chip)
        : work_(work), memory_(memory), chip_(chip) {
        for (auto& [address, bytes] : supernet_values(work.supernet, memory)) chip.write_dram(address, bytes);
        image_bytes_ = std::size_t{work.supernet.channels} * work.supernet.height * work.supernet.width;
        images_ = work.images.size() / image_bytes_;
    }
    void put_in(std::size_t query) {
        const auto* const image = reinterpret_cast<const std::uint8_t*>(&work_.images[query % images_ * image_bytes_]);
        chip_.write_dram(memory_.input_address, {image, image + image_bytes_});
    }
    void compare(std::size_t query, std::size_t subnet) {
        const std::vector<std::int32_t>& all = work_.logits[subnet];
        const std::size_t count = all.size() / images_;
        const std::vector<std::uint8_t> bytes = chip_.read_dram(memory_.output_address(subnet), 4 * count);
        if (std::memcmp(bytes.data(), &all[query % images_ * count], bytes.size()) == 0) ++equal_;
    }
    std::uint64_t equal() const { return equal_; }

private:
    const SushiWork& work_;
    const SupernetMemory& memory_;
    SushiChip& chip_;
    std::size_t image_bytes_ = 1, images_ = 1;
    std::uint64_t equal_ = 0;
};

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

}  // namespace

ordered_json run_sushi(const SushiWork& work, const SushiConfig& config, const SushiDesign& design) {
    const SupernetMemory memory = lay_out(work.supernet, work.table.subgraphs);
    const bool accelerator = std::string(design.server) == "accelerator", caches = design.policy[0] != '\0';
    std::unique_ptr<SushiChip> chip;
    std::unique_ptr<ValueCheck> values;
    SimulationRegistry registry;
    std::unique_ptr<hw::CommandPort> port;
    std::unique_ptr<RateServer> server;
    sc_core::sc_signal<bool> irq("irq");
    SushiHost::Task task;
    task.supernet = &work.supernet;
    task.table = &work.table;
    task.queries = work.queries;
    task.constraint = config.scheduler.constraint == "latency"    ? Constraint::latency
                      : config.scheduler.constraint == "accuracy" ? Constraint::accuracy
                                                                  : Constraint::accuracy_alone;
    task.policy = design.policy;
    task.caches = caches;
    task.state_aware = design.state_aware;
    task.period = config.scheduler.period;
    task.only_subnet = config.scheduler.only_subnet;
    std::uint64_t bytes_before = 0;
    const auto chip_bytes = [&] {
        const auto& stats = chip->controller.stats();
        return stats.input_bytes + stats.subgraph_bytes + stats.parameter_bytes + stats.weight_bytes +
               stats.output_bytes;
    };
    if (accelerator) {
        chip = std::make_unique<SushiChip>("accelerator", config, work.buffers, memory);
        task.busy_us = [&] {
            return static_cast<double>(chip->controller.stats().serve_cycles) / config.accelerator.clock_ghz / 1e3;
        };
        if (config.accelerator.functional) values = std::make_unique<ValueCheck>(work, memory, *chip);
        task.before = [&](std::size_t query, std::size_t) {
            if (query == 0) bytes_before = chip_bytes();  // the first SubGraph
            if (values) values->put_in(query);
        };
        if (values) task.after = [&](std::size_t query, std::size_t subnet) { values->compare(query, subnet); };
    } else {
        port = std::make_unique<hw::CommandPort>("port", config.commands, registry);
        server = std::make_unique<RateServer>("server", work.table.without_us);
        port->commands.bind(server->commands);
        port->irq.bind(irq);
    }
    SushiHost host("host", config.host, task);
    host.registers.bind(accelerator ? chip->registers() : port->registers);
    host.irq.bind(accelerator ? chip->irq : irq);
    sc_core::sc_start();
    if (accelerator && !chip->registry.errors().empty()) throw std::runtime_error(chip->registry.errors().front());
    if (!host.finished())
        throw std::runtime_error("expected an interrupt for each command of the host, found none for the last one");

    const std::vector<ServedQuery>& served = host.served();
    const auto count = static_cast<double>(served.size());
    std::vector<double> service, response, accuracy;
    std::uint64_t unmet = 0, macs = 0;
    std::map<std::string, std::uint64_t> by_subnet;
    for (const SubNet& subnet : work.supernet.subnets) by_subnet[subnet.name] = 0;
    Parts parts;
    Costs costs(work, memory, config);
    for (const ServedQuery& query : served) {
        service.push_back(query.service_us);
        response.push_back(query.response_us);
        accuracy.push_back(work.supernet.subnets[query.subnet].accuracy);
        unmet += query.met ? 0 : 1;
        ++by_subnet[work.supernet.subnets[query.subnet].name];
        macs += work.supernet.subnets[query.subnet].macs();
        if (!accelerator) continue;
        for (const hw::LayerCost& cost : costs.of(query.subnet, query.subgraph)) {
            parts.compute += cost.compute_cycles;
            parts.inputs += cost.input_cycles;
            parts.weights += cost.weight_cycles;
            parts.outputs += cost.output_cycles;
        }
    }
    // Without a persistent buffer, by its closed form: the same queries.
    double reference_us = 0, reference_accuracy = 0;
    for (const sched::Query& query : work.queries) {
        const std::size_t subnet = config.scheduler.only_subnet > 0
                                       ? config.scheduler.only_subnet - 1
                                       : choose_subnet(work.table, work.reference_us, query, task.constraint).subnet;
        reference_us += work.reference_us[subnet];
        reference_accuracy += work.supernet.subnets[subnet].accuracy;
    }
    const double run_us = host.end_us() - host.begin_us();
    ordered_json summary{{"batches", served.size()},
                         {"latency_us", latency_json(service)},
                         {"response_us",
                          {{"mean", mean(response)},
                           {"p50", percentile(response, 0.5)},
                           {"p95", percentile(response, 0.95)},
                           {"p99", percentile(response, 0.99)}}},
                         {"run_us_per_query", run_us / count},
                         {"accuracy", mean(accuracy)},
                         {"accuracy_gain_points", mean(accuracy) - reference_accuracy / count},
                         {"latency_saved", 1 - mean(service) * count / reference_us},
                         {"unmet", unmet},
                         {"fills", host.fills()}};
    ordered_json report{
        {"format", "switchyard-report"},
        {"version", 1},
        {"ok", true},
        {"model", work.supernet.name},
        {"design", design.name},
        {"fidelity",
         {{"accelerator", accelerator ? config.accelerator.impl : "roofline"}, {"array", config.array.impl}}}};
    const std::size_t shown = config.scheduler.only_subnet > 0 ? config.scheduler.only_subnet - 1 : 0;
    if (std::string(design.server) == "dpu") {
        const std::vector<DpuLayer> layers = dpu_layers(config.dpu, work.supernet.subnets[shown]);
        double us = 0, bytes = 0, fastest = 0;
        for (std::size_t l = 0; l < layers.size(); ++l) {
            const LayerUse& use = work.supernet.subnets[shown].layers[l];
            if (use.layer.side == 3 && !use.layer.depthwise) report["layers_3x3_us"][use.name] = layers[l].us;
            us += layers[l].us;
            bytes += static_cast<double>(layers[l].bytes);
            fastest = std::max(fastest, static_cast<double>(layers[l].bytes) / layers[l].us);
        }
        summary["port_mb_per_s"] = {{"mean", bytes / us}, {"max", fastest}};
    }
    Checks checks;
    checks.equal("queries served = queries of the stream", static_cast<double>(work.queries.size()), count);
    checks.equal("commands that failed", 0, static_cast<double>(host.failures()));
    if (accelerator) {
        const double us = 1 / config.accelerator.clock_ghz / 1e3 / count;
        const double bytes = static_cast<double>(chip_bytes() - bytes_before);
        summary["offchip_bytes"] = bytes / count;
        summary["offchip_uj"] = bytes * 8 * config.dram.pj_per_bit * 1e-6 / count;
        summary["weight_bytes"] = static_cast<double>(chip->controller.stats().weight_bytes) / count;
        summary["operations_per_byte"] = 2 * static_cast<double>(macs) / bytes;
        summary["gigaoperations_per_s"] = 2e-3 * static_cast<double>(macs) / (mean(service) * count);
        summary["peak_gigaoperations_per_s"] =
            static_cast<double>(config.array.shape().peak_operations_per_cycle()) * config.accelerator.clock_ghz;
        summary["breakdown_us"] = {{"compute", parts.compute * us},
                                   {"off-chip inputs", parts.inputs * us},
                                   {"off-chip weights", parts.weights * us},
                                   {"off-chip outputs", parts.outputs * us}};
        if (caches) summary["hit_ratio"] = hits_json(work, served);
        report["layers"] = layers_json(work, config, costs.of(shown, served.back().subgraph), shown, summary);
        for (const ordered_json& layer : report["layers"])
            if (layer.at("is_3x3") == true)
                report["layers_3x3_us"][text_of(layer.at("layer"))] = layer.at("latency_us");
        checks.at_most("bytes of the persistent buffer", static_cast<double>(work.buffers.bytes().persistent),
                       static_cast<double>(chip->persistent.stats().max_bytes));
        const hw::DramTarget::Stats& dram = chip->dram.stats();
        if (config.accelerator.impl == "cycle") {
            checks.equal("bytes of DRAM = bytes of the stages", static_cast<double>(chip_bytes()),
                         static_cast<double>(dram.read_bytes + dram.write_bytes));
            checks.equal("multiply-accumulates of the array = those of the SubNets", static_cast<double>(macs),
                         static_cast<double>(chip->array.stats().macs));
        }
        if (values) checks.equal("results equal to the golden reference", count, static_cast<double>(values->equal()));
    }
    const std::vector<Check> held = checks.take();
    report["ok"] = std::all_of(held.begin(), held.end(), [](const Check& check) { return check.ok; });
    report["summary"] = summary;
    report["served"] = by_subnet;
    report["storage_kib"] = work.buffers.total_kib();
    if (served.size() <= kMaxListed) {
        ordered_json batches = ordered_json::array();
        for (std::size_t q = 0; q < served.size(); ++q)
            batches.push_back({{"batch", q},
                               {"latency_us", served[q].service_us},
                               {"subnet", work.supernet.subnets[served[q].subnet].name},
                               {"wanted_accuracy", work.queries[q].accuracy},
                               {"wanted_latency_us", work.queries[q].latency_us},
                               {"accuracy", work.supernet.subnets[served[q].subnet].accuracy}});
        report["batches"] = batches;
    }
    report["conservation"] = checks_json(held);
    return report;
}

}  // namespace switchyard::platform::sushi
