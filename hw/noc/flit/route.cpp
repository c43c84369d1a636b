// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/route.h"

#include "switchyard/hw/noc/grid_ports.h"

namespace switchyard::hw::flit {
namespace {

/// Whether to go in the positive direction, on a ring of `size`; `tied` decides between equal directions.
bool positive(bool torus, unsigned size, unsigned from, unsigned to, bool tied) {
    if (!torus) return to > from;
    const unsigned forward = to >= from ? to - from : to + size - from;
    return 2 * forward < size || (2 * forward == size && tied);
}

}  // namespace

RouteTable::RouteTable(const Config& config) : torus_(config.torus), columns_(config.columns), rows_(config.rows) {
    for (unsigned r = 0; r < config.routers(); ++r) {
        x_.push_back(static_cast<std::uint16_t>(r % columns_));
        y_.push_back(static_cast<std::uint16_t>(r / columns_));
    }
}

unsigned RouteTable::x_port(unsigned from, unsigned to, TieChoice choice) const {
    if (x_[from] == x_[to]) return port::kLocal;
    const bool east = positive(torus_, columns_, x_[from], x_[to], choice.x_port == port::kEast);
    return east ? port::kEast : port::kWest;
}

unsigned RouteTable::y_port(unsigned from, unsigned to, TieChoice choice) const {
    if (y_[from] == y_[to]) return port::kLocal;
    const bool south = positive(torus_, rows_, y_[from], y_[to], choice.y_port == port::kSouth);
    return south ? port::kSouth : port::kNorth;
}

bool RouteTable::crosses(unsigned from, unsigned to, unsigned port) const {
    switch (port) {
        case port::kEast:
            return x_[to] < x_[from];
        case port::kWest:
            return x_[to] > x_[from];
        case port::kSouth:
            return y_[to] < y_[from];
        case port::kNorth:
            return y_[to] > y_[from];
        default:
            return false;
    }
}

unsigned RouteTable::steps(unsigned size, unsigned from, unsigned to) const {
    const unsigned direct = from < to ? to - from : from - to;
    return torus_ && size - direct < direct ? size - direct : direct;
}

unsigned RouteTable::hops(unsigned from, unsigned to) const {
    return steps(columns_, x_[from], x_[to]) + steps(rows_, y_[from], y_[to]);
}

}  // namespace switchyard::hw::flit
