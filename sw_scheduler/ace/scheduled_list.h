// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "switchyard/sw_scheduler/ace/dependence.h"
#include "switchyard/sw_scheduler/ace/window_entry.h"

namespace switchyard::sched::ace {

/// The host's scheduled_list of ACE-HW (section 4.3): the last M kernels that were sent to the GPU. The host does not
/// hear of completions, so the list is stale: the upstream ids may name kernels that have completed, which the GPU's
/// upstream load module drops. That no kernel is missed that still executes is the GPU's part as well: it takes no
/// kernel while one of those in its window is older than the last M.
class ScheduledList {
public:
    /// `kernels`: M, 1 to kMaxScheduledKernels; `first`: id of the first kernel. Throws std::invalid_argument.
    ScheduledList(std::size_t kernels, DependenceRule rule, KernelId first = 0);

    /// The next kernel of the stream: its id, and those of the listed kernels on which it depends.
    WindowEntry send(Footprint footprint);
    /// Pairs of kernels that were compared since the beginning.
    std::uint64_t checks() const { return checks_; }
    std::uint64_t segment_pairs() const { return segment_pairs_; }  ///< that these comparisons look at

private:
    struct Listed {
        KernelId id;
        Footprint footprint;
    };

    std::size_t kernels_;
    DependenceRule rule_;
    std::deque<Listed> listed_;  ///< oldest first
    KernelId next_;
    std::uint64_t checks_ = 0, segment_pairs_ = 0;
};

}  // namespace switchyard::sched::ace
