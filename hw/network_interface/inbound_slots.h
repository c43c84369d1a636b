// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "switchyard/hw/network_interface/interface_ports.h"
#include "switchyard/hw/network_interface/value_mover.h"

namespace switchyard::hw {

class MemoryFetcher;

/// The slots of the in-edges of a tile: which units are announced, who may send into which slot, what has arrived.
class InboundSlots {
public:
    InboundSlots(InterfacePorts& ports, Routing& routing, ValueMover& values, MemoryFetcher& fetcher)
        : ports_(ports), routing_(routing), values_(values), fetcher_(fetcher) {}
    ~InboundSlots();
    InboundSlots(const InboundSlots&) = delete;
    InboundSlots& operator=(const InboundSlots&) = delete;

    /// Closes every edge.
    void load(const TileProgram& program);
    void open_segment(std::uint16_t segment, std::uint32_t batch);
    void close_segment(std::uint16_t segment);
    void release_unit(std::uint16_t edge_id, std::uint16_t unit);

    bool ends_here(std::uint16_t edge_id) const { return edge_id < index_.size() && index_[edge_id] >= 0; }
    /// Throws ModelError for an edge that ends elsewhere.
    InEdge& in_edge(std::uint16_t edge_id);

    void on_probe(::tlm::tlm_generic_payload& payload, const AdynaMessage& message);
    /// A packet of a tensor that arrives `delay` from now. Tensor bytes count when they are on their way; the unit is
    /// complete when the last of them has arrived. One event a unit instead of one a packet.
    void expect_tensor(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
    void complete_unit(InEdge& in, unsigned unit);
    void announce(InEdge& in, unsigned unit, const SampleIndexListPtr& index_list);

    /// What is waited for, a line's parts; empty if nothing is.
    std::vector<std::string> waits() const;

private:
    /// What this tile gets of one unit of an edge, as its end of the plan says.
    struct Share {
        std::vector<Endpoint> senders;
        std::uint64_t expected = 0;
        std::uint32_t samples = 0;
    };
    /// By edge, size and EdgeAllocations, for units in which producer, edge and consumer have the same samples:
    /// then the plan depends on nothing else.
    using ShareKey = std::tuple<std::uint16_t, std::uint32_t, unsigned, unsigned, std::uint32_t, std::uint32_t>;

    /// All units, of the batch that begins with `first_unit` of the producer, of an edge on the chip whose consumer
    /// packs its samples: `whole` is its index list for the batch.
    void announce_packed(InEdge& in, unsigned first_unit, const SampleIndexListPtr& whole);
    void announce_ready(InEdge& in, unsigned unit);
    std::shared_ptr<const Share> share_of(const InEdge& in, const SampleIndexList& index_list);
    /// Tells those that will send a unit, or ask memory for it, that it has a slot.
    void grant(InEdge& in, unsigned unit);
    /// All sources of a merge, once their units are ready; null before, and of other operators.
    std::shared_ptr<const MergedSamples> merged_inputs(const InEdge& in, unsigned unit);

    InterfacePorts& ports_;
    Routing& routing_;
    ValueMover& values_;
    MemoryFetcher& fetcher_;
    std::map<ShareKey, std::shared_ptr<const Share>> shares_;
    std::vector<int> index_;  ///< by edge id, -1: not an in-edge of this tile
    std::vector<InEdge> in_edges_;
};

}  // namespace switchyard::hw
