// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_config.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform::ace {

namespace {

/// Visits every section besides the GPU's with its name.
template <class Visit>
void for_each_ace_section(AceConfig& config, Visit visit) {
    visit("scheduling_window", config.window);
    visit("host", config.host);
    visit("run", config.run);
    visit("energy", config.energy);
}

[[noreturn]] void refuse(const std::string& path, const YAML::Node& node, const std::string& key,
                         const std::string& message) {
    throw InputError(path, line_of(node), key, message);
}

void check_sections(const std::string& path, const YAML::Node& file) {
    if (!file.IsMap()) refuse(path, file, "", "wants sections");
    std::set<std::string> known;
    AceConfig any;
    for_each_ace_section(any, [&](const char* name, auto&) { known.insert(name); });
    for (const auto& entry : file) {
        const std::string& key = entry.first.Scalar();
        if (key == "gpu_file") continue;
        if (key == "system") {
            if (entry.second.Scalar() != "ace")
                refuse(path, entry.second, key, fmt::format("\"{}\" is not ace", entry.second.Scalar()));
        } else if (known.count(key) == 0) {
            refuse(path, entry.first, key, fmt::format("unknown section; there are {}", fmt::join(known, ", ")));
        }
    }
}

GpuPlatform read_gpu(const std::string& path, const YAML::Node& file, std::map<std::string, std::string>& overrides) {
    if (!file["gpu_file"].IsDefined()) return read_gpu_sections(YAML::Node(YAML::NodeType::Map), path, overrides);
    const std::string gpu_file =
        (std::filesystem::path(path).parent_path() / file["gpu_file"].Scalar()).lexically_normal().string();
    read_gpu_platform(gpu_file);  // nothing but a GPU's sections
    return read_gpu_sections(load_yaml(gpu_file), gpu_file, overrides);
}

}  // namespace

AceConfig read_ace_config(const std::string& path, std::map<std::string, std::string> overrides) {
    AceConfig config;
    const YAML::Node file = path.empty() ? YAML::Node(YAML::NodeType::Map) : load_yaml(path);
    check_sections(path, file);
    config.gpu = read_gpu(path, file, overrides);
    config.gpu.gpu.cta_scheduler.keep_records = true;
    for_each_ace_section(config, [&](const char* name, auto& section) {
        const YAML::Node node = file[name];
        if (node.IsDefined() && !node.IsMap()) refuse(path, node, name, "wants keys");
        ConfigReader reader(node, path, name, &overrides);
        describe(reader, section);
        reader.finish();
    });
    if (!overrides.empty()) throw InputError("--set", 0, overrides.begin()->first, "unknown key");
    const std::string message = hw::validation_error(config.window);
    if (!message.empty()) throw InputError(path, 0, "scheduling_window", message);
    return config;
}

std::vector<KeyDescription> ace_keys() {
    std::vector<KeyDescription> keys;
    AceConfig defaults;
    for_each_ace_section(defaults, [&](const char* name, auto& section) {
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe(reader, section);
    });
    return keys;
}

}  // namespace switchyard::platform::ace
