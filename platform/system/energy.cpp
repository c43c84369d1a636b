// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/energy.h"

#include <numeric>

namespace switchyard::platform {

std::vector<Energy::Part> Energy::parts() const {
    return {{"pe", pe},
            {"scratchpad_access", scratchpad_access},
            {"scratchpad_leakage", scratchpad_leakage},
            {"network_links", network_links},
            {"network_static", network_static},
            {"hbm", hbm},
            {"dispatcher_controller", dispatcher_controller}};
}

double Energy::sum() const {
    const std::vector<Part> all = parts();
    return std::accumulate(all.begin(), all.end(), 0.0,
                           [](double total, const Part& part) { return total + part.picojoules; });
}

Energy energy_of(const EnergyConfig& config, const Activity& activity) {
    constexpr double kBitsPerByte = 8, kLeakageKib = 512;
    Energy energy;
    energy.pe = activity.pe_operations * config.pe_pj_per_mac;
    energy.scratchpad_access = activity.scratchpad_read_bytes * config.scratchpad_read_pj_per_byte +
                               activity.scratchpad_write_bytes * config.scratchpad_write_pj_per_byte;
    energy.scratchpad_leakage =
        activity.leaking_kib_nanoseconds / kLeakageKib * config.scratchpad_leakage_mw_per_512_kib;
    energy.network_links = activity.link_bytes * kBitsPerByte * config.hop_pj_per_bit;
    energy.network_static = activity.tile_nanoseconds * config.router_interface_mw;
    energy.hbm = activity.hbm_bytes * kBitsPerByte * config.hbm_pj_per_bit;
    energy.dispatcher_controller = activity.tile_nanoseconds * config.dispatcher_controller_mw;
    return energy;
}

}  // namespace switchyard::platform
