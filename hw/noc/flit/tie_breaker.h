// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/noc/flit/route.h"
#include "switchyard/hw/noc/grid_ports.h"

namespace switchyard::hw::flit {

/// Which way round a torus the packets of one endpoint take where both are equally long.
///
/// BookSim 2 tosses a coin for every packet. Here the endpoint counts, for its own row and for each column, by how many
/// flits the one way is ahead of the other, and a packet takes the way that is behind. So the flits of an endpoint on
/// the two directions of a ring differ by one packet at most, whatever the traffic. With both directions even, the
/// packet's way along x depends on where the endpoint is, so that neighbours begin differently; along y it changes each
/// time, so that packets with a choice along x and along y take all four routes.
///
/// In hardware: 1 + columns up/down counters and a bit at the endpoint; the header carries the directions (rtl/router).
/// The packets of a flow may overtake each other, as those in different VCs may: Transport and Router keep their order.
///
/// A multicast tree has one choice for all of its columns, since a header has one direction for each row.
class TieBreaker {
public:
    /// `router`: of the endpoint.
    TieBreaker(const RouteTable& routes, unsigned columns, unsigned router)
        : first_x_(routes.x(router) + routes.y(router) / 2),
          first_y_(routes.y(router) + routes.x(router) / 2),
          ahead_(1 + columns) {}

    /// For a packet of `flits`. `for_each` calls visit(column, x_tie, y_tie) for each destination.
    template <class ForEach>
    TieChoice choose(std::uint32_t flits, ForEach&& for_each) {
        bool any_x = false;
        std::int64_t along_y = 0;
        for_each([&](unsigned column, bool x_tie, bool y_tie) {
            any_x = any_x || x_tie;
            if (y_tie) along_y += ahead_[1 + column];
        });
        const bool east = positive(ahead_[0], first_x_), south = positive(along_y, first_y_);
        const auto by = static_cast<std::int64_t>(flits);
        if (any_x) ahead_[0] += east ? by : -by;
        for_each([&](unsigned column, bool, bool y_tie) {
            if (!y_tie) return;
            ahead_[1 + column] += south ? by : -by;
            if (ahead_[1 + column] == 0) ++first_y_;
        });
        return {static_cast<std::uint8_t>(east ? port::kEast : port::kWest),
                static_cast<std::uint8_t>(south ? port::kSouth : port::kNorth)};
    }
    /// For a packet from router `from`, where the endpoint is, to router `to`.
    TieChoice choose(const RouteTable& routes, unsigned from, unsigned to, std::uint32_t flits) {
        const bool x_tie = routes.x_tie(from, to), y_tie = routes.y_tie(from, to);
        if (!x_tie && !y_tie) return {};
        return choose(flits, [&](auto&& visit) { visit(routes.x(to), x_tie, y_tie); });
    }

private:
    /// Whether to take the positive way, which is `ahead` of the other one.
    static bool positive(std::int64_t ahead, unsigned parity) { return ahead < 0 || (ahead == 0 && parity % 2 == 0); }

    unsigned first_x_, first_y_;
    std::vector<std::int64_t>
        ahead_;  ///< flits that went the positive way less those that went the other: row, columns
};

}  // namespace switchyard::hw::flit
