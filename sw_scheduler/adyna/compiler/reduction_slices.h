// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/profile.h"

namespace switchyard::sched {

/// A graph in which convolutions and matmuls may be cut along the input channels: each slice adds its products to the
/// slice's before, a tensor of partial sums. The last slice bears the operator's name, takes its place
/// towards consumers and switches, and has the fused steps; a fused addition of another tensor goes to the first slice.
struct SlicedGraph {
    DynGraph graph;
    std::vector<int> original;  ///< by operator: its id before
    std::vector<char> partial;  ///< by operator: its result is a partial sum

    /// One value an operator, of those before.
    template <class Value>
    std::vector<Value> of(const std::vector<Value>& by_original) const {
        std::vector<Value> result;
        for (const int op : original) result.push_back(by_original.at(static_cast<std::size_t>(op)));
        return result;
    }
};

/// Makes a slice of a reduction add the partial sums of the slice before it, operator `before`, to its own.
void add_partial_sums(Operator& slice, int before);

/// True if the operator can be cut into N equal slices: input channels divide, and nothing but a bias stands
/// between the sum of products and a fused addition.
bool can_slice(const Operator& op, unsigned slices);

/// `slices`: by operator, 1 leaves it as it is. Throws std::invalid_argument where can_slice() is false.
/// `wide_partial_sums`: results of slices but the last, and of operators that hand on their result to a merge in mode
/// sum alone, are binary32; of a merge all sources or none.
SlicedGraph sliced(const DynGraph& graph, const std::vector<unsigned>& slices, bool wide_partial_sums = false);

/// How many slices make each operator quicker by the segmenter's formulas. A whole reduction in a slot, and all of a
/// channel's weights, can be so large that too few rows and channels stand beside them to fill the array, or that the
/// operator before it is never on the chip at the same time. So slices are tried where more than a few PEs would be
/// idle in a segment of the operator alone, and where it does not fit a segment with the operator that it gets its
/// input from; there, as a part of such a segment too. They must promise Margins::slices of the operator's own cycles.
std::vector<unsigned> useful_slices(const DynGraph& graph, const HardwareDescription& hardware,
                                    const std::vector<double>& expected_share, unsigned tiles,
                                    std::uint32_t unit_samples, const Margins& margins, const Design& design);

}  // namespace switchyard::sched
