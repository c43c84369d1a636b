// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/config.h"

namespace switchyard::platform {

/// What the multi-tenant baseline has beside the chip's platform file: docs/baselines.md.
struct TenantConfig {
    std::string impl = "formula";
    bool exact_kernels = false;
    double reallocation_gain = 0.1;
    std::string groups = "free";
    std::string shares = "work";
    double host_synchronisation_us = 10;
    unsigned synchronisations_per_switch = 1;
    unsigned synchronisations_per_merge = 1;
};

template <class V>
void describe(V& v, TenantConfig& c) {
    v.choice(
        "impl", c.impl, {"formula", "tiles"},
        "tasks as shares of the chip that progress evenly; or tiles, network and memory simulated, round by round");
    v.field("exact_kernels", c.exact_kernels,
            "kernels for any number of samples, in favour of the tenants; no: for a whole batch, of which rounds and "
            "blocks that a batch does not need are left out (Adyna, Table II and section VIII: kernels for each amount "
            "of resources)");
    v.field("reallocation_gain", c.reallocation_gain, 0, 10,
            "impl tiles: a tenant that runs is stopped for a larger group of tiles if that has more than this share "
            "more of them");
    v.choice(
        "groups", c.groups, {"free", "power_of_two"},
        "tiles that a tenant may get: any number, as Planaria's scheduler gives subarrays, or powers of two, as its "
        "subarrays are composed inside a task");
    v.choice("shares", c.shares, {"work", "inverse"},
             "tiles are shared out in proportion to the tenants' remaining work, so that they end together, or to its "
             "inverse, as Planaria's scheduler gives spare subarrays to tasks of one priority, so that short ones end "
             "soon");
    v.field(
        "host_synchronisation_us", c.host_synchronisation_us, 0, 1e6,
        "from the end of an operator until the host has read its mask, has made the index lists and the chip may go "
        "on (a 4-byte copy to the host with synchronisation: 9.2 to 9.7 us at least on GPUs; sweep 5 to 45)");
    v.field("synchronisations_per_switch", c.synchronisations_per_switch, 0, 16,
            "of the host for a switch that a sample reaches (Adyna, section VIII: switches are done on the host)");
    v.field("synchronisations_per_merge", c.synchronisations_per_merge, 0, 16,
            "of the host for a merge that a sample reaches (Adyna, section VIII: merges are done on the host)");
}

/// Section `m_tenant` of a YAML file, the only one in it; no file: the defaults. Overrides
/// ("m_tenant.groups" -> "free") win over it and are removed. Throws InputError "file:line: m_tenant.key: ...".
TenantConfig read_tenant_config(const std::string& path, std::map<std::string, std::string>& overrides);
inline constexpr const char* kTenantSection = "m_tenant";
/// Keys of the section with type, default, range and meaning.
std::vector<KeyDescription> tenant_keys();

}  // namespace switchyard::platform
