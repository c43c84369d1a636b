// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/platform/systems/m_tenant/tenant_config.h"
#include "switchyard/platform/systems/m_tenant/tenant_kernels.h"
#include "switchyard/platform/systems/m_tenant/tenant_order.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// Planaria's fission: tiles for each tenant in proportion to its remaining work, one at least; together at most
/// `tiles`. If there are more tenants than tiles, those with most work run and the others have none. With
/// TenantConfig::groups "power_of_two" each number is rounded down to one, and the tenants with most work a tile are
/// doubled as long as there is room.
std::vector<unsigned> share_tiles(const TenantConfig& config, unsigned tiles, const std::vector<double>& work);

/// What one batch took and did.
struct TenantBatch {
    double cycles = 0;       ///< from the doorbell to the last result in HBM
    double idle_cycles = 0;  ///< no tenant has tiles: the host is at work, or the first bytes are on their way
    double macs = 0, vector_elements = 0;
    TenantBytes bytes;
    double min_read_bytes = 0;       ///< each operand and each weight once
    double max_bytes_per_cycle = 0;  ///< HBM, at any time
    unsigned max_tiles = 0;          ///< that have a tenant at any time
    double tile_cycles = 0;          ///< tiles times the cycles in which they have a tenant
    std::uint64_t synchronisations = 0;
    std::vector<double> operator_cycles;  ///< index = operator id: from its operands in HBM to its result there
    std::vector<double> operator_tiles;   ///< mean while it runs
};

/// The chip with tenants: each operator that a sample reaches is a task. A task is ready when all of its operands are
/// in HBM and the host has made the index lists of the switches and merges in front of it. Ready tasks run at the same
/// time, each on tiles of its own, with the kernel for its samples and tiles, and share the HBM bandwidth in proportion
/// to their tiles; when one arrives or ends, tiles are shared out anew. A task's progress is a share of its work, which
/// it keeps when its tiles change: layer tiles are taken as infinitely small, so re-scheduling takes effect at once,
/// and costs no cycles. (In Planaria's code it waits for the next whole layer tile, and costs none either.)
class TenantChip {
public:
    /// `graph` must outlive it.
    TenantChip(const sched::DynGraph& graph, const sched::HardwareDescription& hardware, const TenantConfig& config);

    /// Throws InputError (sample_counts(), TenantKernels::kernel()).
    TenantBatch run(const BatchRouting& routing);

    TenantKernels& kernels() { return kernels_; }
    const TenantGraph& readers() const { return readers_; }

private:
    class Run;

    const sched::DynGraph& graph_;
    TenantConfig config_;
    TenantKernels kernels_;
    TenantGraph readers_;
};

}  // namespace switchyard::platform
