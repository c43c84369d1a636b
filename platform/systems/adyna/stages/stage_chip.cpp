// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/stage_chip.h"

#include "switchyard/platform/chip/chip.h"

namespace switchyard::platform {

StageChip::StageChip(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry)
    : sc_module(name),
      stages("stages", platform, registry),
      host("host", platform.host, surroundings_of_host(platform), registry),
      links_(platform.chip.check_protocol) {
    links_.bind(host.noc_out, stages.from_host, "host_inject");
    links_.bind(stages.to_host, host.noc_in, "host_eject");
}

}  // namespace switchyard::platform
