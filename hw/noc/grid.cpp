// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/grid.h"

#include "switchyard/hw/noc/flit/tie_breaker.h"
#include "switchyard/hw/noc/grid_ports.h"

namespace switchyard::hw {
namespace {

constexpr const char* kPorts[port::kLocal] = {"north", "east", "south", "west"};

/// One step along a dimension, or -1 if there is no link.
int step(bool torus, unsigned size, unsigned position, int by) {
    const int length = static_cast<int>(size);
    const int next = static_cast<int>(position) + by;
    if (torus && length > 1) return (next + length) % length;
    return next >= 0 && next < length ? next : -1;
}

flit::Config config_of(bool torus, unsigned columns, unsigned rows) {
    flit::Config config;
    config.torus = torus;
    config.columns = columns;
    config.rows = rows;
    return config;
}

class TieChooser : public RouteChooser {
public:
    TieChooser(const flit::RouteTable& routes, unsigned columns, unsigned router)
        : routes_(routes), router_(router), tie_breaker_(routes, columns, router) {}

private:
    unsigned choose(std::uint32_t flits, const std::uint16_t* routers, std::size_t count) override {
        const flit::TieChoice taken = tie_breaker_.choose(flits, [&](auto&& visit) {
            for (std::size_t i = 0; i < count; ++i)
                visit(routes_.x(routers[i]), routes_.x_tie(router_, routers[i]), routes_.y_tie(router_, routers[i]));
        });
        return Grid::choice(taken);
    }

    const flit::RouteTable& routes_;
    unsigned router_;
    flit::TieBreaker tie_breaker_;
};

}  // namespace

Grid::Grid(bool torus, unsigned columns, unsigned rows)
    : torus_(torus), columns_(columns), rows_(rows), routes_(config_of(torus, columns, rows)) {}

flit::TieChoice Grid::directions(unsigned choice) {
    return {static_cast<std::uint8_t>((choice & 2) != 0 ? port::kWest : port::kEast),
            static_cast<std::uint8_t>((choice & 1) != 0 ? port::kNorth : port::kSouth)};
}

unsigned Grid::choice(flit::TieChoice directions) {
    return (directions.x_port == port::kWest ? 2u : 0u) | (directions.y_port == port::kNorth ? 1u : 0u);
}

unsigned Grid::router_ports() const {
    return port::kLocal;
}

std::string Grid::port_name(unsigned port) const {
    return kPorts[port];
}

std::string Grid::router_name(unsigned router) const {
    return "(" + std::to_string(routes_.x(router)) + "," + std::to_string(routes_.y(router)) + ")";
}

std::optional<Topology::Far> Grid::behind(unsigned router, unsigned out_port) const {
    const unsigned x = routes_.x(router), y = routes_.y(router), far_port = (out_port + 2) % port::kLocal;
    if (out_port == port::kEast || out_port == port::kWest) {
        const int next = step(torus_, columns_, x, out_port == port::kEast ? 1 : -1);
        if (next < 0) return std::nullopt;
        return Far{y * columns_ + static_cast<unsigned>(next), far_port};
    }
    const int next = step(torus_, rows_, y, out_port == port::kSouth ? 1 : -1);
    if (next < 0) return std::nullopt;
    return Far{static_cast<unsigned>(next) * columns_ + x, far_port};
}

unsigned Grid::port_to(unsigned at, unsigned to, unsigned choice) const {
    const flit::TieChoice taken = directions(choice);
    const unsigned along_x = routes_.x_port(at, to, taken);
    return along_x != port::kLocal ? along_x : routes_.y_port(at, to, taken);
}

std::unique_ptr<RouteChooser> Grid::make_chooser(unsigned router) const {
    if (!torus_) return Topology::make_chooser(router);
    return std::make_unique<TieChooser>(routes_, columns_, router);
}

}  // namespace switchyard::hw
