// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/noc_config.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {
std::string validation_error(const NocConfig& config) {
    if (std::string message = choice_error(config, "noc"); !message.empty()) return message;
    if (config.columns == 0 || config.rows == 0)
        return fmt::format("expected at least one router, found {} x {}", config.columns, config.rows);
    return validation_error_of_routers(config);
}

std::string validation_error_of_routers(const NocConfig& config) {
    if (config.link_bytes_per_cycle == 0) return "link_bytes_per_cycle: expected at least 1, found 0";
    if (config.header_bytes == 0) return "header_bytes: expected at least 1, found 0";
    if (!(config.clock_ghz > 0)) return fmt::format("clock_ghz: expected more than 0, found {}", config.clock_ghz);
    if (std::string message = choice_error(config, "noc"); !message.empty()) return message;
    const unsigned stages =
        config.routing_cycles + config.vc_alloc_cycles + config.switch_alloc_cycles + config.switch_cycles;
    if (config.impl != "packet" && config.router_cycles != stages)
        return fmt::format("router_cycles: expected {}, the sum of the flit router's stages, found {}", stages,
                           config.router_cycles);
    return "";
}

}  // namespace switchyard::hw
