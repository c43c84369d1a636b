// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchyard::hw::flit {

/// Things that are due after a few cycles, in the order in which they were pushed: one list a cycle of the horizon.
template <class Event>
class EventWheel {
public:
    explicit EventWheel(unsigned longest_delay) {
        std::size_t size = 1;
        while (size <= longest_delay) size *= 2;
        slots_.resize(size);
        mask_ = size - 1;
    }
    /// `due` lies in the future, at most the longest delay from now.
    void push(std::uint64_t due, Event event) { slots_[due & mask_].push_back(event); }
    /// Calls serve(event) for all that are due in `cycle`.
    template <class Serve>
    void serve(std::uint64_t cycle, Serve&& serve) {
        std::vector<Event>& slot = slots_[cycle & mask_];
        for (const Event& event : slot) serve(event);
        slot.clear();
    }
    bool empty() const {
        return std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot.empty(); });
    }

private:
    std::vector<std::vector<Event>> slots_;
    std::size_t mask_ = 0;  ///< of a cycle: its slot
};

}  // namespace switchyard::hw::flit
