// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/router/regression.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace switchyard::testing {

namespace {

/// A router that gets packets with other numbers, so that all bits of a number are used.
class RenumberedRouter : public hw::flit::ExternalRouter {
public:
    RenumberedRouter(std::unique_ptr<hw::flit::ExternalRouter> router, std::uint32_t flipped)
        : router_(std::move(router)), flipped_(flipped) {
        read_outputs();
    }
    void step(const hw::flit::RouterInputs& in) override {
        hw::flit::RouterInputs renumbered = in;
        renumber(renumbered.flits);
        router_->step(renumbered);
        read_outputs();
    }
    const hw::flit::RouterOutputs& out() const override { return out_; }
    bool busy() const override { return router_->busy(); }
    hw::flit::RouterState state() const override { return router_->state(); }
    std::string evidence() override { return router_->evidence(); }

private:
    void renumber(std::vector<hw::flit::PinFlit>& flits) const {
        for (hw::flit::PinFlit& flit : flits)
            if (flit.valid) flit.packet ^= flipped_;
    }
    void read_outputs() {
        out_ = router_->out();
        renumber(out_.flits);
    }

    std::unique_ptr<hw::flit::ExternalRouter> router_;
    std::uint32_t flipped_;
    hw::flit::RouterOutputs out_;
};

}  // namespace

std::string text_of(const RouterLoad& load) {
    const hw::flit::Config& n = load.network;
    return fmt::format("{} {}x{}, {} endpoints, {} + {} VCs of {} flits, rate {}, {} % multicast, seed {}",
                       n.torus ? "torus" : "mesh", n.columns, n.rows, load.homes.size(), n.vcs, n.control_vcs,
                       n.buffer_flits, load.rate, load.multicast_percent, load.seed);
}

std::vector<RouterLoad> router_loads(hw::flit::Config network, unsigned ports, unsigned vcs, unsigned depth,
                                     std::uint64_t cycles, std::uint64_t seed) {
    std::vector<RouterLoad> loads;
    const unsigned columns = network.columns, rows = network.rows;
    for (unsigned i = 0; i < 8; ++i) {
        RouterLoad load;
        load.network = network;
        load.network.torus = i % 2 == 0;
        load.network.columns = i < 4 ? columns : (columns + 1) / 2;
        load.network.rows = rows;
        // A torus needs two VCs of each class, a mesh one.
        const bool control = i % 4 < 2 && vcs >= (load.network.torus ? 4u : 2u);
        load.network.control_vcs = control ? (load.network.torus ? 2 : 1) : 0;
        load.network.vcs = i == 5 ? 1 : vcs - load.network.control_vcs;
        load.network.buffer_flits = i == 6 ? (depth + 1) / 2 : depth;
        load.homes = an_endpoint_each(load.network);
        // Routers with several endpoints: the first one and the last but one.
        for (unsigned extra = 5; extra < ports && i != 3; ++extra) {
            load.homes.push_back(0);
            load.homes.push_back(load.network.routers() - 2);
        }
        load.rate = i % 3 == 2 ? 0.03 : 1;
        load.multicast_percent = i == 0 ? 0 : (i == 7 ? 100 : 20);
        load.cycles = cycles;
        load.seed = seed + i;
        loads.push_back(load);
    }
    return loads;
}

std::string router_regression(const std::vector<RouterLoad>& loads, const MakeRouter& make) {
    const auto renumbered = [&](const hw::flit::Config& network, unsigned router, unsigned ports) {
        const std::uint32_t flipped = router % 2 == 0 ? 0 : 0xFFFFFFFF;
        return std::make_unique<RenumberedRouter>(make(network, router, ports), flipped);
    };
    for (const RouterLoad& load : loads) {
        const RouterRun run = run_routers(
            load, [](unsigned) { return RouterImpl::lockstep; }, renumbered);
        if (!run.difference.empty()) return text_of(load) + ": " + run.difference;
        if (run.arrivals.size() != run.expected)
            return fmt::format("{}: {} of {} packets arrived", text_of(load), run.arrivals.size(), run.expected);
    }
    return "";
}

}  // namespace switchyard::testing
