// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/wormhole_network.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::hw {
namespace {

constexpr unsigned kMaxPorts = 64;
/// What both configurations have by the same name, for either conversion.
struct SharedNumber {
    unsigned NocConfig::*noc;
    unsigned flit::Config::*flits;
};
constexpr SharedNumber kSharedNumbers[] = {
    {&NocConfig::columns, &flit::Config::columns},
    {&NocConfig::rows, &flit::Config::rows},
    {&NocConfig::vcs, &flit::Config::vcs},
    {&NocConfig::control_vcs, &flit::Config::control_vcs},
    {&NocConfig::buffer_flits, &flit::Config::buffer_flits},
    {&NocConfig::routing_cycles, &flit::Config::routing_cycles},
    {&NocConfig::vc_alloc_cycles, &flit::Config::vc_alloc_cycles},
    {&NocConfig::switch_alloc_cycles, &flit::Config::switch_alloc_cycles},
    {&NocConfig::switch_cycles, &flit::Config::switch_cycles},
    {&NocConfig::switch_iterations, &flit::Config::switch_iterations},
    {&NocConfig::link_cycles, &flit::Config::link_cycles},
    {&NocConfig::endpoint_link_cycles, &flit::Config::endpoint_link_cycles},
    {&NocConfig::credit_cycles, &flit::Config::credit_cycles},
    {&NocConfig::watchdog_cycles, &flit::Config::watchdog_cycles},
};

}  // namespace

flit::Config flit_config(const NocConfig& config) {
    flit::Config flits;
    flits.torus = config.topology == "torus";
    flits.oldest_first = config.arbitration == "oldest_first";
    for (const SharedNumber& number : kSharedNumbers) flits.*number.flits = config.*number.noc;
    return flits;
}

NocConfig noc_config(const flit::Config& flits) {
    NocConfig config;
    config.topology = flits.torus ? "torus" : "mesh";
    config.router_cycles = flits.router_cycles();
    config.arbitration = flits.oldest_first ? "oldest_first" : "round_robin";
    for (const SharedNumber& number : kSharedNumbers) config.*number.noc = flits.*number.flits;
    return config;
}

WormholeNetwork::WormholeNetwork(const sc_core::sc_module_name& name, const Config& config,
                                 SimulationRegistry& registry, TopologyPtr topology,
                                 std::vector<unsigned> router_of_endpoint, const flit::RouterFactory& make_router)
    : Network(name, config, registry, std::move(topology), std::move(router_of_endpoint)),
      in_("in", router_of_endpoint_.size()),
      out_("out", router_of_endpoint_.size()),
      cycle_ticks_(ClockPeriod(config.clock_ghz).cycles(1).value()),
      network_(built([&] { return flit::FlitNetwork(flit_config(config), topology_, router_of_endpoint_); })),
      transport_(built([&] {
          const flit::Multicast how = config.multicast == "source" ? flit::Multicast::source : flit::Multicast::tree;
          return flit::Transport(network_, router_of_endpoint_.size(), config.packet_format(), how);
      })),
      routers_(topology_->routers()),
      links_seen_(std::size_t{topology_->routers()} * kMaxPorts),
      next_edge_("next_edge"),
      receipts_("receipts") {
    for (std::size_t e = 0; e < in_.size(); ++e) {
        in_[e].register_b_transport(this, &WormholeNetwork::b_transport, static_cast<int>(e));
        in_[e].register_transport_dbg(this, &WormholeNetwork::debug_transport, static_cast<int>(e));
        inject[e].bind(in_[e]);
        out_[e].bind(eject[e]);
    }
    exchange_routers(make_router);
    SWITCHYARD_HAS_PROCESS(WormholeNetwork);
    SC_THREAD(run);  // a thread, since it calls b_transport
    sensitive << next_edge_;
    register_counters(registry);
    registry.add_waiter(*this, [this] { return waits(); });
}

void WormholeNetwork::exchange_routers(const flit::RouterFactory& make_router) {
    for (unsigned r = 0; r < routers_.size(); ++r) {
        const std::string& impl = config_.impl_of_router.empty() ? config_.impl : config_.impl_of_router.at(r);
        if (impl == "flit") continue;
        if (!make_router)
            throw ModelError(*this, not_made("noc.impl", {"packet", "flit", "rtl", "lockstep"}, impl, "make_network"));
        const bool lockstep = impl == "lockstep";
        const std::string waveform = std::string(this->name()) + ".router_" + std::to_string(r) + "." + impl + ".fst";
        built([&] { network_.exchange(r, make_router(network_.config(), r, network_.ports(), waveform), lockstep); });
    }
}

WormholeNetwork::~WormholeNetwork() {
    for (Payload* const payload : in_flight_)
        if (payload) payload->release();
    for (const Waiting& packet : waiting_) packet.payload->release();
}

void WormholeNetwork::b_transport(int endpoint, Payload& payload, sc_core::sc_time& delay) {
    PacketExtension& packet =
        checked_packet(*this, payload, static_cast<Endpoint>(endpoint), router_of_endpoint_.size());
    std::vector<Endpoint> sorted = packet.destinations;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        throw ModelError(*this, fmt::format("expected each destination of a packet once, found {} twice", *twice));
    }
    if (!payload.has_mm()) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        throw ModelError(*this, "expected a payload with a memory manager, as it is kept until it arrives, found none");
    }
    payload.acquire();
    const std::uint64_t ticks = (sc_core::sc_time_stamp() + delay).value();
    const std::uint64_t due = ceil_div(ticks, cycle_ticks_);
    waiting_.push_back({due, sequence_++, &payload});
    std::push_heap(waiting_.begin(), waiting_.end());
    // The cycle `due` is worked off at its end.
    if (network_.idle() && waiting_.front().due == due)
        next_edge_.notify(sc_core::sc_time::from_value((due + 1) * cycle_ticks_) - sc_core::sc_time_stamp());
    packet.receipt_follows = packet.wants_receipt;
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

unsigned WormholeNetwork::debug_transport(int, Payload& payload) {
    const auto* const packet = payload.get_extension<PacketExtension>();
    if (!packet || packet->destinations.size() != 1 || packet->destinations[0] >= out_.size()) return 0;
    return out_[packet->destinations[0]]->transport_dbg(payload);
}

void WormholeNetwork::run() {
    // RTL that comes out of reset busy: packets only wake a network that is idle.
    if (!network_.idle()) next_edge_.notify(sc_core::sc_time::from_value(cycle_ticks_));
    while (true) {
        wait();
        step();
    }
}

void WormholeNetwork::step() {
    const std::uint64_t now = sc_core::sc_time_stamp().value() / cycle_ticks_;
    if (network_.cycle() + 1 < now) {
        network_.skip_to(now - 1);
        network_.begin_cycle();
    }
    queue_packets(now - 1);
    try {
        network_.end_cycle();
    } catch (const flit::NoProgress& stuck) {
        throw ModelError(*this, stuck.what());
    } catch (const RtlFault& fault) {
        throw ModelError(*this, fault.what());
    }
    network_.begin_cycle();
    for (const flit::Transport::Arrival& arrival : transport_.collect()) deliver(arrival);
    if (!network_.idle())
        next_edge_.notify(sc_core::sc_time::from_value(cycle_ticks_));
    else if (!waiting_.empty())
        next_edge_.notify(sc_core::sc_time::from_value((std::max(waiting_.front().due, now) + 1 - now) * cycle_ticks_));
}

void WormholeNetwork::queue_packets(std::uint64_t cycle) {
    while (!waiting_.empty() && waiting_.front().due <= cycle) {
        std::pop_heap(waiting_.begin(), waiting_.end());
        Payload* const payload = waiting_.back().payload;
        waiting_.pop_back();
        const PacketExtension& packet = *payload->get_extension<PacketExtension>();
        const std::uint32_t message =
            transport_.send(packet.source, packet.destinations, packet.payload_bytes, packet.traffic);
        if (in_flight_.size() <= message) in_flight_.resize(message + std::size_t{1});
        in_flight_[message] = payload;
        RouterStats& stats = routers_[router_of_endpoint_[packet.source]];
        ++stats.injected_packets;
        stats.injected_bytes += packet.payload_bytes;
        stats.addressed_packets += packet.destinations.size();
        stats.addressed_bytes += packet.payload_bytes * packet.destinations.size();
    }
}

void WormholeNetwork::deliver(const flit::Transport::Arrival& arrival) {
    Payload& payload = *in_flight_[arrival.message];
    PacketExtension& packet = *payload.get_extension<PacketExtension>();
    RouterStats& stats = routers_[router_of_endpoint_[arrival.endpoint]];
    ++stats.ejected_packets;
    stats.ejected_bytes += packet.payload_bytes;
    if (arrival.last) in_flight_[arrival.message] = nullptr;
    packet.destinations.assign(1, arrival.endpoint);
    call(arrival.endpoint, payload);
    if (!arrival.last) return;
    if (packet.receipt_follows) send_receipt(packet);
    payload.release();
}

void WormholeNetwork::send_receipt(const PacketExtension& packet) {
    PooledPayload payload(receipts_);
    PacketExtension& receipt = payload.packet();
    receipt.is_receipt = true;
    receipt.source = packet.source;
    receipt.destinations.assign(1, packet.source);
    receipt.receipt_tag = packet.receipt_tag;
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_data_ptr(dummy_buffer(1));
    payload->set_data_length(1);
    payload->set_streaming_width(1);
    call(packet.source, *payload);
}

void WormholeNetwork::call(Endpoint endpoint, Payload& payload) {
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    out_[endpoint]->b_transport(payload, delay);
    if (payload.is_response_error())
        throw ModelError(*this, fmt::format("endpoint {}: expected a packet to be taken, found {}", endpoint,
                                            payload.get_response_string()));
}

const LinkStats& WormholeNetwork::link(unsigned router, unsigned port) const {
    LinkStats& seen = links_seen_[std::size_t{router} * kMaxPorts + port];
    const std::uint64_t flits = network_.link_flits(router, port);
    seen.busy_cycles = flits;
    seen.packets = network_.link_packets(router, port);
    seen.bytes = flits * config_.link_bytes_per_cycle - network_.link_padding(router, port);
    return seen;
}

WormholeNetwork::Stats WormholeNetwork::stats_of(unsigned router) const {
    const RouterStats& counted = routers_[router];
    Stats stats;
    stats.injected_packets = counted.injected_packets;
    stats.injected_bytes = counted.injected_bytes;
    stats.addressed_packets = counted.addressed_packets;
    stats.addressed_bytes = counted.addressed_bytes;
    stats.ejected_packets = counted.ejected_packets;
    stats.ejected_bytes = counted.ejected_bytes;
    for (unsigned p = 0; p < topology_->router_ports(); ++p) {
        const LinkStats& one = link(router, p);
        stats.link_packets += one.packets;
        stats.link_bytes += one.bytes;
        stats.link_busy_cycles += one.busy_cycles;
        stats.max_link_busy_cycles = std::max(stats.max_link_busy_cycles, one.busy_cycles);
    }
    return stats;
}

WormholeNetwork::Stats WormholeNetwork::stats() const {
    Stats total;
    for (unsigned r = 0; r < routers_.size(); ++r) total += stats_of(r);
    return total;
}

void WormholeNetwork::register_counters(SimulationRegistry& registry) {
    for (unsigned r = 0; r < routers_.size(); ++r) {
        const std::string module = std::string(this->name()) + ".router_" + std::to_string(r);
        switchyard::register_counters(registry, module, kRouterCounters, [this, r] { return stats_of(r); });
        const auto add_link = [&](const std::string& prefix, unsigned p) {
            register_link_counters(registry, module, prefix, [this, r, p] { return link(r, p); });
        };
        for (unsigned p = 0; p < topology_->router_ports(); ++p) add_link(topology_->port_name(p) + "_out", p);
        for (std::size_t e = 0; e < router_of_endpoint_.size(); ++e)
            if (router_of_endpoint_[e] == r)
                add_link("endpoint_" + std::to_string(e) + "_out", network_.local_port(static_cast<unsigned>(e)));
    }
    registry.add(*this, "copies", "1", [this] { return static_cast<double>(network_.stats().copies); });
    registry.add(*this, "max_parked_packets", "1",
                 [this] { return static_cast<double>(transport_.stats().max_parked); });
}

std::string WormholeNetwork::waits() const {
    if (network_.idle()) return "";
    return std::to_string(transport_.in_flight()) + " packets to arrive";
}

}  // namespace switchyard::hw
