// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_config.h"

#include <filesystem>
#include <set>

#include "switchyard/platform/system/platform_sections.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform::ace {

namespace {

GpuPlatform read_gpu(const std::string& path, const YAML::Node& file, std::map<std::string, std::string>& overrides) {
    if (!file["gpu_file"].IsDefined()) return read_gpu_sections(YAML::Node(YAML::NodeType::Map), path, overrides);
    const std::string gpu_file =
        (std::filesystem::path(path).parent_path() / file["gpu_file"].Scalar()).lexically_normal().string();
    read_gpu_platform(gpu_file);  // nothing but a GPU's sections
    return read_gpu_sections(load_yaml(gpu_file), gpu_file, overrides);
}

}  // namespace

/// Every section besides the GPU's.
template <class Visit>
void for_each_section(AceConfig& config, Visit visit) {
    visit("scheduling_window", config.window);
    visit("host", config.host);
    visit("run", config.run);
    visit("energy", config.energy);
}

AceConfig read_ace_config(const std::string& path, std::map<std::string, std::string> overrides) {
    AceConfig config;
    std::set<std::string> known = section_names<AceConfig>();
    known.insert("gpu_file");
    const YAML::Node file = load_sections(path, "ace", known);
    config.gpu = read_gpu(path, file, overrides);
    config.gpu.gpu.cta_scheduler.keep_records = true;
    read_sections(file, path, overrides, config);
    refuse_left_overrides(overrides);
    const std::string message = hw::validation_error(config.window);
    if (!message.empty()) throw InputError(path, 0, "scheduling_window", message);
    return config;
}

std::vector<KeyDescription> ace_keys() {
    return keys_of_sections<AceConfig>();
}

}  // namespace switchyard::platform::ace
