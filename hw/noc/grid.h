// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/hw/noc/flit/route.h"
#include "switchyard/hw/noc/topology.h"

namespace switchyard::hw {

/// A 2D torus or mesh of columns x rows routers, numbered row by row, with the X-Y routes of flit::RouteTable, the
/// choices of flit::TieBreaker between equally long directions of a torus, and its dateline classes.
class Grid : public Topology {
public:
    Grid(bool torus, unsigned columns, unsigned rows);

    bool torus() const { return torus_; }
    unsigned columns() const { return columns_; }
    unsigned rows() const { return rows_; }
    const flit::RouteTable& routes() const { return routes_; }
    /// A choice as the two directions that it stands for.
    static flit::TieChoice directions(unsigned choice);
    static unsigned choice(flit::TieChoice directions);

    unsigned routers() const override { return columns_ * rows_; }
    unsigned router_ports() const override;
    std::string port_name(unsigned port) const override;
    std::string router_name(unsigned router) const override;
    std::optional<Far> behind(unsigned router, unsigned port) const override;
    unsigned hops(unsigned from, unsigned to) const override { return routes_.hops(from, to); }
    unsigned port_to(unsigned at, unsigned to, unsigned choice) const override;
    unsigned choices() const override { return torus_ ? 4 : 1; }
    bool has_choice(unsigned from, unsigned to) const override {
        return routes_.x_tie(from, to) || routes_.y_tie(from, to);
    }
    std::unique_ptr<RouteChooser> make_chooser(unsigned router) const override;
    unsigned vc_classes() const override { return torus_ ? 2 : 1; }
    bool second_class(unsigned from, unsigned to, unsigned port) const override {
        return torus_ && routes_.crosses(from, to, port);
    }
    const Grid* grid() const override { return this; }

private:
    bool torus_;
    unsigned columns_, rows_;
    flit::RouteTable routes_;
};

}  // namespace switchyard::hw
