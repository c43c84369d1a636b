// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/network_interface/grant.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"

namespace switchyard::hw {

/// One micro-batch of an in-edge.
struct InputUnit {
    bool announced = false, ready = false;
    bool granted = false;           ///< senders know that there is a slot
    SampleIndexListPtr index_list;  ///< the edge's index list for this unit
    std::uint64_t expected = 0, received = 0;
    sc_core::sc_time complete_at;        ///< arrival of the latest byte that is on its way
    sc_core::sc_time sent_at;            ///< of the latest packet
    sc_core::sc_time acknowledged_at;    ///< of the latest acknowledge
    std::vector<Endpoint> senders;       ///< who waits for the grant
    bool load_started = false;           ///< memory edges, leader: has a slot itself
    unsigned acks_received = 0;          ///< memory edges and weights, leader: from those that read along
    std::vector<std::uint16_t> readers;  ///< memory edges and weights: ranks that read together, once they are known
};

/// Which samples are in which unit of a tensor in HBM: what rank 0 reads before the first unit and tells the others.
struct BatchSamples {
    unsigned records_missing = 0;                   ///< index lists, and masks of the segment's order
    SampleIndexListPtr index_list;                  ///< of all units
    SampleIndexListPtr of_batch;                    ///< of that of several batches that begins with ...
    std::uint32_t of_batch_first = 0;               ///< ... this sample
    std::vector<std::vector<std::uint64_t>> masks;  ///< by key of the order
    std::vector<SampleSet> units;                   ///< empty: not known yet
};

/// An edge that ends at this tile, with its units of the batch under way.
struct InEdge {
    const Edge* edge = nullptr;
    const OperatorPlacement* source = nullptr;  ///< null for weights
    const OperatorPlacement* destination = nullptr;
    std::uint16_t operator_index = 0, rank = 0, segment = 0;
    bool open = false;
    std::uint32_t batch = 0;
    unsigned released = 0;  ///< units consumed so far
    std::vector<InputUnit> units;
    BatchSamples samples;
    std::vector<::tlm::tlm_generic_payload*> early;  ///< probes for a segment that has not begun here
    std::vector<Grant> early_grants;

    bool has_slot(unsigned unit) const { return rules::has_input_slot(unit, released, edge->slots); }
    /// The unit beyond the last one that has a slot.
    unsigned window() const { return rules::input_window(released, edge->slots, static_cast<unsigned>(units.size())); }
};

}  // namespace switchyard::hw
