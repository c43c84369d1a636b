// SPDX-License-Identifier: Apache-2.0
// The system sushi: all designs, repetition, bad input.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "switchyard/platform/systems/sushi/rooflines.h"
#include "switchyard/platform/systems/sushi/sushi_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/unit/sushi/sushi_bench.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::sched::sushi;
using Catch::Matchers::ContainsSubstring;
using nlohmann::ordered_json;
using platform::sushi::SushiConfig;
using test::kConfigs;
using test::kDigits;
using test::kLayerBound;
using test::sushi_point;
using test::sushi_report;

TEST_CASE("boards have the storage and the operations of the paper's tables", "[sushi]") {
    for (const char* board : {"zcu104", "alveo_u50"}) {
        INFO(board);
        const SushiConfig config =
            platform::sushi::read_sushi_config(fmt::format("{}platforms/{}.yaml", kConfigs, board), {});
        CHECK(config.array.shape().peak_operations_per_cycle() == (std::string(board) == "zcu104" ? 2592 : 9216));
        // Table 3: BRAM 397 KB and URAM 3456 KB, with a persistent buffer and without.
        CHECK(config.buffers.total_kib() == 397 + 3456);
        CHECK(config.buffers_without_pb.total_kib() == 397 + 3456);
        CHECK(config.buffers.persistent_kib == 1728);
        CHECK(config.buffers.persistent_kib / 1024 == Approx(1.69).margin(0.005));
    }
    const auto gb_per_s = [](const char* board) {
        const SushiConfig config =
            platform::sushi::read_sushi_config(fmt::format("{}platforms/{}.yaml", kConfigs, board), {});
        const hw::dram::Device device = hw::dram::read_device(config.dram.device, {});
        return device.geometry.burst_bytes / device.timing.ns(device.timing.column_s_cycles());
    };
    CHECK(gb_per_s("zcu104") == Approx(19.2));
    CHECK(gb_per_s("alveo_u50") == Approx(14.4));
}

TEST_CASE("the designs serve one stream", "[sushi]") {
    std::map<std::string, ordered_json> summaries;
    for (const char* design : {"sushi-no-pb", "sushi-state-unaware", "sushi", "sushi-lru", "sushi-saved-bytes",
                               "sushi-oracle", "dpu", "cpu"}) {
        INFO(design);
        Point point = sushi_point(design, "ofa_mobilenet_v3", "zcu104", {{"scheduler.subgraphs", "30"}});
        point.work.batches = 300;
        const ordered_json report = sushi_report(point);
        CHECK(report.at("ok") == true);
        CHECK(report.at("summary").at("batches") == 300);
        CHECK(report.at("summary").at("unmet") == 0);
        summaries[design] = report.at("summary");
    }
    const auto latency = [&](const char* design) {
        return summaries.at(design).at("latency_us").at("mean").get<double>();
    };
    CHECK(summaries.at("sushi-no-pb").at("latency_saved").get<double>() == Approx(0).margin(1e-9));
    CHECK(summaries.at("sushi").at("offchip_bytes") < summaries.at("sushi-no-pb").at("offchip_bytes"));

    CHECK(summaries.at("sushi").at("weight_bytes").get<double>() <
          0.8 * summaries.at("sushi-no-pb").at("weight_bytes").get<double>());
    // Where memory is slow and the other buffers are the same, what is cached is time.
    const auto starved = [](const char* design) {
        Point point = sushi_point(design, "ofa_resnet50", "zcu104",
                                  {{"scheduler.subgraphs", "30"},
                                   {"dram.bandwidth_scale", "0.03"},
                                   {"buffers_without_pb.dynamic_kib", "576"},
                                   {"buffers_without_pb.streaming_kib", "584"}});
        point.work.batches = 100;
        return sushi_report(point).at("summary").at("latency_us").at("mean").get<double>();
    };
    CHECK(starved("sushi") < 0.99 * starved("sushi-no-pb"));

    // Overload: the queue grows without end.
    Point slow =
        sushi_point("sushi", "ofa_mobilenet_v3", "zcu104", {{"scheduler.subgraphs", "10"}, {"queries.load", "2"}});
    slow.work.batches = 300;
    const ordered_json queued = sushi_report(slow).at("summary").at("response_us");
    CHECK(queued.at("p99").get<double>() > 20 * latency("sushi"));
}

TEST_CASE("a stream may have a hundred thousand queries", "[.ci-long][sushi]") {
    Point many = sushi_point("sushi", "ofa_resnet50", "zcu104");
    many.work.batches = 100000;
    const ordered_json served = sushi_report(many);
    CHECK(served.at("ok") == true);
    CHECK(served.at("summary").at("batches") == 100000);
}

TEST_CASE("the same point gives the same report", "[sushi]") {
    Point point =
        sushi_point("sushi", "ofa_mobilenet_v3", "alveo_u50", {{"scheduler.subgraphs", "10"}, {"queries.load", "0.7"}});
    point.work.batches = 50;
    CHECK(sushi_report(point).dump() == sushi_report(point).dump());
}

TEST_CASE("a query that no SubNet can meet is served as the policy says, and counted", "[sushi]") {
    const std::filesystem::path trace = std::filesystem::temp_directory_path() / "switchyard_sushi_trace.csv";
    std::ofstream(trace) << "0,99,1\n0,74,1\n0,99,1\n";
    const std::map<std::string, std::string> settings{
        {"scheduler.subgraphs", "4"}, {"queries.kind", "trace"}, {"queries.trace", trace.string()}};
    const ordered_json accurate = sushi_report(sushi_point("sushi", "ofa_mobilenet_v3", "zcu104", settings));
    CHECK(accurate.at("summary").at("unmet") == 2);
    CHECK(accurate.at("served").at("m474") == 2);
    std::map<std::string, std::string> hurried = settings;
    hurried["scheduler.constraint"] = "latency";
    const ordered_json fast = sushi_report(sushi_point("sushi", "ofa_mobilenet_v3", "zcu104", hurried));
    CHECK(fast.at("summary").at("unmet") == 3);

    Point longer = sushi_point("sushi", "ofa_mobilenet_v3", "zcu104", settings);
    longer.work.batches = 4;
    CHECK_THROWS_WITH(make_sushi_system()->prepare(longer), trace.string() +
                                                                ": queries.trace: expected 4 queries for --batches 4, "
                                                                "found 3; give fewer --batches");
    std::filesystem::remove(trace);
}

TEST_CASE("sushi: bad input is one line", "[sushi]") {
    const auto system = make_sushi_system();
    const auto refuses = [&](const Point& point, const std::string& message) {
        CHECK_THROWS_WITH(system->prepare(point), ContainsSubstring(message));
    };
    refuses(sushi_point("sushi", "ofa_resnet50", "ace_rtx3070"), "ace_rtx3070.yaml");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"array.rws", "3"}}),
            "array.rws: expected a known key, found array.rws; did you mean array.rows?");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"dram.device", "ddr9"}}),
            "ddr9: expected a file or one of ");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"buffers.persistent_kib", "0"}}),
            "bytes of the persistent buffer, found none; raise");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"buffers.dynamic_kib", "1"}}),
            "half of the dynamic buffer");
    refuses(sushi_point("sushi", "ofa_mobilenet_v3", "zcu104", {{"array.columns", "2"}, {"array.rows", "2"}}),
            "columns");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"accelerator.functional", "yes"}}),
            "expected a supernet with values");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"scheduler.only_subnet", "7"}}),
            "expected at most the 6 SubNets of the supernet, found 7");
    refuses(sushi_point("sushi-table", "ofa_resnet50", "zcu104"), "expected a file");
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104",
                        {{"accelerator.impl", "cycle"}, {"accelerator.array_at_peak", "yes"}}),
            "accelerator.array_at_peak: expected no, as impl is cycle, found yes; take impl analytic");

    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    const std::filesystem::path subgraphs = folder / "switchyard_sushi_subgraphs.yaml";
    std::ofstream(subgraphs)
        << "subgraphs: [{name: all, slices: {s4.b0.conv1: [716, 1024], s4.b0.down: [2048, 1024]}}]\n";
    refuses(sushi_point("sushi", "ofa_resnet50", "zcu104", {{"scheduler.subgraph_file", subgraphs.string()}}),
            "subgraphs.all.slices: ");
    std::filesystem::remove(subgraphs);
}

TEST_CASE("a latency table is filled by one command, kept, and refused on another platform", "[sushi]") {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "switchyard_sushi_table.json";
    std::filesystem::remove(file);
    Point fill = sushi_point("sushi-table", "ofa_mobilenet_v3", "zcu104",
                             {{"scheduler.subgraphs", "2"}, {"accelerator.impl", "cycle"}, {"array.impl", "cycle"}});
    fill.parameters = {{"file", file.string()}, {"jobs", "2"}};
    CHECK(sushi_report(fill).at("summary").at("reused") == false);
    CHECK(sushi_report(fill).at("summary").at("reused") == true);

    // The simulated table beside the closed form.
    const SushiConfig config = platform::sushi::read_sushi_config(fill.platform, fill.overrides);
    const Supernet supernet = read_supernet(fill.workload);
    const LatencyTable simulated = read_table(file.string(), supernet, config.fingerprint(supernet, config.buffers));
    const LatencyTable closed = closed_form_table(supernet, config, config.buffers, simulated.subgraphs);
    for (std::size_t s = 0; s < 7; ++s)
        for (std::size_t g = 0; g < 2; ++g)
            CHECK(closed.latency_us[s][g] == Approx(simulated.latency_us[s][g]).epsilon(kLayerBound));

    Point use = sushi_point("sushi", "ofa_mobilenet_v3", "zcu104", fill.overrides);
    use.overrides["scheduler.table"] = file.string();
    use.work.batches = 3;
    CHECK(sushi_report(use).at("ok") == true);
    use.overrides["array.rows"] = "10";
    CHECK_THROWS_WITH(make_sushi_system()->prepare(use), ContainsSubstring("the table was made for another platform"));
    std::filesystem::remove(file);
}

TEST_CASE("a latency table made for other contents under the same names is refused", "[sushi]") {
    const ScratchFolder folder("switchyard_sushi");
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder.file(name)) << text; };
    const auto read = [](const std::string& path) {
        std::ifstream file(path);
        return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    };
    const auto replaced = [](std::string text, const std::string& what, const std::string& by) {
        const std::size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        return text.replace(at, what.size(), by);
    };
    Point fill = sushi_point("sushi-table", "ofa_mobilenet_v3", "zcu104", {{"scheduler.subgraphs", "2"}});
    const std::string supernet = read(fill.workload), device = read(kConfigs + "devices/ddr4_2400.yaml");
    write("net.yaml", supernet);
    write("ram.yaml", device);
    fill.workload = folder.path() + "/net.yaml";
    fill.overrides["dram.device"] = folder.path() + "/ram.yaml";
    fill.parameters = {{"file", folder.path() + "/table.json"}};
    CHECK(sushi_report(fill).at("summary").at("reused") == false);
    Point use = fill;
    use.design = "sushi";
    use.parameters.clear();
    use.overrides["scheduler.table"] = folder.path() + "/table.json";
    use.work.batches = 2;
    const auto prepared = [&] { return make_sushi_system()->prepare(use); };
    CHECK_NOTHROW(prepared());

    write("net.yaml", "# A comment.\n" + supernet);
    CHECK_NOTHROW(prepared());
    // Of the first SubNet: its accuracy, and by it which SubNet serves a query.
    write("net.yaml", replaced(supernet, "accuracy: 7", "accuracy: 6"));
    CHECK_THROWS_WITH(
        prepared(),
        ContainsSubstring("table.json: platform: the table was made for another platform or supernet: expected"));
    write("net.yaml", supernet);
    write("ram.yaml", replaced(device, "trcd_read_cycles: 17", "trcd_read_cycles: 16"));
    CHECK_THROWS_WITH(prepared(), ContainsSubstring("make it again with sushi-table"));
    write("ram.yaml", device);
    CHECK_NOTHROW(prepared());
    use.overrides["scheduler.subgraph_file"] = "some.yaml";
    CHECK_THROWS_WITH(prepared(), ContainsSubstring("scheduler.subgraph_file: expected no file of SubGraphs"));
}
