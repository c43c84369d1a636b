// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_accelerator.h"

#include <utility>
#include <vector>

#include "switchyard/platform/systems/sushi/sushi_chip.h"
#include "switchyard/platform/systems/sushi/sushi_run.h"

namespace switchyard::platform::sushi {

/// What the files say, and where it is in DRAM.
struct SushiAccelerator::Contents {
    Contents(const std::string& platform, const std::string& path, std::map<std::string, std::string> overrides)
        : config(read_sushi_config(platform, std::move(overrides))),
          supernet(sched::sushi::read_supernet(path)),
          subgraphs(subgraphs_of(supernet, config, config.buffers)),
          memory(lay_out(supernet, subgraphs)) {}

    SushiConfig config;
    sched::sushi::Supernet supernet;
    std::vector<sched::sushi::SubGraph> subgraphs;
    SupernetMemory memory;
};

SushiAccelerator::SushiAccelerator(const sc_core::sc_module_name& module_name, const std::string& platform,
                                   const std::string& supernet, std::map<std::string, std::string> overrides)
    : sc_module(module_name),
      contents_(std::make_unique<Contents>(platform, supernet, std::move(overrides))),
      chip_(std::make_unique<SushiChip>("chip", contents_->config, contents_->config.buffers, contents_->memory)) {
    registers.bind(chip_->registers());
    memory.bind(chip_->memory());
    chip_->irq.bind(irq);
}

SushiAccelerator::~SushiAccelerator() = default;

void SushiAccelerator::start_of_simulation() {
    if (!contents_->config.accelerator.functional) return;
    for (auto& [address, bytes] : supernet_values(contents_->supernet, contents_->memory))
        chip_->write_dram(address, std::move(bytes));
}

const sched::sushi::Supernet& SushiAccelerator::supernet() const {
    return contents_->supernet;
}

std::size_t SushiAccelerator::subgraphs() const {
    return contents_->subgraphs.size();
}

std::uint64_t SushiAccelerator::input_address() const {
    return contents_->memory.input_address;
}

std::uint64_t SushiAccelerator::output_address(std::size_t subnet) const {
    return contents_->memory.output_address(subnet);
}

const SimulationRegistry& SushiAccelerator::registry() const {
    return chip_->registry;
}

}  // namespace switchyard::platform::sushi
