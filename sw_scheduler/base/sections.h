// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace switchyard {

/// What a YAML file of sections has: platforms, GPUs, devices of memory.
struct SectionRules {
    std::string system;              ///< value of the key `system`, if it is there; empty: there is no such key
    std::set<std::string> sections;  ///< keys with a mapping
    std::set<std::string> texts;     ///< keys with one text
    std::set<std::string> required;  ///< those that must be there
};

/// Throws InputError "file:line: key: expected X, found Y" for a file that is no mapping, a key that is none of the
/// rules (with the nearest one), a value of another kind, another system, and a key that is missing.
void check_sections(const YAML::Node& root, const std::string& file, const SectionRules& rules);

/// The text of a key that check_sections() has let through; empty if there is none.
std::string section_text(const YAML::Node& root, const std::string& key);

/// The text of a platform file's key `system`; empty if there is none. Throws InputError for a file that is no mapping
/// and for a system that is no text.
std::string system_of_platform(const YAML::Node& root, const std::string& file);

/// Throws InputError "--set: key: unknown key" with the nearest of `known` for an override that no section has taken.
void refuse_left_overrides(const std::map<std::string, std::string>& overrides, const std::vector<std::string>& known);

}  // namespace switchyard
