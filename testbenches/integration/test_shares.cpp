// SPDX-License-Identifier: Apache-2.0
// Every share, utilisation and busy time that a report has lies in [0, 1]; a design without an entry here fails.
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

bool names_share(const std::string& key) {
    // `share` alone, and what begins with it, as share_below_50_ctas.
    for (const char* word : {"share", "utilisation", "busy", "occupancy", "prediction_accuracy", "hit_rate"}) {
        const std::size_t at = key.find(word);
        if (at == std::string::npos) continue;
        // Amounts, and bounds of configurations.
        for (const char* amount : {"_cycles", "_bytes", "_us", "_ns", "shared", "bytes_shared"})
            if (key.find(amount) != std::string::npos) return false;
        return true;
    }
    return false;
}

/// Numbers of a document below keys that name a share; counts those that were looked at.
unsigned check_shares(const json& node, bool share, const std::string& path) {
    if (node.is_number()) {
        if (!share) return 0;
        const auto value = node.get<double>();
        CAPTURE(path);
        CHECK(value >= 0);
        CHECK(value <= 1);
        return 1;
    }
    unsigned looked = 0;
    if (node.is_array())
        for (std::size_t i = 0; i < node.size(); ++i)
            looked += check_shares(node[i], share, path + "." + std::to_string(i));
    if (!node.is_object()) return looked;
    for (const auto& [key, value] : node.items()) {
        const bool amount = key.find("bytes") != std::string::npos;
        looked += check_shares(value, !amount && (share || names_share(key)), path + "." + key);
    }
    return looked;
}

struct Run {
    const char *workload, *platform, *settings;
};

/// A small run of each system, which all of its designs take but those of special().
const std::map<std::string, Run> kRuns{
    {"adyna", {kDigits, kMini, "--batches 2"}},
    {"gpu_roofline", {kDigits, "configs/platforms/a100.yaml", "--batches 2"}},
    {"m_tenant", {kDigits, kMini, "--batches 2"}},
    {"ace", {"configs/workloads/ace/walker2d.yaml", "configs/platforms/ace_rtx3070.yaml", "--batches 1"}},
    {"brainstorm",
     {"configs/workloads/brainstorm/parallel_convolutions.yaml", "configs/platforms/brainstorm_v100.yaml",
      "--batches 2"}},
    {"dynn_offload",
     {"configs/workloads/dynn_offload/tree_lstm.yaml", "configs/platforms/training_rtx6000.yaml", "--batches 2"}},
    {"sushi",
     {"configs/workloads/sushi/ofa_mobilenet_v3.yaml", "configs/platforms/zcu104.yaml",
      "--batches 3 --set scheduler.subgraphs=4"}},
    {"expert_parallel",
     {"testbenches/data/experts.yaml", "configs/platforms/adyna_four.yaml",
      "--batches 2 --set chip.columns=4 --set chip.rows=4 --set chip.impl=stages --set cluster.simulation=joint"}}};

/// What single designs take instead.
const std::map<std::string, Run> kSpecial{
    {"full-kernel", {kDigits, kMini, "--batches 2 --set chip.impl=stages --set chip.ideal_kernel_store=yes"}},
    {"real-time",
     {kDigits, kMini,
      "--batches 2 --set chip.impl=stages --set chip.ideal_kernel_store=yes --set chip.online_scheduling_us=5"}},
    {"zero-offload",
     {"configs/workloads/dynn_offload/fixed_lstm.yaml", "configs/platforms/training_rtx6000.yaml", "--batches 2"}}};
/// A table has no shares; a pilot is trained first (unit_dynn_offload_system).
const std::set<std::string> kWithout{"sushi-table", "dynn-offload"};

json report_of(const std::string& design, const Run& run, const std::string& more) {
    const std::string folder = scratch("shares");
    const std::string arguments = fmt::format("run --design {} --workload {} --platform {} {} {} --report {}", design,
                                              run.workload, run.platform, run.settings, more, folder);
    const Outcome outcome = sy_sim(arguments);
    CAPTURE(arguments, outcome.err);
    REQUIRE(outcome.status == 0);
    return read_json(folder + "/report.json");
}

}  // namespace

TEST_CASE("shares, utilisations and busy times of every design lie in 0 to 1", "[cli][shares]") {
    REQUIRE(sy_sim("systems --json " + scratch("systems.json")).status == 0);
    std::set<std::string> seen;
    const json list = read_json(scratch("systems.json"));
    for (const json& system : list.at("systems")) {
        const std::string name = system.at("name");
        if (name == "noc" || name == "mem") continue;  // below
        CAPTURE(name);
        REQUIRE(kRuns.count(name) == 1);
        seen.insert(name);
        for (const json& design : system.at("designs")) {
            const std::string design_name = design.at("name");
            if (kWithout.count(design_name) > 0) continue;
            CAPTURE(design_name);
            const auto special = kSpecial.find(design_name);
            const Run& run = special != kSpecial.end() ? special->second : kRuns.at(name);
            const unsigned looked = check_shares(report_of(design_name, run, ""), false, "");
            // Accuracies in per cent, and ratios that may exceed 1.
            CHECK((looked > 0) == (name != "sushi" && name != "dynn_offload"));
        }
    }
    CHECK(seen.size() == kRuns.size());
}

TEST_CASE("shares stay in 0 to 1 where links, memory and several batches are busy", "[cli][shares]") {
    const std::string chip = GENERATE("tiles", "stages");
    for (const char* settings :
         {"", "--set hbm.pseudo_channels_per_interface=1", "--set noc.link_bytes_per_cycle=8",
          "--set hbm.device=ddr4_2400 --set hbm.pseudo_channels_per_interface=1 --set hbm.burst_bytes=64",
          "--set chip.clock_ghz=9", "--set chip.clock_ghz=0.05"})
        check_shares(report_of("adyna", kRuns.at("adyna"), "--set chip.impl=" + chip + " " + settings), false, "");
    if (chip != "tiles") return;
    for (const char* settings :
         {"--set noc.impl=flit", "--set hbm.impl=bank",
          "--set hbm.impl=bank --set hbm.device=lpddr4_3200 --set hbm.pseudo_channels_per_interface=1 "
          "--set hbm.pseudo_channel_gb_per_s=6.4"}) {
        const json report = report_of("adyna", kRuns.at("adyna"), std::string("--set chip.impl=tiles ") + settings);
        check_shares(report, false, "");
        // Busy: data and refresh, of two interfaces.
        const double busy = report.at("counters").at("interface.busy_cycles").get<double>() / 2 /
                            report.at("summary").at("run_cycles").get<double>();
        CAPTURE(settings, busy);
        CHECK(busy <= 1);
        CHECK(busy >= report.at("utilisation").at("hbm").get<double>());
    }
}

// Batches that follow one another: Little's law, and a batch takes at least the time between two of them.
TEST_CASE("latency, interval and throughput of batches agree with those in flight", "[cli][shares]") {
    const std::string chip = GENERATE("tiles", "stages");
    for (const unsigned together : {1u, 2u, 4u}) {
        const std::string image =
            compiled(fmt::format("{} --platform {} --design adyna --batches-in-flight {}", kDigits, kMini, together),
                     "in_flight.syk");
        const std::string run = fmt::format("run --platform {} --image {} --trace {} --batches 8 --set chip.impl={}",
                                            kMini, image, kDigitsTrace, chip);
        const json report = report_of_run(run.substr(4));
        const json& summary = report.at("summary");
        const double latency = summary.at("latency_us").at("mean"), interval = summary.at("interval_us");
        CAPTURE(chip, together, latency, interval);
        CHECK(interval * summary.at("batches_per_second").get<double>() == Approx(1e6));
        double in_flight_us = 0;
        for (const json& doorbell : report.at("batches"))
            in_flight_us += together * doorbell.at("latency_us").get<double>();
        const double in_flight = in_flight_us / summary.at("run_us").get<double>();
        CHECK(summary.at("mean_in_flight").get<double>() == Approx(in_flight));
        CHECK(in_flight == Approx(latency / interval));
        CHECK(in_flight <= together);
        CHECK(in_flight > 0.5 * together);
        const Outcome printed = sy_sim(run);
        REQUIRE(printed.status == 0);
        const bool says =
            printed.out.find(fmt::format("{} batches from a doorbell to its interrupt, one every {:.2f} us", together,
                                         interval)) != std::string::npos;
        CHECK(says == (together > 1));
    }
}
