// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/noc_config.h"

#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {
std::string validation_error(const NocConfig& config) {
    if (std::string message = choice_error(config, "noc"); !message.empty()) return message;
    if (config.columns == 0 || config.rows == 0) return "a network needs at least one router";
    return validation_error_of_routers(config);
}

std::string validation_error_of_routers(const NocConfig& config) {
    if (config.link_bytes_per_cycle == 0) return "link_bytes_per_cycle must not be 0";
    if (config.header_bytes == 0) return "header_bytes must not be 0";
    if (!(config.clock_ghz > 0)) return "clock_ghz must be positive";
    if (std::string message = choice_error(config, "noc"); !message.empty()) return message;
    const unsigned stages =
        config.routing_cycles + config.vc_alloc_cycles + config.switch_alloc_cycles + config.switch_cycles;
    if (config.impl != "packet" && config.router_cycles != stages)
        return "router_cycles is " + std::to_string(config.router_cycles) + ", the stages of the flit router take " +
               std::to_string(stages);
    return "";
}

}  // namespace switchyard::hw
