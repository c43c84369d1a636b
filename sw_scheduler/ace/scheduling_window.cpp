// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/ace/scheduling_window.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace switchyard::sched::ace {

void SchedulingWindow::insert(KernelNumber number, Footprint footprint) {
    if (full()) throw std::logic_error("the scheduling window is full");
    if (!kernels_.empty() && number <= kernels_.back().number)
        throw std::logic_error("kernels enter the scheduling window in the order of issue");
    Slot slot{number, std::move(footprint), {}, false};
    for (const Slot& earlier : kernels_) {
        ++checks_;
        segment_pairs_ += ace::segment_pairs(slot.footprint, earlier.footprint, rule_);
        if (depends_on(slot.footprint, earlier.footprint, rule_)) slot.upstream.push_back(earlier.number);
    }
    kernels_.push_back(std::move(slot));
}

bool SchedulingWindow::ready() const {
    return std::any_of(kernels_.begin(), kernels_.end(),
                       [](const Slot& slot) { return !slot.executing && slot.upstream.empty(); });
}

std::optional<KernelNumber> SchedulingWindow::take_ready() {
    for (Slot& slot : kernels_) {
        if (slot.executing || !slot.upstream.empty()) continue;
        slot.executing = true;
        return slot.number;
    }
    return std::nullopt;
}

void SchedulingWindow::complete(KernelNumber number) {
    const auto done = find(number);
    if (done == kernels_.end() || !done->executing) throw std::logic_error("a kernel completes that does not execute");
    kernels_.erase(done);
    for (Slot& slot : kernels_)
        slot.upstream.erase(std::remove(slot.upstream.begin(), slot.upstream.end(), number), slot.upstream.end());
}

std::vector<KernelNumber> SchedulingWindow::upstream(KernelNumber number) const {
    for (const Slot& slot : kernels_)
        if (slot.number == number) return slot.upstream;
    throw std::logic_error("the kernel is not in the scheduling window");
}

std::deque<SchedulingWindow::Slot>::iterator SchedulingWindow::find(KernelNumber number) {
    return std::find_if(kernels_.begin(), kernels_.end(), [number](const Slot& slot) { return slot.number == number; });
}

}  // namespace switchyard::sched::ace
