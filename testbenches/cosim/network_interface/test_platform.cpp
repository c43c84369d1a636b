// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// An image of a digits network for mini, made once a process.
const std::string& image_of(const std::string& network) {
    static std::map<std::string, std::string> images;
    std::string& image = images[network];
    if (image.empty()) {
        image = scratch(network + ".syk");
        const Outcome compiled = sy_sched("compile configs/workloads/digits_" + network + ".yaml --platform " + kMini +
                                          " --design adyna -o " + image);
        INFO(compiled.err);
        REQUIRE(compiled.status == 0);
    }
    return image;
}

/// Report of a digits network, without the name of the network interface's implementation.
json report_with(const std::string& network, const std::string& settings) {
    const std::string folder = scratch("network_interface_report");
    const Outcome run = sy_sim(std::string("run --platform ") + kMini + " --image " + image_of(network) + " --report " +
                               folder + " " + settings);
    INFO(network << " " << settings << ": " << run.err);
    REQUIRE(run.status == 0);
    json report = read_json(folder + "/report.json");
    REQUIRE(report.at("fidelity").erase("network_interface") == 1);
    return report;
}

std::string trace_of(const std::string& network) {
    return "--trace configs/workloads/digits/" + network + "/routing.jsonl --batches 2 ";
}

std::string values_of(const std::string& network) {
    const std::string folder = "configs/workloads/digits/" + network;
    return "--set chip.functional=yes --batches 1 --weights " + folder + "/weights --inputs " + folder +
           "/input_batch0.npy --expect " + folder + "/logits_batch0.npy ";
}

Outcome run_with(const std::string& settings) {
    return sy_sim(std::string("run --platform ") + kMini + " --image " + image_of("skipnet") + " " +
                  trace_of("skipnet") + settings);
}

}  // namespace

TEST_CASE("network interfaces in RTL: not a figure of the report changes", "[network_interface][platform]") {
    const std::string network = GENERATE("skipnet", "channel_gate", "early_exit", "moe", "patch_select");
    const std::string trace = trace_of(network);
    const json packets = report_with(network, trace);
    CHECK(report_with(network, trace + "--set network_interface.impl=rtl") == packets);
    CHECK(report_with(network, trace + "--set network_interface.impl=lockstep") == packets);
    CHECK(report_with(network, trace + "--set \"network_interface.impl_of_tiles=0=rtl 3=lockstep\"") == packets);
}

TEST_CASE("network interfaces in RTL carry the same values", "[network_interface][platform]") {
    const std::string network = GENERATE("skipnet", "channel_gate", "patch_select");
    const std::string values = values_of(network);
    const json packets = report_with(network, values);
    CHECK(packets.at("ok") == true);
    CHECK(report_with(network, values + "--set network_interface.impl=rtl") == packets);
    CHECK(report_with(network, values + "--set network_interface.impl=lockstep") == packets);
    CHECK(report_with(network, values + "--set network_interface.impl=rtl --set noc.impl=flit") ==
          report_with(network, values + "--set noc.impl=flit"));
}

TEST_CASE("network interfaces in RTL: what was not built, and what contradicts itself, is refused",
          "[network_interface][cli]") {
    check_refused(
        run_with("--set network_interface.impl=rtl --set noc.link_bytes_per_cycle=96"),
        {"0 s: chip.tile_0.network_interface: no RTL packetiser for links of 96 bytes and headers of 16; there "
         "is, for links of 192 bytes and headers of 16"});
    check_refused(run_with("--set network_interface.impl_of_tiles=2=lockstep --set noc.header_bytes=8"),
                  {"chip.tile_2.network_interface: no RTL packetiser for links of 192 bytes and headers of 8"});
    check_refused(run_with("--set network_interface.impl=rtl --set chip.impl=stages"),
                  {"network_interface: impl: expected chip.impl: tiles for rtl, found "});
    check_refused(run_with("--set network_interface.impl_of_tiles=1=rtl --set chip.impl=stages"),
                  {"chip: impl_of_tiles: expected impl: tiles, found "});
    check_refused(run_with("--set network_interface.impl_of_tiles=1=flit"),
                  {"network_interface: impl_of_tiles: no implementation \"flit\"; there is packets, rtl, lockstep"});
}
