// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/ace/window_entry.h"

namespace switchyard::hw {

/// The scheduling window and the upstream load module of ACE-HW (section 4.3), without time: N slots, each with the id
/// of a kernel, the ids of its upstream kernels and its state, and the counter of kernels that are newer than the
/// oldest.
///
/// Modelled: entries in the order in which they come; upstream ids that are in no slot are dropped at insertion,
/// because their kernels have completed; insertion waits while the oldest kernel in the window is not among the last M
/// that were inserted, because the host's list no longer has it. The cycles of an insertion and of a completion are
/// stated; whoever has a clock lets them pass. Not modelled: banks of the SRAM, the path to the CTA scheduler.
class WindowModel {
public:
    struct Config {
        unsigned slots = 32;              ///< N, 2 to 128
        unsigned scheduled_kernels = 64;  ///< M of the host's scheduled_list, N to 255
    };

    /// Throws std::invalid_argument.
    explicit WindowModel(const Config& config);

    /// A slot is free, and the next kernel's upstream list can have missed none that executes.
    bool can_insert() const;
    /// Throws std::logic_error unless can_insert(), or if a kernel with this id is in the window.
    void insert(const sched::ace::WindowEntry& entry);
    /// The oldest ready kernel, which executes from now on; each kernel once.
    std::optional<sched::ace::KernelId> dispatch();
    /// Throws std::logic_error unless the kernel executes.
    void complete(sched::ace::KernelId id);

    bool empty() const { return slots_.empty(); }
    /// Section 4.4: N cycles for an insertion; N - 1 for each of the other slots at a completion, all banks side by
    /// side.
    unsigned insert_cycles() const { return config_.slots; }
    unsigned complete_cycles() const { return config_.slots - 1; }

private:
    enum class State { pending, ready, executing };
    struct Slot {
        sched::ace::KernelId id;
        std::vector<sched::ace::KernelId> upstream;
        State state;
        std::uint64_t number;  ///< in the order of insertion
    };
    std::deque<Slot>::iterator find(sched::ace::KernelId id);

    Config config_;
    std::deque<Slot> slots_;  ///< oldest first
    std::uint64_t inserted_ = 0;
};

}  // namespace switchyard::hw
