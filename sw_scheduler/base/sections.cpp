// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/sections.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard {

namespace {

constexpr const char* kSystemKey = "system";

void check_mapping(const YAML::Node& root, const std::string& file) {
    if (!root.IsMap())
        throw InputError(file, line_of(root), "", "expected a mapping of sections, found " + kind_of(root));
}

}  // namespace

void check_sections(const YAML::Node& root, const std::string& file, const SectionRules& rules) {
    check_mapping(root, file);
    std::set<std::string> found;
    for (const auto& item : root) {
        const auto fail = [&](const std::string& key, const std::string& message) {
            throw InputError(file, line_of(item.first), key, message);
        };
        if (!item.first.IsScalar()) fail("", "expected text as a key, found " + kind_of(item.first));
        const std::string& key = item.first.Scalar();
        found.insert(key);
        const bool section = rules.sections.count(key) > 0, text = rules.texts.count(key) > 0;
        if (key == kSystemKey && !rules.system.empty()) {
            if (!item.second.IsScalar() || item.second.Scalar() != rules.system)
                fail(key, fmt::format("expected {}, found {}; a platform of another system has other sections",
                                      rules.system, kind_of(item.second)));
        } else if (!section && !text) {
            std::set<std::string> known = rules.sections;
            known.insert(rules.texts.begin(), rules.texts.end());
            std::vector<std::string> names(known.begin(), known.end());
            if (!rules.system.empty()) names.emplace_back(kSystemKey);
            fail(key, not_one_of(key, names));
        } else if (section && !item.second.IsMap() && !item.second.IsNull()) {
            fail(key, "expected a mapping of keys, found " + kind_of(item.second));
        } else if (text && (!item.second.IsScalar() || item.second.Scalar().empty())) {
            fail(key, "expected text, found " + kind_of(item.second));
        }
    }
    for (const std::string& name : rules.required)
        if (found.count(name) == 0) throw InputError(file, line_of(root), name, "expected a section, found none");
}

std::string section_text(const YAML::Node& root, const std::string& key) {
    const YAML::Node value = root[key];
    return value.IsDefined() && value.IsScalar() ? value.Scalar() : "";
}

std::string system_of_platform(const YAML::Node& root, const std::string& file) {
    check_mapping(root, file);
    const YAML::Node value = root[kSystemKey];
    if (value.IsDefined() && !value.IsScalar())
        throw InputError(file, line_of(value), kSystemKey, "expected text, found " + kind_of(value));
    return section_text(root, kSystemKey);
}

void refuse_left_overrides(const std::map<std::string, std::string>& overrides, const std::vector<std::string>& known) {
    if (overrides.empty()) return;
    const std::string& key = overrides.begin()->first;
    throw InputError("--set", 0, key, "expected a known key, found " + key + suggestion(key, known));
}

}  // namespace switchyard
