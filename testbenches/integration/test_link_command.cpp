// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run_link(const std::string& options) {
    const std::string path = scratch("link.json");
    const Outcome outcome = sy_sim("link " + options + " --json " + path);
    CAPTURE(options, outcome.err);
    REQUIRE(outcome.status == 0);
    return read_json(path);
}

/// sy-sim link on two devices and a switch, with one text of the file replaced.
Outcome link_of(const std::string& find, const std::string& replacement) {
    std::string text =
        "name: pair\ndevices: 2\nnodes:\n  - {name: hub, latency_ns: 100}\nkinds:\n"
        "  wire: {gb_per_s: 10, latency_ns: 50}\nlinks:\n"
        "  - {between: [gpu0, hub], kind: wire}\n  - {between: [gpu1, hub], kind: wire}\n";
    const std::size_t at = text.find(find);
    REQUIRE(at != std::string::npos);
    write_text(scratch("pair.yaml"), text.replace(at, find.size(), replacement));
    return sy_sim("link " + scratch("pair.yaml") + " --bytes 1024");
}

const std::string kCube = "configs/topologies/dgx1v.yaml";

}  // namespace

TEST_CASE("sy-sim link: a message has the time of its links", "[link][cli]") {
    const json result = run_link(kCube + " --collective point_to_point --from 0 --to 3 --bytes 65536,268435456");
    CHECK(result.at("format") == "switchyard-link");
    // The larger one was measured.
    REQUIRE(result.at("calibrated").size() == 1);
    CHECK(result.at("calibrated")[0] ==
          json{{"collective", "point_to_point"}, {"bytes", 268435456}, {"largest_error", 0.05}});
    REQUIRE(result.at("rows").size() == 2);
    // Two NVLinks of 25 GB/s, packets of 256 bytes with 16 of header, 100 ns.
    const double rate = 2 * 25 * 256.0 / 272;
    for (const json& row : result.at("rows")) {
        const auto bytes = row.at("bytes").get<double>();
        CHECK(row.at("us").get<double>() == Approx((100 + bytes / rate) / 1000).epsilon(1e-3));
        CHECK(row.at("busiest_link") == "gpu0->gpu3");
        CHECK(row.at("busiest_link_bytes").get<double>() == bytes);
    }
}

TEST_CASE("sy-sim link: bytes of the busiest link, counted by hand", "[link][cli]") {
    const json result = run_link("--family switch --devices 4 --bytes 1048576 --collective all_gather,all_reduce");
    REQUIRE(result.at("rows").size() == 2);
    CHECK(result.at("rows")[0].at("busiest_link_bytes") == 1048576 / 4 * 3);
    CHECK(result.at("rows")[1].at("busiest_link_bytes") == 1048576 / 4 * 6);
}

TEST_CASE("sy-sim link: skew lengthens what is padded, and seed and skew are the cells'", "[link][cli]") {
    const std::string all =
        "--family switch --devices 8 --bytes 16777216 --collective all_to_all_padded,all_to_all_sparse";
    const auto us = [](const json& result, std::size_t row) { return result.at("rows")[row].at("us").get<double>(); };
    const json even = run_link(all), skewed = run_link(all + " --skew 1 --seed 3");
    // Rank 1 of 8 gets 1 / (1 + 1/2 + ... + 1/8) = 0.368 of the cells: padding makes all parts as large.
    CHECK(us(skewed, 0) / us(even, 0) == Approx(0.368 * 8).epsilon(0.05));
    CHECK(us(skewed, 1) / us(even, 1) == Approx(0.368 * 8).epsilon(0.1));  // into the device of rank 1
    CHECK(us(even, 1) < us(even, 0));
    // Each source has its own: padding costs as much, but no device receives most of the cells.
    const json own = run_link(all + " --skew 1 --seed 3 --ranks own");
    CHECK(us(own, 0) == Approx(us(skewed, 0)).epsilon(0.05));
    CHECK(us(own, 1) < 0.8 * us(skewed, 1));
    CHECK(skewed.dump() == run_link(all + " --skew 1 --seed 3").dump());
    CHECK(skewed.dump() != run_link(all + " --skew 1 --seed 4").dump());
}

TEST_CASE("sy-sim link: only what was measured is called calibrated", "[link][cli]") {
    const auto calibrated = [](const std::string& options) { return run_link(options).at("calibrated"); };
    const std::string copy = " --collective point_to_point --bytes 268435456 --to 3";
    CHECK(calibrated(kCube + copy).size() == 1);
    CHECK(calibrated(kCube + copy + " --rate kernel") == false);  // measured with 1 MiB
    CHECK(calibrated(kCube + " --collective point_to_point --bytes 268435456 --from 3 --to 0") == false);
    CHECK(calibrated(kCube + copy + " --devices 4") == false);
    CHECK(calibrated(kCube + copy + " --rate-factor 1.01") == false);
    CHECK(calibrated(kCube + copy + " --switching store_and_forward") == false);
    CHECK(calibrated(kCube + copy + " --chunk-bytes 4096") == false);
    CHECK(calibrated(kCube + " --collective point_to_point --bytes 1024 --to 3") == false);
    CHECK(calibrated(kCube + " --collective all_reduce --bytes 134217728 --nccl volta") == false);
    for (const char* file :
         {"ring_8", "fully_connected_8", "four_chips", "nvswitch_16", "pcie_tree_8", "two_servers_of_four"})
        CHECK(calibrated("configs/topologies/" + std::string(file) + ".yaml" + copy) == false);
    for (const char* family : {"ring", "fully_connected", "switch", "pcie_tree"})
        CHECK(calibrated("--family " + std::string(family) + copy) == false);
    const std::string pascal =
        "configs/topologies/dgx1p.yaml --collective all_reduce,all_gather --nccl pascal --bytes ";
    CHECK(calibrated(pascal + "4194304").size() == 2);
    CHECK(calibrated(pascal + "134217728 --devices 5").size() == 1);
    // A file of the same name with other links.
    std::string text = read_text(kCube);
    const std::size_t at = text.find("gb_per_s: 25");
    REQUIRE(at != std::string::npos);
    write_text(scratch("dgx1v.yaml"), text);
    CHECK(calibrated(scratch("dgx1v.yaml") + copy).size() == 1);
    write_text(scratch("dgx1v.yaml"), text.replace(at, 12, "gb_per_s: 26"));
    CHECK(calibrated(scratch("dgx1v.yaml") + copy) == false);
}

TEST_CASE("sy-sim link: slow links take longer or are refused", "[link][cli]") {
    const auto us = [](const std::string& factor) {
        return run_link("--family ring --collective point_to_point --bytes 1024 --rate-factor " + factor)
            .at("rows")[0]
            .at("us")
            .get<double>();
    };
    CHECK(us("1e-3") > 40);
    CHECK(us("1e-6") == Approx(1000 * us("1e-3")).epsilon(0.01));
    for (const char* factor : {"1e-15", "1e-30", "1e-300", "1e308"})
        check_refused(
            sy_sim("link --family ring --collective point_to_point --bytes 1024 --rate-factor " + std::string(factor)),
            {"GB/s"});
}

TEST_CASE("sy-sim link: the table has a line a row, and says what is not calibrated", "[link][cli]") {
    const Outcome even = sy_sim("link --family fully_connected --bytes 65536"),
                  cube = sy_sim("link " + kCube + " --collective point_to_point --bytes 268435456 --to 3");
    REQUIRE(even.status == 0);
    for (const char* name : {"point_to_point", "all_to_all_padded", "all_to_all_sparse", "all_gather", "all_reduce"})
        CHECK(even.out.find(name) != std::string::npos);
    CHECK(even.out.find("not calibrated: no measured links are like these") != std::string::npos);
    CHECK(cube.out.find("not calibrated") == std::string::npos);
    CHECK(cube.out.find("point_to_point of 268435456 bytes was measured: the model is within 5 %") !=
          std::string::npos);
    CHECK(std::count(even.out.begin(), even.out.end(), '\n') == 8);
}

TEST_CASE("sy-sim link: NCCL's costs lengthen small all-reduces", "[link][cli]") {
    const std::string small = kCube + " --collective all_reduce --bytes 1024 --rate kernel";
    CHECK(run_link(small + " --nccl volta").at("rows")[0].at("us").get<double>() >
          run_link(small).at("rows")[0].at("us").get<double>() + 1);
    CHECK(run_link(kCube + " --bytes 1024 --nccl volta").at("rate") == "kernel");
}

TEST_CASE("sy-sim link: bad topologies and options are refused", "[link][cli][bad]") {
    CHECK(link_of("gpu0", "gpu0").status == 0);
    check_refused(link_of("  - {between: [gpu1, hub], kind: wire}\n", ""), {"pair.yaml:", "links", "gpu1"});
    check_refused(link_of("[gpu1, hub]", "[gpu7, hub]"),
                  {"pair.yaml:9: links[1].between: expected a known node, found gpu7"});
    check_refused(link_of("gb_per_s: 10", "gb_per_s: 0"), {"pair.yaml:6: kinds.wire.gb_per_s", "above zero"});
    check_refused(link_of("kind: wire}\n", "kind: rope}\n"),
                  {"pair.yaml:8: links[0].kind: expected a known kind, found rope"});
    check_refused(link_of("devices: 2", "device: 2"), {"pair.yaml:", "device"});
    check_refused(sy_sim("link no/such.yaml"), {"no/such.yaml"});
    check_refused(sy_sim("link"), {"expected a topology file or --family, found neither or both"});
    check_refused(sy_sim("link " + kCube + " --family ring"),
                  {"expected a topology file or --family, found neither or both"});
    check_refused(sy_sim("link --family star"), {"--family"});
    check_refused(sy_sim("link " + kCube + " --collective broadcast"), {"--collective", "broadcast"});
    check_refused(sy_sim("link " + kCube + " --devices 9"),
                  {"dgx1v.yaml: dgx1v: expected at most 8 devices, found more"});
    check_refused(sy_sim("link " + kCube + " --from 3 --to 3"),
                  {"expected two of 8 devices for a message, found 3 and 3"});
    check_refused(sy_sim("link " + kCube + " --to 8"), {"expected two of 8 devices for a message, found 0 and 8"});
    check_refused(sy_sim("link " + kCube + " --bytes 0"), {"--bytes"});
    check_refused(sy_sim("link " + kCube + " --bytes 1000"),
                  {"all-to-all: expected a multiple of cells of 1024 bytes, found 1000"});
    check_refused(sy_sim("link " + kCube + " --bytes 1022 --collective all_reduce"), {"a multiple of 4 bytes"});
    check_refused(sy_sim("link " + kCube + " --bytes 68719476736"),
                  {"expected at most 67108864 cells of 1024 bytes, found more"});
    check_refused(sy_sim("link " + kCube + " --rate-factor 0"), {"--rate-factor"});
    check_refused(sy_sim("link " + kCube + " --skew nan"), {"--skew"});
}
