// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_run.h"

#include <cstring>
#include <memory>
#include <stdexcept>

#include "switchyard/platform/systems/sushi/sushi_chip.h"

namespace switchyard::platform::sushi {

using namespace sched::sushi;

namespace {

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

std::uint64_t offchip_bytes(const hw::LayerController::Stats& stats) {
    return stats.input_bytes + stats.subgraph_bytes + stats.parameter_bytes + stats.weight_bytes + stats.output_bytes;
}

SushiHost::Task task_of(const SushiWork& work, const SushiConfig& config, const SushiDesign& design) {
    SushiHost::Task task;
    task.supernet = &work.supernet;
    task.table = &work.table;
    task.queries = work.queries;
    task.constraint = config.scheduler.chosen_constraint();
    task.policy = design.policy;
    task.caches = design.caches();
    task.state_aware = design.state_aware;
    task.period = config.scheduler.period;
    task.only_subnet = config.scheduler.only_subnet;
    return task;
}

/// Simulates until nothing happens any more, and takes what the host knows.
SushiRun simulated(const SushiHost& host) {
    sc_core::sc_start();
    SushiRun run;
    run.served = host.served();
    run.begin_us = host.begin_us();
    run.end_us = host.end_us();
    run.fills = host.fills();
    run.failures = host.failures();
    run.finished = host.finished();
    return run;
}

SushiRun run_on_accelerator(const SushiWork& work, const SushiConfig& config, const SupernetMemory& memory,
                            SushiHost::Task task) {
    sc_core::sc_signal<bool> irq("irq");
    SushiChip chip("accelerator", config, work.buffers, memory);
    chip.irq.bind(irq);
    std::unique_ptr<ValueCheck> values;
    if (config.accelerator.functional) values = std::make_unique<ValueCheck>(work, memory, chip);
    std::uint64_t bytes_before = 0;
    task.busy_us = [&] {
        return static_cast<double>(chip.controller.stats().serve_cycles) / config.accelerator.clock_ghz / 1e3;
    };
    task.before = [&](std::size_t query, std::size_t) {
        if (query == 0) bytes_before = offchip_bytes(chip.controller.stats());  // the first SubGraph
        if (values) values->put_in(query);
    };
    if (values) task.after = [&](std::size_t query, std::size_t subnet) { values->compare(query, subnet); };
    SushiHost host("host", config.host, task);
    host.registers.bind(chip.registers());
    host.irq.bind(irq);
    SushiRun run = simulated(host);
    if (!chip.registry.errors().empty()) throw std::runtime_error(chip.registry.errors().front());
    run.on_accelerator = true;
    run.controller = chip.controller.stats();
    run.dram = chip.dram.stats();
    run.array_macs = chip.array.stats().macs;
    run.max_persistent_bytes = chip.persistent.stats().max_bytes;
    run.bytes_before = bytes_before;
    run.equal_results = values ? values->equal() : 0;
    return run;
}

SushiRun run_on_server(const SushiWork& work, const SushiConfig& config, const SushiHost::Task& task) {
    SimulationRegistry registry;
    sc_core::sc_signal<bool> irq("irq");
    hw::CommandPort port("port", config.commands, registry);
    RateServer server("server", work.table.without_us);
    port.commands.bind(server.commands);
    port.irq.bind(irq);
    SushiHost host("host", config.host, task);
    host.registers.bind(port.registers);
    host.irq.bind(irq);
    return simulated(host);
}

}  // namespace

std::uint64_t SushiRun::offchip_bytes() const {
    return sushi::offchip_bytes(controller);
}

SushiRun run_sushi(const SushiWork& work, const SushiConfig& config, const SushiDesign& design,
                   const SupernetMemory& memory) {
    const SushiHost::Task task = task_of(work, config, design);
    SushiRun run = std::string(design.server) == "accelerator" ? run_on_accelerator(work, config, memory, task)
                                                               : run_on_server(work, config, task);
    if (!run.finished)
        throw std::runtime_error("expected an interrupt for each command of the host, found none for the last one");
    return run;
}

}  // namespace switchyard::platform::sushi
