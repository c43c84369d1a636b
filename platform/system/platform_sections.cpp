// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/platform_sections.h"

namespace switchyard::platform {

YAML::Node load_sections(const std::string& path, const SectionRules& rules) {
    const YAML::Node file = path.empty() ? YAML::Node(YAML::NodeType::Map) : load_yaml(path);
    check_sections(file, path, rules);
    return file;
}

std::vector<std::string> names_of(const std::vector<KeyDescription>& keys) {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const KeyDescription& key : keys) names.push_back(key.key);
    return names;
}

}  // namespace switchyard::platform
