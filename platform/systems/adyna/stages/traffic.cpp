// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/traffic.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/base/whole_time.h"

namespace switchyard::platform {
TrafficBuilder::TrafficBuilder(const hw::NocConfig& noc, const hw::HbmConfig& memory,
                               std::vector<unsigned> router_of_endpoint)
    : noc_(noc),
      memory_(memory),
      router_of_endpoint_(std::move(router_of_endpoint)),
      topology_(hw::make_topology(noc)),
      router_links_(topology_->routers() * topology_->router_ports()) {
    for (unsigned router = 0; router < topology_->routers(); ++router)
        for (unsigned p = 0; p < topology_->router_ports(); ++p) {
            const std::optional<hw::Topology::Far> far = topology_->behind(router, p);
            neighbour_.push_back(far ? static_cast<int>(far->router) : -1);
        }
    for (const unsigned router : router_of_endpoint_) choosers_.push_back(topology_->make_chooser(router));
    routes_.push_back(0);  // none begins at 0
    route_at_.resize(topology_->routers());
    cycles_.assign(links(), 0);
    visited_.assign(links(), 0);
}

unsigned TrafficBuilder::hops(Endpoint from, Endpoint to) const {
    return topology_->hops(router_of_endpoint_[from], router_of_endpoint_[to]);
}

std::uint64_t TrafficBuilder::head_cycles(Endpoint from, Endpoint to) const {
    return hw::head_cycles(noc_, hops(from, to));
}

std::uint64_t TrafficBuilder::packet_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const {
    const std::uint64_t flits = this->flits(payload_bytes, 1);
    const unsigned hops = this->hops(from, to);
    return hw::head_cycles(noc_, hops) + stretched(flits, hops > 0);
}

std::uint64_t TrafficBuilder::serialisation_cycles(Endpoint from, const std::vector<Endpoint>& to,
                                                   std::uint64_t payload_bytes) const {
    return stretched(flits(payload_bytes, to.size()), crosses(from, to));
}

bool TrafficBuilder::crosses(Endpoint from, const std::vector<Endpoint>& to) const {
    return std::any_of(to.begin(), to.end(), [&](Endpoint destination) {
        return router_of_endpoint_[destination] != router_of_endpoint_[from];
    });
}

std::uint64_t TrafficBuilder::stretched(std::uint64_t flits, bool crosses) const {
    // hw::Router: a buffer full of flits follows the one before it when that has reached the next router's front.
    const std::uint64_t buffer = noc_.buffer_flits;
    const std::uint64_t onward =
        std::max(crosses ? noc_.link_cycles : 0U, noc_.endpoint_link_cycles) + noc_.router_cycles;
    if (onward <= buffer || flits <= buffer) return flits;
    return flits + (flits - 1) / buffer * (onward - buffer);
}

void TrafficBuilder::use(unsigned link, std::uint64_t packets, std::uint64_t cycles) {
    if (cycles_[link] == 0) used_.push_back(static_cast<std::uint16_t>(link));
    if (cycles > std::numeric_limits<std::uint32_t>::max() - cycles_[link])
        refuse_time(static_cast<double>(cycles_[link]) + static_cast<double>(cycles), "cycles",
                    "noc.link_bytes_per_cycle: a transfer on a link", std::numeric_limits<std::uint32_t>::max());
    cycles_[link] += static_cast<std::uint32_t>(cycles);
    if (link < router_links_) sum_.link_packets += packets;
}

void TrafficBuilder::add_packet(Endpoint source, const std::vector<Endpoint>& destinations, std::uint64_t payload_bytes,
                                std::uint64_t max_payload_bytes) {
    if (destinations.empty()) return;
    if (destinations.size() > 1 && noc_.multicast == "source") {
        for (const Endpoint destination : destinations)
            add_packet(source, {destination}, payload_bytes, max_payload_bytes);
        return;
    }
    const std::uint64_t whole = payload_bytes / max_payload_bytes, rest = payload_bytes % max_payload_bytes;
    const std::uint64_t packets = whole + (rest > 0 || whole == 0 ? 1 : 0);
    const std::uint64_t whole_flits = whole > 0 ? flits(max_payload_bytes, destinations.size()) : 0;
    const std::uint64_t rest_flits = packets > whole ? flits(rest, destinations.size()) : 0;
    const std::uint64_t cycles = whole * whole_flits + rest_flits;
    const bool crosses = this->crosses(source, destinations);
    flit_cycles_ += cycles;
    stretched_cycles_ += whole * stretched(whole_flits, crosses) + stretched(rest_flits, crosses);
    const std::uint64_t wire_bytes = payload_bytes + packets * noc_.header_bytes;
    sum_.packets += packets;
    sum_.payload_bytes += payload_bytes;
    sum_.addressed_packets += packets * destinations.size();
    sum_.addressed_bytes += payload_bytes * destinations.size();
    use(router_links_ + source, packets, cycles);
    for (const Endpoint destination : destinations) use(router_links_ + endpoints() + destination, packets, cycles);
    sum_.ejected_packets += packets * destinations.size();
    sum_.ejected_bytes += payload_bytes * destinations.size();

    const unsigned from = router_of_endpoint_[source];
    const bool chooses = std::any_of(destinations.begin(), destinations.end(), [&](Endpoint destination) {
        const unsigned to = router_of_endpoint_[destination];
        return topology_->has_choice(from, to);
    });
    if (!chooses) return add_route(from, destinations, 0, {packets, cycles, wire_bytes});
    shares_.assign(topology_->choices(), {});
    routers_.clear();
    for (const Endpoint to : destinations) routers_.push_back(static_cast<std::uint16_t>(router_of_endpoint_[to]));
    for (std::uint64_t i = 0; i < packets; ++i) {
        const std::uint64_t bytes = i < whole ? max_payload_bytes : rest;
        const std::uint64_t flits = i < whole ? whole_flits : rest_flits;
        Share& share =
            shares_[choosers_[source]->choose(static_cast<std::uint32_t>(flits), routers_.data(), routers_.size())];
        share.packets += 1;
        share.cycles += flits;
        share.wire_bytes += bytes + noc_.header_bytes;
    }
    for (unsigned choice = 0; choice < shares_.size(); ++choice)
        if (shares_[choice].packets > 0) add_route(from, destinations, choice, shares_[choice]);
}

TrafficBuilder::Route TrafficBuilder::route(unsigned from, unsigned to, unsigned choice) {
    const std::size_t at = find_route(from, to, choice);
    const std::uint16_t* const links = routes_.data() + at;
    return {links + 1, links + 1 + *links};
}

std::size_t TrafficBuilder::find_route(unsigned from, unsigned to, unsigned choice) {
    std::vector<std::uint32_t>& known = route_at_[from];
    if (known.empty()) known.resize(std::size_t{topology_->routers()} * topology_->choices());
    std::uint32_t& at = known[to * topology_->choices() + choice];
    if (at > 0) return at;
    at = static_cast<std::uint32_t>(routes_.size());
    routes_.push_back(0);
    for (unsigned router = from; router != to;) {
        const unsigned link = router * topology_->router_ports() + topology_->port_to(router, to, choice);
        routes_.push_back(static_cast<std::uint16_t>(link));
        ++routes_[at];
        router = static_cast<unsigned>(neighbour_[link]);
    }
    return at;
}

void TrafficBuilder::add_route(unsigned from, const std::vector<Endpoint>& destinations, unsigned choice,
                               const Share& share) {
    if (destinations.size() == 1) {  // crosses no link twice
        for (const std::uint16_t link : route(from, router_of_endpoint_[destinations.front()], choice)) {
            use(link, share.packets, share.cycles);
            sum_.link_bytes += share.wire_bytes;
        }
        return;
    }
    ++packet_;
    for (const Endpoint destination : destinations) {
        for (const std::uint16_t link : route(from, router_of_endpoint_[destination], choice)) {
            if (visited_[link] == packet_) continue;
            visited_[link] = packet_;
            use(link, share.packets, share.cycles);
            sum_.link_bytes += share.wire_bytes;
        }
    }
}

void TrafficBuilder::add_request(std::uint64_t address, std::uint64_t bytes, bool write) {
    const auto interface = static_cast<std::uint16_t>(interface_of(address));
    auto found = std::find_if(sum_.memory.begin(), sum_.memory.end(), [&](const Traffic::MemoryUse& use) {
        return use.interface == interface && use.write == write;
    });
    if (found == sum_.memory.end()) {
        found = sum_.memory.insert(found, Traffic::MemoryUse{});
        found->interface = interface;
        found->write = write;
    }
    const std::uint64_t begin = address % memory_.region_bytes / memory_.burst_bytes * memory_.burst_bytes;
    const std::uint64_t end = round_up(address % memory_.region_bytes + bytes, memory_.burst_bytes);
    found->bytes += bytes;
    found->moved_bytes += end - begin;
    found->longest_bytes = std::max(found->longest_bytes, bytes);
    // Of the bytes [0, last), those on a pseudo-channel.
    const std::uint64_t piece = memory_.interleave_bytes, round = piece * memory_.pseudo_channels_per_interface;
    const auto before = [&](std::uint64_t last, std::uint64_t channel) {
        const std::uint64_t rest = last % round, skipped = channel * piece;
        return last / round * piece + (rest > skipped ? std::min(piece, rest - skipped) : 0);
    };
    found->channel_bytes.resize(memory_.pseudo_channels_per_interface);
    for (std::size_t channel = 0; channel < found->channel_bytes.size(); ++channel)
        found->channel_bytes[channel] += before(end, channel) - before(begin, channel);
}

void TrafficBuilder::take(Traffic& traffic) {
    sum_.links.reserve(used_.size());
    for (const std::uint16_t link : used_) {
        sum_.links.push_back({link, cycles_[link]});
        cycles_[link] = 0;
    }
    used_.clear();
    if (flit_cycles_ > 0) sum_.stretch = static_cast<double>(stretched_cycles_) / static_cast<double>(flit_cycles_);
    flit_cycles_ = stretched_cycles_ = 0;
    std::swap(sum_, traffic);
    std::vector<Traffic::LinkUse> links = std::move(sum_.links);
    std::vector<Traffic::MemoryUse> memory = std::move(sum_.memory);
    links.clear();
    memory.clear();
    sum_ = Traffic{};
    sum_.links = std::move(links);
    sum_.memory = std::move(memory);
}

}  // namespace switchyard::platform
