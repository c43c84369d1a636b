// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/link/message_engine.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// Links between devices, as their copy engines and kernels see them: each device reads and writes the memory of all.
///
/// Device d sends accesses to in[d]; accesses to its memory leave by out[d]. Address: device << kWindowBits | offset;
/// out[d] gets the offset. A write is a message of its data; a read is a message of request_bytes and one of the data
/// back. An access to a device's own memory takes no link. Modelled, accuracy, not modelled: MessageEngine; and order:
/// accesses of a device to the same memory may overtake each other if they are of different length. Not modelled: byte
/// enables on the wire, nb_transport, DMI.
class LinkNetwork : public sc_core::sc_module {
public:
    static constexpr unsigned kWindowBits = 40;
    struct Config {
        MessageEngine::Config messages;
        unsigned request_bytes = 16;  ///< of a read, on the wire
    };
    struct Stats {
        std::uint64_t writes = 0, reads = 0, write_bytes = 0, read_bytes = 0;
    };

    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<LinkNetwork>> in;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<LinkNetwork>> out;

    LinkNetwork(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                std::shared_ptr<const sched::LinkTopology> topology);

    const Stats& stats() const { return stats_; }
    const MessageEngine& messages() const { return engine_; }

private:
    void b_transport(int device, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(int device, ::tlm::tlm_generic_payload& payload);
    void carry(unsigned from, unsigned to, std::uint64_t bytes);
    void advance();

    std::shared_ptr<const sched::LinkTopology> topology_;
    Config config_;
    SimulationRegistry& registry_;
    MessageEngine engine_;
    sc_core::sc_event next_;
    std::unordered_map<std::uint64_t, sc_core::sc_event*> arrivals_;  ///< of messages on their way, by their tags
    std::uint64_t next_tag_ = 0;
    Stats stats_;
};

template <class V>
void describe(V& v, LinkNetwork::Config& c) {
    describe(v, c.messages);
    v.field("request_bytes", c.request_bytes, 1, 4096, "of a read's request on the wire");
}

}  // namespace switchyard::hw
