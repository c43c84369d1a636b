// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "switchyard/platform/system/config_section.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/sections.h"

namespace switchyard::platform {

/// A platform file whose sections are Configs with describe(): what a system reads that has several. Its struct has one
/// function, found by the struct's namespace, which visits each section with its name:
///   template <class Visit>
///   void for_each_section(FooConfig& config, Visit visit) { visit("array", config.array); ... }

/// The file, of which check_sections() has approved. An empty `path` stands for a file without keys. Throws InputError
/// "file:line: key: ...".
YAML::Node load_sections(const std::string& path, const SectionRules& rules);

/// The names of the sections.
template <class Config>
std::set<std::string> section_names() {
    std::set<std::string> names;
    Config any;
    for_each_section(any, [&](const char* name, auto&) { names.insert(name); });
    return names;
}

/// Overrides ("array.rows" -> "3") win over the file and are removed. Throws InputError "file:line: section.key: ...".
template <class Config>
void read_sections(const YAML::Node& file, const std::string& path, std::map<std::string, std::string>& overrides,
                   Config& config) {
    for_each_section(config, [&](const char* name, auto& section) {
        ConfigReader reader(file[name], path, name, &overrides);
        describe(reader, section);
        reader.finish();
    });
}

/// The keys of all sections.
template <class Config>
std::vector<KeyDescription> keys_of_sections() {
    std::vector<KeyDescription> keys;
    Config defaults;
    for_each_section(defaults, [&](const char* name, auto& section) {
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe(reader, section);
    });
    return keys;
}

/// "section.key" of all of them.
std::vector<std::string> names_of(const std::vector<KeyDescription>& keys);

}  // namespace switchyard::platform
