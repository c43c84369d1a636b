#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/noc/flit/flit_config.h"

namespace switchyard::hw::flit {

/// X-Y routes on a torus or mesh, as BookSim 2's `dim_order_torus` and `dim_order_mesh` take them, but for ties.
///
/// Torus: the shorter way round. Where both are equally long BookSim tosses a coin for every packet; here a flow keeps
/// to one way, so that its packets stay in order: along x by the parity of source column + destination row, along y by
/// that of source column + source row. Uniform traffic then splits evenly, in every row and column. A multicast tree
/// enters a column from one side: it takes the parity of source column + source row along x as well.
///
/// Dateline: the wrap-around link of each dimension and direction. A packet that will cross it uses class 1 on all its
/// links of that dimension, the others class 0. Neither class closes a ring: class 0 never takes the wrap-around link,
/// and a class-1 path is at most half the ring long and contains it, so no class-1 path spans the opposite point.
class RouteTable {
public:
    explicit RouteTable(const Config& config);

    /// The first port along x, or along y, from `from` to `to` (routers); port::kLocal if nothing is to be gone.
    unsigned x_port(unsigned from, unsigned to) const;
    unsigned tree_x_port(unsigned from, unsigned to) const;
    unsigned y_port(unsigned from, unsigned to) const;
    /// Whether the way from `from`'s column (row) by `port` to `to` crosses the wrap-around link.
    bool crosses(unsigned from, unsigned to, unsigned port) const;
    unsigned hops(unsigned from, unsigned to) const;

    unsigned x(unsigned router) const { return x_[router]; }
    unsigned y(unsigned router) const { return y_[router]; }

private:
    unsigned steps(unsigned size, unsigned from, unsigned to) const;

    bool torus_;
    unsigned columns_, rows_;
    std::vector<std::uint16_t> x_, y_;
};

}  // namespace switchyard::hw::flit
