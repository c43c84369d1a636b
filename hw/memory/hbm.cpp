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
            return fmt::format("pseudo_channel_gb_per_s: expected {:.4g}, as device {} has, found {:.4g}", gb_per_s,
                               config.device, config.pseudo_channel_gb_per_s);
        if (device.geometry.burst_bytes != config.burst_bytes)
            return fmt::format("burst_bytes: expected {}, as device {} has, found {}", device.geometry.burst_bytes,
                               config.device, config.burst_bytes);
        if (device.geometry.bytes() < config.region_bytes)
            return fmt::format(
                "region_bytes: expected at most {}, as an interface's channels of device {} have, found {}",
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
                "pseudo_channel_gb_per_s: expected at most {:.4g}, as device {} has, found {:.4g}; take less, another "
                "device, or none (device: \"\")",
                gb_per_s, config.device, config.pseudo_channel_gb_per_s);
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
        throw InputError(
            config.device, 0, "",
            fmt::format("expected pseudo_channels_per_interface of whole channels, which have {}, found {}",
                        device.geometry.pseudo_channels, config.pseudo_channels_per_interface));
    device.geometry.channels = config.pseudo_channels_per_interface / device.geometry.pseudo_channels;
    if (!config.mapping.empty()) device.policy.mapping = config.mapping;
    if (config.page != "device") device.policy.page = config.page;
    if (const std::string message = dram::validation_error(device); !message.empty())
        throw InputError(config.device, 0, "", message);
    return device;
}

std::string validation_error(const HbmConfig& config) {
    if (std::string message = choice_error(config, "hbm"); !message.empty()) return message;
    if (config.interfaces() == 0) return "expected at least one memory interface, found none";
    if (config.pseudo_channels_per_interface == 0 || config.pseudo_channels_per_interface > kMaxPseudoChannels)
        return fmt::format("pseudo_channels_per_interface: expected 1 to {}, found {}", kMaxPseudoChannels,
                           config.pseudo_channels_per_interface);
    if (!(config.pseudo_channel_gb_per_s > 0))
        return fmt::format("pseudo_channel_gb_per_s: expected more than 0, found {}", config.pseudo_channel_gb_per_s);
    if (!(config.refresh_share >= 0 && config.refresh_share < 1))
        return fmt::format("refresh_share: expected at least 0 and less than 1, found {}", config.refresh_share);
    if (!(config.read_latency_ns >= 0 && config.write_latency_ns >= 0))
        return fmt::format("read_latency_ns and write_latency_ns: expected at least 0, found {} and {}",
                           config.read_latency_ns, config.write_latency_ns);
    if (config.burst_bytes == 0 || (config.burst_bytes & (config.burst_bytes - 1)) != 0)
        return fmt::format("burst_bytes: expected a power of two, found {}", config.burst_bytes);
    if (config.interleave_bytes == 0 || config.interleave_bytes % config.burst_bytes != 0)
        return fmt::format("interleave_bytes: expected a multiple of burst_bytes, {}, found {}", config.burst_bytes,
                           config.interleave_bytes);
    if (config.region_bytes == 0 || config.region_bytes % config.burst_bytes != 0)
        return fmt::format("region_bytes: expected a multiple of burst_bytes, {}, found {}", config.burst_bytes,
                           config.region_bytes);
    if (config.max_packet_bytes == 0) return "max_packet_bytes: expected at least 1, found 0";
    if (!(config.clock_ghz > 0)) return fmt::format("clock_ghz: expected more than 0, found {}", config.clock_ghz);
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
