// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_config.h"

#include <filesystem>
#include <set>

#include "switchyard/platform/system/platform_sections.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform::ace {

namespace {

GpuPlatform read_gpu(const std::string& path, const YAML::Node& file, std::map<std::string, std::string>& overrides) {
    const std::filesystem::path gpu_file = section_text(file, "gpu_file");
    if (gpu_file.empty()) return read_gpu_sections(YAML::Node(YAML::NodeType::Map), path, overrides);
    return read_gpu_file((std::filesystem::path(path).parent_path() / gpu_file).lexically_normal().string(), overrides);
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
    const YAML::Node file = load_sections(path, {"ace", section_names<AceConfig>(), {"gpu_file"}, {}});
    config.gpu = read_gpu(path, file, overrides);
    config.gpu.gpu.cta_scheduler.keep_records = true;
    read_sections(file, path, overrides, config);
    std::vector<std::string> known = names_of(ace_keys()), of_gpu = gpu_keys();
    known.insert(known.end(), of_gpu.begin(), of_gpu.end());
    refuse_left_overrides(overrides, known);
    const std::string message = hw::validation_error(config.window);
    if (!message.empty()) throw InputError(path, 0, "scheduling_window", message);
    return config;
}

std::vector<KeyDescription> ace_keys() {
    return keys_of_sections<AceConfig>();
}

}  // namespace switchyard::platform::ace
