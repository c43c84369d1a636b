// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/platform_config.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/host/host_register_document.h"
#include "switchyard/sw_scheduler/base/sections.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::platform {

namespace {

/// What a platform file of chips of tiles may say of itself beside its sections.
constexpr const char* kSystem = "adyna";

/// Calls visit(name, meaning, describe) for every section; the one list of sections, for reading and for the docs.
template <class Visit>
void for_each_section(PlatformConfig& p, Visit&& visit) {
    visit("chip", "the chip as a whole", [&p](ConfigReader& reader) { describe(reader, p.chip); });
    visit("pe_array", "the PE array of a tile", [&p](ConfigReader& reader) {
        describe(reader, p.pe_array);
        describe(reader, p.pe_array_overrides);
    });
    visit("scratchpad", "the scratchpad of a tile", [&p](ConfigReader& reader) { describe(reader, p.scratchpad); });
    visit("dispatcher", "the kernel dispatcher of a tile", [&p](ConfigReader& reader) {
        describe(reader, p.dispatcher);
        describe(reader, p.dispatcher_overrides);
    });
    visit("controller", "the controller of a tile", [&p](ConfigReader& reader) { describe(reader, p.controller); });
    visit("network_interface", "the network interface of a tile", [&p](ConfigReader& reader) {
        describe(reader, p.network_interface);
        describe(reader, p.network_interface_overrides);
    });
    visit("noc", "routers and links of the 2D torus", [&p](ConfigReader& reader) {
        describe(reader, p.noc);
        describe(reader, p.noc_overrides);
    });
    visit("hbm", "off-chip memory", [&p](ConfigReader& reader) { describe(reader, p.hbm); });
    visit("host", "host interface of the chip, and the host's memory", [&p](ConfigReader& reader) {
        describe(reader, p.host);
        describe(reader, p.host_memory);
    });
    visit("energy", "energy of an event, power of what is always on",
          [&p](ConfigReader& reader) { describe(reader, p.energy); });
}

SectionRules section_rules() {
    SectionRules rules{kSystem, {}, {}, {}};
    PlatformConfig any;
    for_each_section(any, [&rules](const char* name, const char*, auto&&) { rules.sections.insert(name); });
    rules.required = rules.sections;
    return rules;
}

/// Whatever a component must know of its surroundings.
void derive(PlatformConfig& p) {
    p.pe_array.clock_ghz = p.scratchpad.clock_ghz = p.dispatcher.clock_ghz = p.controller.clock_ghz =
        p.network_interface.clock_ghz = p.noc.clock_ghz = p.hbm.clock_ghz = p.host.clock_ghz = p.chip.clock_ghz;
    p.controller.values = p.network_interface.values = p.chip.functional;
    p.network_interface.packet_format = p.noc.packet_format();
    p.noc.columns = p.chip.columns;
    p.noc.rows = p.chip.rows;
    if (p.scratchpad.network_bytes_per_cycle == 0) p.scratchpad.network_bytes_per_cycle = p.noc.link_bytes_per_cycle;
    if (p.noc_overrides.text.empty()) return;
    for (unsigned router = 0; router < p.tiles(); ++router)
        p.noc.impl_of_router.push_back(p.noc_overrides.impl_of(router, p.noc.impl));
}

/// `auto` stays where both chips are possible: run_on_chosen_chip() knows more.
void choose_chip(PlatformConfig& p) {
    if (p.chip.impl != "auto") return;
    const bool analytic = p.pe_array.impl == "analytic" && p.dispatcher.impl == "analytic" &&
                          p.network_interface.impl == "packets" && p.noc.impl == "packet" &&
                          p.hbm.impl == "bandwidth" && p.hbm.request_log.empty() && p.pe_array_overrides.text.empty() &&
                          p.dispatcher_overrides.text.empty() && p.network_interface_overrides.text.empty();
    if (p.chip.ideal_kernel_store || !p.chip.kernel_fitting || p.chip.online_scheduling_us > 0) {
        p.chip.impl = "stages";
    } else if (!analytic || p.chip.functional || p.chip.check_protocol) {
        p.chip.impl = "tiles";
    }
}

/// Keys that are fine one by one and contradict each other.
void check(const PlatformConfig& p, const YAML::Node& root, const std::string& path) {
    const auto fail = [&](const char* section, const std::string& message) {
        throw InputError(path, line_of(root[section]), section, message);
    };
    const auto check_overrides = [&](const char* section, const TileOverrides& overrides, const auto& known) {
        const std::string message = overrides.validation_error(p.tiles(), known);
        if (!message.empty()) fail(section, "impl_of_tiles: " + message);
    };
    check_overrides("pe_array", p.pe_array_overrides, hw::kPeArrayImplementations);
    check_overrides("dispatcher", p.dispatcher_overrides, hw::kDispatcherImplementations);
    check_overrides("network_interface", p.network_interface_overrides, hw::kNetworkInterfaceImplementations);
    check_overrides("noc", p.noc_overrides, std::vector<std::string>{"flit", "rtl", "lockstep"});
    if (p.noc.impl == "packet" && !p.noc_overrides.text.empty())
        fail("noc", "impl_of_tiles: expected impl: flit, found " + p.noc.impl);
    if (p.tiles() + p.hbm.interfaces() + 1 > 0xFFFF)
        fail("chip", "expected endpoints that 16 bits can number, found more");
    if (const std::string message = hw::validation_error(p.noc, p.endpoints().map.routers()); !message.empty())
        fail("noc", message);
    if (p.scratchpad.network_bytes_per_cycle < p.noc.link_bytes_per_cycle)
        fail("scratchpad", fmt::format("network_bytes_per_cycle: expected noc.link_bytes_per_cycle, {}, or more, found "
                                       "{}; the network interface receives flits at the rate of a link",
                                       p.noc.link_bytes_per_cycle, p.scratchpad.network_bytes_per_cycle));
    if (const std::string message = hw::validation_error(p.hbm); !message.empty()) fail("hbm", message);
    if (p.chip.impl == "stages" && p.network_interface.impl != "packets")
        fail("network_interface",
             "impl: expected chip.impl: tiles for " + p.network_interface.impl + ", found " + p.chip.impl);
    if (p.chip.impl == "stages" && p.noc.impl != "packet")
        fail("noc", "impl: expected chip.impl: tiles for " + p.noc.impl + ", found " + p.chip.impl);
    if (p.chip.impl == "stages" && p.chip.functional)
        fail("chip", "functional: expected no, or impl: tiles, found yes");
    if (p.chip.impl == "stages" && p.hbm.impl != "bandwidth")
        fail("hbm", "impl: expected chip.impl: tiles for " + p.hbm.impl + ", found " + p.chip.impl);
    if (p.chip.impl == "stages" && !p.hbm.request_log.empty())
        fail("hbm", "request_log: expected chip.impl: tiles, found " + p.chip.impl);
    if (p.chip.impl == "stages" && !(p.pe_array_overrides.text.empty() && p.dispatcher_overrides.text.empty() &&
                                     p.network_interface_overrides.text.empty()))
        fail("chip", "impl_of_tiles: expected impl: tiles, found " + p.chip.impl);
    if (p.chip.impl == "tiles" && p.chip.ideal_kernel_store)
        fail("chip", "ideal_kernel_store: expected impl: stages, found " + p.chip.impl);
    if (p.chip.impl == "tiles" && !p.chip.kernel_fitting)
        fail("chip", "kernel_fitting: expected yes, or impl: stages, found no");
    if (p.chip.impl == "tiles" && p.chip.online_scheduling_us > 0)
        fail("chip", "online_scheduling_us: expected impl: stages, found " + p.chip.impl);
    try {
        make_hardware_description(p).check();
    } catch (const InputError& error) {
        throw InputError(path, 0, "", error.what());
    }
}

}  // namespace

PlatformConfig PlatformConfig::from_yaml_file(const std::string& path, std::map<std::string, std::string> overrides) {
    return read_platform(path, std::move(overrides));
}

ChipEndpoints PlatformConfig::endpoints() const {
    ChipEndpoints endpoints;
    for (unsigned tile = 0; tile < tiles(); ++tile) endpoints.map.attach(fmt::format("tile_{}", tile), tile);
    const unsigned interfaces = hbm.interfaces();
    for (unsigned i = 0; i < interfaces; ++i) {
        const bool left = i % 2 == 0;
        const unsigned on_this_edge = left ? (interfaces + 1) / 2 : interfaces / 2;
        const unsigned row = (2 * (i / 2) + 1) * chip.rows / (2 * on_this_edge);
        const unsigned router = row * chip.columns + (left ? 0 : chip.columns - 1);
        endpoints.memory.push_back(endpoints.map.attach(fmt::format("hbm_{}", i), router));
    }
    endpoints.host = endpoints.map.attach("host", 0);
    return endpoints;
}

sched::HardwareDescription make_hardware_description(const PlatformConfig& p) {
    sched::HardwareDescription hardware;
    hardware.name = p.chip.name;
    hardware.columns = p.chip.columns;
    hardware.rows = p.chip.rows;
    hardware.pe_rows = p.pe_array.rows;
    hardware.pe_columns = p.pe_array.columns;
    hardware.clock_ghz = p.chip.clock_ghz;
    hardware.pe_register_bytes = p.pe_array.register_bytes;
    hardware.wide_partial_sums = p.pe_array.partial_sums == "fp32";
    hardware.scratchpad_bytes = static_cast<std::uint32_t>(p.scratchpad.capacity_bytes);
    hardware.scratchpad_bytes_per_cycle = p.scratchpad.bytes_per_cycle;
    hardware.scratchpad_write_bytes_per_cycle = p.scratchpad.write_bytes_per_cycle;
    hardware.kernel_share = p.scratchpad.kernel_share;
    hardware.link_bytes_per_cycle = p.noc.link_bytes_per_cycle;
    hardware.hop_cycles = p.noc.router_cycles + p.noc.link_cycles;
    hardware.header_bytes = p.noc.header_bytes;
    hardware.region_bytes = p.hbm.region_bytes;
    hardware.memory_latency_cycles = p.cycles(p.hbm.read_latency_ns);
    hardware.setup_cycles = p.network_interface.setup_cycles;
    hardware.multicast_reads = p.network_interface.multicast_reads();
    const ChipEndpoints endpoints = p.endpoints();
    const double bytes_per_cycle = p.hbm.peak_bytes_per_cycle() * (1 - p.hbm.refresh_share);
    for (unsigned i = 0; i < p.hbm.interfaces(); ++i)
        hardware.memory.push_back(
            {static_cast<std::uint16_t>(endpoints.map.routers()[endpoints.memory[i]]), bytes_per_cycle});
    return hardware;
}

namespace {

[[noreturn]] void fail_unknown(const std::string& key) {
    std::vector<KeyDescription> described;
    PlatformConfig defaults;
    for_each_section(defaults, [&described](const char* name, const char*, auto&& describe_section) {
        ConfigReader reader(YAML::Node(), "", name, nullptr, &described);
        describe_section(reader);
    });
    std::vector<std::string> keys;
    keys.reserve(described.size());
    for (const KeyDescription& one : described) keys.push_back(one.key);
    throw InputError("--set", 0, key, "expected a known key, found " + key + suggestion(key, keys));
}

}  // namespace

PlatformConfig read_platform(const std::string& path, std::map<std::string, std::string> overrides) {
    const YAML::Node root = load_yaml(path);
    PlatformConfig platform;
    check_sections(root, path, section_rules());
    for_each_section(platform, [&](const char* name, const char*, auto&& describe_section) {
        ConfigReader reader(root[name], path, name, &overrides);
        describe_section(reader);
        reader.finish();
    });
    if (!overrides.empty()) fail_unknown(overrides.begin()->first);
    derive(platform);
    choose_chip(platform);
    check(platform, root, path);
    return platform;
}

std::vector<KeyDescription> platform_keys() {
    std::vector<KeyDescription> keys;
    PlatformConfig defaults;
    for_each_section(defaults, [&keys](const char* name, const char*, auto&& describe_section) {
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe_section(reader);
    });
    return keys;
}

std::string platform_keys_markdown() {
    std::string text =
        "# Platform keys\n\n"
        "A platform is a YAML file with one section a component (`configs/platforms/`). Every section must be there; a "
        "key that is\nleft out has its default. `system: adyna` may stand in front of the sections: the system whose "
        "platform it is\n(`sy-sim systems`). `--set section.key=value` overrides a key on the command line. An "
        "unknown section or key, a value\nof the wrong type and a value out of range are errors that name the file, "
        "the "
        "line and the key. Units are part of the\nkeys' names, values are plain numbers.\n\n"
        "This file is printed by `sy-sim keys`; a test compares the two.\n";
    PlatformConfig defaults;
    for_each_section(defaults, [&text](const char* name, const char* meaning, auto&& describe_section) {
        std::vector<KeyDescription> keys;
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe_section(reader);
        text += fmt::format("\n## {}\n\n{}\n\n{}", name, meaning, key_table(keys));
    });
    return text;
}

std::string register_map_markdown() {
    return hw::host_registers::kDocument;
}

}  // namespace switchyard::platform
