// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_config.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform::ace {

namespace {

/// Visits every section with its name.
template <class Visit>
void for_each_section(AceConfig& config, Visit visit) {
    visit("gpu", config.gpu);
    visit("multiprocessors", config.gpu.multiprocessors);
    visit("memory", config.gpu.memory);
    visit("command_processor", config.gpu.command_processor);
    visit("cta_scheduler", config.gpu.cta_scheduler);
    visit("link", config.link);
    visit("scheduling_window", config.window);
    visit("host", config.host);
    visit("run", config.run);
}

[[noreturn]] void refuse(const std::string& path, const YAML::Node& node, const std::string& key,
                         const std::string& message) {
    throw InputError(path, line_of(node), key, message);
}

void check_sections(const std::string& path, const YAML::Node& file) {
    if (!file.IsMap()) refuse(path, file, "", "wants sections");
    std::set<std::string> known;
    AceConfig any;
    for_each_section(any, [&](const char* name, auto&) { known.insert(name); });
    for (const auto& entry : file) {
        const auto key = entry.first.as<std::string>();
        if (key == "system") {
            if (entry.second.as<std::string>() != "ace")
                refuse(path, entry.second, key, fmt::format("\"{}\" is not ace", entry.second.as<std::string>()));
        } else if (known.count(key) == 0) {
            refuse(path, entry.first, key, fmt::format("unknown section; there are {}", fmt::join(known, ", ")));
        }
    }
}

}  // namespace

AceConfig read_ace_config(const std::string& path, std::map<std::string, std::string> overrides) {
    AceConfig config;
    config.gpu.cta_scheduler.keep_records = true;
    const YAML::Node file = path.empty() ? YAML::Node(YAML::NodeType::Map) : load_yaml(path);
    check_sections(path, file);
    for_each_section(config, [&](const char* name, auto& section) {
        const YAML::Node node = file[name];
        if (node.IsDefined() && !node.IsMap()) refuse(path, node, name, "wants keys");
        ConfigReader reader(node, path, name, &overrides);
        describe(reader, section);
        reader.finish();
    });
    if (!overrides.empty()) throw InputError("--set", 0, overrides.begin()->first, "unknown key");
    config.device_memory.latency_ns = config.gpu.memory.memory_latency_ns;
    config.device_memory.gb_per_s = config.gpu.memory.memory_gb_per_s;
    for (const std::string& message :
         {validation_error(config.gpu), validation_error(config.link), hw::validation_error(config.window)})
        if (!message.empty()) throw InputError(path, 0, "", message);
    return config;
}

std::vector<KeyDescription> ace_keys() {
    std::vector<KeyDescription> keys;
    AceConfig defaults;
    for_each_section(defaults, [&](const char* name, auto& section) {
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe(reader, section);
    });
    return keys;
}

}  // namespace switchyard::platform::ace
