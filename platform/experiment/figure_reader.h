// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/platform/experiment/experiment.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::platform {

/// That an entry of `figures` may have.
std::vector<std::string> figure_keys(const Experiment& experiment);
/// Reads one entry of `figures`. `experiment`: its networks, designs and sweep have been read. Throws InputError, also
/// for a figure that leaves one of its dimensions open or names what the experiment does not have.
FigureSpec read_figure(sched::MappingReader& reader, const Experiment& experiment);

}  // namespace switchyard::platform
