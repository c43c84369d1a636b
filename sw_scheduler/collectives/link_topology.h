// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::sched {

/// A technology of links between devices. Rates are those of one link, each way.
struct LinkKind {
    std::string name = "link";
    bool pcie = false;             ///< costs of steps over it are those of PCI Express (CollectiveCosts)
    double gb_per_s = 25;          ///< behind the encoding, before packet overheads
    double latency_ns = 100;       ///< one way: serialiser, wire, receiver
    unsigned packet_bytes = 256;   ///< payload of the largest packet, which copy engines send
    unsigned overhead_bytes = 16;  ///< of each packet: header, check sums
    double kernel_gb_per_s = 0;    ///< payload that kernels' loads and stores get; 0: as copy engines
};

/// Who moves the bytes: copy engines send the largest packets, kernels store 128 bytes at a time.
enum class LinkRate : std::uint8_t { copy, kernel };

/// Devices, switches and host bridges, joined by links; which way messages take. Plain data, from a file
/// (docs/models/link.md) or one of the families.
///
/// Nodes are numbered from 0; the first devices() of them are devices, which pass on messages of others only if
/// `devices_forward`. A link with a count of several is bonded: its messages spread over all of them. Each link is two
/// channels, 2 * link from `a` to `b` and 2 * link + 1 back.
///
/// Routes: the fewest links; of several the one with the highest rate at its narrowest link; of several of these one
/// by the number of the destination. A route depends on the node and the destination alone. Deadlock: each route has a
/// layer (a class of virtual channels with buffers of its own, as InfiniBand's LASH assigns them: Skeie, Lysne,
/// Theiss, "Layered shortest path routing in irregular system area networks", IPDPS 2002), such that the channels
/// that the routes of a layer use one behind the other close no ring.
class LinkTopology {
public:
    struct Node {
        std::string name;
        double latency_ns = 0;  ///< to pass on a message
    };
    struct Link {
        unsigned a = 0, b = 0;  ///< nodes
        LinkKind kind;
        unsigned count = 1;
    };
    using Route = std::vector<unsigned>;  ///< channels

    /// Throws std::invalid_argument: an island, a link from a node to itself, a rate of zero.
    LinkTopology(std::string name, unsigned devices, bool devices_forward, std::vector<Node> nodes,
                 std::vector<Link> links);

    const std::string& name() const { return name_; }
    unsigned devices() const { return devices_; }
    bool devices_forward() const { return devices_forward_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Link>& links() const { return links_; }
    unsigned channels() const { return static_cast<unsigned>(2 * links_.size()); }
    unsigned begin_of(unsigned channel) const { return channel % 2 ? links_[channel / 2].b : links_[channel / 2].a; }
    unsigned end_of(unsigned channel) const { return channel % 2 ? links_[channel / 2].a : links_[channel / 2].b; }
    std::string channel_name(unsigned channel) const;  ///< "gpu0->gpu1"

    /// From one device to another; empty from a device to itself.
    const Route& route(unsigned from, unsigned to) const { return routes_[std::size_t{from} * devices_ + to]; }
    unsigned layer(unsigned from, unsigned to) const { return layer_of_[std::size_t{from} * devices_ + to]; }
    unsigned layers() const { return layers_; }
    /// The channel by which a message to `device` leaves `node`.
    unsigned next_channel(unsigned node, unsigned device) const { return next_[std::size_t{node} * devices_ + device]; }

    /// Payload of long messages, of all links of the channel: bytes a nanosecond.
    double payload_gb_per_s(unsigned channel, LinkRate rate) const;
    /// Of the narrowest link of a route.
    double route_gb_per_s(unsigned from, unsigned to, LinkRate rate) const;
    /// Of an idle route, without bytes.
    double route_latency_ns(unsigned from, unsigned to) const;
    bool route_over_pcie(unsigned from, unsigned to) const;

    /// The first `count` devices with all that is no device.
    LinkTopology first_devices(unsigned count) const;
    /// All rates (and kernels' rates) multiplied.
    LinkTopology scaled(double factor) const;

private:
    void find_routes();
    void assign_layers();

    std::string name_;
    unsigned devices_;
    bool devices_forward_;
    std::vector<Node> nodes_;
    std::vector<Link> links_;
    std::vector<unsigned> next_;
    std::vector<Route> routes_;
    std::vector<std::uint8_t> layer_of_;
    unsigned layers_ = 1;
};

/// Reads a topology file. Throws InputError "file:line: key: message".
LinkTopology read_link_topology(const std::string& path);
/// The same from a text; `file` stands for the path.
LinkTopology parse_link_topology(const std::string& text, const std::string& file);

/// ring (devices pass on), fully_connected, switch (one), pcie_tree (two devices a switch, four switches a host bridge,
/// bridges fully connected).
const std::vector<std::string>& link_families();
/// One of them, of 2 to 1024 devices. Throws std::invalid_argument.
LinkTopology make_link_topology(const std::string& family, unsigned devices, const LinkKind& kind);

}  // namespace switchyard::sched
