// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/traffic.h"

#include <algorithm>
#include <utility>

#include "switchyard/hw/noc/flit_torus.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform {
namespace {

constexpr hw::flit::TieChoice kDirections[] = {{hw::port::kEast, hw::port::kSouth},
                                               {hw::port::kWest, hw::port::kNorth}};

}  // namespace

TrafficBuilder::TrafficBuilder(const hw::NocConfig& noc, const hw::HbmConfig& memory,
                               std::vector<unsigned> router_of_endpoint)
    : noc_(noc),
      memory_(memory),
      router_of_endpoint_(std::move(router_of_endpoint)),
      router_links_(noc.columns * noc.rows * hw::port::kLocal),
      routes_(hw::flit_config(noc)) {
    for (unsigned router = 0; router < noc.columns * noc.rows; ++router) {
        for (unsigned p = 0; p < hw::port::kLocal; ++p) neighbour_.push_back(hw::neighbour(noc, router, p));
    }
    for (const unsigned router : router_of_endpoint_) tie_breakers_.emplace_back(routes_, noc_.columns, router);
    cycles_.assign(links(), 0);
    visited_.assign(links(), 0);
}

unsigned TrafficBuilder::hops(Endpoint from, Endpoint to) const {
    return routes_.hops(router_of_endpoint_[from], router_of_endpoint_[to]);
}

std::uint64_t TrafficBuilder::head_cycles(Endpoint from, Endpoint to) const {
    return hw::zero_load_cycles(noc_, hops(from, to), 0) - hw::serialisation_cycles(noc_, 0);
}

std::uint64_t TrafficBuilder::packet_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const {
    const std::uint64_t flits = this->flits(payload_bytes, 1);
    const unsigned hops = this->hops(from, to);
    return hw::zero_load_cycles(noc_, hops, payload_bytes) + (stretched(flits, hops > 0) - flits);
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
    const std::uint64_t cycles = whole * (whole > 0 ? flits(max_payload_bytes, destinations.size()) : 0) +
                                 (packets > whole ? flits(rest, destinations.size()) : 0);
    flit_cycles_ += cycles;
    stretched_cycles_ += whole * (whole > 0 ? serialisation_cycles(source, destinations, max_payload_bytes) : 0) +
                         (packets > whole ? serialisation_cycles(source, destinations, rest) : 0);
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
    const bool tie = std::any_of(destinations.begin(), destinations.end(), [&](Endpoint destination) {
        const unsigned to = router_of_endpoint_[destination];
        return routes_.x_tie(from, to) || routes_.y_tie(from, to);
    });
    if (!tie) return add_route(from, destinations, {}, {packets, cycles, wire_bytes});
    Share shares[2][2];  // by the choice
    for (std::uint64_t i = 0; i < packets; ++i) {
        const std::uint64_t bytes = i < whole ? max_payload_bytes : rest;
        const std::uint64_t flits = this->flits(bytes, destinations.size());
        const hw::flit::TieChoice choice =
            tie_breakers_[source].choose(static_cast<std::uint32_t>(flits), [&](auto&& visit) {
                for (const Endpoint destination : destinations) {
                    const unsigned to = router_of_endpoint_[destination];
                    visit(routes_.x(to), routes_.x_tie(from, to), routes_.y_tie(from, to));
                }
            });
        Share& share =
            shares[choice.x_port == kDirections[1].x_port ? 1 : 0][choice.y_port == kDirections[1].y_port ? 1 : 0];
        share.packets += 1;
        share.cycles += flits;
        share.wire_bytes += bytes + noc_.header_bytes;
    }
    for (unsigned x = 0; x < 2; ++x)
        for (unsigned y = 0; y < 2; ++y)
            if (shares[x][y].packets > 0)
                add_route(from, destinations, {kDirections[x].x_port, kDirections[y].y_port}, shares[x][y]);
}

void TrafficBuilder::add_route(unsigned from, const std::vector<Endpoint>& destinations, hw::flit::TieChoice choice,
                               const Share& share) {
    ++packet_;
    for (const Endpoint destination : destinations) {
        const unsigned to = router_of_endpoint_[destination];
        const unsigned x_port = routes_.x_port(from, to, choice), y_port = routes_.y_port(from, to, choice);
        for (unsigned at = from; at != to;) {
            const unsigned port = routes_.x(at) != routes_.x(to) ? x_port : y_port;
            const unsigned link = at * hw::port::kLocal + port;
            if (visited_[link] != packet_) {
                visited_[link] = packet_;
                use(link, share.packets, share.cycles);
                sum_.link_bytes += share.wire_bytes;
            }
            at = static_cast<unsigned>(neighbour_[link]);
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

Traffic TrafficBuilder::take() {
    sum_.links.reserve(used_.size());
    for (const std::uint16_t link : used_) {
        sum_.links.push_back({link, cycles_[link]});
        cycles_[link] = 0;
    }
    used_.clear();
    if (flit_cycles_ > 0) sum_.stretch = static_cast<double>(stretched_cycles_) / static_cast<double>(flit_cycles_);
    flit_cycles_ = stretched_cycles_ = 0;
    return std::exchange(sum_, Traffic{});
}

}  // namespace switchyard::platform
