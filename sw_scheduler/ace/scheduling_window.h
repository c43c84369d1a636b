// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/ace/dependence.h"

namespace switchyard::sched::ace {

/// The number of a kernel in its stream, from 0 on.
using KernelNumber = std::uint64_t;

/// The window module of ACE-SW (section 4.2.1): the kernels that were issued and have not completed, at most as many as
/// the window has slots, each with its upstream kernels. Kernels enter in the order of issue. Plain bookkeeping: who
/// polls it, and what a check costs, is the runtime's.
class SchedulingWindow {
public:
    /// `slots`: 1 or more.
    SchedulingWindow(std::size_t slots, DependenceRule rule) : slots_(slots), rule_(rule) {}

    bool full() const { return kernels_.size() == slots_; }
    bool empty() const { return kernels_.empty(); }
    /// Some kernel can be taken.
    bool ready() const;

    /// Throws std::logic_error if the window is full or the number is not larger than the last one.
    void insert(KernelNumber number, Footprint footprint);
    /// The oldest kernel that is ready. It executes from now on. Nothing if none is.
    std::optional<KernelNumber> take_ready();
    /// Throws std::logic_error unless the kernel executes.
    void complete(KernelNumber number);

    /// Of a kernel in the window; for tests and reports.
    std::vector<KernelNumber> upstream(KernelNumber number) const;
    /// Pairs of kernels that were compared since the beginning.
    std::uint64_t checks() const { return checks_; }
    std::uint64_t segment_pairs() const { return segment_pairs_; }  ///< that these comparisons look at

private:
    struct Slot {
        KernelNumber number;
        Footprint footprint;
        std::vector<KernelNumber> upstream;
        bool executing = false;
    };
    std::deque<Slot>::iterator find(KernelNumber number);

    std::size_t slots_;
    DependenceRule rule_;
    std::deque<Slot> kernels_;  ///< oldest first
    std::uint64_t checks_ = 0, segment_pairs_ = 0;
};

}  // namespace switchyard::sched::ace
