// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// Rules for how a tile of Adyna runs the micro-batches (units) of its operators. Pure functions and plain data,
/// without a clock: the tile controller (hw/tile), the network interface (hw/network_interface) and the fast model of
/// the chip (platform/systems/adyna/stages) call them, so that all of them decide alike.
namespace switchyard::rules {

/// What is known of the next unit of an operator.
struct NextUnit {
    unsigned unit = 0, units = 0;                      ///< its number; units of the operator in a batch
    unsigned outputs_in_flight = 0, output_slots = 0;  ///< computed, but not yet with all consumers; slots for them
    bool weights_present = false;                      ///< all of them, on this tile
    bool inputs_ready = false;                         ///< the unit of every input, in its slot
    bool masks_read = false;  ///< recorded masks, where the operator is a gate that replays them
};

/// What the next unit waits for; none: it may begin if its output slot is free (OutputSlots::may_take()). In this
/// order.
enum class UnitWait : std::uint8_t { none, next_batch, output_slot, weights, inputs, masks };
UnitWait wait_of(const NextUnit& next);

/// Whether an operator has computed all units of a batch and its consumers have them.
bool is_done(unsigned next_unit, unsigned units, unsigned outputs_in_flight);

/// The units from 0 up to this one have their recorded masks read: those that begin next, `ahead` of them.
unsigned masks_window(unsigned next_unit, unsigned ahead, unsigned units);

/// The slot of a unit, of inputs and of outputs.
unsigned slot_of(unsigned unit, unsigned slots);

/// The output slots of an operator in one batch. Outputs leave in any order: one without samples needs no slot and may
/// overtake those before it.
class OutputSlots {
public:
    explicit OutputSlots(unsigned slots = 1) : units_(slots, kFree) {}

    bool may_take(unsigned unit, bool empty) const;
    void take(unsigned unit, bool empty);
    /// The unit's output is with all of its consumers.
    void release(unsigned unit);

private:
    static constexpr unsigned kFree = ~0U;
    std::vector<unsigned> units_;  ///< by slot
};

/// The input slots of an edge: units that are accepted while those before `released` have been computed.
unsigned input_window(unsigned released, unsigned slots, unsigned units);
/// Whether a unit is in the window.
bool has_input_slot(unsigned unit, unsigned released, unsigned slots);
/// Whether a unit that has `bytes` for a tile is announced, acknowledged and sent. Nothing is sent of the others, and
/// the announcement alone makes them ready.
bool needs_input_slot(std::uint64_t bytes);

}  // namespace switchyard::rules
