// SPDX-License-Identifier: Apache-2.0
// What a micro-batch waits for, and slots of inputs and outputs, over random operators.
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::rules;

namespace {

NextUnit random_unit(RandomSource& random) {
    NextUnit next;
    next.units = random.integer(1, 6);
    next.unit = random.integer(0, next.units);
    next.output_slots = random.integer(1, 3);
    next.outputs_in_flight = random.integer(0, next.output_slots);
    next.weights_present = random.chance(0.8);
    next.inputs_ready = random.chance(0.8);
    next.masks_read = random.chance(0.8);
    return next;
}

}  // namespace

TEST_CASE("a unit begins when nothing that it needs is missing", "[rules]") {
    RandomSource random(54, 1);
    unsigned begun = 0;
    for (int i = 0; i < 2000; ++i) {
        const NextUnit next = random_unit(random);
        const bool complete = next.unit < next.units && next.outputs_in_flight < next.output_slots &&
                              next.weights_present && next.inputs_ready && next.masks_read;
        CHECK((wait_of(next) == UnitWait::none) == complete);
        begun += complete ? 1 : 0;
        // More of anything never makes a unit wait.
        NextUnit more = next;
        more.weights_present = more.inputs_ready = more.masks_read = true;
        ++more.output_slots;
        if (complete) CHECK(wait_of(more) == UnitWait::none);
        if (next.unit < next.units) CHECK(wait_of(more) == UnitWait::none);
    }
    CHECK(begun > 200);
}

TEST_CASE("what is missing is named in the order in which it is asked for", "[rules]") {
    CHECK(wait_of({3, 3, 0, 2, true, true, true}) == UnitWait::next_batch);
    CHECK(wait_of({2, 3, 2, 2, false, false, false}) == UnitWait::output_slot);
    CHECK(wait_of({2, 3, 1, 2, false, false, false}) == UnitWait::weights);
    CHECK(wait_of({2, 3, 1, 2, true, false, false}) == UnitWait::inputs);
    CHECK(wait_of({2, 3, 1, 2, true, true, false}) == UnitWait::masks);
    CHECK(wait_of({2, 3, 1, 2, true, true, true}) == UnitWait::none);
}

TEST_CASE("an operator is done when consumers have all of its outputs", "[rules]") {
    CHECK(is_done(4, 4, 0));
    CHECK_FALSE(is_done(4, 4, 1));
    CHECK_FALSE(is_done(3, 4, 0));
}

TEST_CASE("masks are read ahead, and not beyond the batch", "[rules]") {
    for (unsigned units = 1; units < 6; ++units)
        for (unsigned ahead = 1; ahead < 4; ++ahead)
            for (unsigned next = 0; next <= units; ++next) {
                const unsigned window = masks_window(next, ahead, units);
                CHECK(window <= units);
                CHECK((window == units || window == next + ahead));
            }
}

TEST_CASE("an output slot has one unit, and units without samples have none", "[rules]") {
    RandomSource random(54, 2);
    for (int run = 0; run < 300; ++run) {
        const unsigned slots = random.integer(1, 4);
        OutputSlots output(slots);
        std::vector<std::optional<unsigned>> held(slots);
        std::vector<unsigned> in_flight;
        for (unsigned unit = 0; unit < 20;) {
            const bool empty = random.chance(0.3);
            const bool free = !held[unit % slots].has_value();
            CHECK(slot_of(unit, slots) == unit % slots);
            CHECK(output.may_take(unit, empty) == (empty || free));
            if (output.may_take(unit, empty)) {
                output.take(unit, empty);
                if (!empty) held[unit % slots] = unit;
                in_flight.push_back(unit++);
            }
            if (!in_flight.empty() && random.chance(0.6)) {  // any of them may leave first
                const auto at = random.integer(0, static_cast<std::uint32_t>(in_flight.size() - 1));
                const unsigned leaves = in_flight[at];
                in_flight.erase(in_flight.begin() + at);
                output.release(leaves);
                if (held[leaves % slots] == leaves) held[leaves % slots].reset();
            }
        }
    }
}

TEST_CASE("inputs have slots within a window that moves with the units that are computed", "[rules]") {
    for (unsigned units = 1; units < 8; ++units)
        for (unsigned slots = 1; slots < 4; ++slots)
            for (unsigned released = 0; released <= units; ++released) {
                const unsigned window = input_window(released, slots, units);
                CHECK(window <= units);
                for (unsigned unit = 0; unit < units; ++unit)
                    CHECK(has_input_slot(unit, released, slots) == (unit < window));
            }
    CHECK_FALSE(needs_input_slot(0));
    CHECK(needs_input_slot(1));
}
