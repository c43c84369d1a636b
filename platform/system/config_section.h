// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/config.h"

namespace switchyard::platform {

/// A Config with describe() as the only section of a YAML file: what a system reads that has one Config.

/// The section. `system`: what the file's key `system` says, if it is there. Throws InputError: another section, or
/// none, or a file of another system.
YAML::Node only_section(const std::string& path, const std::string& name, const std::string& system);

/// An empty `path` stands for the defaults. Overrides ("gpu.launch_us" -> "3") win over the file and are removed.
/// Throws InputError "file:line: section.key: ...".
template <class Config>
Config read_only_section(const std::string& path, const char* name, const char* system,
                         std::map<std::string, std::string>& overrides) {
    Config config;
    ConfigReader reader(path.empty() ? YAML::Node() : only_section(path, name, system), path, name, &overrides);
    describe(reader, config);
    reader.finish();
    return config;
}

template <class Config>
std::vector<KeyDescription> section_keys(const char* name) {
    Config defaults;
    std::vector<KeyDescription> keys;
    ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
    describe(reader, defaults);
    return keys;
}

/// "section.key" without "section.", of all keys.
std::vector<std::string> names_in_section(const std::vector<KeyDescription>& keys);

/// "## name", the meaning, and a table of the keys.
std::string section_markdown(const char* name, const char* meaning, const std::vector<KeyDescription>& keys);

/// Parameters of a design as overrides of its section, but for `file`, which names the file of the section.
std::map<std::string, std::string> section_overrides(const std::map<std::string, std::string>& parameters,
                                                     const char* section);
/// Empty: the defaults.
std::string section_file(const std::map<std::string, std::string>& parameters);
inline constexpr const char* kFileParameter = "file";

}  // namespace switchyard::platform
