// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "switchyard/hw/network_interface/gate_decisions.h"
#include "switchyard/hw/network_interface/interface_ports.h"
#include "switchyard/hw/network_interface/transfer_plan.h"

namespace switchyard::hw {

class InboundSlots;

/// What a network interface reads from HBM: tensors of earlier segments, which samples are where, weights, recorded
/// masks. Of all tiles that read together the lowest rank leads: the others tell it when they have a slot, and it asks
/// memory to send to all.
class MemoryFetcher {
public:
    MemoryFetcher(InterfacePorts& ports, Routing& routing, GateDecisions& decisions, InboundSlots& slots)
        : ports_(ports), routing_(routing), decisions_(decisions), slots_(slots) {}

    /// A segment with an edge from memory begins.
    void open(InEdge& in);
    /// Announces and loads the units for which there are slots.
    void start_loads(InEdge& in);
    /// Of one unit that is announced.
    void start_load(InEdge& in, unsigned unit);
    /// Of those that read together the one that asks; nobody if it is this tile.
    std::vector<Endpoint> load_leader(InEdge& in, unsigned unit) const;
    void take_grant(InEdge& in, const Grant& grant);
    /// All that read along have acknowledged.
    void issue_acknowledged(InEdge& in, unsigned unit);
    void open_weights(InEdge& in);
    void fetch_masks(std::uint16_t operator_index, std::uint16_t unit, std::uint32_t batch);
    /// Part of a record from memory: index lists, or masks.
    void on_record(const ::tlm::tlm_generic_payload& payload, const AdynaMessage& message);

private:
    /// A read request to memory.
    struct Fetch {
        MessageContent content = MessageContent::tensor;
        std::uint16_t edge = 0, unit = 0;
        std::uint64_t address = 0, bytes = 0;
        std::vector<Endpoint> reply_to = {};
        bool values = false;
        std::shared_ptr<const TensorPart> part = {};
        std::shared_ptr<const std::vector<MemoryRun>> runs = {};
    };
    void request(Fetch fetch);

    /// False: every tile knows by itself that all samples are there, in the order of their ids.
    bool tells_samples(const InEdge& in) const;
    void request_samples(InEdge& in);
    /// What is known of the samples of the batch in which a unit of the edge is.
    SampleIndexListPtr of_batch(InEdge& in, unsigned unit) const;
    /// A record: all index lists of the tensor, or the masks of key `key` of the segment's order.
    void on_samples(InEdge& in, MessageContent content, unsigned key, const std::vector<std::uint8_t>& bytes);
    std::uint64_t samples_record_bytes(const InEdge& in, MessageContent content) const;
    void on_recorded_masks(const AdynaMessage& message, const std::vector<std::uint8_t>& bytes);
    /// Of a unit; where the segment is compacted, of the batch.
    std::uint64_t mask_record_bytes(std::uint16_t operator_index) const;

    static TransferPlan load_plan(const InEdge& in, unsigned unit);
    /// Ranks that get what one of them asks memory for, this one among them (memory_readers.h).
    const std::vector<std::uint16_t>& readers(InEdge& in, unsigned unit) const;
    static std::vector<Endpoint> tiles_of(const InEdge& in, const std::vector<std::uint16_t>& ranks);
    /// Leader: asks memory once it and all that read along have a slot.
    void issue_when_granted(InEdge& in, unsigned unit);
    void issue_load(InEdge& in, unsigned unit);
    void issue_weights(InEdge& in);

    InterfacePorts& ports_;
    Routing& routing_;
    GateDecisions& decisions_;
    InboundSlots& slots_;
    /// Records of which packets are missing, by content, edge and unit.
    std::map<std::tuple<MessageContent, std::uint16_t, std::uint16_t>, std::vector<std::uint8_t>> partial_;
};

}  // namespace switchyard::hw
