// SPDX-License-Identifier: Apache-2.0
// Whole networks on a chip whose network is simulated flit by flit: `noc.impl: flit`.

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run_digits(const std::string& options) {
    return report_of_run(std::string("--platform ") + kMini + " --image " + digits_image() + " " + options);
}

const std::string kValues =
    "--set chip.functional=yes --batches 1 --weights configs/workloads/digits/skipnet/weights "
    "--inputs configs/workloads/digits/skipnet/input_batch0.npy "
    "--expect configs/workloads/digits/skipnet/logits_batch0.npy";

}  // namespace

TEST_CASE("flits carry the same values as packets", "[flit][values]") {
    const std::string network =
        GENERATE(as<std::string>{}, "", " --set noc.multicast=source", " --set noc.topology=mesh",
                 " --set noc.vcs=2 --set noc.control_vcs=0 --set noc.buffer_flits=2", " --set chip.check_protocol=on");
    const json packets = run_digits(kValues);
    const json flits = run_digits(kValues + " --set noc.impl=flit" + network);
    CHECK(flits.at("ok") == true);
    CHECK(flits.at("fidelity").at("noc") == "flit");
    CHECK(flits.at("values").at("tensors_crc32") == packets.at("values").at("tensors_crc32"));
    CHECK(flits.at("values").at("outputs") == packets.at("values").at("outputs"));
}

TEST_CASE("a network of flits moves what one of packets moves, in about the time", "[flit]") {
    const std::string trace = std::string("--trace ") + kDigitsTrace + " --batches 4";
    const json packets = run_digits(trace), flits = run_digits(trace + " --set noc.impl=flit");
    CHECK(flits.at("ok") == true);
    CHECK(flits.at("summary").at("run_cycles").get<double>() ==
          Approx(packets.at("summary").at("run_cycles").get<double>()).epsilon(0.05));
    // The same tensors and control packets cross the network ports; a few are under way when the counters are read.
    for (const char* counter : {"router.injected_bytes", "router.injected_packets", "router.ejected_bytes"})
        CHECK(flits.at("counters").at(counter).get<double>() ==
              Approx(packets.at("counters").at(counter).get<double>()).epsilon(0.001));
    // And the same run again gives the same bytes.
    CHECK(run_digits(trace + " --set noc.impl=flit") == flits);
}

namespace {

/// Cycles of one batch on 12x12 tiles, packets and stages against flits; docs/results/noc_chips.md has what was
/// measured.
void compare_whole_run(const std::string& workload, const std::string& design, double bound, double stages_bound) {
    const std::string adyna = "configs/platforms/adyna.yaml";
    const std::string image =
        compiled("configs/workloads/" + workload + ".yaml --platform " + adyna + " --design " + design);
    const auto cycles = [&](const std::string& impl, const std::string& chip = "tiles") {
        const json report = report_of_run("--platform " + adyna + " --set chip.impl=" + chip +
                                          " --set noc.impl=" + impl + " --image " + image + " --batches 1");
        return report.at("batches").at(0).at("chip_cycles").get<double>();
    };
    const double packets = cycles("packet"), flits = cycles("flit"), stages = cycles("packet", "stages");
    CAPTURE(workload, design, packets, flits, stages);
    CHECK(packets == Approx(flits).epsilon(bound));
    CHECK(stages == Approx(flits).epsilon(stages_bound));
}

}  // namespace

TEST_CASE("packets and stages take the time of flits on 12x12 tiles", "[flit]") {
    compare_whole_run("tutel_moe", "adyna", 0.05, 0.05);
}

TEST_CASE("packets and stages take the time of flits on 12x12 tiles, further networks", "[.ci-long][flit]") {
    compare_whole_run(GENERATE(as<std::string>{}, "fbsnet_mcifarnet", "dpsnet"), "adyna", 0.05, 0.05);
}

// Most of a minute each.
TEST_CASE("packets and stages take the time of flits on 12x12 tiles, large networks", "[.packet-long]") {
    compare_whole_run(
        GENERATE(as<std::string>{}, "fbsnet_resnet18", "skipnet_resnet34", "pabee_bert", "skipnet_resnet101"), "adyna",
        0.05, 0.05);
}

// Every sample takes every branch: traffic that fills the network, where packets are too slow.
TEST_CASE("packets and stages take about the time of flits where traffic is densest", "[.packet-long]") {
    compare_whole_run(GENERATE(as<std::string>{}, "dpsnet", "tutel_moe", "fbsnet_resnet18"), "m-tile", 0.15, 0.16);
}

TEST_CASE("keys of a flit network that contradict each other are refused", "[flit]") {
    const auto refused = [](const std::string& settings, std::initializer_list<const char*> parts) {
        check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() +
                             " --set noc.impl=flit " + settings),
                      parts);
    };
    refused("--set noc.vcs=3", {"mini.yaml:", "noc: vcs: expected an even number on a torus"});
    refused("--set noc.control_vcs=1", {"mini.yaml:", "noc: control_vcs: expected an even number on a torus"});
    refused("--set noc.routing_cycles=2", {"mini.yaml:", "noc: router_cycles: expected 5", "found 4"});
    refused("--set noc.vcs=12",
            {"mini.yaml:", "noc: expected at most 64 virtual channels in a router, found 84 in 6 ports"});
    refused("--set noc.link_cycles=0",
            {"mini.yaml:", "noc: link_cycles and endpoint_link_cycles: expected at least 1, found 0"});
    refused("--set chip.impl=stages", {"mini.yaml:", "noc: impl: expected chip.impl: tiles for flit, found "});
    refused("--set noc.multicast=magic", {"noc.multicast", "tree", "source"});
}
