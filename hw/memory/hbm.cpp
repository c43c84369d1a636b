// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/hbm.h"

#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::hw {

namespace {

/// The device, and whether the keys that both models have say what it says.
std::string bank_error(const HbmConfig& config) {
    constexpr double kTolerance = 0.01;
    try {
        const dram::Device device = interface_device(config);
        const double gb_per_s = device.pseudo_channel_gb_per_s();
        if (std::abs(gb_per_s - config.pseudo_channel_gb_per_s) > kTolerance * gb_per_s)
            return fmt::format("a pseudo-channel of device {} has {:.4g} GB/s, pseudo_channel_gb_per_s says {:.4g}",
                               config.device, gb_per_s, config.pseudo_channel_gb_per_s);
        if (device.geometry.burst_bytes != config.burst_bytes)
            return fmt::format("a burst of device {} has {} bytes, burst_bytes says {}", config.device,
                               device.geometry.burst_bytes, config.burst_bytes);
        if (device.geometry.bytes() < config.region_bytes)
            return fmt::format("the channels of an interface have {} bytes of device {}, region_bytes says {}",
                               device.geometry.bytes(), config.device, config.region_bytes);
    } catch (const InputError& error) {
        return std::string("device: ") + error.what();
    }
    return "";
}

/// The device, of which the times of its banks count, and its pins as a bound.
std::string bank_costs_error(const HbmConfig& config) {
    if (config.device.empty()) return "";
    constexpr double kRounding = 1.001;
    try {
        const double gb_per_s = dram::read_device(config.device).pseudo_channel_gb_per_s();
        if (config.pseudo_channel_gb_per_s > gb_per_s * kRounding)
            return fmt::format(
                "a pseudo-channel of device {} has {:.4g} GB/s, pseudo_channel_gb_per_s says {:.4g}; "
                "take less, another device, or none (device: \"\")",
                config.device, gb_per_s, config.pseudo_channel_gb_per_s);
        bank_costs(config);
    } catch (const InputError& error) {
        return std::string("device: ") + error.what();
    }
    return "";
}

}  // namespace

BankCosts bank_costs(const HbmConfig& config) {
    if (config.device.empty()) return {};
    const dram::Device device = dram::read_device(config.device);
    const bool whole_channels = config.pseudo_channels_per_interface % device.geometry.pseudo_channels == 0;
    return bank_costs(whole_channels ? interface_device(config) : device);
}

dram::Device interface_device(const HbmConfig& config) {
    dram::Device device = dram::read_device(config.device);
    if (config.pseudo_channels_per_interface % device.geometry.pseudo_channels != 0)
        throw InputError(config.device, 0, "",
                         fmt::format("an interface must have whole channels of {} pseudo-channels",
                                     device.geometry.pseudo_channels));
    device.geometry.channels = config.pseudo_channels_per_interface / device.geometry.pseudo_channels;
    if (!config.mapping.empty()) device.policy.mapping = config.mapping;
    if (config.page != "device") device.policy.page = config.page;
    if (const std::string message = dram::validation_error(device); !message.empty())
        throw InputError(config.device, 0, "", message);
    return device;
}

std::string validation_error(const HbmConfig& config) {
    if (std::string message = choice_error(config, "hbm"); !message.empty()) return message;
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
    return config.impl == "bank" ? bank_error(config) : bank_costs_error(config);
}

Hbm::Hbm(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
         const std::vector<Endpoint>& endpoints)
    : sc_module(name), in("in", config.interfaces()), out("out", config.interfaces()), interfaces_("interface") {
    const std::string message = validation_error(config);
    if (!message.empty()) throw ModelError(*this, message);
    const BankCosts costs = config.impl == "bandwidth" ? bank_costs(config) : BankCosts{};
    std::optional<dram::Device> device;
    if (config.impl == "bank") device = interface_device(config);
    interfaces_.init(config.interfaces(), [&](const char* interface_name, std::size_t index) {
        return new MemoryInterface(interface_name, config, costs, device ? &*device : nullptr, registry,
                                   static_cast<unsigned>(index), endpoints.at(index));
    });
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
        in[i].bind(interfaces_[i].in);
        interfaces_[i].out.bind(out[i]);
    }
}

void Hbm::finish_logs() {
    for (MemoryInterface& one : interfaces_) one.finish_log();
}

Hbm::Stats Hbm::stats() const {
    Stats total;
    for (const MemoryInterface& interface : interfaces_) {
        const Stats stats = interface.stats();
        total.requests += stats.requests;
        total.read_bytes += stats.read_bytes;
        total.write_bytes += stats.write_bytes;
        total.busy_cycles += stats.busy_cycles;
    }
    return total;
}

}  // namespace switchyard::hw
