// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/device.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/hw/memory/dram/builtin_devices.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/crc32.h"
#include "switchyard/sw_scheduler/base/sections.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::hw::dram {

namespace {

bool power_of_two(unsigned value) {
    return value != 0 && (value & (value - 1)) == 0;
}

/// The one list of sections of a device file.
template <class Visit>
void for_each_section(Device& d, Visit&& visit) {
    visit("device", [&d](ConfigReader& reader) { describe(reader, d); });
    visit("geometry", [&d](ConfigReader& reader) { describe(reader, d.geometry); });
    visit("timing", [&d](ConfigReader& reader) { describe(reader, d.timing); });
    visit("controller", [&d](ConfigReader& reader) { describe(reader, d.policy); });
}

bool is_path(const std::string& name) {
    return name.find('/') != std::string::npos || name.find(".yaml") != std::string::npos;
}

const BuiltinDevice* find_builtin(const std::string& name) {
    static const std::pair<const char*, const char*> kShort[] = {
        {"hbm2", "hbm2_2000"}, {"ddr4", "ddr4_2400"}, {"lpddr4", "lpddr4_3200"}};
    std::string full = name;
    for (const auto& [alias, device] : kShort)
        if (name == alias) full = device;
    const std::vector<BuiltinDevice>& known = builtin_device_texts();
    const auto found =
        std::find_if(known.begin(), known.end(), [&full](const BuiltinDevice& device) { return full == device.name; });
    return found == known.end() ? nullptr : &*found;
}

SectionRules section_rules() {
    SectionRules rules;
    Device any;
    for_each_section(any, [&rules](const char* name, auto&&) { rules.sections.insert(name); });
    rules.required = rules.sections;
    return rules;
}

}  // namespace

unsigned Timing::read_to_write_cycles() const {
    const unsigned data_gone = tcl_cycles + burst_cycles + turnaround_cycles;
    return std::max(column_s_cycles(), data_gone > tcwl_cycles ? data_gone - tcwl_cycles : 0);
}

double Device::pseudo_channel_gb_per_s() const {
    return geometry.burst_bytes / timing.ns(timing.burst_cycles);
}

double Device::refresh_share() const {
    if (policy.refresh == "none") return 0;
    if (policy.refresh == "all-bank") return static_cast<double>(timing.trfc_cycles) / timing.trefi_cycles;
    return static_cast<double>(timing.trfc_bank_cycles) / timing.trefi_bank_cycles / geometry.banks();
}

double Device::refresh_loss() const {
    if (policy.refresh != "all-bank") return refresh_share();
    return static_cast<double>(timing.trp_all_cycles + timing.trfc_cycles + timing.trcd_read_cycles) /
           timing.trefi_cycles;
}

double Device::refresh_interval_ns() const {
    if (policy.refresh == "none") return 0;
    return timing.ns(policy.refresh == "all-bank" ? timing.trefi_cycles : timing.trefi_bank_cycles);
}

double ActivationBounds::min() const {
    return std::min({tfaw, trrd, trc, command_bus});
}

ActivationBounds activation_bounds(const Device& device) {
    const Timing& t = device.timing;
    const Geometry& g = device.geometry;
    const auto bandwidth = [&](double activates, double cycles) {
        return activates * g.burst_bytes / t.ns(cycles) * g.pseudo_channels_in_all();
    };
    ActivationBounds bounds;
    bounds.tfaw = bandwidth(4, t.tfaw_cycles);
    bounds.trrd = bandwidth(1, g.bank_groups > 1 ? t.trrd_s_cycles : t.trrd_l_cycles);
    bounds.trc = bandwidth(g.banks(), t.trc_cycles);
    const unsigned precharge = device.policy.page == "closed" ? 0 : t.precharge_bus_cycles;
    const unsigned row_bus = t.activate_bus_cycles + precharge;
    const unsigned cycles =
        t.shared_command_bus ? row_bus + t.column_bus_cycles : std::max(row_bus, t.column_bus_cycles);
    bounds.command_bus = bandwidth(1, static_cast<double>(cycles) * g.pseudo_channels);
    return bounds;
}

std::string validation_error(const Device& device) {
    const Geometry& g = device.geometry;
    const Timing& t = device.timing;
    const Policy& p = device.policy;
    const std::pair<const char*, unsigned> sizes[] = {{"channels", g.channels},
                                                      {"pseudo_channels", g.pseudo_channels},
                                                      {"bank_groups", g.bank_groups},
                                                      {"banks_per_group", g.banks_per_group},
                                                      {"rows", g.rows},
                                                      {"bursts_per_row", g.bursts_per_row},
                                                      {"burst_bytes", g.burst_bytes}};
    for (const auto& [name, size] : sizes)
        if (!power_of_two(size)) return fmt::format("geometry.{}: expected a power of two, found {}", name, size);
    if (g.banks() > kMaxBanks)
        return fmt::format("geometry: expected at most {} banks in a pseudo-channel, found {}", kMaxBanks, g.banks());
    if (t.trc_cycles < t.tras_cycles + t.trp_cycles)
        return fmt::format("timing.trc_cycles: expected at least {}, tras_cycles + trp_cycles, found {}",
                           t.tras_cycles + t.trp_cycles, t.trc_cycles);
    const std::tuple<const char*, unsigned, unsigned> groups[] = {{"trrd", t.trrd_l_cycles, t.trrd_s_cycles},
                                                                  {"tccd", t.tccd_l_cycles, t.tccd_s_cycles},
                                                                  {"twtr", t.twtr_l_cycles, t.twtr_s_cycles}};
    for (const auto& [name, same, other] : groups)
        if (same < other)
            return fmt::format("timing.{}_l_cycles: expected at least {}_s_cycles, {}, found {}", name, name, other,
                               same);
    if (p.refresh == "all-bank" && t.trefi_cycles <= t.trfc_cycles + t.trc_cycles)
        return fmt::format("timing.trefi_cycles: expected more than trfc_cycles + trc_cycles, {}, found {}",
                           t.trfc_cycles + t.trc_cycles, t.trefi_cycles);
    if (p.refresh == "per-bank") {
        if (t.trefi_bank_cycles == 0 || t.trfc_bank_cycles == 0)
            return fmt::format(
                "controller.refresh: expected timing.trefi_bank_cycles and trfc_bank_cycles for per-bank, found "
                "{} and {}",
                t.trefi_bank_cycles, t.trfc_bank_cycles);
        if (t.trefi_bank_cycles * g.banks() <= t.trfc_bank_cycles + t.trc_cycles)
            return fmt::format(
                "timing.trefi_bank_cycles: expected more than {} for {} banks (trfc_bank_cycles + trc_cycles), "
                "found {}",
                (t.trfc_bank_cycles + t.trc_cycles) / g.banks(), g.banks(), t.trefi_bank_cycles);
    }
    if (p.write_high_bursts > device.write_entries())
        return fmt::format(
            "controller.write_high_bursts: expected at most the {} writes that a channel holds, found {}",
            device.write_entries(), p.write_high_bursts);
    if (p.write_low_bursts >= p.write_high_bursts)
        return fmt::format("controller.write_low_bursts: expected less than write_high_bursts, {}, found {}",
                           p.write_high_bursts, p.write_low_bursts);
    if (const std::string message = AddressMapping::validation_error(p.mapping, g); !message.empty())
        return "controller.mapping: " + message;
    return "";
}

namespace {

Device device_of(const YAML::Node& root, const std::string& file, std::map<std::string, std::string> overrides) {
    Device device;
    const std::string plain = YAML::Dump(root);
    device.contents = crc32_of(plain.data(), plain.size());
    check_sections(root, file, section_rules());
    for_each_section(device, [&](const char* section, auto&& describe_section) {
        ConfigReader reader(root[section], file, section, &overrides);
        describe_section(reader);
        reader.finish();
    });
    refuse_left_overrides(overrides, {});
    if (const std::string message = validation_error(device); !message.empty()) throw InputError(file, 0, "", message);
    return device;
}

Device read_builtin(const BuiltinDevice& builtin, std::map<std::string, std::string> overrides) {
    const std::string file = std::string("configs/devices/") + builtin.name + ".yaml";
    return device_of(parse_yaml(builtin.text, file), file, std::move(overrides));
}

/// A platform asks for its device again and again.
const Device& known_builtin(const BuiltinDevice& builtin) {
    static std::mutex mutex;
    static std::map<std::string, Device> known;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known.find(builtin.name);
    return found != known.end() ? found->second : known.emplace(builtin.name, read_builtin(builtin, {})).first->second;
}

}  // namespace

Device read_device(const std::string& name, std::map<std::string, std::string> overrides) {
    if (is_path(name)) return device_of(load_yaml(name), name, std::move(overrides));
    const BuiltinDevice* const builtin = find_builtin(name);
    if (builtin == nullptr)
        throw InputError(name, 0, "",
                         fmt::format("expected a file or one of {}, found {}{}", fmt::join(builtin_devices(), ", "),
                                     name, suggestion(name, builtin_devices())));
    return overrides.empty() ? known_builtin(*builtin) : read_builtin(*builtin, std::move(overrides));
}

std::vector<std::string> builtin_devices() {
    std::vector<std::string> names;
    for (const BuiltinDevice& device : builtin_device_texts()) names.emplace_back(device.name);
    return names;
}

std::string device_keys_markdown() {
    Device device;
    std::vector<KeyDescription> keys;
    for_each_section(device, [&](const char* section, auto&& describe_section) {
        ConfigReader reader(YAML::Node(), "", section, nullptr, &keys);
        describe_section(reader);
    });
    return key_table(keys);
}

}  // namespace switchyard::hw::dram
