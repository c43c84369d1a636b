#include "switchyard/hw/memory/hbm.h"

#include <string>

namespace switchyard::hw {

std::string objection(const HbmConfig& config) {
    if (config.impl != "bandwidth") return "no such model: " + config.impl;
    if (config.interfaces() == 0) return "a memory needs at least one interface";
    if (config.pseudo_channels_per_interface == 0 || config.pseudo_channels_per_interface > kMaxPseudoChannels)
        return "pseudo_channels_per_interface must lie in 1 .. " + std::to_string(kMaxPseudoChannels);
    if (!(config.pseudo_channel_gb_per_s > 0)) return "pseudo_channel_gb_per_s must be positive";
    if (!(config.refresh_share >= 0 && config.refresh_share < 1)) return "refresh_share must lie in [0, 1)";
    if (!(config.read_latency_ns >= 0 && config.write_latency_ns >= 0)) return "latencies must not be negative";
    if (config.burst_bytes == 0 || (config.burst_bytes & (config.burst_bytes - 1)) != 0)
        return "burst_bytes must be a power of 2";
    if (config.interleave_bytes == 0 || config.interleave_bytes % config.burst_bytes != 0)
        return "interleave_bytes must be a multiple of burst_bytes";
    if (config.region_bytes == 0 || config.region_bytes % config.burst_bytes != 0)
        return "region_bytes must be a multiple of burst_bytes";
    if (config.max_packet_bytes == 0) return "max_packet_bytes must not be 0";
    if (!(config.clock_ghz > 0)) return "clock_ghz must be positive";
    return "";
}

Hbm::Hbm(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
         Endpoint first_endpoint)
    : sc_module(name), in("in", config.interfaces()), out("out", config.interfaces()), interfaces_("interface") {
    const std::string complaint = objection(config);
    if (!complaint.empty()) throw ModelError(*this, complaint);
    interfaces_.init(config.interfaces(), [&](const char* interface_name, std::size_t index) {
        return new MemoryInterface(interface_name, config, registry, static_cast<unsigned>(index),
                                   static_cast<Endpoint>(first_endpoint + index));
    });
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
        in[i].bind(interfaces_[i].in);
        interfaces_[i].out.bind(out[i]);
    }
}

Hbm::Stats Hbm::stats() const {
    Stats total;
    for (const MemoryInterface& interface : interfaces_) {
        total.requests += interface.stats().requests;
        total.read_bytes += interface.stats().read_bytes;
        total.write_bytes += interface.stats().write_bytes;
        total.busy_cycles += interface.stats().busy_cycles;
    }
    return total;
}

}  // namespace switchyard::hw
