// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/m_tenant/tenant_batch.h"

namespace switchyard::platform {

/// The batches on a chip of hw::TaskTile, with the platform's network and memory, one after another. `hardware` as
/// make_hardware_description(platform). One simulation a process. Throws InputError (TenantKernels::kernel(),
/// TensorPlaces), ModelError, and std::runtime_error if nothing goes on: who waits for what.
std::vector<TenantBatch> simulate_tenants(const TenantGraph& graph, const std::vector<BatchRouting>& routing,
                                          const PlatformConfig& platform, TenantKernels& kernels,
                                          const TenantConfig& config);

}  // namespace switchyard::platform
