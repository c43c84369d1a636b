// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/sw_scheduler/ace/scheduling_window.h"

namespace switchyard::sched::ace {

/// Of a whole stream: for each kernel those that it must wait for, ascending. A kernel that another one on the list
/// waits for already is left out.
std::vector<std::vector<KernelNumber>> kernel_graph(const std::vector<Footprint>& kernels, DependenceRule rule);

/// Kernels on the longest chain.
std::size_t longest_chain(const std::vector<std::vector<KernelNumber>>& graph);

/// A stream for each kernel of a graph: that of the latest kernel before it whose successor it is the first to be;
/// otherwise the stream with the fewest kernels.
std::vector<unsigned> assign_streams(const std::vector<std::vector<KernelNumber>>& graph, unsigned streams);

}  // namespace switchyard::sched::ace
