// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/system/process_pool.h"
#include "switchyard/platform/systems/sushi/rooflines.h"
#include "switchyard/platform/systems/sushi/sushi_chip.h"
#include "switchyard/platform/systems/sushi/sushi_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform::sushi {

using namespace sched::sushi;
using nlohmann::ordered_json;

const std::vector<SushiDesign>& sushi_designs() {
    static const std::vector<SushiDesign> kDesigns{{"sushi-no-pb", "accelerator", "", false},
                                                   {"sushi-state-unaware", "accelerator", "fixed", false},
                                                   {"sushi", "accelerator", "nearest", true},
                                                   {"sushi-lru", "accelerator", "lru", true},
                                                   {"sushi-saved-bytes", "accelerator", "saved_bytes", true},
                                                   {"sushi-oracle", "accelerator", "oracle", true},
                                                   {"dpu", "dpu", "", false},
                                                   {"cpu", "cpu", "", false}};
    return kDesigns;
}

const SushiDesign& sushi_design(const std::string& name) {
    for (const SushiDesign& design : sushi_designs())
        if (design.name == name) return design;
    throw std::out_of_range(name);
}

namespace {

/// Latency as the controller has it: whole cycles of each layer.
double latency_us(const std::vector<hw::LayerCost>& costs, const SushiConfig& config) {
    double cycles = 0;
    for (const hw::LayerCost& cost : costs) cycles += std::ceil(cost.cycles);
    return cycles / config.accelerator.clock_ghz / 1e3;
}

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

LatencyTable empty_table(const Supernet& supernet, std::string platform, std::vector<SubGraph> subgraphs) {
    LatencyTable table;
    table.platform = std::move(platform);
    for (const SubNet& subnet : supernet.subnets) {
        table.subnets.push_back(subnet.name);
        table.accuracy.push_back(subnet.accuracy);
    }
    table.without_us.resize(supernet.subnets.size());
    table.latency_us.assign(supernet.subnets.size(), std::vector<double>(subgraphs.size()));
    table.fill_us.resize(subgraphs.size());
    table.subgraphs = std::move(subgraphs);
    return table;
}

std::vector<double> without_us(const Supernet& supernet, const SushiConfig& config, const BufferConfig& buffers) {
    const SupernetMemory memory = lay_out(supernet, {});
    std::vector<double> us;
    for (std::size_t s = 0; s < supernet.subnets.size(); ++s) {
        try {
            us.push_back(latency_us(
                subnet_costs(memory.program, memory.program.subnets[s], nullptr, config.shape(buffers)), config));
        } catch (const std::runtime_error& error) {
            throw Infeasible(fmt::format("{}: SubNet {}: {}", supernet.name, supernet.subnets[s].name, error.what()));
        }
    }
    return us;
}

/// Latencies of all SubNets with one SubGraph, and of its filling, on the simulated chip. Elaborates.
class TableColumn : public sc_core::sc_module {
public:
    TableColumn(const sc_core::sc_module_name& module_name, SushiChip& chip, std::size_t subnets, bool fills)
        : sc_module(module_name), socket("socket"), chip_(chip), subnets_(subnets), fills_(fills) {
        SWITCHYARD_HAS_PROCESS(TableColumn);
        SC_THREAD(run);
    }
    tlm_utils::simple_initiator_socket<TableColumn> socket;
    sc_core::sc_in<bool> irq{"irq"};
    std::vector<double> us;
    double fill_us = 0;

private:
    void access(std::uint64_t address, std::uint32_t value) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(::tlm::TLM_WRITE_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
    }
    double command(std::uint32_t operation, std::size_t argument) {
        const auto& stats = chip_.controller.stats();
        const std::uint64_t before = stats.serve_cycles + stats.fill_cycles;
        access(hw::CommandPort::kOperation, operation);
        access(hw::CommandPort::kArgument, static_cast<std::uint32_t>(argument));
        access(hw::CommandPort::kDoorbell, 1);
        wait(irq.posedge_event());
        access(hw::CommandPort::kIrqStatus, hw::CommandPort::kCommandDone);
        return static_cast<double>(stats.serve_cycles + stats.fill_cycles - before);
    }
    void run() {
        access(hw::CommandPort::kIrqEnable, hw::CommandPort::kCommandDone);
        if (fills_) fill_us = command(hw::LayerController::kCache, 0);
        for (std::size_t s = 0; s < subnets_; ++s) us.push_back(command(hw::LayerController::kServe, s));
    }
    SushiChip& chip_;
    std::size_t subnets_;
    bool fills_;
};

}  // namespace

std::vector<SubGraph> subgraphs_of(const Supernet& supernet, const SushiConfig& config, const BufferConfig& buffers) {
    const std::uint64_t capacity = buffers.bytes().persistent;
    if (!config.scheduler.subgraph_file.empty())
        return read_subgraphs(config.scheduler.subgraph_file, supernet, capacity);
    std::vector<SubGraph> subgraphs = candidate_subgraphs(supernet, capacity, config.scheduler.subgraphs);
    if (subgraphs.empty())
        throw Infeasible(
            fmt::format("{}: expected a SubGraph of at most the {} bytes of the persistent buffer, found none; "
                        "raise buffers.persistent_kib",
                        supernet.name, capacity));
    return subgraphs;
}

LatencyTable closed_form_table(const Supernet& supernet, const SushiConfig& config, const BufferConfig& buffers,
                               std::vector<SubGraph> subgraphs) {
    LatencyTable table = empty_table(supernet, config.fingerprint(supernet, buffers), std::move(subgraphs));
    table.without_us = without_us(supernet, config, buffers);
    const SupernetMemory memory = lay_out(supernet, table.subgraphs);
    const hw::AcceleratorShape shape = config.shape(buffers);
    for (std::size_t g = 0; g < table.subgraphs.size(); ++g) {
        const std::vector<sched::WeightSlice>& slices = table.subgraphs[g].slices;
        table.fill_us[g] =
            std::ceil(fill_cost(memory.program, slices, shape.dram)) / config.accelerator.clock_ghz / 1e3;
        for (std::size_t s = 0; s < supernet.subnets.size(); ++s)
            table.latency_us[s][g] =
                latency_us(subnet_costs(memory.program, memory.program.subnets[s], &slices, shape), config);
    }
    return table;
}

LatencyTable simulated_table(const Supernet& supernet, const SushiConfig& config, const BufferConfig& buffers,
                             std::vector<SubGraph> subgraphs, unsigned jobs) {
    LatencyTable table = empty_table(supernet, config.fingerprint(supernet, buffers), std::move(subgraphs));
    SushiConfig timing = config;
    timing.accelerator.functional = false;
    const auto work = [&](std::size_t index) {
        // The last one has nothing cached.
        const bool fills = index < table.subgraphs.size();
        const SupernetMemory memory =
            lay_out(supernet, fills ? std::vector<SubGraph>{table.subgraphs[index]} : std::vector<SubGraph>{});
        sc_core::sc_signal<bool> irq("irq");
        SushiChip chip("chip", timing, buffers, memory);
        chip.irq.bind(irq);
        TableColumn column("column", chip, supernet.subnets.size(), fills);
        column.socket.bind(chip.registers());
        column.irq.bind(irq);
        sc_core::sc_start();
        if (!chip.registry.errors().empty()) throw std::runtime_error(chip.registry.errors().front());
        return json_text(ordered_json{{"fill", column.fill_us}, {"us", column.us}});
    };
    const double us = 1 / config.accelerator.clock_ghz / 1e3;
    run_in_processes(table.subgraphs.size() + 1, jobs, work, [&](std::size_t index, const std::string& text, double) {
        const ordered_json result = parse_ordered_json(text, "answer of a process");
        for (std::size_t s = 0; s < supernet.subnets.size(); ++s) {
            const double value = result.at("us").at(s).get<double>() * us;
            (index < table.subgraphs.size() ? table.latency_us[s][index] : table.without_us[s]) = value;
        }
        if (index < table.subgraphs.size()) table.fill_us[index] = result.at("fill").get<double>() * us;
    });
    return table;
}

SushiWork prepare_work(const std::string& path, const SushiConfig& config, const SushiDesign& design,
                       std::uint64_t count, const std::uint64_t* seed) {
    SushiWork work;
    work.supernet = read_supernet(path);
    const bool caches = design.policy[0] != '\0';
    work.buffers = caches ? config.buffers : config.buffers_without_pb;
    work.reference_us = without_us(work.supernet, config, config.buffers_without_pb);
    if (std::string(design.server) != "accelerator") {
        work.table = empty_table(work.supernet, "", {});
        for (std::size_t s = 0; s < work.supernet.subnets.size(); ++s)
            work.table.without_us[s] = std::string(design.server) == "dpu"
                                           ? dpu_us(config.dpu, work.supernet.subnets[s])
                                           : cpu_us(config.cpu, work.supernet.subnets[s]);
    } else if (!caches) {
        work.table = closed_form_table(work.supernet, config, work.buffers, {});
    } else if (!config.scheduler.table.empty()) {
        work.table = read_table(config.scheduler.table, work.supernet, config.fingerprint(work.supernet, work.buffers));
    } else {
        work.table =
            closed_form_table(work.supernet, config, work.buffers, subgraphs_of(work.supernet, config, work.buffers));
    }
    if (config.scheduler.only_subnet > work.supernet.subnets.size())
        throw InputError(path, 0, "scheduler.only_subnet",
                         fmt::format("expected at most the {} SubNets of the supernet, found {}",
                                     work.supernet.subnets.size(), config.scheduler.only_subnet));

    sched::QueryStreamConfig queries = config.queries;
    if (count > 0) queries.count = count;
    if (seed != nullptr) queries.seed = *seed;
    sched::QueryRange range;
    const auto [low, high] = std::minmax_element(work.table.accuracy.begin(), work.table.accuracy.end());
    range.min_accuracy = *low;
    range.max_accuracy = *high;
    const auto [fast, slow] = std::minmax_element(work.reference_us.begin(), work.reference_us.end());
    range.min_latency_us = *fast;
    range.max_latency_us = *slow;
    range.service_us = sum(work.reference_us) / static_cast<double>(work.reference_us.size());
    work.queries = sched::make_query_stream(queries, range);
    if (work.queries.size() < count)
        throw InputError(queries.trace, 0, "queries.trace",
                         fmt::format("expected {} queries for --batches {}, found {}; give fewer --batches", count,
                                     count, work.queries.size()));

    if (config.accelerator.functional) {
        if (work.supernet.weights.empty())
            throw InputError(path, 0, "weights",
                             "expected a supernet with values for a functional run, found one without");
        const IntegerNpyArray images = read_int8_npy(work.supernet.inputs);
        const std::size_t count_of_images = images.shape.empty() ? 0 : images.shape.front();
        if (count_of_images == 0) throw InputError(work.supernet.inputs, 0, "shape", "expected images, found none");
        check_shape(work.supernet.inputs, images.shape,
                    {count_of_images, work.supernet.channels, work.supernet.height, work.supernet.width});
        for (const std::int32_t value : images.values) work.images.push_back(static_cast<std::int8_t>(value));
        for (const SubNet& subnet : work.supernet.subnets) {
            std::string file = work.supernet.logits;
            const std::size_t at = file.find("{}");
            if (at != std::string::npos) file.replace(at, 2, subnet.name);
            IntegerNpyArray logits = read_int32_npy(file);
            check_shape(file, logits.shape,
                        {count_of_images, static_cast<std::size_t>(subnet.layers.back().layer.output_bytes() / 4)});
            work.logits.push_back(std::move(logits.values));
        }
    }
    return work;
}

}  // namespace switchyard::platform::sushi
