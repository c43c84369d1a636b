// SPDX-License-Identifier: Apache-2.0
// The system ace: all designs on a GPU, values, bounds, bad input.
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"
#include "switchyard/sw_scheduler/base/error.h"
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
    ordered_json report = ordered_json::parse(std::ifstream(file));
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

TEST_CASE("a run is the same when it is repeated, and in lockstep with the RTL", "[ace_system]") {
    const Point point = point_of("ace-hw", "walker2d");
    const ordered_json report = report_of(point);
    CHECK(report == report_of(point));
    ordered_json lockstep = report_of(point_of("ace-hw", "walker2d", {{"scheduling_window.impl", "lockstep"}}));
    lockstep["fidelity"] = report.at("fidelity");
    CHECK(report == lockstep);
}

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

TEST_CASE("a larger window is no slower, a window of two slots is slower", "[ace_system]") {
    const auto with_slots = [](const char* slots) {
        return latency_us(report_of(point_of(
            "ace-hw", "grasp", {{"scheduling_window.slots", slots}, {"scheduling_window.scheduled_kernels", "128"}})));
    };
    const double two = with_slots("2"), sixteen = with_slots("16"), many = with_slots("64");
    CHECK(two > sixteen);
    CHECK(many < 1.05 * sixteen);
}

TEST_CASE("what cannot run is one line", "[ace_system][bad]") {
    const auto system = make_ace_system();
    const auto refused = [&](const Point& point, const std::string& message) {
        CHECK_THROWS_WITH(system->prepare(point), ContainsSubstring(message));
    };
    const File large("switchyard_ace_large.jsonl",
                     "{\"name\": \"k\", \"grid\": [1], \"block\": [1024], \"registers\": 255}\n");
    const File recorded("switchyard_ace_recorded.yaml",
                        "name: mine\ngenerator: recorded\nstream: switchyard_ace_large.jsonl\n");
    refused(point_of("ace-hw", recorded.path()), "kernel 0 (k)");

    std::string segments;
    for (unsigned i = 0; i < 65; ++i) segments += fmt::format("{}[{}, 8]", i > 0 ? ", " : "", 64 * i);
    const File many("switchyard_ace_large.jsonl",
                    "{\"name\": \"k\", \"grid\": [1], \"block\": [32], \"reads\": [" + segments + "]}\n");
    refused(point_of("ace-hw", recorded.path()), "65 segments, a kernel has 64 at most");

    const std::vector<std::uint8_t> bytes = sched::encode_kernel_stream(
        sched::read_stream_model(point_of("ace-hw", "walker2d").workload).generate({}).kernels);
    const File truncated("switchyard_ace_large.jsonl",
                         std::string(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2)));
    refused(point_of("ace-hw", recorded.path()), "truncated");

    refused(point_of("ace-hw", "walker2d", {{"scheduling_window.slots", "1"}}), "scheduling_window.slots");
    refused(point_of("ace-hw", "walker2d", {{"scheduling_window.scheduled_kernels", "16"}}),
            "as many kernels as the window has slots");
    refused(point_of("ace-hw", "walker2d", {{"window.slots", "8"}}), "window.slots: unknown key");
    refused(point_of("ace-hw", "/nonexistent.yaml"), "nonexistent");
    Point other = point_of("ace-hw", "walker2d");
    other.platform = std::string(SOURCE_FOLDER) + "/configs/platforms/adyna.yaml";
    refused(other, "ace");
}
