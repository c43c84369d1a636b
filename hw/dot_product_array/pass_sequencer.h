// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "switchyard/sw_scheduler/workload/weight_tiles.h"

namespace switchyard::hw {

/// What enters the array in each cycle of a work unit: the weights of a pass, row by row, while the line buffer fills;
/// then a pixel a cycle, and a window where one is complete that the stride does not skip. One call of next() a cycle.
class PassSequencer {
public:
    struct Step {
        enum class Kind { idle, weights, window };
        Kind kind = Kind::idle;
        std::uint32_t pass = 0;
        std::uint32_t row = 0;                            ///< weights: of the array
        std::uint32_t output_row = 0, output_column = 0;  ///< window: of the layer
        bool has_pixel = false;                           ///< the line buffer takes the pass's pixel number `pixel`
        std::uint64_t pixel = 0;
    };

    PassSequencer(const sched::Convolution& layer, const sched::WorkUnit& unit, const sched::ArrayMapping& mapping)
        : layer_(layer), unit_(unit), passes_(mapping.passes), timing_(sched::pass_cycles(layer, unit.band)) {
        begin_pass();
    }

    bool done() const { return pass_ == passes_; }

    Step next() {
        Step step;
        step.pass = pass_;
        step.has_pixel = layer_.side > 1 && cycle_ + timing_.fill >= first_window_;
        if (step.has_pixel) step.pixel = cycle_ + timing_.fill - first_window_;
        if (cycle_ < unit_.kernels) {
            step.kind = Step::Kind::weights;
            step.row = static_cast<std::uint32_t>(cycle_);
        } else if (cycle_ >= first_window_ && column_ % layer_.stride == 0 && row_ % layer_.stride == 0 &&
                   column_ / layer_.stride < layer_.output_width()) {
            step.kind = Step::Kind::window;
            step.output_row = row_ / layer_.stride;
            step.output_column = column_ / layer_.stride;
        }
        if (cycle_ >= first_window_) {
            // 1x1: addresses step over what the stride skips.
            column_ += layer_.side == 1 ? layer_.stride : 1;
            if (column_ >= layer_.width) {
                column_ = 0;
                row_ += layer_.side == 1 ? layer_.stride : 1;
            }
        }
        if (++cycle_ == first_window_ + timing_.stream) {
            ++pass_;
            begin_pass();
        }
        return step;
    }

private:
    void begin_pass() {
        cycle_ = 0;
        first_window_ = std::max<std::uint64_t>(unit_.kernels, timing_.fill);
        row_ = unit_.band.begin * layer_.stride;
        column_ = 0;
    }

    const sched::Convolution& layer_;
    const sched::WorkUnit& unit_;
    std::uint32_t passes_;
    sched::PassCycles timing_;
    std::uint32_t pass_ = 0;
    std::uint64_t cycle_ = 0, first_window_ = 0;
    std::uint32_t row_ = 0, column_ = 0;  ///< centre of the present window in the input
};

}  // namespace switchyard::hw
