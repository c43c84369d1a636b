// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/router.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/tlm/clock_period.h"

namespace switchyard::hw {
namespace {

std::string port_name(const Topology& topology, const std::vector<Endpoint>& endpoints, std::size_t index) {
    const unsigned first = topology.router_ports();
    return index < first ? topology.port_name(static_cast<unsigned>(index))
                         : "endpoint_" + std::to_string(endpoints[index - first]);
}

std::vector<Endpoint> attached(unsigned index, const std::vector<unsigned>& router_of_endpoint) {
    std::vector<Endpoint> endpoints;
    for (std::size_t e = 0; e < router_of_endpoint.size(); ++e)
        if (router_of_endpoint[e] == index) endpoints.push_back(static_cast<Endpoint>(e));
    return endpoints;
}

}  // namespace

std::shared_ptr<Router::Shared> Router::share(const Config& config, TopologyPtr topology,
                                              std::vector<unsigned> router_of_endpoint) {
    auto shared = std::make_shared<Shared>();
    const Tick cycle = ClockPeriod(config.clock_ghz).cycles(1).value();
    shared->config = config;
    shared->first_local = topology->router_ports();
    shared->routers = topology->routers();
    shared->cycle = cycle;
    shared->router_latency = config.router_cycles * cycle;
    shared->link_latency = config.link_cycles * cycle;
    shared->endpoint_link_latency = config.endpoint_link_cycles * cycle;
    shared->buffer = config.buffer_flits * cycle;
    shared->refill = (config.routing_cycles + config.vc_alloc_cycles) * cycle;
    shared->reallocation = config.vc_alloc_cycles * cycle;
    // A buffer that is smaller than the loop of a head's credit throttles nobody who does not wait: the flits behind
    // the head catch up (flit::zero_load_cycles).
    const Tick loop = (1 + config.link_cycles + config.credit_cycles) * cycle;
    const auto onward = [&](Tick latency) {
        const Tick head = latency + shared->router_latency;
        return Onward{head, std::min(loop, shared->buffer > head ? shared->buffer - head : Tick{0})};
    };
    shared->by_link = onward(shared->link_latency);
    shared->from_endpoint = onward(shared->endpoint_link_latency);
    // From the flit router (hw/noc/flit), as the times: which VCs a packet may take.
    const auto set_ranges = [&](unsigned group, unsigned first, unsigned count) {
        const VcRange any{first, count};
        const unsigned half = std::max(1u, count / 2);
        const bool halves = topology->vc_classes() == 2;
        shared->vcs[group][0] = halves ? VcRange{first, half} : any;
        shared->vcs[group][1] = halves ? VcRange{first + count - half, half} : any;
        shared->vcs[group][2] = any;
    };
    set_ranges(0, 0, config.vcs);
    set_ranges(1, config.vcs, config.control_vcs);
    std::vector<unsigned> taken(shared->routers, shared->first_local);
    for (const unsigned home : router_of_endpoint)
        shared->homes.push_back({static_cast<std::uint16_t>(home), static_cast<std::uint8_t>(taken[home]++)});
    shared->topology = std::move(topology);
    shared->router_of_endpoint = std::move(router_of_endpoint);
    return shared;
}

Router::Router(const sc_core::sc_module_name& name, std::shared_ptr<Shared> shared, SimulationRegistry& registry,
               unsigned index)
    : sc_module(name),
      in("in"),
      out("out"),
      links_(shared->first_local),
      shared_(std::move(shared)),
      index_(index),
      endpoints_(attached(index, shared_->router_of_endpoint)),
      injection_(endpoints_.size()),
      turns_(endpoints_.size()),
      outlets_(shared_->first_local + endpoints_.size()) {
    const unsigned first_local = shared_->first_local;
    if (first_local + endpoints_.size() > kMaxRouterPorts)
        throw ModelError(*this,
                         fmt::format("expected at most {} endpoints at a router, found {}",
                                     kMaxRouterPorts - std::min(first_local, kMaxRouterPorts), endpoints_.size()));
    links_.resize(first_local + endpoints_.size());
    look_up_routes();
    for (std::size_t p = first_local; p < outlets_.size(); ++p) outlets_[p].to_endpoint = true;
    const unsigned vcs = shared_->config.vcs + shared_->config.control_vcs;
    for (std::vector<Link>* const links : {&links_, &injection_})
        for (Link& link : *links) {
            link.vcs = std::make_unique<Vc[]>(vcs);
            link.busy = std::make_unique<Tick[]>(vcs);
        }

    in.init(links_.size(), [this](const char*, std::size_t p) {
        return new tlm_utils::passthrough_target_socket_tagged_optional<Router>(
            (port_name(*shared_->topology, endpoints_, p) + "_in").c_str());
    });
    out.init(links_.size(), [this](const char*, std::size_t p) {
        return new tlm_utils::simple_initiator_socket_tagged_optional<Router>(
            (port_name(*shared_->topology, endpoints_, p) + "_out").c_str());
    });
    for (std::size_t p = 0; p < in.size(); ++p) {
        in[p].register_b_transport(this, &Router::b_transport, static_cast<int>(p));
        in[p].register_transport_dbg(this, &Router::debug_transport, static_cast<int>(p));
    }
    register_counters(registry);
}

Router::~Router() = default;

void Router::look_up_routes() {
    const Topology& topology = *shared_->topology;
    const unsigned routers = shared_->routers;
    ports_to_.resize(std::size_t{topology.choices()} * routers, kHere);
    ways_.resize(routers);
    for (unsigned to = 0; to < routers; ++to) {
        ways_[to].has_choice = topology.has_choice(index_, to);
        for (unsigned p = 0; p < shared_->first_local; ++p)
            if (topology.second_class(index_, to, p)) ways_[to].second_class |= 1u << p;
        for (unsigned choice = 0; choice < topology.choices() && to != index_; ++choice)
            ports_to_[std::size_t{choice} * routers + to] =
                static_cast<std::uint8_t>(topology.port_to(index_, to, choice));
    }
    for (std::size_t p = 0; p < links_.size(); ++p) choosers_.push_back(topology.make_chooser(index_));
}

void Router::connect(unsigned out_port, Router& next, unsigned in_port) {
    out[out_port].bind(next.in[in_port]);
    links_[out_port].router = &next;
}

void Router::end_of_elaboration() {
    for (std::size_t p = 0; p < links_.size(); ++p) {
        if (links_[p].router || out[p].size() == 0) continue;
        outlets_[p].next = out[p].operator->();
        links_[p].outlet = &outlets_[p];
    }
}

void Router::register_counters(SimulationRegistry& registry) {
    switchyard::register_counters(registry, this->name(), kRouterCounters, [this] { return stats(); });
    const auto add_link = [&](const std::string& link, const LinkStats& stats) {
        register_link_counters(registry, this->name(), link, [&stats] { return stats; });
    };
    for (std::size_t p = 0; p < links_.size(); ++p)
        add_link(port_name(*shared_->topology, endpoints_, p) + "_out", links_[p].stats);
    for (std::size_t p = 0; p < injection_.size(); ++p)
        add_link(port_name(*shared_->topology, endpoints_, p + shared_->first_local) + "_in", injection_[p].stats);
}

unsigned Router::local_port(Endpoint endpoint) const {
    const auto it = std::find(endpoints_.begin(), endpoints_.end(), endpoint);
    if (it == endpoints_.end())
        throw ModelError(*this, fmt::format("expected an endpoint of this router, found {}", endpoint));
    return shared_->first_local + static_cast<unsigned>(it - endpoints_.begin());
}

Router::Stats Router::stats() const {
    Stats stats;
    const auto payload_bytes = [this](const LinkStats& link) {
        return link.bytes - link.packets * shared_->config.header_bytes;
    };
    for (const Link& link : injection_) {
        stats.injected_packets += link.stats.packets;
        stats.injected_bytes += payload_bytes(link.stats);
    }
    stats.addressed_packets = addressed_packets_;
    stats.addressed_bytes = addressed_bytes_;
    for (std::size_t p = 0; p < links_.size(); ++p) {
        const LinkStats& link = links_[p].stats;
        if (p < shared_->first_local) {
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

double Router::busy_cycles_until_now(unsigned out_port) const {
    const Link& link = links_[out_port];
    const Tick later = link.calendar.taken_after(sc_core::sc_time_stamp().value());
    return static_cast<double>(link.stats.busy_cycles) -
           static_cast<double>(later) / static_cast<double>(shared_->cycle);
}

double Router::max_vc_busy_cycles() const {
    const Tick now = sc_core::sc_time_stamp().value();
    double max = 0;
    for (const std::vector<Link>* const links : {&links_, &injection_})
        for (const Link& link : *links)
            for (unsigned group = 0; group < (shared_->config.control_vcs > 0 ? 2 : 1); ++group)
                for (const VcRange& range : {shared_->vcs[group][0], shared_->vcs[group][1]}) {
                    Tick busy = 0;
                    for (unsigned v = range.first; v < range.first + range.count; ++v)
                        // What packets have reserved may overlap where they stand one behind another.
                        busy +=
                            std::min(link.busy[v] - std::min(link.busy[v], link.vcs[v].front.taken_after(now)), now);
                    max = std::max(max, static_cast<double>(busy) / static_cast<double>(range.count * shared_->cycle));
                }
    return max;
}

void Router::refuse_twice(Payload& payload, Endpoint endpoint) const {
    fail(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
         fmt::format("expected each destination of a packet once, found {} twice", endpoint));
}

void Router::fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const {
    payload.set_response_status(status);
    throw ModelError(*this, message);
}

void Router::b_transport(int in_port, Payload& payload, sc_core::sc_time& delay) {
    PacketExtension& packet = extension_of(*this, payload);
    const auto port = static_cast<unsigned>(in_port);
    if (port >= shared_->first_local) {
        checked_packet(*this, payload, endpoints_[port - shared_->first_local], shared_->homes.size());
        addressed_packets_ += packet.destinations.size();
        addressed_bytes_ += packet.destinations.size() * packet.payload_bytes;
        if (packet.destinations.size() > 1 && shared_->config.multicast == "source")
            return send_copies(port, payload, delay);
    }
    carry(port, payload, delay);
}

void Router::send_copies(unsigned port, Payload& payload, sc_core::sc_time& delay) {
    PacketExtension& packet = *payload.get_extension<PacketExtension>();
    const std::vector<Endpoint> destinations = packet.destinations;
    std::vector<Endpoint>& sorted = packet.destinations;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        refuse_twice(payload, *twice);
    ::tlm::tlm_response_status response = ::tlm::TLM_OK_RESPONSE;
    sc_core::sc_time last;
    for (const Endpoint endpoint : destinations) {
        packet.destinations.assign(1, endpoint);
        sc_core::sc_time arrival = delay;
        carry(port, payload, arrival);
        last = std::max(last, arrival);
        if (response == ::tlm::TLM_OK_RESPONSE) response = payload.get_response_status();
    }
    packet.destinations = destinations;
    payload.set_response_status(response);
    delay = last;
}

void Router::carry(unsigned port, Payload& payload, sc_core::sc_time& delay) {
    PacketExtension& packet = *payload.get_extension<PacketExtension>();
    const Tick now = sc_core::sc_time_stamp().value(), start = now + delay.value();
    const bool control = shared_->config.control_vcs > 0 && packet.traffic == TrafficClass::control;
    std::vector<std::unique_ptr<Lists>>& spare = shared_->spare_lists;
    if (spare.empty()) spare.push_back(std::make_unique<Lists>());
    std::unique_ptr<Lists> lists = std::move(spare.back());
    spare.pop_back();
    const std::uint64_t cycles =
        serialisation_cycles(shared_->config, packet.payload_bytes, packet.destinations.size());
    const bool has_choice = look_up_targets(*lists, packet.destinations);
    const unsigned ways = has_choice ? choose(*lists, port, static_cast<std::uint32_t>(cycles)) * shared_->routers : 0;
    Journey journey{*shared_, payload, packet, *lists, now, cycles * shared_->cycle, control ? 1u : 0u, ways};
    plan(journey, port, start);
    book(journey, port);
    deliver(journey);
    delay = sc_core::sc_time::from_value(journey.arrival - now);
    spare.push_back(std::move(lists));
}

bool Router::look_up_targets(Lists& lists, const std::vector<Endpoint>& destinations) const {
    lists.targets.clear();
    bool has_choice = false;
    for (const Endpoint endpoint : destinations) {
        const Home& home = shared_->homes[endpoint];
        const Way& way = ways_[home.router];
        has_choice = has_choice || way.has_choice;
        Target& target = lists.targets.emplace_back();
        target.second_class = way.second_class;
        target.endpoint = endpoint;
        target.router = home.router;
        target.local_port = home.local_port;
    }
    return has_choice;
}

unsigned Router::choose(Lists& lists, unsigned port, std::uint32_t flits) {
    lists.routers.clear();
    for (const Target& target : lists.targets) lists.routers.push_back(target.router);
    return choosers_[port]->choose(flits, lists.routers.data(), lists.routers.size());
}

unsigned Router::debug_transport(int, Payload& payload) {
    const auto* const packet = payload.get_extension<PacketExtension>();
    if (!packet || packet->destinations.size() != 1 || packet->destinations[0] >= shared_->homes.size()) return 0;
    const Home& home = shared_->homes[packet->destinations[0]];
    const unsigned port = home.router == index_ ? home.local_port : ports_to_[home.router];
    return out[port]->transport_dbg(payload);
}

}  // namespace switchyard::hw
