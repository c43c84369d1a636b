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
    const std::string arguments = fmt::format("baseline {} {} --platform {} {} {} --report {}", design, run.workload,
                                              run.platform, run.settings, more, folder);
    const Outcome outcome = sy_sim(arguments);
    CAPTURE(arguments, outcome.err);
    REQUIRE(outcome.status == 0);
    return read_json(folder + "/report.json");
}

}  // namespace

TEST_CASE("shares, utilisations and busy times of every design lie in 0 to 1", "[cli][shares]") {
    REQUIRE(sy_sim("systems --json " + scratch("systems.json")).status == 0);
    std::set<std::string> seen;
    for (const json& system : read_json(scratch("systems.json")).at("systems")) {
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
            CHECK(check_shares(report_of(design_name, run, ""), false, "") > 0);
        }
    }
    CHECK(seen.size() == kRuns.size());
}
