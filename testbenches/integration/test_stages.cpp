// SPDX-License-Identifier: Apache-2.0
// chip.impl: stages against chip.impl: tiles, which models every packet: the same work to the byte, and the time that
// it takes within the bounds that docs/models/stages.md promises.

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

struct Case {
    const char *model, *platform, *routes;
    unsigned batches;
    double latency_bound;
    double bytes_bound = 0;  ///< weights of the next batch that are on their way when the run ends
    const char* reads = "multicast";
    const char* settings = "";  ///< further ones of the platform
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.model << " on " << c.platform << ", reads: " << c.reads << c.settings;
}

constexpr double kPacketsBound = 0.02;  ///< who asks and who acknowledges depends on which samples a unit has

std::string settings(const Case& c) {
    return std::string(" --set network_interface.memory_reads=") + c.reads + c.settings;
}

std::string image_of(const Case& c) {
    return compiled(std::string(c.model) + ".yaml --platform configs/platforms/" + c.platform + ".yaml" + settings(c) +
                    " --design adyna");
}

json run(const Case& c, const std::string& image, const std::string& chip) {
    json report = report_of_run("--platform configs/platforms/" + std::string(c.platform) + ".yaml --image " + image +
                                " --batches " + std::to_string(c.batches) + " " + c.routes +
                                " --set chip.impl=" + chip + settings(c));
    CHECK(report.at("fidelity").at("chip") == chip);
    return report;
}

double difference(const json& value, const json& reference) {
    return std::abs(value.get<double>() / reference.get<double>() - 1);
}

/// The same work, and a time within the bound.
void check_whole_runs(const Case& c) {
    CAPTURE(c);
    const std::string image = image_of(c);
    const json tiles = run(c, image, "tiles"), stages = run(c, image, "stages");

    for (unsigned batch = 0; batch < c.batches; ++batch) {
        const json &exact = tiles.at("batches").at(batch), &fast = stages.at("batches").at(batch);
        CAPTURE(batch, exact.at("chip_cycles").get<double>(), fast.at("chip_cycles").get<double>());
        CHECK(difference(fast.at("chip_cycles"), exact.at("chip_cycles")) < c.latency_bound);
        CHECK(fast.at("macs") == exact.at("macs"));
    }
    for (const char* const bytes :
         {"hbm_read_bytes", "hbm_write_bytes", "scratchpad_read_bytes", "scratchpad_write_bytes"}) {
        CAPTURE(bytes);
        CHECK(difference(stages.at("utilisation").at(bytes), tiles.at("utilisation").at(bytes)) <= c.bytes_bound);
    }
    CHECK(difference(stages.at("utilisation").at("link_bytes"), tiles.at("utilisation").at("link_bytes")) <
          kPacketsBound + c.bytes_bound);
    for (const char* const counter :
         {"pe_array.macs", "pe_array.busy_cycles", "pe_array.vector_elements", "dispatcher.dispatches",
          "dispatcher.blocks_issued", "dispatcher.blocks_skipped", "controller.units", "controller.empty_units",
          "network_interface.sent_bytes", "network_interface.delivered_copy_bytes",
          "network_interface.memory_written_bytes", "network_interface.samples_sent"}) {
        CAPTURE(counter);
        CHECK(stages.at("counters").at(counter) == tiles.at("counters").at(counter));
    }
    CHECK(stages.at("operators") == tiles.at("operators"));  // kernels selected by dyn_dim
}

}  // namespace

TEST_CASE("pipelines as a whole do what the tiles do", "[stages]") {
    const char* const digits = "--trace configs/workloads/digits/skipnet/routing.jsonl";
    const Case c = GENERATE_COPY(Case{"configs/workloads/digits_skipnet", "mini", digits, 4, 0.10},
                                 Case{"configs/workloads/digits_skipnet", "adyna", digits, 4, 0.13},
                                 Case{"testbenches/data/early_exit", "mini", "", 4, 0.10},
                                 Case{"testbenches/data/moe", "mini", "", 4, 0.10},
                                 Case{"configs/workloads/tutel_moe", "adyna", "", 2, 0.10, 0.01},
                                 Case{"configs/workloads/digits_skipnet", "mini", digits, 4, 0.10, 0, "unicast"});
    check_whole_runs(c);
}

TEST_CASE("pipelines do what the tiles do on large networks, and with unicast reads", "[.ci-long][stages]") {
    const Case c = GENERATE(Case{"configs/workloads/fbsnet_mcifarnet", "adyna", "", 2, 0.03},
                            Case{"configs/workloads/dpsnet", "adyna", "", 2, 0.10, 0.005},
                            Case{"configs/workloads/skipnet_resnet34", "adyna", "", 2, 0.03},
                            Case{"configs/workloads/skipnet_resnet101", "adyna", "", 1, 0.03},
                            Case{"configs/workloads/tutel_moe", "adyna", "", 2, 0.10, 0.01, "unicast"},
                            Case{"configs/workloads/skipnet_resnet34", "adyna", "", 2, 0.10, 0.001, "unicast"});
    check_whole_runs(c);
}

namespace {

Case with(const char* model, const char* platform, unsigned batches, double bound, const char* settings,
          const char* reads = "multicast") {
    return {model, platform, "", batches, bound, 0, reads, settings};
}

/// The mean latency of a batch.
void check_latency(const Case& c) {
    CAPTURE(c);
    const std::string image = image_of(c);
    const double exact = mean_latency_us(run(c, image, "tiles")), fast = mean_latency_us(run(c, image, "stages"));
    CAPTURE(exact, fast);
    CHECK(std::abs(fast / exact - 1) < c.latency_bound);
}

}  // namespace

TEST_CASE("pipelines share links and memory as the tiles do", "[stages]") {
    // Links, memory, tiles and clocks of other chips.
    const char* const one_channel =
        " --set hbm.stacks=1 --set hbm.interfaces_per_stack=1 --set hbm.pseudo_channels_per_interface=1"
        " --set hbm.pseudo_channel_gb_per_s=12.8";
    const char* const slow_memory = " --set hbm.interfaces_per_stack=1 --set hbm.pseudo_channel_gb_per_s=1.6";
    check_latency(
        GENERATE_COPY(with("configs/workloads/tutel_moe", "adyna", 4, 0.15, " --set noc.link_bytes_per_cycle=16"),
                      with("configs/workloads/tutel_moe", "adyna", 1, 0.03, one_channel),
                      with("testbenches/data/early_exit", "mini", 4, 0.05, slow_memory),
                      with("testbenches/data/static_chain", "mini", 2, 0.08, " --set chip.columns=1 --set chip.rows=1"),
                      with("testbenches/data/early_exit", "mini", 4, 0.05, " --set chip.clock_ghz=2.3"),
                      with("testbenches/data/moe16", "mini", 2, 0.05,
                           " --set chip.columns=4 --set chip.rows=3 --set noc.link_bytes_per_cycle=16", "unicast")));
}

TEST_CASE("pipelines share links as the tiles do on large networks and further chips", "[.ci-long][stages]") {
    check_latency(GENERATE(
        with("testbenches/data/early_exit", "mini", 4, 0.05, " --set chip.clock_ghz=0.5"),
        with("testbenches/data/moe16", "mini", 2, 0.05,
             " --set chip.columns=3 --set chip.rows=3 --set pe_array.rows=3 --set pe_array.columns=7"),
        with("configs/workloads/tutel_moe", "adyna", 2, 0.15, " --set noc.link_bytes_per_cycle=64"),
        with("configs/workloads/fbsnet_mcifarnet", "adyna", 1, 0.12, " --set noc.link_bytes_per_cycle=64"),
        with("configs/workloads/fbsnet_mcifarnet", "adyna", 1, 0.05, " --set chip.columns=24 --set chip.rows=24")));
}

TEST_CASE("a tile without an operator has an empty profile", "[stages]") {
    // The scheduler gives 31 of 36 tiles an operator. The undefined-behaviour sanitizer sees what is copied.
    const Case c{"testbenches/data/static_chain",          "mini", "", 1, 0.05, 0, "multicast",
                 " --set chip.columns=6 --set chip.rows=6"};
    CHECK(run(c, image_of(c), "stages").at("ok") == true);
}

namespace {

void check_gemm(const std::string& size, double bound) {
    CAPTURE(size);
    const auto cycles = [&size](const std::string& chip) {
        const std::string file = scratch("gemm_" + chip + ".json");
        const Outcome outcome = sy_sim("gemm --platform configs/platforms/adyna.yaml " + size +
                                       " --set chip.impl=" + chip + " --json " + file);
        REQUIRE(outcome.status == 0);
        const json result = read_json(file);
        CHECK(result.at("ok") == true);
        return result.at("cycles");
    };
    CHECK(difference(cycles("stages"), cycles("tiles")) < bound);
}

}  // namespace

TEST_CASE("a GEMM that memory bounds takes as long on pipelines as on tiles", "[stages]") {
    // With nothing but weights. Pipelines know of no rows that the streams of 144 tiles close for each other.
    check_gemm("--m 16 --n 16384 --k 8192", 0.04);
}

TEST_CASE("a GEMM that the arrays bound takes as long on pipelines as on tiles", "[.ci-long][stages]") {
    check_gemm("--m 4096 --n 2048 --k 2048", 0.02);
}
