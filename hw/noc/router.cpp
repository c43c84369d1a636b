#include "switchyard/hw/noc/router.h"

#include <algorithm>
#include <utility>

#include "switchyard/tlm/clock_period.h"

namespace switchyard::hw {
namespace {

constexpr std::size_t kMaxPorts = 32;  // a bit each in fan_out

constexpr const char* kDirections[port::kLocal] = {"north", "east", "south", "west"};

std::string port_name(const std::vector<Endpoint>& endpoints, std::size_t index) {
    return index < port::kLocal ? kDirections[index] : "endpoint_" + std::to_string(endpoints[index - port::kLocal]);
}

std::vector<Endpoint> attached(unsigned index, const std::vector<unsigned>& router_of_endpoint) {
    std::vector<Endpoint> endpoints;
    for (std::size_t e = 0; e < router_of_endpoint.size(); ++e)
        if (router_of_endpoint[e] == index) endpoints.push_back(static_cast<Endpoint>(e));
    return endpoints;
}

}  // namespace

Router::Router(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry, unsigned index,
               const std::vector<unsigned>& router_of_endpoint)
    : sc_module(name),
      in("in"),
      out("out"),
      config_(config),
      cycle_(ClockPeriod(config.clock_ghz).cycles(1).value()),
      router_latency_(config.router_cycles * cycle_),
      link_latency_(config.link_cycles * cycle_),
      endpoint_link_latency_(config.endpoint_link_cycles * cycle_),
      endpoints_(attached(index, router_of_endpoint)),
      links_(port::kLocal + endpoints_.size()),
      injection_(endpoints_.size()) {
    if (links_.size() > kMaxPorts)
        throw ModelError(*this, std::to_string(endpoints_.size()) + " endpoints: at most " +
                                    std::to_string(kMaxPorts - port::kLocal) + " fit a router");
    for (std::size_t e = 0; e < router_of_endpoint.size(); ++e) {
        const unsigned next = next_port(config, index, router_of_endpoint[e]);
        route_.push_back(static_cast<std::uint8_t>(next == port::kLocal ? local_port(static_cast<Endpoint>(e)) : next));
    }
    for (std::size_t p = port::kLocal; p < links_.size(); ++p) links_[p].free_for_source.resize(route_.size());

    in.init(links_.size(), [this](const char*, std::size_t p) {
        return new tlm_utils::simple_target_socket_tagged_optional<Router>((port_name(endpoints_, p) + "_in").c_str());
    });
    out.init(links_.size(), [this](const char*, std::size_t p) {
        return new tlm_utils::simple_initiator_socket_tagged_optional<Router>(
            (port_name(endpoints_, p) + "_out").c_str());
    });
    for (std::size_t p = 0; p < in.size(); ++p) {
        in[p].register_b_transport(this, &Router::b_transport, static_cast<int>(p));
        in[p].register_transport_dbg(this, &Router::debug_transport, static_cast<int>(p));
    }
    register_counters(registry);
}

void Router::connect(unsigned out_port, Router& next, unsigned in_port) {
    out[out_port].bind(next.in[in_port]);
    links_[out_port].router = &next;
}

void Router::end_of_elaboration() {
    for (std::size_t p = 0; p < links_.size(); ++p)
        if (out[p].size() > 0) links_[p].next = out[p].operator->();
}

void Router::register_counters(SimulationRegistry& registry) {
    const auto add = [&](const char* name, const char* unit, std::uint64_t Stats::*member) {
        registry.add(*this, name, unit, [this, member] { return static_cast<double>(stats().*member); });
    };
    add("injected_packets", "1", &Stats::injected_packets);
    add("injected_bytes", "bytes", &Stats::injected_bytes);
    add("addressed_packets", "1", &Stats::addressed_packets);
    add("addressed_bytes", "bytes", &Stats::addressed_bytes);
    add("ejected_packets", "1", &Stats::ejected_packets);
    add("ejected_bytes", "bytes", &Stats::ejected_bytes);
    add("link_packets", "1", &Stats::link_packets);
    add("link_bytes", "bytes", &Stats::link_bytes);
    add("link_busy_cycles", "cycles", &Stats::link_busy_cycles);
    const auto add_link = [&](const std::string& name, const LinkStats& stats) {
        registry.add(*this, name + "_packets", "1", stats.packets);
        registry.add(*this, name + "_bytes", "bytes", stats.bytes);
        registry.add(*this, name + "_busy_cycles", "cycles", stats.busy_cycles);
    };
    for (std::size_t p = 0; p < links_.size(); ++p) add_link(port_name(endpoints_, p) + "_out", links_[p].stats);
    for (std::size_t p = 0; p < injection_.size(); ++p)
        add_link(port_name(endpoints_, p + port::kLocal) + "_in", injection_[p].stats);
}

unsigned Router::local_port(Endpoint endpoint) const {
    const auto it = std::find(endpoints_.begin(), endpoints_.end(), endpoint);
    if (it == endpoints_.end())
        throw ModelError(*this, "endpoint " + std::to_string(endpoint) + " is attached to another router");
    return port::kLocal + static_cast<unsigned>(it - endpoints_.begin());
}

Router::Stats Router::stats() const {
    Stats stats;
    const auto payload_bytes = [this](const LinkStats& link) {
        return link.bytes - link.packets * config_.header_bytes;
    };
    for (const Link& link : injection_) {
        stats.injected_packets += link.stats.packets;
        stats.injected_bytes += payload_bytes(link.stats);
    }
    stats.addressed_packets = addressed_packets_;
    stats.addressed_bytes = addressed_bytes_;
    for (std::size_t p = 0; p < links_.size(); ++p) {
        const LinkStats& link = links_[p].stats;
        if (p < port::kLocal) {
            stats.link_packets += link.packets;
            stats.link_bytes += link.bytes;
            stats.link_busy_cycles += link.busy_cycles;
            stats.max_link_busy_cycles = std::max(stats.max_link_busy_cycles, link.busy_cycles);
        } else {
            stats.ejected_packets += link.packets;
            stats.ejected_bytes += payload_bytes(link);
        }
    }
    return stats;
}

void Router::fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const {
    payload.set_response_status(status);
    throw ModelError(*this, message);
}

void Router::b_transport(int in_port, Payload& payload, sc_core::sc_time& delay) {
    RoutedExtension& packet = extension_of(*this, payload);
    const Tick now = sc_core::sc_time_stamp().value();
    const Tick cycles = serialisation_cycles(config_, packet.payload_bytes);
    Journey journey{payload,
                    packet,
                    now,
                    cycles,
                    cycles * cycle_,
                    config_.header_bytes + packet.payload_bytes,
                    packet.destinations.size() > 1};
    Tick head = now + delay.value();
    const auto from = static_cast<unsigned>(in_port);
    if (from >= port::kLocal) head = inject(from, journey, head);
    const Tick arrival = journey.multicast ? multicast(journey, head) : forward(journey, packet.destinations[0], head);
    delay = sc_core::sc_time::from_value(arrival - now);
}

Router::Tick Router::inject(unsigned in_port, Journey& journey, Tick start) {
    const RoutedExtension& packet = journey.packet;
    const unsigned local = in_port - port::kLocal;
    checked_packet(*this, journey.payload, endpoints_[local], route_.size());
    addressed_packets_ += packet.destinations.size();
    addressed_bytes_ += packet.destinations.size() * packet.payload_bytes;

    const Tick edge = (start + cycle_ - 1) / cycle_ * cycle_;  // all that follows are whole cycles
    return reserve(injection_[local], edge, journey) + endpoint_link_latency_;
}

Router::Tick Router::reserve(Link& link, Tick earliest, const Journey& journey) {
    ++link.stats.packets;
    link.stats.bytes += journey.bytes;
    link.stats.busy_cycles += journey.cycles;
    return link.calendar.reserve(earliest, journey.duration, journey.now);
}

Router::Tick Router::forward(Journey& journey, Endpoint destination, Tick head) {
    Router* router = this;
    while (true) {
        const unsigned out_port = router->route_[destination];
        Link& link = router->links_[out_port];
        if (out_port >= port::kLocal) return eject(link, journey, {&destination, &destination + 1}, head);
        head = reserve(link, head + router_latency_, journey) + link_latency_;
        if (!link.router) return call(link, journey, {&destination, &destination + 1}, head);
        router = link.router;
    }
}

Router::Tick Router::multicast(Journey& journey, Tick head) {
    Lists lists;
    if (!spare_lists_.empty()) {
        std::swap(lists, spare_lists_.back());
        spare_lists_.pop_back();
    }
    lists.given.swap(journey.packet.destinations);
    lists.split = lists.given;
    const Tick arrival = fan_out(journey, {lists.split.data(), lists.split.data() + lists.split.size()}, head);
    journey.payload.set_response_status(journey.response);
    journey.packet.destinations.swap(lists.given);
    spare_lists_.push_back(std::move(lists));
    return arrival;
}

Router::Tick Router::fan_out(Journey& journey, Span destinations, Tick head) {
    auto [first, last] = destinations;
    if (last - first == 1) return forward(journey, *first, head);
    std::uint32_t ports = 0;
    for (const Endpoint* d = first; d != last; ++d) ports |= 1u << route_[*d];

    Tick arrival = 0;
    for (unsigned p = 0; ports >> p != 0; ++p) {
        if ((ports >> p & 1) == 0) continue;
        const bool is_last = ports >> p == 1;
        Endpoint* const end =
            is_last ? last
                    : std::partition(first, last, [&](Endpoint destination) { return route_[destination] == p; });
        const Span behind{first, end};
        Link& link = links_[p];
        Tick tail;
        if (p >= port::kLocal) {
            tail = eject(link, journey, behind, head);
        } else {
            const Tick next = reserve(link, head + router_latency_, journey) + link_latency_;
            tail = link.router ? link.router->fan_out(journey, behind, next) : call(link, journey, behind, next);
        }
        arrival = std::max(arrival, tail);
        first = end;
    }
    return arrival;
}

Router::Tick Router::eject(Link& link, Journey& journey, Span destination, Tick head) {
    if (destination.last - destination.first != 1)
        fail(journey.payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
             "destination " + std::to_string(*destination.first) + " stands twice in a packet");
    Tick& free = link.free_for_source[journey.packet.source];
    free = reserve(link, std::max(head + router_latency_, free), journey) + journey.duration;
    return call(link, journey, destination, free + endpoint_link_latency_);
}

Router::Tick Router::call(Link& link, Journey& journey, Span destinations, Tick arrival) {
    if (journey.multicast) {
        journey.packet.destinations.assign(destinations.first, destinations.last);
        journey.payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    }
    sc_core::sc_time delay = sc_core::sc_time::from_value(arrival - journey.now);
    link.next->b_transport(journey.payload, delay);
    if (journey.multicast && journey.response == ::tlm::TLM_OK_RESPONSE)
        journey.response = journey.payload.get_response_status();
    return journey.now + delay.value();
}

unsigned Router::debug_transport(int, Payload& payload) {
    const auto* const packet = payload.get_extension<RoutedExtension>();
    if (!packet || packet->destinations.size() != 1 || packet->destinations[0] >= route_.size()) return 0;
    return links_[route_[packet->destinations[0]]].next->transport_dbg(payload);
}

}  // namespace switchyard::hw
