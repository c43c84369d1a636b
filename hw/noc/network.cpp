// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/network.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/noc/flit/multicast_pieces.h"
#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/hw/noc/router.h"
#include "switchyard/hw/noc/wormhole_network.h"

namespace switchyard::hw {
namespace {

[[noreturn]] void refuse(const sc_core::sc_object& module, ::tlm::tlm_generic_payload& payload,
                         ::tlm::tlm_response_status status, const std::string& message) {
    payload.set_response_status(status);
    throw ModelError(module, message);
}

}  // namespace

NetworkStats& NetworkStats::operator+=(const NetworkStats& o) {
    injected_packets += o.injected_packets;
    injected_bytes += o.injected_bytes;
    addressed_packets += o.addressed_packets;
    addressed_bytes += o.addressed_bytes;
    ejected_packets += o.ejected_packets;
    ejected_bytes += o.ejected_bytes;
    link_packets += o.link_packets;
    link_bytes += o.link_bytes;
    link_busy_cycles += o.link_busy_cycles;
    max_link_busy_cycles = std::max(max_link_busy_cycles, o.max_link_busy_cycles);
    return *this;
}

void register_link_counters(SimulationRegistry& registry, const std::string& module, const std::string& link,
                            const std::function<LinkStats()>& read) {
    const auto add = [&](const char* counter, const char* unit, std::uint64_t LinkStats::*member) {
        registry.add(module, link + counter, unit, [read, member] { return static_cast<double>(read().*member); });
    };
    add("_packets", "1", &LinkStats::packets);
    add("_bytes", "bytes", &LinkStats::bytes);
    add("_busy_cycles", "cycles", &LinkStats::busy_cycles);
}

void register_network_counters(SimulationRegistry& registry, const std::string& module, unsigned links,
                               const std::function<NetworkStats()>& read) {
    registry.add(module, "links", "1", [links] { return static_cast<double>(links); });
    registry.add(module, "max_link_busy_cycles", "cycles",
                 [read] { return static_cast<double>(read().max_link_busy_cycles); });
}

Network::Network(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                 TopologyPtr topology, std::vector<unsigned> router_of_endpoint)
    : sc_module(name),
      inject("inject", router_of_endpoint.size()),
      eject("eject", router_of_endpoint.size()),
      config_(config),
      topology_(topology ? std::move(topology) : built([&] { return make_topology(config); })),
      router_of_endpoint_(std::move(router_of_endpoint)),
      links_(links_of(*topology_)) {
    const std::string message = validation_error(config, *topology_, router_of_endpoint_);
    if (!message.empty()) throw ModelError(*this, message);
    register_network_counters(registry, this->name(), links_, [this] { return stats(); });
}

std::uint64_t Network::zero_load_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const {
    return hw::zero_load_cycles(config_, topology_->hops(router_of_endpoint_.at(from), router_of_endpoint_.at(to)),
                                payload_bytes);
}

std::string validation_error(const NocConfig& config, const std::vector<unsigned>& router_of_endpoint) {
    const std::string message = validation_error(config);
    return message.empty() ? validation_error(config, *make_topology(config), router_of_endpoint) : message;
}

std::string validation_error(const NocConfig& config, const Topology& topology,
                             const std::vector<unsigned>& router_of_endpoint) {
    std::string message = validation_error_of_routers(config);
    std::vector<unsigned> endpoints(topology.routers());
    for (std::size_t e = 0; message.empty() && e < router_of_endpoint.size(); ++e) {
        if (router_of_endpoint[e] >= endpoints.size())
            message = fmt::format("expected endpoints at routers below {}, found endpoint {} at router {}",
                                  endpoints.size(), e, router_of_endpoint[e]);
        else
            ++endpoints[router_of_endpoint[e]];
    }
    if (!message.empty() || endpoints.empty()) return message;
    const unsigned max = *std::max_element(endpoints.begin(), endpoints.end()), first = topology.router_ports();
    if (config.impl == "packet")
        return max + first <= kMaxRouterPorts ? ""
                                              : fmt::format("expected at most {} endpoints at a router, found {}",
                                                            kMaxRouterPorts - std::min(first, kMaxRouterPorts), max);
    message = flit::validation_error(flit_config(config), topology, first + max);
    if (message.empty() && flit::MulticastPieces(config.packet_format(), config.buffer_flits).room() == 0)
        message = fmt::format(
            "header_bytes: expected room for data in a piece of a multicast, half of the {} buffer_flits "
            "of {} bytes, found {} header_bytes",
            config.buffer_flits, config.link_bytes_per_cycle, config.header_bytes);
    return message;
}

std::unique_ptr<Network> make_network(const sc_core::sc_module_name& name, const NocConfig& config,
                                      SimulationRegistry& registry, TopologyPtr topology,
                                      std::vector<unsigned> router_of_endpoint,
                                      const flit::RouterFactory& make_router) {
    if (config.impl != "packet")
        return std::make_unique<WormholeNetwork>(name, config, registry, std::move(topology),
                                                 std::move(router_of_endpoint), make_router);
    return std::make_unique<PacketNetwork>(name, config, registry, std::move(topology), std::move(router_of_endpoint));
}

std::unique_ptr<Network> make_network(const sc_core::sc_module_name& name, const NocConfig& config,
                                      SimulationRegistry& registry, std::vector<unsigned> router_of_endpoint,
                                      const flit::RouterFactory& make_router) {
    return make_network(name, config, registry, nullptr, std::move(router_of_endpoint), make_router);
}

PacketExtension& extension_of(const sc_core::sc_object& module, ::tlm::tlm_generic_payload& payload) {
    auto* const packet = payload.get_extension<PacketExtension>();
    if (!packet) refuse(module, payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, "expected a PacketExtension, found none");
    if (packet->destinations.empty())
        refuse(module, payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE, "expected a packet with a destination, found none");
    return *packet;
}

PacketExtension& checked_packet(const sc_core::sc_object& module, ::tlm::tlm_generic_payload& payload, Endpoint source,
                                std::size_t endpoints) {
    PacketExtension& packet = extension_of(module, payload);
    if (packet.source != source)
        refuse(module, payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE,
               fmt::format("expected {} as the source of a packet, the endpoint that sends it, found {}", source,
                           packet.source));
    for (const Endpoint destination : packet.destinations) {
        if (destination >= endpoints)
            refuse(module, payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                   fmt::format("expected a destination below {}, found {}", endpoints, destination));
    }
    return packet;
}

}  // namespace switchyard::hw
