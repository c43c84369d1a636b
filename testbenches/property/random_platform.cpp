// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/random_platform.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/chip/platform_config.h"

namespace switchyard::testing {

namespace {

/// A number: with `probability` not its default, but between `low` and `high`, all orders of magnitude alike; of those
/// that are drawn, one in kWide from the whole documented range.
struct Range {
    const char* key;
    double probability, low, high;
    bool integer = true;
};
constexpr double kWide = 0.1;

/// Sizes of the chip and of its memory are drawn in random_platform().
const std::vector<Range>& ranges() {
    static const std::vector<Range> kRanges{
        {"chip.clock_ghz", 0.3, 0.2, 3, false},
        {"pe_array.rows", 1, 1, 48},
        {"pe_array.columns", 1, 1, 48},
        {"pe_array.register_bytes", 0.2, 16, 512},
        {"scratchpad.capacity_bytes", 1, 16384, 1 << 20},
        {"scratchpad.bytes_per_cycle", 0.3, 8, 512},
        {"scratchpad.write_bytes_per_cycle", 0.3, 8, 512},
        {"scratchpad.network_bytes_per_cycle", 0.3, 16, 512},
        {"scratchpad.kernel_share", 0.3, 0.01, 0.4, false},
        {"scratchpad.latency_cycles", 0.2, 1, 20},
        {"controller.mask_prefetch_units", 0.2, 1, 8},
        {"network_interface.setup_cycles", 0.2, 1, 64},
        {"network_interface.max_packet_bytes", 0.3, 256, 65536},
        {"noc.link_bytes_per_cycle", 0.7, 8, 512},
        {"noc.router_cycles", 0.3, 1, 12},
        {"noc.link_cycles", 0.3, 1, 12},
        {"noc.endpoint_link_cycles", 0.2, 1, 12},
        {"noc.header_bytes", 0.2, 4, 64},
        {"noc.vcs", 0.3, 1, 12},
        {"noc.control_vcs", 0.2, 1, 12},
        {"noc.buffer_flits", 0.4, 2, 256},
        {"hbm.pseudo_channel_gb_per_s", 0.4, 0.8, 64, false},
        {"hbm.read_latency_ns", 0.3, 5, 400, false},
        {"hbm.write_latency_ns", 0.3, 5, 400, false},
        {"hbm.refresh_share", 0.2, 0.01, 0.3, false},
        {"hbm.max_packet_bytes", 0.2, 256, 65536},
        {"host.config_packet_bytes", 0.1, 256, 65536},
        {"host.dma_chunk_bytes", 0.3, 256, 65536},
        {"host.link_bytes_per_cycle", 0.4, 1, 256, false},
        {"host.port_requests", 0.1, 1, 16},
        {"host.memory_latency_ns", 0.3, 10, 2000, false},
        {"host.memory_gb_per_s", 0.3, 4, 400, false},
    };
    return kRanges;
}

/// Drawn together, since they bind each other.
const std::vector<std::string> kDrawnByHand{"chip.columns",
                                            "chip.rows",
                                            "network_interface.memory_reads",
                                            "noc.topology",
                                            "noc.multicast",
                                            "hbm.stacks",
                                            "hbm.interfaces_per_stack",
                                            "hbm.pseudo_channels_per_interface",
                                            "hbm.burst_bytes",
                                            "hbm.interleave_bytes",
                                            "hbm.device",
                                            "hbm.region_bytes",
                                            "pe_array.partial_sums",
                                            "host.interrupt_rearm_ns",
                                            "host.port_completes_early"};

/// "1 to 64" as the documentation has it.
std::pair<double, double> documented_range(const std::string& key) {
    static const std::vector<KeyDescription> kKeys = platform::platform_keys();
    const auto found = std::find_if(kKeys.begin(), kKeys.end(), [&](const KeyDescription& k) { return k.key == key; });
    const std::size_t to = found == kKeys.end() ? std::string::npos : found->range.find(" to ");
    if (to == std::string::npos) throw std::logic_error(key + " has no documented range");
    return {std::stod(found->range.substr(0, to)), std::stod(found->range.substr(to + 4))};
}

std::string drawn(RandomSource& random, const Range& range) {
    auto [low, high] = std::pair(range.low, range.high);
    if (random.chance(kWide)) {
        std::tie(low, high) = documented_range(range.key);
        if (low == 0 && random.chance(0.1)) return "0";
        if (low == 0) low = range.integer ? 1 : std::min(1e-3, high / 10);
    }
    return range.integer ? fmt::format("{}", random.log_integer(low, high))
                         : fmt::format("{:.5g}", random.log_uniform(low, high));
}

/// A device, and how many of its channels' GB/s a pseudo-channel has.
struct Memory {
    const char* device;
    const char* pseudo_channel_gb_per_s;
};

void draw_memory(RandomSource& random, PlatformSettings& settings) {
    settings["hbm.stacks"] = random.chance(0.5) ? "1" : fmt::format("{}", random.log_integer(1, 6));
    settings["hbm.interfaces_per_stack"] = fmt::format("{}", random.log_integer(1, 6));
    settings["hbm.pseudo_channels_per_interface"] = fmt::format("{}", random.log_integer(1, 8));
    const Memory memory = random.choose<Memory>(
        {{"hbm2_2400", "19.2"}, {"hbm2_2000", "16"}, {"ddr4_2400", "19.2"}, {"lpddr4_3200", "6.4"}});
    if (settings.count("hbm.pseudo_channel_gb_per_s") == 0) {
        settings["hbm.device"] = memory.device;
        settings["hbm.pseudo_channel_gb_per_s"] = memory.pseudo_channel_gb_per_s;
    } else {
        settings["hbm.device"] = "\"\"";
    }
    if (random.chance(0.3)) settings["hbm.device"] = "\"\"";
    if (random.chance(0.3)) {
        const unsigned burst = 1u << random.integer(3, 8);
        settings["hbm.burst_bytes"] = std::to_string(burst);
        settings["hbm.interleave_bytes"] = std::to_string(burst << random.integer(0, 6));
    }
    if (random.chance(0.2)) settings["hbm.region_bytes"] = std::to_string(1ull << random.integer(20, 36));
}

}  // namespace

PlatformSettings random_platform(RandomSource& random, PairSize size) {
    PlatformSettings settings;
    const unsigned side = size == PairSize::small ? 6 : 24;
    settings["chip.columns"] = fmt::format("{}", random.log_integer(1, side));
    settings["chip.rows"] = fmt::format("{}", random.log_integer(1, side));
    for (const Range& range : ranges())
        if (random.chance(range.probability)) settings[range.key] = drawn(random, range);
    // A narrower port of the network interface is refused.
    if (const auto port = settings.find("scratchpad.network_bytes_per_cycle"); port != settings.end()) {
        const auto link = settings.find("noc.link_bytes_per_cycle");
        if (std::stoul(port->second) < (link == settings.end() ? 192 : std::stoul(link->second))) settings.erase(port);
    }
    if (random.chance(0.3)) settings["noc.topology"] = "mesh";
    if (random.chance(0.2)) settings["noc.multicast"] = "source";
    if (random.chance(0.3)) settings["network_interface.memory_reads"] = "unicast";
    if (random.chance(0.1)) settings["host.port_completes_early"] = "yes";
    draw_memory(random, settings);
    if (random.chance(0.1)) settings["pe_array.partial_sums"] = "fp32";
    if (random.chance(0.1)) settings["host.interrupt_rearm_ns"] = fmt::format("{}", random.log_integer(1, 1000));
    return settings;
}

std::vector<std::string> drawn_keys() {
    std::vector<std::string> keys = kDrawnByHand;
    for (const Range& range : ranges()) keys.emplace_back(range.key);
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::string platform_yaml(const PlatformSettings& settings) {
    std::map<std::string, std::string> sections;
    for (const char* section : {"chip", "pe_array", "scratchpad", "dispatcher", "controller", "network_interface",
                                "noc", "hbm", "host", "energy"})
        sections[section];
    for (const auto& [key, value] : settings) {
        const std::size_t dot = key.find('.');
        sections[key.substr(0, dot)] += fmt::format("  {}: {}\n", key.substr(dot + 1), value);
    }
    std::string text;
    for (const auto& [section, keys] : sections)
        text += keys.empty() ? fmt::format("{}: {{}}\n", section) : fmt::format("{}:\n{}", section, keys);
    return text;
}

}  // namespace switchyard::testing
