// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/tenant_config.h"

#include "switchyard/platform/system/config_section.h"

namespace switchyard::platform {

TenantConfig read_tenant_config(const std::string& path, std::map<std::string, std::string>& overrides) {
    return read_only_section<TenantConfig>(path, kTenantSection, kTenantSection, overrides);
}

std::vector<KeyDescription> tenant_keys() {
    return section_keys<TenantConfig>(kTenantSection);
}

}  // namespace switchyard::platform
