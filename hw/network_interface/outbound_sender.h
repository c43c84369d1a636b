// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "switchyard/hw/network_interface/gate_decisions.h"
#include "switchyard/hw/network_interface/interface_ports.h"
#include "switchyard/hw/network_interface/output.h"
#include "switchyard/hw/network_interface/packed_parts.h"
#include "switchyard/hw/network_interface/value_mover.h"

namespace switchyard::hw {

/// What leaves a network interface: the switch, probes and sends to other tiles, pieces to memory, decisions of gates.
class OutboundSender {
public:
    OutboundSender(InterfacePorts& ports, ValueMover& values, GateDecisions& decisions)
        : ports_(ports), values_(values), decisions_(decisions) {}

    /// For a new program.
    void clear();
    void begin(const SendExtension& send);
    /// One edge, or one acknowledge of memory, less to wait for; the last one ends the output.
    void finish_step(std::uint16_t operator_index, std::uint16_t unit, bool by_memory = false);
    /// A consumer's acknowledge; what it allows happens when the last has arrived.
    void take_grant(std::uint16_t edge, const Grant& grant);
    void release_group(std::uint16_t edge, std::uint16_t unit, std::uint16_t source_unit, std::uint16_t group);
    void on_masks(const AdynaMessage& message);
    void on_labels(const AdynaMessage& message);

    /// What is waited for, a line's parts; empty if nothing is.
    std::vector<std::string> waits() const;

private:
    /// Of one edge of one unit, those that get the same bytes.
    struct Group {
        std::vector<Endpoint> destinations;
        std::uint64_t bytes = 0;
        std::uint32_t samples = 0;
        unsigned acks_missing = 0;
        sc_core::sc_time acknowledged_at;  ///< arrival of the latest acknowledge
        bool sent = false;
    };
    /// One edge of one unit on its way out, from the first probe to the last byte.
    struct Outbound {
        std::uint16_t edge = 0, unit = 0, operator_index = 0;
        std::uint16_t source_unit = 0;  ///< `unit`, but where the consumer packs its samples
        std::uint32_t batch = 0;
        SampleIndexListPtr index_list;
        std::shared_ptr<const PackedPart> part;  ///< where the consumer packs its samples
        std::vector<Group> groups;
        unsigned groups_missing = 0;
    };
    /// What this tile sends of one unit of an edge, as its end of the plan says.
    struct Share {
        std::vector<Group> groups;
        std::uint32_t samples = 0;
    };
    /// As InboundSlots::ShareKey.
    using ShareKey = std::tuple<std::uint16_t, std::uint32_t, unsigned, unsigned, std::uint32_t, std::uint32_t>;
    /// A write request to memory.
    struct Store {
        std::uint16_t edge = 0;
        std::uint64_t address = 0, bytes = 0;
        std::vector<std::uint8_t>* values = nullptr;         ///< null: only sizes move
        std::shared_ptr<const std::vector<MemoryRun>> runs;  ///< as MemoryExtension
    };

    bool start_edge(Output& output, const Edge& edge);
    void start_parked(Output& output);
    SampleIndexListPtr switched_list(Output& output, const Edge& edge);
    std::shared_ptr<const Share> share_of(const Edge& edge, const SampleIndexList& index_list, unsigned rank);
    void send_on_chip(const Output& output, const Edge& edge, const SampleIndexListPtr& index_list);
    /// To a consumer that packs its samples: to each of its units what it gets of this one.
    void send_packed(Output& output, const Edge& edge, const SampleIndexListPtr& whole);
    /// First unit of the batch in which an output's unit is.
    unsigned first_unit(const Output& output) const;
    /// The edge's index list for the batch, or null while masks are missing.
    SampleIndexListPtr packed_list(const Output& output, const Edge& edge);
    void send_to_memory(Output& output, const Edge& edge, const SampleIndexListPtr& index_list);
    void send_decisions(Output& output, const Edge& edge);
    /// Where the host finds which way the samples went.
    void store_masks(Output& output, const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks);
    void send_group(const Outbound& outbound, const Group& group);
    std::vector<std::uint8_t> group_values(const Outbound& outbound, const Group& group,
                                           std::shared_ptr<const TensorPart>& part);
    void take_grant(Outbound& outbound, const Grant& grant);
    void write_memory(Output& output, Store store);

    InterfacePorts& ports_;
    ValueMover& values_;
    GateDecisions& decisions_;
    std::map<ShareKey, std::shared_ptr<const Share>> shares_;
    std::deque<Outbound> outbounds_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<Grant>> early_grants_;  ///< by edge and unit
    std::deque<Output> outputs_;
};

}  // namespace switchyard::hw
