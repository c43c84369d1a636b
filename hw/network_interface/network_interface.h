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

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/hw/network_interface/transfer_plan.h"
#include "switchyard/hw/network_interface/value_region.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/tlm/adyna_message.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/interface_protocol.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/tile_protocol.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// The network interface of a tile (Adyna section VI-C).
///
/// Modelled: the switch (output is split by the routing mask, sample by sample), ranges and destinations from the
/// successor's best-fit kernel, merge (units of several in-edges are counted until complete), unicast and multicast,
/// a probe and an acknowledge before every tensor transfer (the producer's first tile probes all consumers with the
/// unit's sample-index list, from which they know who will send; a consumer with a free slot acknowledges to all of
/// these at once), reads of tensors and weights from HBM with one request for all tiles that need the same bytes,
/// writes to HBM. Accuracy: transfers happen at the granularity of packets of up to max_packet_bytes; setting up a
/// transfer takes setup_cycles; data crosses the scratchpad at its bandwidth but does not delay the PE array's
/// accesses. Not modelled: the order of single words in the collector, buffers for more probes than the hardware would
/// hold.
///
/// Sockets: `issue` from the dispatcher, `control` from the controller, `noc_in` from the router; `controller`,
/// `scratchpad`, `noc_out` to them.
class NetworkInterface : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "packets";            ///< of switch, merge and packetiser: RoutingBlocks
        unsigned setup_cycles = 8;               ///< address and range generation before the first packet of a transfer
        unsigned max_packet_bytes = 65536;       ///< payload of one packet
        std::string memory_reads = "multicast";  ///< or "unicast": of what several tiles need of HBM
        double clock_ghz = 1.0;
        bool values = false;         ///< tensors have values, set by the composer
        PacketFormat packet_format;  ///< the network's, set by the composer
        bool multicast_reads() const { return memory_reads == "multicast"; }
    };
    /// Where this tile stands in the network's numbering.
    struct Address {
        Endpoint tile = 0;
        std::vector<Endpoint> memory;  ///< interfaces
        Endpoint host = 0;
        std::uint64_t region_bytes = 1;  ///< HBM address / region_bytes = memory interface
    };
    struct Stats {
        std::uint64_t sent_bytes = 0;              ///< tensor bytes injected, each multicast once
        std::uint64_t delivered_copy_bytes = 0;    ///< the same times the number of destinations
        std::uint64_t received_bytes = 0;          ///< tensor and weight bytes that arrived, from tiles and from memory
        std::uint64_t memory_requested_bytes = 0;  ///< asked of HBM, times the tiles that get them
        std::uint64_t memory_written_bytes = 0;
        std::uint64_t probes = 0, acknowledges = 0, packets = 0;
        std::uint64_t samples_sent = 0;  ///< (edge, sample) pairs of on-chip edges that left here
        std::uint64_t samples_received =
            0;  ///< the same, counted where they arrive (first channel slice, first row slice)
    };

    tlm_utils::simple_target_socket<NetworkInterface> issue;
    tlm_utils::simple_target_socket<NetworkInterface> control;
    tlm_utils::simple_target_socket<NetworkInterface> noc_in;
    tlm_utils::simple_initiator_socket<NetworkInterface> controller;
    tlm_utils::simple_initiator_socket<NetworkInterface> scratchpad;
    tlm_utils::simple_initiator_socket<NetworkInterface> noc_out;

    NetworkInterface(const sc_core::sc_module_name& name, const Config& config, const Address& address,
                     SimulationRegistry& registry, const RoutingBlocksFactory& make_blocks = &make_routing_blocks);
    ~NetworkInterface() override;

    const Stats& stats() const { return stats_; }

private:
    using Payload = ::tlm::tlm_generic_payload;
    /// A packet of this interface's, with its extensions.
    struct Packet {
        PooledPayload payload;
        PacketExtension& packet;
        MemoryExtension& memory;
        AdynaMessage& message;
    };
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
    /// A write request to memory.
    struct Store {
        std::uint16_t edge = 0;
        std::uint64_t address = 0, bytes = 0;
        std::vector<std::uint8_t>* values = nullptr;         ///< null: only sizes move
        std::shared_ptr<const std::vector<MemoryRun>> runs;  ///< as MemoryExtension
    };

    /// One micro-batch of an in-edge.
    struct InputUnit {
        bool announced = false, ready = false;
        bool granted = false;           ///< senders know that there is a slot
        SampleIndexListPtr index_list;  ///< the edge's index list for this unit
        std::uint64_t expected = 0, received = 0;
        sc_core::sc_time complete_at;      ///< arrival of the latest byte that is on its way
        sc_core::sc_time acknowledged_at;  ///< of the latest acknowledge
        std::vector<Endpoint> senders;     ///< who waits for the grant
        bool load_started = false;         ///< memory edges, leader: has a slot itself
        unsigned acks_received = 0;        ///< memory edges and weights, leader: from those that read along
    };
    /// An acknowledge that is on its way to a tile that does not wait for it yet.
    struct EarlyGrant {
        std::uint32_t batch;
        std::uint16_t unit;
        Endpoint source;
        sc_core::sc_time arrival;
    };
    /// Which samples are in which unit of a tensor in HBM: what rank 0 reads before the first unit and tells the
    /// others.
    struct BatchSamples {
        unsigned records_missing = 0;                   ///< index lists, and masks of the segment's order
        SampleIndexListPtr index_list;                  ///< of the whole batch
        std::vector<std::vector<std::uint64_t>> masks;  ///< by key of the order
        std::vector<SampleSet> units;                   ///< empty: not known yet
    };
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
        std::vector<Payload*> early;  ///< probes for a segment that has not begun here
        std::vector<EarlyGrant> early_grants;
    };
    /// One edge of one unit on its way out, from the first probe to the last byte.
    struct Outbound {
        std::uint16_t edge = 0, unit = 0, operator_index = 0;
        std::uint32_t batch = 0;
        SampleIndexListPtr index_list;
        struct Group {
            std::vector<Endpoint> destinations;
            std::uint64_t bytes = 0;
            std::uint32_t samples = 0;
            unsigned acks_missing = 0;
            sc_core::sc_time acknowledged_at;  ///< arrival of the latest acknowledge
            bool sent = false;
        };
        std::vector<Group> groups;
        unsigned groups_missing = 0;
    };
    /// What this tile has to do with one unit of an edge, as its end of the plan says.
    struct Share {
        std::vector<Outbound::Group> groups;  ///< as producer
        std::vector<Endpoint> senders;        ///< as consumer
        std::uint64_t expected = 0;           ///< as consumer
        std::uint32_t samples = 0;
    };
    using BranchLists = std::vector<SampleSet>;  ///< of a unit behind a switch, by branch
    /// The output of (operator, unit): gone when no edge is left.
    struct Output {
        std::uint16_t operator_index = 0, unit = 0;
        std::uint32_t batch = 0;
        SampleIndexListPtr index_list;
        unsigned steps_missing = 0;                     ///< edges, and acknowledgements of memory writes
        std::vector<std::uint16_t> parked;              ///< edges whose switch has no complete mask yet
        bool counted = false;                           ///< switch counters
        std::map<std::uint16_t, BranchLists> branches;  ///< by switch
    };
    using SwitchUnit = std::map<std::uint32_t, std::uint64_t>;  ///< known masks by sample id
    struct Item {
        enum class Kind : std::uint8_t {
            arrival,
            send,
            group_sent,
            unit_complete,
            group_acknowledged,
            load_acknowledged
        } kind = Kind::arrival;
        Payload* payload = nullptr;
        std::unique_ptr<SendExtension> send;
        std::uint16_t operator_index = 0, edge = 0, unit = 0, group = 0;
    };

    // network_interface.cpp: sockets, packets, program
    void issue_transport(Payload& payload, sc_core::sc_time& delay);
    void control_transport(Payload& payload, sc_core::sc_time& delay);
    void noc_transport(Payload& payload, sc_core::sc_time& delay);
    void process();
    void handle(Payload& payload);
    void load_program(const std::shared_ptr<const TileProgram>& program);
    Packet make_packet(MessageKind kind, std::vector<Endpoint> destinations, std::uint64_t payload_bytes);
    struct Injection {
        sc_core::sc_time arrival;  ///< time until the tail of the last copy has arrived, unless a receipt will say it
        bool receipt_follows;
    };
    Injection inject(const Packet& packet, const sc_core::sc_time& after = sc_core::SC_ZERO_TIME);
    static void carry_values(Packet& packet, std::vector<std::uint8_t> bytes);
    Payload& make_message(::tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes);
    void tell_controller(InterfaceEvent& event);
    void touch_scratchpad(bool write, std::uint64_t address, std::uint64_t bytes);
    Endpoint memory_of(std::uint64_t address) const {
        return address_.memory.at(address / address_.region_bytes);
    }
    [[noreturn]] void fail(const std::string& message) const;
    std::string waits() const;

    // inbound.cpp: slots, probes, data
    void open_segment(std::uint16_t segment, std::uint32_t batch);
    void close_segment(std::uint16_t segment);
    void release_unit(std::uint16_t edge_id, std::uint16_t unit);
    void on_probe(Payload& payload, const AdynaMessage& message);
    /// Tensor bytes count when they are on their way; the unit is complete when the last of them has arrived. One event
    /// a unit instead of one a packet.
    void expect_tensor(const Payload& payload, const sc_core::sc_time& delay);
    void complete_unit(InEdge& in, unsigned unit);
    void on_values(const Payload& payload, const AdynaMessage& message);
    void announce(InEdge& in, unsigned unit, const SampleIndexListPtr& index_list);
    void announce_ready(InEdge& in, unsigned unit);
    std::shared_ptr<const Share> receiving_share(const InEdge& in, const SampleIndexList& index_list);
    /// Tells those that will send a unit, or ask memory for it, that it has a slot.
    void grant(InEdge& in, unsigned unit);
    void acknowledge(const InEdge& in, unsigned unit, std::vector<Endpoint> senders);
    void take_grant(InEdge& in, const EarlyGrant& grant);
    static bool has_slot(const InEdge& in, unsigned unit) { return unit < in.released + in.edge->slots; }
    InEdge& in_edge(std::uint16_t edge_id);

    // outbound.cpp: switch, probes, sends, writes to memory
    void probe(const Edge& edge, std::uint16_t unit, std::uint32_t batch, const SampleIndexListPtr& index_list,
               std::vector<Endpoint> destinations);
    void begin_send(const SendExtension& send);
    bool start_edge(Output& output, const Edge& edge);
    void send_on_chip(const Output& output, const Edge& edge, const SampleIndexListPtr& index_list);
    void send_to_memory(Output& output, const Edge& edge, const SampleIndexListPtr& index_list);
    void send_group(const Outbound& outbound, const Outbound::Group& group);
    std::vector<std::uint8_t> group_values(const Outbound& outbound, const Outbound::Group& group,
                                           std::shared_ptr<const TensorPart>& part);
    /// The same for acknowledges: what they allow happens when the last has arrived.
    void expect_acknowledge(const Payload& payload, const sc_core::sc_time& delay);
    void take_grant(Outbound& outbound, const EarlyGrant& grant);
    void release_group(std::uint16_t edge, std::uint16_t unit, std::uint16_t group);
    void finish_step(std::uint16_t operator_index, std::uint16_t unit);
    std::shared_ptr<const Share> sending_share(const Edge& edge, const SampleIndexList& index_list, unsigned rank);
    SampleIndexListPtr switched_list(Output& output, const Edge& edge);

    void write_memory(Output& output, Store store);

    // routing.cpp: the blocks that can be exchanged
    template <class Call>
    auto with_blocks(Call&& call);
    /// Refuses a program that the blocks are not built for.
    void check_routing(const TileProgram& program) const;
    /// A list of samples for each branch; null while masks are missing.
    const BranchLists* branch_lists(Output& output, std::uint16_t switch_id);
    static bool is_merged(const Edge& edge) {
        return edge.role == OperandRole::input && edge.path != EdgePath::weights && !carries_decisions(edge.path);
    }
    /// All sources of a merge, once their units are ready; null before, and of other operators.
    std::shared_ptr<const MergedSamples> merged_inputs(const InEdge& in, unsigned unit);
    SampleIndexListPtr united_records(const std::vector<SampleIndexListPtr>& index_lists);
    /// Through the packetiser: the packet is what its flits hold.
    void packetise(const Packet& packet);

    // values.cpp: tensors with values
    void access_scratchpad(::tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes, std::uint64_t size);
    /// A part of an output, global pool included, out of its slot.
    std::vector<std::uint8_t> output_values(const Output& output, const Edge& edge, const TransferPlan& plan,
                                            const TensorPart& part);
    /// Into the slot of the packet's edge and unit.
    void place_values(const Payload& payload);
    ValueRegion input_region(const InEdge& in, unsigned unit, const TransferPlan& plan) const;
    /// Partial sums of a global pool, each in binary16, are added up in binary32 in the order of their rows.
    void add_partial_sums(const InEdge& in, unsigned unit);

    // decisions.cpp: masks and labels of gates
    /// For each of some samples.
    struct Decisions {
        std::vector<std::uint64_t> masks;
        std::vector<SampleLabel> labels;
    };
    /// What this tile decides of a gate's output: empty where another tile has the same samples.
    Box decided_box(const Output& output) const;
    /// False while labels that the gate has to compare with are on their way.
    bool labels_known(const Output& output) const;
    Decisions recorded_decisions(const Output& output, const std::vector<std::uint32_t>& ids) const;
    Decisions computed_decisions(const Output& output, const Box& box, const std::vector<std::uint32_t>& ids);
    void send_decisions(Output& output, const Edge& edge);
    void store_masks(Output& output, const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks);
    void start_parked(Output& output);
    void on_masks(const AdynaMessage& message);
    void on_labels(const AdynaMessage& message);

    // fetch.cpp: tensors, weights, index lists and recorded masks from memory
    void start_loads(InEdge& in);
    /// False: every tile knows by itself that all samples are there, in the order of their ids.
    bool tells_samples(const InEdge& in) const;
    void request_samples(InEdge& in);
    /// A record: all index lists of the tensor, or the masks of key `key` of the segment's order.
    void on_samples(InEdge& in, MessageContent content, unsigned key, const std::vector<std::uint8_t>& bytes);
    std::uint64_t samples_record_bytes(const InEdge& in, MessageContent content) const;
    TransferPlan load_plan(const InEdge& in, unsigned unit) const;
    /// Ranks that get what one of them asks memory for, this one among them (memory_readers.h).
    std::vector<std::uint16_t> readers(const InEdge& in, unsigned unit) const;
    static std::vector<Endpoint> tiles_of(const InEdge& in, const std::vector<std::uint16_t>& ranks);
    /// Of those that read together the one that asks; nobody if it is this tile.
    std::vector<Endpoint> load_leader(const InEdge& in, unsigned unit) const;
    void start_load(InEdge& in, unsigned unit);
    void issue_load(InEdge& in, unsigned unit);
    /// Leader: asks memory once it and all that read along have a slot.
    void issue_when_granted(InEdge& in, unsigned unit);
    void issue_acknowledged(InEdge& in, unsigned unit);
    void open_weights(std::uint16_t edge_id);
    void issue_weights(InEdge& in);
    void fetch_masks(std::uint16_t operator_index, std::uint16_t unit, std::uint32_t batch);
    void on_recorded_masks(const AdynaMessage& message, const std::vector<std::uint8_t>& bytes);
    /// Of a unit; where the segment is compacted, of the batch.
    std::uint64_t mask_record_bytes(std::uint16_t operator_index) const;
    void request(Fetch fetch);
    /// Where a part lies in one piece of a tensor in HBM that holds it.
    std::shared_ptr<const std::vector<MemoryRun>> runs_of(const TensorPart& part, const OperatorPlacement& tensor,
                                                          const TransferPlan::Extent& piece, std::uint64_t address);

    Config config_;
    Address address_;
    ClockPeriod clock_;
    SimulationRegistry& registry_;
    Stats stats_;
    std::unique_ptr<RoutingBlocks> blocks_;
    AdynaPacketPool packets_;
    PayloadPool messages_;  ///< to the tile's other components
    TimedQueue<Item> queue_;

    std::shared_ptr<const TileProgram> program_;
    /// By edge, size and allocations of its ends, for units in which producer, edge and consumer have the same samples:
    /// then the plan depends on nothing else.
    using ShareKey = std::tuple<std::uint16_t, std::uint32_t, unsigned, unsigned>;
    std::map<ShareKey, std::shared_ptr<const Share>> sending_, receiving_;
    std::vector<int> in_edge_index_;  ///< by edge id, -1: not an in-edge of this tile
    std::vector<InEdge> in_edges_;
    std::deque<Outbound> outbounds_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<EarlyGrant>> early_grants_;  ///< by edge and unit
    std::deque<Output> outputs_;
    std::map<std::tuple<MessageContent, std::uint16_t, std::uint16_t>, std::vector<std::uint8_t>> partial_values_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, SwitchUnit> switches_;  ///< (switch, unit)
    std::map<std::uint16_t, SwitchUnit> recorded_masks_;                      ///< by operator index
    /// Of the gates before those of this tile, by switch and batch: a gate's and the next one's segments may differ.
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::map<std::uint32_t, SampleLabel>> labels_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> branch_samples_;  ///< (switch, branch)
};

/// The switch, merge and packetiser of `impl`; the last two are RTL.
inline const std::vector<std::string> kNetworkInterfaceImplementations{"packets", "rtl", "lockstep"};

template <class Visitor>
void describe(Visitor& visitor, NetworkInterface::Config& config) {
    visitor.choice("impl", config.impl, kNetworkInterfaceImplementations,
                   "switch, merge and packetiser: model, Verilated RTL, or both side by side (the last two need "
                   "chip.impl: tiles)");
    visitor.field("setup_cycles", config.setup_cycles, 0, 1000,
                  "cycles for range and address generation before the first packet of a transfer");
    visitor.field("max_packet_bytes", config.max_packet_bytes, 64, 1048576, "largest payload of one packet");
    visitor.choice("memory_reads", config.memory_reads, {"multicast", "unicast"},
                   "tiles that need the same tensor or weights of HBM read them together, answered by one multicast "
                   "packet, or each for itself");
}

}  // namespace switchyard::hw
