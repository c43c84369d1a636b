// SPDX-License-Identifier: Apache-2.0
// The system ace: all designs on a GPU, values, bounds, bad input.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {
std::unique_ptr<System> make_ace_system();
}

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;
using nlohmann::ordered_json;
using Overrides = std::map<std::string, std::string>;

namespace {

const std::vector<std::string> kDesigns{"gpu-serial", "gpu-multi-stream", "gpu-graph",
                                        "ace-sw",     "ace-hw",           "gpu-full-graph"};

Point point_of(const std::string& design, const std::string& workload, Overrides overrides = {}) {
    Point point;
    point.design = design;
    point.workload = workload.front() == '/'
                         ? workload
                         : std::string(SOURCE_FOLDER) + "/configs/workloads/ace/" + workload + ".yaml";
    point.platform = std::string(SOURCE_FOLDER) + "/configs/platforms/ace_rtx3070.yaml";
    point.overrides = std::move(overrides);
    point.work.batches = 1;
    return point;
}

/// Runs in a child; the report comes back through a file.
ordered_json report_of(const Point& point) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "switchyard_ace_system.json";
    testing::in_child([&] {
        const auto system = make_ace_system();
        std::ofstream(file) << system->prepare(point)->run().dump();
    });
    ordered_json report = parse_ordered_json(read_file(file, kMaxJsonBytes), file);
    std::filesystem::remove(file);
    return report;
}

double latency_us(const ordered_json& report) {
    return report.at("summary").at("latency_us").at("mean").get<double>();
}

/// A file that is gone when the object is.
class File {
public:
    File(const std::string& name, const std::string& text) : path_(std::filesystem::temp_directory_path() / name) {
        std::ofstream(path_) << text;
    }
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("every design computes what the kernels compute one after another", "[ace_system]") {
    for (const char* workload : {"walker2d", "instanas"}) {
        std::map<std::string, double> us;
        for (const std::string& design : kDesigns) {
            const ordered_json report = report_of(point_of(design, workload, {{"run.functional", "yes"}}));
            INFO(workload << ", " << design << ": " << report.at("conservation").dump());
            CHECK(report.at("ok").get<bool>());
            us[design] = latency_us(report);
        }
        // The bound is one; in hardware the window costs less than in software.
        for (const auto& [design, latency] : us) CHECK(latency >= us.at("gpu-full-graph") * 0.999);
        CHECK(us.at("ace-hw") < us.at("gpu-serial"));
        CHECK(us.at("ace-hw") < us.at("ace-sw"));
    }
}

TEST_CASE("Algorithm 1 as printed computes something else", "[ace_system]") {
    for (const char* design : {"ace-sw", "ace-hw"}) {
        const ordered_json report =
            report_of(point_of(design, "walker2d", {{"run.functional", "yes"}, {"run.dependences", "as_printed"}}));
        CHECK_FALSE(report.at("ok").get<bool>());
    }
}

TEST_CASE("a run is the same when it is repeated", "[ace_system]") {
    const Point point = point_of("ace-hw", "walker2d");
    CHECK(report_of(point) == report_of(point));
}

#ifdef SWITCHYARD_RTL
TEST_CASE("a run is the same in lockstep with the RTL", "[ace_system]") {
    const ordered_json report = report_of(point_of("ace-hw", "walker2d"));
    ordered_json lockstep = report_of(point_of("ace-hw", "walker2d", {{"scheduling_window.impl", "lockstep"}}));
    lockstep["fidelity"] = report.at("fidelity");
    CHECK(report == lockstep);
}
#endif

TEST_CASE("inputs follow each other, ids of the window go on", "[ace_system]") {
    Point point = point_of("ace-hw", "instanas", {{"run.functional", "yes"}});
    point.work.batches = 3;
    const ordered_json report = report_of(point);
    CHECK(report.at("ok").get<bool>());
    CHECK(report.at("batches").size() == 3);
    CHECK(report.at("kernels").at("count").get<unsigned>() > 700);
    CHECK(report.at("batches").at(0).at("kernels") != report.at("batches").at(1).at("kernels"));
}

TEST_CASE("the graph of a static network is there before, that of a dynamic one is not", "[ace_system]") {
    const auto construction = [](const char* workload) {
        return report_of(point_of("gpu-graph", workload)).at("summary").at("construction_share").get<double>();
    };
    CHECK(construction("squeezenet") == 0);
    CHECK(construction("walker2d") > 0.1);
}

TEST_CASE("independent chains run as many at a time as the window has slots", "[ace_system]") {
    // 16 chains of 12 kernels of one CTA, issued in turns: kernel k waits for kernel k - 16 and no other. A window of
    // N <= 16 slots has N kernels that do not wait for each other, which take the same time and end together: 16 * 12 /
    // N rounds. A window of more slots has one kernel of each chain that runs: 12 rounds.
    constexpr unsigned kChains = 16, kLength = 12;
    const auto stream = [](unsigned chains) {
        std::string text;
        for (unsigned k = 0; k < chains * kLength; ++k)
            text += fmt::format(
                "{{\"name\": \"k\", \"grid\": [1], \"block\": [128], \"flops\": 20000000, \"reads\": [[{0}, 64]], "
                "\"writes\": [[{0}, 64]]}}\n",
                4096 * (k % chains));
        return text;
    };
    const auto latency = [&](unsigned chains, const char* slots) {
        const File kernels("switchyard_ace_chains.jsonl", stream(chains));
        const File recorded("switchyard_ace_chains.yaml",
                            "name: chains\ngenerator: recorded\nstream: switchyard_ace_chains.jsonl\n");
        const ordered_json report =
            report_of(point_of("ace-hw", recorded.path(),
                               {{"scheduling_window.slots", slots}, {"scheduling_window.scheduled_kernels", "128"}}));
        CHECK(report.at("kernels").at("mean_parallelism").get<double>() == chains);
        return latency_us(report);
    };
    // A round of a lone chain: the kernel and its dispatch.
    const double round_us = latency(1, "16") / kLength;
    CHECK(round_us > 100);  // long against what the window, the link and the host take
    for (const char* slots : {"2", "4", "8", "16", "64"}) {
        const unsigned at_a_time = std::min(kChains, static_cast<unsigned>(std::stoul(slots)));
        const double rounds = static_cast<double>(kChains * kLength) / at_a_time;
        INFO("slots " << slots);
        CHECK(latency(kChains, slots) == Approx(rounds * round_us).epsilon(0.02));
    }
}

TEST_CASE("occupancy counts multiprocessors with a CTA, as profilers do", "[ace_system]") {
    // Three CTAs of four warps on 46 SMs of 48 warps, one after the other nothing: three SMs with 4 of 48 warps.
    const File kernels("switchyard_ace_small.jsonl",
                       "{\"name\": \"k\", \"grid\": [3], \"block\": [128], \"flops\": 2000000}\n");
    const File recorded("switchyard_ace_small.yaml",
                        "name: small\ngenerator: recorded\nstream: switchyard_ace_small.jsonl\n");
    const ordered_json report = report_of(point_of("gpu-serial", recorded.path()));
    const ordered_json& summary = report.at("summary");
    CHECK(summary.at("occupancy").get<double>() == Approx(4.0 / 48));
    CHECK(summary.at("occupancy_of_all_cycles").get<double>() ==
          Approx(4.0 / 48 * summary.at("busy_share").get<double>()));
    CHECK(summary.at("busy_share").get<double>() < 3.0 / 46);
    CHECK(report.at("kernels").at("share_by_ctas").at("1 to 9").get<double>() == 1);
    CHECK(report.at("resident_ctas").at("share_of_time").at("1 to 9").get<double>() == 1);
}

TEST_CASE("energy is power by time and operations by their energy", "[ace_system]") {
    const ordered_json report = report_of(point_of("gpu-serial", "squeezenet"));
    const ordered_json& watts = report.at("energy").at("parts_w");
    CHECK(watts.at("constant").get<double>() == Approx(32.3));
    // Between all SMs idle and all active.
    CHECK(watts.at("leakage").get<double>() > 46 * 0.283);
    CHECK(watts.at("leakage").get<double>() < 46 * 0.483);
    double sum = 0;
    for (const auto& [name, part] : watts.items()) sum += part.get<double>();
    CHECK(report.at("energy").at("mean_power_w").get<double>() == Approx(sum));
    CHECK(sum < 220);  // the board's limit

    // The same work in less time: less of what does not depend on it, the same for operations.
    const ordered_json& parts = report.at("energy").at("parts_mj");
    const ordered_json bound = report_of(point_of("gpu-full-graph", "squeezenet")).at("energy").at("parts_mj");
    CHECK(bound.at("operations").get<double>() == Approx(parts.at("operations").get<double>()));
    CHECK(bound.at("constant").get<double>() < parts.at("constant").get<double>());
}

TEST_CASE("kernels k times as large have k times the CTAs and the same dependences", "[ace_system]") {
    const ordered_json one = report_of(point_of("ace-hw", "walker2d", {{"run.functional", "yes"}}));
    const ordered_json four =
        report_of(point_of("ace-hw", "walker2d", {{"run.functional", "yes"}, {"run.kernel_scale", "4"}}));
    CHECK(four.at("ok").get<bool>());
    CHECK(four.at("kernels").at("ctas").get<double>() == 4 * one.at("kernels").at("ctas").get<double>());
    CHECK(four.at("kernels").at("longest_chain") == one.at("kernels").at("longest_chain"));
    CHECK(four.at("host").at("segment_pairs") == one.at("host").at("segment_pairs"));
    CHECK(latency_us(four) > latency_us(one));
}

TEST_CASE("what cannot run is one line", "[ace_system][bad]") {
    const auto system = make_ace_system();
    const auto refused = [&](const Point& point, const std::string& message) {
        CHECK_THROWS_WITH(system->prepare(point), ContainsSubstring(message));
    };
    const File large("switchyard_ace_large.jsonl",
                     "{\"name\": \"k\", \"grid\": [1], \"block\": [1024], \"registers\": 255, \"flops\": 1}\n");
    const File recorded("switchyard_ace_recorded.yaml",
                        "name: mine\ngenerator: recorded\nstream: switchyard_ace_large.jsonl\n");
    refused(point_of("ace-hw", recorded.path()), "kernel 0 (k)");

    std::string segments;
    for (unsigned i = 0; i < 65; ++i) segments += fmt::format("{}[{}, 8]", i > 0 ? ", " : "", 64 * i);
    const File many("switchyard_ace_large.jsonl",
                    "{\"name\": \"k\", \"grid\": [1], \"block\": [32], \"reads\": [" + segments + "]}\n");
    refused(point_of("ace-hw", recorded.path()), "expected at most 64 segments, found 65");

    const std::vector<std::uint8_t> bytes = sched::encode_kernel_stream(
        sched::read_stream_model(point_of("ace-hw", "walker2d").workload).generate({}).kernels);
    const File truncated("switchyard_ace_large.jsonl",
                         std::string(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2)));
    refused(point_of("ace-hw", recorded.path()), "truncated");

    refused(point_of("ace-hw", "walker2d", {{"scheduling_window.slots", "1"}}), "scheduling_window.slots");
    refused(point_of("ace-hw", "walker2d", {{"scheduling_window.scheduled_kernels", "16"}}),
            "expected scheduled_kernels of 32, the number of slots, to 255, found 16");
    refused(point_of("ace-hw", "walker2d", {{"window.slots", "8"}}),
            "window.slots: expected a known key, found window.slots");
    refused(point_of("ace-hw", "/nonexistent.yaml"), "nonexistent");
    Point other = point_of("ace-hw", "walker2d");
    other.platform = std::string(SOURCE_FOLDER) + "/configs/platforms/adyna.yaml";
    refused(other, "ace");
}
