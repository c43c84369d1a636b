// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/weight_plan.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched::brainstorm {

namespace {
constexpr std::uint64_t kLoadAlignment = 256;
}

/// First fit.
std::uint64_t WeightPlan::free_address(std::uint64_t bytes) const {
    std::uint64_t address = base_;
    for (const auto& [begin, range] : used_) {
        if (address + bytes <= begin) return address;
        address = begin + range.bytes;
    }
    return address;
}

bool WeightPlan::load(HostSteps& steps, const Item& item, std::uint64_t bytes, bool certain) {
    if (bytes == 0 || present(item)) return false;
    const std::uint64_t room = round_up(bytes, kLoadAlignment), address = free_address(room);
    const bool reused = std::any_of(given_back_.begin(), given_back_.end(), [&](const auto& range) {
        return address < range.first + range.second && range.first < address + room;
    });
    if (reused) {
        HostStep fork;
        fork.kind = HostStep::Kind::fork;
        fork.queue = kCopyQueue;
        steps.push_back(fork);
        if (certain) given_back_.clear();  // later loads are behind this one
    }
    HostStep step;
    step.kind = HostStep::Kind::load;
    step.queue = kCopyQueue;
    step.bytes = bytes;
    step.address = address;
    step.load = next_load_;
    steps.push_back(step);
    used_[address] = {room, next_load_++};
    present_[item] = address;
    resident_ += bytes;
    loaded_ += bytes;
    peak_ = std::max(peak_, resident_);
    sizes_[item] = bytes;
    return true;
}

void WeightPlan::await(HostSteps& steps, const Item& item) const {
    const auto found = present_.find(item);
    if (found == present_.end()) return;
    HostStep step;
    step.kind = HostStep::Kind::await_load;
    step.load = used_.at(found->second).load;
    steps.push_back(step);
}

std::optional<LoadedWeights> WeightPlan::loaded(const Item& item) const {
    const auto found = present_.find(item);
    if (found == present_.end()) return std::nullopt;
    return LoadedWeights{found->second, sizes_.at(item), used_.at(found->second).load};
}

void WeightPlan::unload(const Item& item) {
    const auto found = present_.find(item);
    if (found == present_.end()) return;
    const auto range = used_.find(found->second);
    given_back_.emplace_back(range->first, range->second.bytes);
    used_.erase(range);
    present_.erase(found);
    resident_ -= sizes_.at(item);
}

}  // namespace switchyard::sched::brainstorm
