// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/adyna/compiler/memory_map.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::sched {

/// Writes a schedule down as the programs of the tiles: ids, edges, scratchpad offsets and HBM addresses.
/// Operator ids are those of the graph; the tensors that lie in HBM follow them.
Image build_image(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware,
                  const Design& design);

}  // namespace switchyard::sched
