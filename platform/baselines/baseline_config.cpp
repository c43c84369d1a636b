// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "switchyard/platform/baselines/gpu_config.h"
#include "switchyard/platform/baselines/tenant_config.h"
#include "switchyard/sw_scheduler/base/config.h"

namespace switchyard::platform {

namespace {

constexpr const char* kGpuSection = "gpu";
constexpr const char* kTenantSection = "m_tenant";

/// The only section of a file.
YAML::Node read_section(const std::string& path, const std::string& name) {
    const YAML::Node root = load_yaml(path);
    if (!root.IsMap()) throw InputError(path, line_of(root), "", "wants a mapping with the section \"" + name + "\"");
    for (const auto& item : root)
        if (item.first.Scalar() != name)
            throw InputError(path, line_of(item.first), item.first.Scalar(), "unknown section; known: " + name);
    if (!root[name].IsDefined()) throw InputError(path, line_of(root), name, "section is missing");
    return root[name];
}

template <class Config>
Config read(const YAML::Node& section, const std::string& path, const char* name,
            std::map<std::string, std::string>& overrides) {
    Config config;
    ConfigReader reader(section, path, name, &overrides);
    describe(reader, config);
    reader.finish();
    return config;
}

template <class Config>
std::vector<KeyDescription> keys_of(const char* name) {
    Config defaults;
    std::vector<KeyDescription> keys;
    ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
    describe(reader, defaults);
    return keys;
}

template <class Config>
std::string section_table(const char* name, const char* meaning) {
    return fmt::format("\n## {}\n\n{}\n\n{}", name, meaning, key_table(keys_of<Config>(name)));
}

template <class Config>
std::vector<std::string> key_names(const std::string& section) {
    std::vector<std::string> names;
    for (const KeyDescription& key : keys_of<Config>(section.c_str()))
        names.push_back(key.key.substr(section.size() + 1));
    return names;
}

}  // namespace

GpuConfig read_gpu_config(const std::string& path, std::map<std::string, std::string>& overrides) {
    const YAML::Node section = path.empty() ? YAML::Node() : read_section(path, kGpuSection);
    return read<GpuConfig>(section, path, kGpuSection, overrides);
}

TenantConfig read_tenant_config(const std::string& path, std::map<std::string, std::string>& overrides) {
    const YAML::Node section = path.empty() ? YAML::Node() : read_section(path, kTenantSection);
    return read<TenantConfig>(section, path, kTenantSection, overrides);
}

std::vector<std::string> gpu_keys() {
    return key_names<GpuConfig>(kGpuSection);
}

std::vector<std::string> tenant_keys() {
    return key_names<TenantConfig>(kTenantSection);
}

std::string baseline_keys_markdown() {
    return "# Keys of the baselines\n\n"
           "What `sy-sim baseline` reads: for `gpu` a file with the section `gpu` (`configs/platforms/a100.yaml`), for "
           "`m-tenant` the\nplatform file of the chip (`docs/platform_keys.md`) and, with `--tenant`, a file with the "
           "section `m_tenant`. Keys that are\nleft out have their defaults; `--set section.key=value` overrides them. "
           "`docs/baselines.md` says what they stand for.\n\n"
           "This file is printed by `sy-sim baseline keys`; a test compares the two.\n" +
           section_table<GpuConfig>(kGpuSection, "the GPU, its host and its driver") +
           section_table<TenantConfig>(kTenantSection, "the multi-tenant chip beside its platform file");
}

}  // namespace switchyard::platform
