// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    }
    /// `due` lies in the future, at most the longest delay from now.
    void push(std::uint64_t due, const Event& event) {
        slots_[due & (slots_.size() - 1)].push_back(event);
        ++pending_;
    }
    /// Calls serve(event) for all that are due in `cycle`.
    template <class Serve>
    void serve(std::uint64_t cycle, Serve&& serve) {
        std::vector<Event>& slot = slots_[cycle & (slots_.size() - 1)];
        for (const Event& event : slot) serve(event);
        pending_ -= slot.size();
        slot.clear();
    }
    bool empty() const { return pending_ == 0; }

private:
    std::vector<std::vector<Event>> slots_;
    std::size_t pending_ = 0;
};

}  // namespace switchyard::hw::flit
