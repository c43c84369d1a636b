// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/places.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/hw/noc/topology.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

ordered_json tiles_json(const PlatformConfig& platform, const RunResult& result, double run_cycles) {
    std::vector<double> kernels(platform.tiles(), 0), arrays = kernels, scratchpads = kernels;
    for (const auto& [place, counters] : result.after_run.since(result.before_run).by_place()) {
        const std::string prefix = "tile_";
        if (place.rfind(prefix, 0) != 0) continue;
        std::size_t tile = 0;
        if (parse_plain_number(place.substr(prefix.size()), tile) != Parsed::ok) continue;
        kernels.at(tile) = counters.of("controller").sum("busy_cycles") / run_cycles;
        arrays.at(tile) = counters.of("pe_array").sum("busy_cycles") / run_cycles;
        scratchpads.at(tile) = counters.of("scratchpad").sum("busy_cycles") / run_cycles;
    }
    return {{"kernel", std::move(kernels)}, {"pe_array", std::move(arrays)}, {"scratchpad", std::move(scratchpads)}};
}

ordered_json links_json(const PlatformConfig& platform, const RunResult& result, double run_cycles) {
    const hw::TopologyPtr topology = hw::make_topology(platform.noc);
    std::vector<unsigned> from, to;
    std::vector<double> busy;
    for (unsigned router = 0; router < topology->routers(); ++router) {
        for (unsigned port = 0; port < topology->router_ports(); ++port) {
            const auto behind = topology->behind(router, port);
            if (!behind) continue;
            from.push_back(router);
            to.push_back(behind->router);
            busy.push_back(result.link_busy_cycles.at(router * topology->router_ports() + port) / run_cycles);
        }
    }
    return {{"from", std::move(from)}, {"to", std::move(to)}, {"busy", std::move(busy)}};
}

}  // namespace switchyard::platform
