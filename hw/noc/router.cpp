// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/router.h"

#include <algorithm>
#include <utility>

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

Router::Router(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
               TopologyPtr topology, unsigned index, const std::vector<unsigned>& router_of_endpoint)
    : sc_module(name),
      in("in"),
      out("out"),
      config_(config),
      topology_(std::move(topology)),
      index_(index),
      first_local_(topology_->router_ports()),
      routers_(topology_->routers()),
      cycle_(ClockPeriod(config.clock_ghz).cycles(1).value()),
      router_latency_(config.router_cycles * cycle_),
      link_latency_(config.link_cycles * cycle_),
      endpoint_link_latency_(config.endpoint_link_cycles * cycle_),
      endpoints_(attached(index, router_of_endpoint)),
      links_(first_local_ + endpoints_.size()),
      injection_(endpoints_.size()) {
    if (links_.size() > kMaxRouterPorts)
        throw ModelError(*this, std::to_string(endpoints_.size()) + " endpoints: at most " +
                                    std::to_string(kMaxRouterPorts - std::min(first_local_, kMaxRouterPorts)) +
                                    " fit a router");
    look_up_routes(index, router_of_endpoint);
    for (std::size_t p = first_local_; p < links_.size(); ++p)
        links_[p].last_of_flow.resize(2 * router_of_endpoint.size());
    set_up_flow_control();

    in.init(links_.size(), [this](const char*, std::size_t p) {
        return new tlm_utils::passthrough_target_socket_tagged_optional<Router>(
            (port_name(*topology_, endpoints_, p) + "_in").c_str());
    });
    out.init(links_.size(), [this](const char*, std::size_t p) {
        return new tlm_utils::simple_initiator_socket_tagged_optional<Router>(
            (port_name(*topology_, endpoints_, p) + "_out").c_str());
    });
    for (std::size_t p = 0; p < in.size(); ++p) {
        in[p].register_b_transport(this, &Router::b_transport, static_cast<int>(p));
        in[p].register_transport_dbg(this, &Router::debug_transport, static_cast<int>(p));
    }
    register_counters(registry);
}

void Router::look_up_routes(unsigned index, const std::vector<unsigned>& router_of_endpoint) {
    const Topology& topology = *topology_;
    ports_to_.resize(std::size_t{topology.choices()} * routers_);
    for (unsigned choice = 0; choice < topology.choices(); ++choice)
        for (unsigned to = 0; to < routers_; ++to)
            if (to != index)
                ports_to_[std::size_t{choice} * routers_ + to] =
                    static_cast<std::uint8_t>(topology.port_to(index, to, choice));
    std::vector<unsigned> taken(routers_, first_local_);
    for (std::size_t e = 0; e < router_of_endpoint.size(); ++e) {
        const unsigned home = router_of_endpoint[e];
        Target target{};
        target.endpoint = static_cast<Endpoint>(e);
        target.router = static_cast<std::uint16_t>(home);
        target.local_port = static_cast<std::uint8_t>(taken[home]++);
        target.has_choice = topology.has_choice(index, home);
        for (unsigned p = 0; p < first_local_; ++p)
            if (topology.second_class(index, home, p)) target.second_class |= 1u << p;
        targets_.push_back(target);
    }
    for (std::size_t p = 0; p < links_.size(); ++p) choosers_.push_back(topology.make_chooser(index));
}

/// Both from the flit router (hw/noc/flit): which VCs a packet may take, and how long those and slots stay taken.
void Router::set_up_flow_control() {
    for (std::vector<Link>* const links : {&links_, &injection_})
        for (Link& link : *links) link.vcs.resize(config_.vcs + config_.control_vcs);
    const auto set_ranges = [this](unsigned group, unsigned first, unsigned count) {
        const VcRange any{first, count};
        const unsigned half = std::max(1u, count / 2);
        const bool halves = topology_->vc_classes() == 2;
        vcs_[group][0] = halves ? VcRange{first, half} : any;
        vcs_[group][1] = halves ? VcRange{first + count - half, half} : any;
        vcs_[group][2] = any;
    };
    set_ranges(0, 0, config_.vcs);
    set_ranges(1, config_.vcs, config_.control_vcs);
    buffer_ = config_.buffer_flits * cycle_;
    for (std::size_t p = 0; p < first_local_; ++p) {
        links_[p].onward = link_latency_ + router_latency_;
        links_[p].to_router = true;
    }
    for (Link& link : injection_) {
        link.onward = endpoint_link_latency_ + router_latency_;
        link.to_router = true;
    }
    // A buffer that is smaller than the loop of a head's credit throttles nobody who does not wait: the flits behind
    // the head catch up (flit::zero_load_cycles).
    const Tick loop = (1 + config_.link_cycles + config_.credit_cycles) * cycle_;
    for (std::vector<Link>* const links : {&links_, &injection_})
        for (Link& link : *links) link.credit = std::min(loop, buffer_ > link.onward ? buffer_ - link.onward : Tick{0});
    refill_ = (config_.routing_cycles + config_.vc_alloc_cycles) * cycle_;
    reallocation_ = config_.vc_alloc_cycles * cycle_;
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
    switchyard::register_counters(registry, this->name(), kRouterCounters, [this] { return stats(); });
    const auto add_link = [&](const std::string& link, const LinkStats& stats) {
        register_link_counters(registry, this->name(), link, [&stats] { return stats; });
    };
    for (std::size_t p = 0; p < links_.size(); ++p)
        add_link(port_name(*topology_, endpoints_, p) + "_out", links_[p].stats);
    for (std::size_t p = 0; p < injection_.size(); ++p)
        add_link(port_name(*topology_, endpoints_, p + first_local_) + "_in", injection_[p].stats);
}

unsigned Router::local_port(Endpoint endpoint) const {
    const auto it = std::find(endpoints_.begin(), endpoints_.end(), endpoint);
    if (it == endpoints_.end())
        throw ModelError(*this, "endpoint " + std::to_string(endpoint) + " is attached to another router");
    return first_local_ + static_cast<unsigned>(it - endpoints_.begin());
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
        if (p < first_local_) {
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

double Router::max_vc_busy_cycles() const {
    double max = 0;
    for (const std::vector<Link>* const links : {&links_, &injection_})
        for (const Link& link : *links)
            for (unsigned group = 0; group < (config_.control_vcs > 0 ? 2 : 1); ++group)
                for (const VcRange& range : {vcs_[group][0], vcs_[group][1]}) {
                    Tick busy = 0;
                    for (unsigned v = 0; v < range.count; ++v) busy += link.vcs[range.first + v].busy;
                    max = std::max(max, static_cast<double>(busy) / static_cast<double>(range.count * cycle_));
                }
    return max;
}

void Router::refuse_twice(Payload& payload, Endpoint endpoint) const {
    fail(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
         "destination " + std::to_string(endpoint) + " stands twice in a packet");
}

void Router::fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const {
    payload.set_response_status(status);
    throw ModelError(*this, message);
}

void Router::b_transport(int in_port, Payload& payload, sc_core::sc_time& delay) {
    PacketExtension& packet = extension_of(*this, payload);
    const auto port = static_cast<unsigned>(in_port);
    if (port >= first_local_) {
        checked_packet(*this, payload, endpoints_[port - first_local_], targets_.size());
        addressed_packets_ += packet.destinations.size();
        addressed_bytes_ += packet.destinations.size() * packet.payload_bytes;
        if (packet.destinations.size() > 1 && config_.multicast == "source") return send_copies(port, payload, delay);
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
    const bool control = config_.control_vcs > 0 && packet.traffic == TrafficClass::control;
    if (spare_lists_.empty()) spare_lists_.push_back(std::make_unique<Lists>());
    std::unique_ptr<Lists> lists = std::move(spare_lists_.back());
    spare_lists_.pop_back();
    const std::uint64_t cycles = serialisation_cycles(config_, packet.payload_bytes, packet.destinations.size());
    lists->targets.clear();
    for (const Endpoint endpoint : packet.destinations) lists->targets.push_back(targets_[endpoint]);
    const unsigned ways = choose(*lists, port, static_cast<std::uint32_t>(cycles)) * routers_;
    Journey journey{payload, packet, *lists, now, cycles * cycle_, control ? 1u : 0u, ways};
    plan(journey, port, start);
    book(journey, port);
    deliver(journey);
    delay = sc_core::sc_time::from_value(journey.arrival - now);
    spare_lists_.push_back(std::move(lists));
}

unsigned Router::choose(Lists& lists, unsigned port, std::uint32_t flits) {
    const std::vector<Target>& targets = lists.targets;
    if (std::none_of(targets.begin(), targets.end(), [](const Target& target) { return target.has_choice; })) return 0;
    lists.routers.clear();
    for (const Target& target : targets) lists.routers.push_back(target.router);
    return choosers_[port]->choose(flits, lists.routers.data(), lists.routers.size());
}

unsigned Router::debug_transport(int, Payload& payload) {
    const auto* const packet = payload.get_extension<PacketExtension>();
    if (!packet || packet->destinations.size() != 1 || packet->destinations[0] >= targets_.size()) return 0;
    const Target& target = targets_[packet->destinations[0]];
    const unsigned port = target.router == index_ ? target.local_port : ports_to_[target.router];
    return links_[port].next->transport_dbg(payload);
}

}  // namespace switchyard::hw
