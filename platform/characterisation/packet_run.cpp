// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/hw/noc/wormhole_network.h"
#include "switchyard/platform/characterisation/noc_run.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {
namespace {

/// All endpoints in one: sends the traffic, and writes down what arrives.
class Endpoints : public sc_core::sc_module {
public:
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<Endpoints>> out;
    sc_core::sc_vector<tlm_utils::simple_target_socket<Endpoints>> in;
    NocMeasurement measured;

    Endpoints(const sc_core::sc_module_name& name, const NocRun& run, const hw::NocConfig& config,
              const hw::PacketNetwork& torus)
        : sc_module(name),
          out("out", run.network.routers()),
          in("in", run.network.routers()),
          run_(run),
          torus_(torus),
          clock_(config.clock_ghz),
          traffic_(run.traffic, run.network.columns, run.network.rows, run.rate, run.packet_flits, run.seed),
          payload_bytes_(std::uint64_t{run.packet_flits} * config.link_bytes_per_cycle - config.header_bytes),
          pool_("endpoints") {
        for (auto& socket : in) socket.register_b_transport(this, &Endpoints::arrive);
        SWITCHYARD_HAS_PROCESS(Endpoints);
        SC_THREAD(drive);
    }

private:
    void drive() {
        const std::uint64_t begin = run_.warmup_cycles, end = begin + run_.cycles;
        // Every packet's arrival is known when it is sent, so nothing has to be drained.
        for (std::uint64_t cycle = 0; cycle < end; ++cycle) {
            if (cycle == begin) add_link_flits(true);
            traffic_.cycle([&](unsigned source, unsigned destination) { send(source, destination, cycle >= begin); });
            wait(clock_.cycles(1));
        }
        add_link_flits(false);
        for (unsigned r = 0; r < run_.network.routers(); ++r)
            measured.max_vc_busy = std::max(measured.max_vc_busy, torus_.router(r).max_vc_busy_cycles());
        measured.max_vc_busy /= static_cast<double>(end);
        measured.simulated_cycles = end;
    }
    void send(unsigned source, unsigned destination, bool counts) {
        PooledPayload payload(pool_);
        PacketExtension& packet = payload.packet();
        packet.source = static_cast<Endpoint>(source);
        packet.destinations.assign(1, static_cast<Endpoint>(destination));
        packet.payload_bytes = payload_bytes_;
        const auto length = static_cast<unsigned>(payload_bytes_);
        payload->set_command(::tlm::TLM_WRITE_COMMAND);
        payload->set_data_ptr(dummy_buffer(length));
        payload->set_data_length(length);
        payload->set_streaming_width(length);
        sc_core::sc_time delay;
        out[source]->b_transport(*payload, delay);
        if (counts) {
            ++measured.generated;
            measured.offered_flits += run_.packet_flits;
            measured.add_latency(clock_.count(delay));
            measured.zero_load_cycles += torus_.zero_load_cycles(packet.source, packet.destinations[0], payload_bytes_);
        }
    }
    void arrive(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const std::uint64_t cycle = clock_.count(sc_core::sc_time_stamp() + delay);
        if (cycle >= run_.warmup_cycles && cycle < run_.warmup_cycles + run_.cycles)
            measured.accepted_flits += run_.packet_flits;
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    void add_link_flits(bool begin) {
        constexpr unsigned kPorts = hw::port::kLocal + 1;
        measured.link_flits.resize(std::size_t{run_.network.routers()} * kPorts);
        for (unsigned r = 0; r < run_.network.routers(); ++r)
            for (unsigned p = 0; p < kPorts; ++p) {
                double& flits = measured.link_flits[r * kPorts + p];
                flits = torus_.router(r).busy_cycles_until_now(p) - (begin ? 0 : flits);
                if (!begin) flits = std::max(flits, 0.0);
            }
    }

    NocRun run_;
    const hw::PacketNetwork& torus_;
    ClockPeriod clock_;
    hw::SyntheticTraffic traffic_;
    std::uint64_t payload_bytes_;
    PacketPayloadPool pool_;
};

}  // namespace

NocMeasurement run_packet_network(const NocRun& run) {
    check(run);
    const hw::NocConfig config = hw::noc_config(run.network);
    if (const std::string message = hw::validation_error(config); !message.empty())
        throw std::invalid_argument(message);
    SimulationRegistry registry;
    std::vector<unsigned> routers(run.network.routers());
    std::iota(routers.begin(), routers.end(), 0u);
    hw::PacketNetwork torus("torus", config, registry, routers);
    Endpoints endpoints("endpoints", run, config, torus);
    for (std::size_t e = 0; e < routers.size(); ++e) {
        endpoints.out[e].bind(torus.inject[e]);
        torus.eject[e].bind(endpoints.in[e]);
    }
    sc_core::sc_start();
    return endpoints.measured;
}

}  // namespace switchyard::platform
