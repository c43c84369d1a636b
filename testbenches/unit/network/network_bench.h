// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/network.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/memory_request.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::testing {

/// What the test's system has to say, which neither network nor memory knows.
struct Note : ::tlm::tlm_extension<Note> {
    std::uint32_t number = 0;
    std::shared_ptr<const std::string> text;

    void reset() {
        number = 0;
        text.reset();
    }
    ::tlm::tlm_extension_base* clone() const override { return new Note(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override { *this = static_cast<const Note&>(other); }
};

/// A packet as an endpoint got it (`values`: the data array, if it is real), and when and where.
struct Arrival : PacketExtension {
    MemoryOperation operation = MemoryOperation::none;
    std::uint32_t tag = 0;
    bool has_note = false;
    Note note;
    Endpoint at = 0;
    std::uint64_t cycle = 0, address = 0;

    bool operator==(const Arrival& o) const {
        return at == o.at && source == o.source && tag == o.tag && cycle == o.cycle && payload_bytes == o.payload_bytes;
    }
};

/// Stands at one or more ports of a network or a memory: sends packets, and writes down those that arrive.
class Ends : public sc_core::sc_module {
public:
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<Ends>> out;
    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<Ends>> in;
    std::vector<Arrival> arrivals;
    /// Called in `b_transport`, after the arrival was written down.
    std::function<void(const Arrival&)> on_arrival;

    /// `first`: endpoint of the first port.
    Ends(const sc_core::sc_module_name& name, std::size_t count, double clock_ghz = 1.0, Endpoint first = 0)
        : sc_module(name), out("out", count), in("in", count), clock_(clock_ghz), first_(first), pool_("ends") {
        for (std::size_t i = 0; i < count; ++i) in[i].register_b_transport(this, &Ends::arrive, static_cast<int>(i));
        SWITCHYARD_HAS_PROCESS(Ends);
        SC_THREAD(run);
    }

    /// What the module's thread does; set before the simulation starts.
    std::function<void()> script;

    /// A pooled packet from `source`, with the fields that the tests need.
    PooledPayload packet(Endpoint source, std::vector<Endpoint> destinations, std::uint64_t payload_bytes,
                         std::uint32_t tag = 0, MemoryOperation operation = MemoryOperation::none) {
        PooledPayload payload(pool_);
        PacketExtension& packet = payload.packet();
        packet.source = source;
        packet.destinations = std::move(destinations);
        packet.payload_bytes = payload_bytes;
        packet.traffic = operation == MemoryOperation::read ? TrafficClass::control : TrafficClass::data;
        payload.extension<MemoryExtension>().operation = operation;
        payload.extension<MemoryExtension>().tag = tag;
        const auto length = static_cast<unsigned>(payload_bytes > 0 ? payload_bytes : 1);
        payload->set_command(::tlm::TLM_WRITE_COMMAND);
        payload->set_data_ptr(dummy_buffer(length));
        payload->set_data_length(length);
        payload->set_streaming_width(length);
        return payload;
    }
    /// Sends it `delay` cycles from now; the cycle (of simulated time) at which the call says that it has arrived.
    std::uint64_t send(PooledPayload& payload, std::uint64_t delay = 0) {
        sc_core::sc_time time = clock_.cycles(delay);
        out[payload.packet().source - first_]->b_transport(*payload, time);
        REQUIRE(payload->is_response_ok());
        return clock_.count(sc_core::sc_time_stamp() + time);
    }
    std::uint64_t send(Endpoint source, std::vector<Endpoint> destinations, std::uint64_t payload_bytes,
                       std::uint32_t tag = 0, std::uint64_t delay = 0) {
        PooledPayload payload = packet(source, std::move(destinations), payload_bytes, tag);
        return send(payload, delay);
    }
    const ClockPeriod& clock() const { return clock_; }
    std::uint64_t now() const { return clock_.count(sc_core::sc_time_stamp()); }
    void wait_cycles(std::uint64_t cycles) { wait(clock_.cycles(cycles)); }

private:
    void run() {
        if (script) script();
    }
    void arrive(int port, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const auto& packet = *payload.get_extension<PacketExtension>();
        Arrival arrival;
        static_cast<PacketExtension&>(arrival) = packet;
        if (const auto* const memory = payload.get_extension<MemoryExtension>()) {
            arrival.operation = memory->operation;
            arrival.tag = memory->tag;
        }
        if (const auto* const note = payload.get_extension<Note>()) {
            arrival.has_note = true;
            arrival.note = *note;
        }
        arrival.at = static_cast<Endpoint>(first_ + static_cast<unsigned>(port));
        arrival.cycle = clock_.count(sc_core::sc_time_stamp() + delay);
        arrival.address = payload.get_address();
        if (packet.has_values)
            arrival.values.assign(payload.get_data_ptr(), payload.get_data_ptr() + payload.get_data_length());
        arrivals.push_back(arrival);
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        if (on_arrival) on_arrival(arrival);
    }

    ClockPeriod clock_;
    unsigned first_;
    ExtendedPayloadPool<PacketExtension, MemoryExtension, Note> pool_;
};

/// A network whose endpoints are all in the hands of the test; by default one a router.
struct NetworkBench {
    SimulationRegistry registry;
    std::unique_ptr<hw::Network> network;
    hw::Network& torus;
    Ends ends;

    explicit NetworkBench(const hw::NocConfig& config) : NetworkBench(config, one_each(config)) {}
    NetworkBench(const hw::NocConfig& config, const std::vector<unsigned>& router_of_endpoint,
                 const std::string& name = "network")
        : NetworkBench(config, nullptr, router_of_endpoint, name) {}
    NetworkBench(const hw::NocConfig& config, const hw::TopologyPtr& topology,
                 const std::vector<unsigned>& router_of_endpoint, const std::string& name)
        : network(hw::make_network(name.c_str(), config, registry, topology, router_of_endpoint)),
          torus(*network),
          ends((name + "_ends").c_str(), router_of_endpoint.size(), config.clock_ghz) {
        for (std::size_t e = 0; e < router_of_endpoint.size(); ++e) {
            ends.out[e].bind(torus.inject[e]);
            torus.eject[e].bind(ends.in[e]);
        }
    }

    /// On a topology of the test's own, with the routers of `config`; one endpoint a router.
    NetworkBench(const hw::NocConfig& config, const hw::TopologyPtr& topology)
        : NetworkBench(config, topology, consecutive(topology->routers()), "network") {}

    static std::vector<unsigned> consecutive(unsigned count) {
        std::vector<unsigned> routers(count);
        std::iota(routers.begin(), routers.end(), 0u);
        return routers;
    }
    static std::vector<unsigned> one_each(const hw::NocConfig& config) {
        std::vector<unsigned> routers(std::size_t{config.columns} * config.rows);
        std::iota(routers.begin(), routers.end(), 0u);
        return routers;
    }
    /// Lets the thread of `ends` do it.
    void run(std::function<void()> script) {
        ends.script = std::move(script);
        sc_core::sc_start();
    }
};

inline hw::NocConfig noc(unsigned columns, unsigned rows, const std::string& topology = "torus",
                         const std::string& impl = "packet") {
    hw::NocConfig config;
    config.impl = impl;
    config.topology = topology;
    config.columns = columns;
    config.rows = rows;
    return config;
}

}  // namespace switchyard::testing
