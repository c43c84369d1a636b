// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>

#include "switchyard/rtl/router/make_router.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/router/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using hw::flit::Config;
using hw::flit::ExternalRouter;

namespace switchyard::testing {
std::unique_ptr<ExternalRouter> make_router_look_ahead(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_slow_stages(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_traced_mutant(const Config& network, unsigned router, unsigned ports);
}  // namespace switchyard::testing

namespace {

std::unique_ptr<ExternalRouter> library_router(const Config& network, unsigned router, unsigned ports) {
    return rtl::make_router(network, router, ports);
}

Config grid(unsigned columns, unsigned rows) {
    Config network;
    network.columns = columns;
    network.rows = rows;
    return network;
}

RouterImpl all_flit(unsigned) {
    return RouterImpl::flit;
}
RouterImpl all_rtl(unsigned) {
    return RouterImpl::rtl;
}
RouterImpl mixed(unsigned router) {
    return static_cast<RouterImpl>(router % 3);
}

}  // namespace

TEST_CASE("router lockstep: flits, credits and state are the model's, to saturation and beyond", "[router]") {
    const std::uint64_t seed = random_seed();
    INFO("replay with SWITCHYARD_SEED=" << seed);
    CHECK(router_regression(router_loads(grid(4, 4), 5, 4, 8, 800, seed), &library_router) == "");
    CHECK(router_regression(router_loads(grid(3, 3), 6, 6, 16, 300, seed), &library_router) == "");
}

TEST_CASE("router lockstep: other pipelines, shallow buffers", "[router]") {
    Config look_ahead = grid(3, 3);
    look_ahead.routing_cycles = 0;
    CHECK(router_regression(router_loads(look_ahead, 6, 2, 3, 800, random_seed()), &make_router_look_ahead) == "");
    Config slow = grid(3, 3);
    slow.routing_cycles = slow.vc_alloc_cycles = slow.switch_cycles = 2;
    slow.switch_alloc_cycles = 3;
    slow.link_cycles = 3;
    slow.endpoint_link_cycles = 2;
    slow.credit_cycles = 1;
    CHECK(router_regression(router_loads(slow, 6, 2, 8, 800, random_seed()), &make_router_slow_stages) == "");
}

TEST_CASE("router RTL: every packet arrives in the same cycle as in the model, alone and among models", "[router]") {
    for (const RouterLoad& load : router_loads(grid(4, 4), 6, 6, 8, 600, random_seed())) {
        INFO(text_of(load));
        const RouterRun flit = run_routers(load, &all_flit, &library_router);
        REQUIRE(flit.arrivals.size() == flit.expected);
        CHECK(flit.expected > 100);
        CHECK((flit.copies > 0) == (load.multicast_percent > 0));
        for (const auto& impl : {&all_rtl, &mixed}) {
            const RouterRun rtl = run_routers(load, impl, &library_router);
            CHECK(rtl.difference == "");
            CHECK(rtl.arrivals == flit.arrivals);
            CHECK(rtl.copies == flit.copies);
            CHECK(rtl.link_flits == flit.link_flits);
        }
    }
}

TEST_CASE("router lockstep: stops at the first difference with place, signal and a waveform", "[router]") {
    std::string message;
    {
        RouterLoad load;
        load.network = grid(4, 4);
        load.network.vcs = 2;
        load.homes = an_endpoint_each(load.network);
        message = run_routers(
                      load, [](unsigned) { return RouterImpl::lockstep; }, &make_router_traced_mutant)
                      .difference;
    }
    CHECK_THAT(message, ContainsSubstring("lockstep: cycle "));
    CHECK_THAT(message, ContainsSubstring(": credits of port "));
    CHECK_THAT(message, ContainsSubstring(" differs. Model: "));
    const std::size_t at = message.find("; waveform: ");
    REQUIRE(at != std::string::npos);
    const std::string waveform = message.substr(at + 12);
    CHECK(std::filesystem::file_size(waveform) > 1000);
    CHECK(std::remove(waveform.c_str()) == 0);
    for (unsigned r = 0; r < 16; ++r)
        CHECK(!std::filesystem::exists("router_traced_mutant_" + std::to_string(r) + ".fst"));
}

TEST_CASE("router RTL: a network for which none was built is refused", "[router]") {
    Config network = grid(4, 4);
    network.routing_cycles = 3;
    CHECK_THROWS_WITH(rtl::make_router(network, 0, 5),
                      "no RTL router for 5 ports, 4 VCs of 8 flits, 4x4 routers, pipeline 3,1,1,1; there is, for at "
                      "most: 5 ports, 4 VCs of 16 flits, 8x8 routers, pipeline 1,1,1,1; 6 ports, 6 VCs of 16 flits, "
                      "4x4 routers, pipeline 1,1,1,1");
}
