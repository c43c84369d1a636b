// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"

#include <algorithm>

namespace switchyard::rules {

UnitWait wait_of(const NextUnit& next) {
    if (next.unit == next.units) return UnitWait::next_batch;
    if (next.outputs_in_flight >= next.output_slots) return UnitWait::output_slot;
    if (!next.weights_present) return UnitWait::weights;
    if (!next.inputs_ready) return UnitWait::inputs;
    return next.masks_read ? UnitWait::none : UnitWait::masks;
}

bool is_done(unsigned next_unit, unsigned units, unsigned outputs_in_flight) {
    return next_unit == units && outputs_in_flight == 0;
}

unsigned masks_window(unsigned next_unit, unsigned ahead, unsigned units) {
    return std::min(next_unit + ahead, units);
}

unsigned slot_of(unsigned unit, unsigned slots) {
    return unit % slots;
}

bool OutputSlots::may_take(unsigned unit, bool empty) const {
    return empty || units_[slot_of(unit, static_cast<unsigned>(units_.size()))] == kFree;
}

void OutputSlots::take(unsigned unit, bool empty) {
    if (!empty) units_[slot_of(unit, static_cast<unsigned>(units_.size()))] = unit;
}

void OutputSlots::release(unsigned unit) {
    unsigned& held = units_[slot_of(unit, static_cast<unsigned>(units_.size()))];
    if (held == unit) held = kFree;
}

unsigned input_window(unsigned released, unsigned slots, unsigned units) {
    return std::min(released + slots, units);
}

bool has_input_slot(unsigned unit, unsigned released, unsigned slots) {
    return unit < released + slots;
}

bool needs_input_slot(std::uint64_t bytes) {
    return bytes > 0;
}

}  // namespace switchyard::rules
