// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/noc/flit/flit_config.h"

namespace switchyard::hw::flit {

/// Where a packet goes if both directions round a ring are equally long; TieBreaker decides.
struct TieChoice {
    std::uint8_t x_port = 0, y_port = 0;
};

/// X-Y routes on a torus or mesh, as BookSim 2's `dim_order_torus` and `dim_order_mesh` take them.
///
/// Torus: the shorter way round, of two equally long ones that of the packet's TieChoice.
///
/// Dateline: the wrap-around link of each dimension and direction. A packet that will cross it uses class 1 on all its
/// links of that dimension, the others class 0. Neither class closes a ring: class 0 never takes the wrap-around link,
/// and a class-1 path is at most half the ring long and contains it, so no class-1 path spans the opposite point.
class RouteTable {
public:
    explicit RouteTable(const Config& config);

    /// The first port along x, or along y, from `from` to `to` (routers); port::kLocal if nothing is to be gone.
    unsigned x_port(unsigned from, unsigned to, TieChoice choice) const;
    unsigned y_port(unsigned from, unsigned to, TieChoice choice) const;
    /// Both directions along x, or along y, are equally long.
    bool x_tie(unsigned from, unsigned to) const { return tie(columns_, x_[from], x_[to]); }
    bool y_tie(unsigned from, unsigned to) const { return tie(rows_, y_[from], y_[to]); }
    /// Whether the way from `from`'s column (row) by `port` to `to` crosses the wrap-around link.
    bool crosses(unsigned from, unsigned to, unsigned port) const;
    unsigned hops(unsigned from, unsigned to) const;

    unsigned x(unsigned router) const { return x_[router]; }
    unsigned y(unsigned router) const { return y_[router]; }

private:
    unsigned steps(unsigned size, unsigned from, unsigned to) const;
    bool tie(unsigned size, unsigned from, unsigned to) const {
        return torus_ && 2 * (from < to ? to - from : from - to) == size;
    }

    bool torus_;
    unsigned columns_, rows_;
    std::vector<std::uint16_t> x_, y_;
};

}  // namespace switchyard::hw::flit
