// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchyard::hw {

class Grid;

/// Which of the ways that a topology offers the packets of one source take. It may count what it has chosen.
class RouteChooser {
public:
    virtual ~RouteChooser() = default;
    /// For a packet of `flits` to `count` routers: a number below Topology::choices(), the same for all of them.
    virtual unsigned choose(std::uint32_t flits, const std::uint16_t* routers, std::size_t count) = 0;
};

/// How the routers of a network are connected, and which ways packets take. The packet network (PacketNetwork, Router)
/// and the flit network (flit::FlitNetwork) carry packets over any topology; make_topology() has those that a platform
/// can name. Plain C++.
///
/// Routers are numbered from 0. A router has ports 0 .. router_ports() - 1 for links to other routers, of which some
/// may have no link; the ports behind them belong to its endpoints.
///
/// A route depends on the source's choice and the destination alone, so that the routes to several destinations form a
/// tree: where two of them part they do not meet again. Deadlock: the channels that routes use one behind the other,
/// a channel being a link and a class of virtual channels, must close no ring. Where links close rings, vc_classes() is
/// 2 and second_class() says which packets use the second half of the virtual channels of a link.
class Topology {
public:
    struct Far {
        unsigned router = 0, port = 0;
    };

    virtual ~Topology() = default;

    virtual unsigned routers() const = 0;
    virtual unsigned router_ports() const = 0;
    /// For counters and messages, without blanks: "north".
    virtual std::string port_name(unsigned port) const = 0;
    /// For messages: "(3,0)".
    virtual std::string router_name(unsigned router) const { return std::to_string(router); }

    /// The router behind a port, and the port at which the link ends there; nothing where there is no link. Links run
    /// in both directions: what leaves by the far port comes back by this one.
    virtual std::optional<Far> behind(unsigned router, unsigned port) const = 0;
    virtual unsigned hops(unsigned from, unsigned to) const = 0;

    /// The port by which a packet to router `to` leaves router `at`, which is another one.
    virtual unsigned port_to(unsigned at, unsigned to, unsigned choice) const = 0;
    /// Ways among which a source chooses, packet by packet.
    virtual unsigned choices() const { return 1; }
    /// The choice matters to a packet from `from` to `to`.
    virtual bool has_choice(unsigned /*from*/, unsigned /*to*/) const { return false; }
    /// For the packets of an endpoint at `router`.
    virtual std::unique_ptr<RouteChooser> make_chooser(unsigned router) const;

    /// 1 or 2.
    virtual unsigned vc_classes() const { return 1; }
    /// Whether a packet from `from` to `to` uses the second class on the links that it leaves routers by `port`.
    virtual bool second_class(unsigned /*from*/, unsigned /*to*/, unsigned /*port*/) const { return false; }

    /// This topology, if it is a grid: RTL routers know no other.
    virtual const Grid* grid() const { return nullptr; }
};

using TopologyPtr = std::shared_ptr<const Topology>;

/// The topologies that a platform can name.
const std::vector<std::string>& topologies();
/// One of them, of columns x rows routers. Throws std::invalid_argument for another name or without routers.
TopologyPtr make_topology(const std::string& name, unsigned columns, unsigned rows);

/// Links between routers, counted in each direction.
unsigned links_of(const Topology& topology);

}  // namespace switchyard::hw
