// SPDX-License-Identifier: Apache-2.0
// What a program says that fills a Config itself, without a platform file: errors name the key, its choices and what
// was found; a factory of the models says which one makes the RTL.

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/link/message_engine.h"
#include "switchyard/hw/memory/hbm_config.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a choice that a key does not have is named with those that it has", "[config]") {
    CHECK(choice_error(hw::NocConfig{}, "noc").empty());
    CHECK(choice_error(hw::HbmConfig{}, "hbm").empty());
    hw::NocConfig noc;
    noc.impl = "x";
    CHECK(choice_error(noc, "noc") == "noc.impl: expected packet, flit, rtl or lockstep, found x");
    CHECK(hw::validation_error(noc) == "noc.impl: expected packet, flit, rtl or lockstep, found x");
    noc.impl = "flit";
    noc.topology = "";
    CHECK(hw::validation_error(noc) == "noc.topology: expected torus or mesh, found nothing");
    CHECK_THROWS_WITH(hw::make_topology("ring", 2, 2), "noc.topology: expected torus or mesh, found ring");
    hw::HbmConfig hbm;
    hbm.impl = "fast";
    CHECK(hw::validation_error(hbm) == "hbm.impl: expected bandwidth or bank, found fast");
    hw::MessageEngine::Config links;
    links.switching = "x";
    CHECK(choice_error(links, "links") == "links.switching: expected cut_through or store_and_forward, found x");
}

TEST_CASE("a factory names the choices, or the factory that makes the RTL", "[config]") {
    in_child([] {
        SimulationRegistry registry;
        hw::NocConfig noc;
        noc.columns = noc.rows = 2;
        noc.impl = "x";
        CHECK_THROWS_WITH(hw::make_network("unknown", noc, registry, {0, 1}),
                          ContainsSubstring("noc.impl: expected packet, flit, rtl or lockstep, found x"));
        for (const char* impl : {"rtl", "lockstep"}) {
            noc.impl = impl;
            CHECK_THROWS_WITH(
                hw::make_network(impl, noc, registry, {0, 1}),
                ContainsSubstring(std::string("noc.impl: expected an implementation of hw::make_network(), found ") +
                                  impl +
                                  ", which is RTL; call rtl::make_network() of a build with "
                                  "SWITCHYARD_RTL"));
        }
        hw::PeArray::Config array;
        array.impl = "systolic";
        CHECK_THROWS_WITH(hw::make_pe_array("array", array, registry),
                          "pe_array.impl: expected analytic, cycle, rtl or lockstep, found systolic");
        array.impl = "rtl";
        CHECK_THROWS_WITH(
            hw::make_pe_array("array_rtl", array, registry),
            ContainsSubstring("pe_array.impl: expected an implementation of hw::make_pe_array(), found rtl") &&
                ContainsSubstring("call rtl::make_pe_array()"));
        hw::KernelDispatcher::Config dispatcher;
        dispatcher.impl = "fast";
        CHECK_THROWS_WITH(hw::make_kernel_dispatcher("dispatcher", dispatcher, registry),
                          "dispatcher.impl: expected analytic, walk, rtl or lockstep, found fast");
    });
}

TEST_CASE("an error without a file begins with its key", "[config]") {
    CHECK(std::string(InputError("", 0, "n0.k0", "no room").what()) == "n0.k0: no room");
    CHECK(std::string(InputError("", 0, "", "no room").what()) == "no room");
    CHECK(std::string(InputError("a.yaml", 3, "", "no room").what()) == "a.yaml:3: no room");
}
