// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/router/make_router.h"

#include <Vrtl_router_grid.h>
#include <Vrtl_router_mini.h>

#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/rtl/router/verilated_router.h"

namespace switchyard::rtl {
namespace {

using hw::flit::Config;
using hw::flit::ExternalRouter;

template <class Top>
std::unique_ptr<ExternalRouter> make(const RouterShape& shape, const Config& network, unsigned router, unsigned ports,
                                     const std::string& waveform) {
    return std::make_unique<VerilatedRouter<Top, true>>(shape, network, router, ports, waveform);
}

struct Model {
    RouterShape shape;
    std::unique_ptr<ExternalRouter> (*make)(const RouterShape& shape, const Config& network, unsigned router,
                                            unsigned ports, const std::string& waveform);
};

/// The smaller ones first. As in rtl/CMakeLists.txt.
constexpr Model kModels[] = {{{5, 4, 16, 8, 8}, &make<Vrtl_router_grid>}, {{6, 6, 16, 4, 4}, &make<Vrtl_router_mini>}};

}  // namespace

bool RouterShape::same_pipeline(const Config& network) const {
    return routing_cycles == network.routing_cycles && vc_alloc_cycles == network.vc_alloc_cycles &&
           switch_alloc_cycles == network.switch_alloc_cycles && switch_cycles == network.switch_cycles;
}

bool RouterShape::fits(const Config& network, unsigned ports_needed) const {
    return same_pipeline(network) && ports_needed <= ports && network.all_vcs() <= vcs &&
           network.buffer_flits <= depth && network.columns <= columns && network.rows <= rows;
}

std::string RouterShape::text() const {
    return fmt::format("{} ports, {} VCs of {} flits, {}x{} routers, pipeline {},{},{},{}", ports, vcs, depth, columns,
                       rows, routing_cycles, vc_alloc_cycles, switch_alloc_cycles, switch_cycles);
}

std::unique_ptr<ExternalRouter> make_router(const Config& network, unsigned router, unsigned ports,
                                            const std::string& waveform) {
    if (network.oldest_first || network.switch_iterations != 1)
        throw std::invalid_argument(
            "no RTL router with oldest_first or several switch_iterations; there are those whose allocators take turns "
            "in one iteration");
    std::string there;
    for (const Model& model : kModels) {
        if (model.shape.fits(network, ports)) return model.make(model.shape, network, router, ports, waveform);
        there += (there.empty() ? "" : "; ") + model.shape.text();
    }
    const RouterShape wanted{ports,
                             network.all_vcs(),
                             network.buffer_flits,
                             network.columns,
                             network.rows,
                             network.routing_cycles,
                             network.vc_alloc_cycles,
                             network.switch_alloc_cycles,
                             network.switch_cycles};
    throw std::invalid_argument("no RTL router for " + wanted.text() + "; there is, for at most: " + there);
}

}  // namespace switchyard::rtl
