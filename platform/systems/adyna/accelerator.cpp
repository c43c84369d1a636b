// SPDX-License-Identifier: Apache-2.0
#include "switchyard/accelerator.h"

#include <utility>

#include "switchyard/platform/systems/adyna/chip_model.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard {

struct Accelerator::Inside {
    explicit Inside(const PlatformConfig& config)
        : platform(config), chip(platform::make_chip("chip", platform, registry)) {}
    hw::HostInterface& host() { return chip->host(); }

    const PlatformConfig platform;
    SimulationRegistry registry;
    std::unique_ptr<platform::ChipModel> chip;
};

Accelerator::Accelerator(const sc_core::sc_module_name& module_name, const PlatformConfig& platform)
    : sc_module(module_name),
      inside_(std::make_unique<Inside>(platform)),
      config_socket(inside_->host().config),
      host_socket(inside_->host().host_memory),
      irq("irq"),
      reset("reset") {
    inside_->host().irq.bind(irq);
    inside_->host().reset.bind(reset);
}

Accelerator::~Accelerator() = default;

const SimulationRegistry& Accelerator::registry() const {
    return inside_->registry;
}

const std::string& Accelerator::last_error_text() const {
    return inside_->host().last_error_text();
}

}  // namespace switchyard
