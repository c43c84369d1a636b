// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/collectives/link_topology.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace switchyard::sched {
namespace {

constexpr unsigned kNone = std::numeric_limits<unsigned>::max();

/// Channels that follow each other in the routes of a layer. Adding a route keeps it without rings, or is refused.
class Dependencies {
public:
    explicit Dependencies(unsigned channels) : after_(channels) {}

    bool add(const LinkTopology::Route& route) {
        std::vector<std::pair<unsigned, unsigned>> added;
        bool ring = false;
        for (std::size_t i = 0; i + 1 < route.size() && !ring; ++i) {
            std::vector<unsigned>& next = after_[route[i]];
            if (std::find(next.begin(), next.end(), route[i + 1]) != next.end()) continue;
            next.push_back(route[i + 1]);
            added.emplace_back(route[i], route[i + 1]);
            ring = reaches(route[i + 1], route[i]);
        }
        if (!ring) return true;
        for (const auto& [from, to] : added)
            after_[from].erase(std::find(after_[from].begin(), after_[from].end(), to));
        return false;
    }

private:
    bool reaches(unsigned from, unsigned to) const {
        std::vector<bool> seen(after_.size());
        std::vector<unsigned> open{from};
        while (!open.empty()) {
            const unsigned channel = open.back();
            open.pop_back();
            if (channel == to) return true;
            if (seen[channel]) continue;
            seen[channel] = true;
            open.insert(open.end(), after_[channel].begin(), after_[channel].end());
        }
        return false;
    }

    std::vector<std::vector<unsigned>> after_;
};

double copy_gb_per_s(const LinkKind& kind) {
    return kind.gb_per_s * kind.packet_bytes / (kind.packet_bytes + kind.overhead_bytes);
}

}  // namespace

LinkTopology::LinkTopology(std::string name, unsigned devices, bool devices_forward, std::vector<Node> nodes,
                           std::vector<Link> links)
    : name_(std::move(name)),
      devices_(devices),
      devices_forward_(devices_forward),
      nodes_(std::move(nodes)),
      links_(std::move(links)) {
    if (devices_ == 0 || nodes_.size() < devices_) throw std::invalid_argument("expected a device or more, found none");
    for (const Link& link : links_) {
        if (link.a >= nodes_.size() || link.b >= nodes_.size())
            throw std::invalid_argument(
                fmt::format("expected a link between nodes below {}, found {} and {}", nodes_.size(), link.a, link.b));
        if (link.a == link.b)
            throw std::invalid_argument(
                fmt::format("expected a link to another node, found one from {} to itself", nodes_[link.a].name));
        if (!(link.kind.gb_per_s > 0) || link.count == 0 || link.kind.packet_bytes == 0)
            throw std::invalid_argument(fmt::format("expected a rate of the link between {} and {}, found none",
                                                    nodes_[link.a].name, nodes_[link.b].name));
    }
    find_routes();
    assign_layers();
}

std::string LinkTopology::channel_name(unsigned channel) const {
    return nodes_[begin_of(channel)].name + "->" + nodes_[end_of(channel)].name;
}

void LinkTopology::find_routes() {
    std::vector<std::vector<unsigned>> into(nodes_.size());  // channels
    for (unsigned channel = 0; channel < channels(); ++channel) into[end_of(channel)].push_back(channel);
    next_.assign(nodes_.size() * devices_, kNone);
    for (unsigned to = 0; to < devices_; ++to) {
        std::vector<unsigned> hops(nodes_.size(), kNone);
        std::vector<double> narrowest(nodes_.size(), 0);
        std::vector<std::vector<unsigned>> equal(nodes_.size());
        hops[to] = 0;
        narrowest[to] = std::numeric_limits<double>::infinity();
        // By distance: all nodes that are one link farther away are complete before the next ones are looked at.
        std::vector<unsigned> ring{to};
        while (!ring.empty()) {
            std::vector<unsigned> farther;
            for (const unsigned node : ring) {
                if (node != to && node < devices_ && !devices_forward_) continue;
                for (const unsigned channel : into[node]) {
                    const unsigned from = begin_of(channel);
                    if (hops[from] <= hops[node]) continue;
                    if (hops[from] == kNone) {
                        hops[from] = hops[node] + 1;
                        farther.push_back(from);
                    }
                    const double rate = std::min(narrowest[node], payload_gb_per_s(channel, LinkRate::copy));
                    if (rate > narrowest[from]) {
                        narrowest[from] = rate;
                        equal[from].clear();
                    }
                    if (rate >= narrowest[from]) equal[from].push_back(channel);
                }
            }
            ring = std::move(farther);
        }
        for (unsigned node = 0; node < nodes_.size(); ++node) {
            if (node == to || equal[node].empty()) continue;
            std::sort(equal[node].begin(), equal[node].end());
            next_[std::size_t{node} * devices_ + to] = equal[node][to % equal[node].size()];
        }
    }
    routes_.resize(std::size_t{devices_} * devices_);
    for (unsigned from = 0; from < devices_; ++from)
        for (unsigned to = 0; to < devices_; ++to)
            for (unsigned node = from; node != to;) {
                const unsigned channel = next_channel(node, to);
                if (channel == kNone)
                    throw std::invalid_argument(
                        fmt::format("expected a way from {} to {}, found none", nodes_[from].name, nodes_[to].name));
                routes_[std::size_t{from} * devices_ + to].push_back(channel);
                node = end_of(channel);
            }
}

void LinkTopology::assign_layers() {
    std::vector<Dependencies> layers;
    layer_of_.assign(routes_.size(), 0);
    for (std::size_t pair = 0; pair < routes_.size(); ++pair) {
        if (routes_[pair].size() < 2) continue;
        unsigned layer = 0;
        while (true) {
            if (layer == layers.size()) layers.emplace_back(channels());
            if (layers[layer].add(routes_[pair])) break;
            ++layer;
        }
        layer_of_[pair] = static_cast<std::uint8_t>(layer);
    }
    layers_ = std::max<unsigned>(1, static_cast<unsigned>(layers.size()));
}

double LinkTopology::payload_gb_per_s(unsigned channel, LinkRate rate) const {
    const Link& link = links_[channel / 2];
    const double one = rate == LinkRate::kernel && link.kind.kernel_gb_per_s > 0 ? link.kind.kernel_gb_per_s
                                                                                 : copy_gb_per_s(link.kind);
    return one * link.count;
}

double LinkTopology::route_gb_per_s(unsigned from, unsigned to, LinkRate rate) const {
    double narrowest = std::numeric_limits<double>::infinity();
    for (const unsigned channel : route(from, to)) narrowest = std::min(narrowest, payload_gb_per_s(channel, rate));
    return narrowest;
}

double LinkTopology::route_latency_ns(unsigned from, unsigned to) const {
    double ns = 0;
    for (const unsigned channel : route(from, to)) {
        ns += links_[channel / 2].kind.latency_ns;
        if (end_of(channel) != to) ns += nodes_[end_of(channel)].latency_ns;
    }
    return ns;
}

bool LinkTopology::route_over_pcie(unsigned from, unsigned to) const {
    const Route& channels = route(from, to);
    return std::any_of(channels.begin(), channels.end(),
                       [&](unsigned channel) { return links_[channel / 2].kind.pcie; });
}

LinkTopology LinkTopology::first_devices(unsigned count) const {
    if (count == 0 || count > devices_)
        throw std::invalid_argument(fmt::format("{}: expected at most {} devices, found more", name_, devices_));
    std::vector<unsigned> renamed(nodes_.size(), kNone);
    std::vector<Node> nodes;
    for (unsigned node = 0; node < nodes_.size(); ++node) {
        if (node >= count && node < devices_) continue;
        renamed[node] = static_cast<unsigned>(nodes.size());
        nodes.push_back(nodes_[node]);
    }
    std::vector<Link> links;
    for (Link link : links_) {
        link.a = renamed[link.a];
        link.b = renamed[link.b];
        if (link.a != kNone && link.b != kNone) links.push_back(link);
    }
    return LinkTopology(name_, count, devices_forward_, std::move(nodes), std::move(links));
}

LinkTopology LinkTopology::scaled(double factor) const {
    if (!(factor > 0))
        throw std::invalid_argument(fmt::format("expected a factor of rates above zero, found {}", factor));
    LinkTopology copy = *this;
    for (Link& link : copy.links_) {
        for (double* const rate : {&link.kind.gb_per_s, &link.kind.kernel_gb_per_s}) {
            const double scaled = *rate * factor;
            // A kernels' rate of 0 means that of copy engines.
            if (!std::isnormal(scaled) && *rate > 0)
                throw std::invalid_argument(
                    fmt::format("expected a finite rate above zero, found {} GB/s times {}", *rate, factor));
            *rate = scaled;
        }
    }
    return copy;
}

}  // namespace switchyard::sched
