// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/scheduling_window/window_core.h"

namespace switchyard::hw {

/// The model, impl `model`: the same in every cycle as the RTL, which cosim_scheduling_window compares.
///
/// An insertion takes N cycles, or one more than the host's list has ids if that is more; a completion one cycle and
/// N - 1 for the lists. A completion comes before an entry. The counter of the oldest kernel moves by an id a cycle.
class CycleWindow : public WindowCore {
public:
    /// Throws std::invalid_argument.
    explicit CycleWindow(const WindowShape& shape);

    WindowOutputs settle(const WindowInputs& inputs) override;
    void clock() override;

private:
    enum class Phase { idle, load, update };
    enum class State { free, pending, ready, executing };
    struct Slot {
        State state = State::free;
        sched::ace::KernelId id = 0;
        std::vector<sched::ace::KernelId> upstream;  ///< units of the bank, in the order of filling
        std::vector<bool> waits;                     ///< the unit's valid bit
        bool waiting() const;
    };

    Slot* find(sched::ace::KernelId id);
    Slot* first_free();
    /// The ready kernel that came in first; null if none is.
    Slot* oldest_ready();

    WindowShape shape_;
    std::vector<Slot> slots_;
    Phase phase_ = Phase::idle;
    unsigned position_ = 0, left_ = 0;
    sched::ace::KernelId done_ = 0, oldest_ = 0;
    unsigned since_ = 0;  ///< kernels that came in since the oldest one, itself included
    Slot* loading_ = nullptr;
    WindowInputs inputs_;
    WindowOutputs outputs_;
};

}  // namespace switchyard::hw
