// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/platform/chip/link_binder.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/stage_fabric.h"

namespace switchyard::platform {

/// The accelerator with `chip.impl: stages`: the host interface of Chip in front of a StageFabric. The same sockets.
class StageChip : public sc_core::sc_module {
public:
    StageFabric stages;
    hw::HostInterface host;

    StageChip(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry);

private:
    LinkBinder links_;
};

}  // namespace switchyard::platform
