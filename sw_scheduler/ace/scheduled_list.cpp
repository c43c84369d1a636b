// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/ace/scheduled_list.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace switchyard::sched::ace {

ScheduledList::ScheduledList(std::size_t kernels, DependenceRule rule, KernelId first)
    : kernels_(kernels), rule_(rule), next_(first) {
    if (kernels < 1 || kernels > kMaxScheduledKernels)
        throw std::invalid_argument(
            fmt::format("expected 1 to {} kernels in a scheduled_list, as ids have 8 bits, found {}",
                        kMaxScheduledKernels, kernels));
}

WindowEntry ScheduledList::send(Footprint footprint) {
    WindowEntry entry{next_++, {}};
    for (const Listed& earlier : listed_) {
        ++checks_;
        segment_pairs_ += ace::segment_pairs(footprint, earlier.footprint, rule_);
        if (depends_on(footprint, earlier.footprint, rule_)) entry.upstream.push_back(earlier.id);
    }
    if (listed_.size() == kernels_) listed_.pop_front();
    listed_.push_back({entry.id, std::move(footprint)});
    return entry;
}

}  // namespace switchyard::sched::ace
