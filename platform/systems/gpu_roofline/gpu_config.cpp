// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/gpu_roofline/gpu_config.h"

#include "switchyard/platform/system/config_section.h"

namespace switchyard::platform {

GpuConfig read_gpu_config(const std::string& path, std::map<std::string, std::string>& overrides) {
    return read_only_section<GpuConfig>(path, kGpuSection, kGpuRoofline, overrides);
}

std::vector<KeyDescription> gpu_keys() {
    return section_keys<GpuConfig>(kGpuSection);
}

}  // namespace switchyard::platform
