// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/platform_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

YAML::Node load_sections(const std::string& path, const std::string& system, const std::set<std::string>& known) {
    const YAML::Node file = path.empty() ? YAML::Node(YAML::NodeType::Map) : load_yaml(path);
    if (!file.IsMap()) throw InputError(path, line_of(file), "", "wants sections");
    for (const auto& entry : file) {
        const std::string& key = entry.first.Scalar();
        if (key == "system") {
            if (!entry.second.IsScalar() || entry.second.Scalar() != system)
                throw InputError(path, line_of(entry.second), key, "wants " + system);
        } else if (known.count(key) == 0) {
            throw InputError(path, line_of(entry.first), key,
                             fmt::format("unknown section; known: {}", fmt::join(known, ", ")));
        }
    }
    return file;
}

YAML::Node section_of(const YAML::Node& file, const std::string& path, const std::string& name) {
    const YAML::Node section = file[name];
    if (section.IsDefined() && !section.IsMap()) throw InputError(path, line_of(section), name, "wants keys");
    return section;
}

void refuse_left_overrides(const std::map<std::string, std::string>& overrides) {
    if (!overrides.empty()) throw InputError("--set", 0, overrides.begin()->first, "unknown key");
}

}  // namespace switchyard::platform
