// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/config_section.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/sections.h"

namespace switchyard::platform {

YAML::Node only_section(const std::string& path, const std::string& name, const std::string& system) {
    const YAML::Node root = load_yaml(path);
    check_sections(root, path, {system, {name}, {}, {name}});
    return root[name];
}

std::vector<std::string> names_in_section(const std::vector<KeyDescription>& keys) {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const KeyDescription& key : keys) names.push_back(key.key.substr(key.key.find('.') + 1));
    return names;
}

std::string section_markdown(const char* name, const char* meaning, const std::vector<KeyDescription>& keys) {
    return fmt::format("\n## {}\n\n{}\n\n{}", name, meaning, key_table(keys));
}

std::map<std::string, std::string> section_overrides(const std::map<std::string, std::string>& parameters,
                                                     const char* section) {
    std::map<std::string, std::string> overrides;
    for (const auto& [key, value] : parameters)
        if (key != kFileParameter) overrides.emplace(fmt::format("{}.{}", section, key), value);
    return overrides;
}

std::string section_file(const std::map<std::string, std::string>& parameters) {
    const auto file = parameters.find(kFileParameter);
    return file == parameters.end() ? "" : file->second;
}

}  // namespace switchyard::platform
