// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "experiment_text.h"
#include "switchyard/platform/experiment/experiment_report.h"
#include "switchyard/platform/experiment/figure.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;
using nlohmann::ordered_json;

namespace {

const std::string kNoc =
    "name: e\n"
    "command: noc\n"
    "set: {cycles: 1000, seed: 3}\n"
    "traffic:\n"
    "  - {name: short, set: {packet-flits: 1}}\n"
    "  - {name: long, set: {packet-flits: 8}}\n"
    "designs:\n"
    "  - {name: narrow, set: {vcs: 2, size: 4x4}}\n"
    "  - {name: ideal, set: {impl: packet, size: 4x4}}\n"
    "sweep: {key: rate, values: [0.1, 0.2, 0.9], designs: narrow}\n";
const std::string kLines =
    "figures:\n"
    "  - {name: f, kind: lines, across: sweep, traffic: long, measure: latency_cycles.mean, until: saturated,\n"
    "     source: s, published: [{design: narrow, line: {0.1: 20, 0.9: 100}}]}\n";

void refused_points(const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(points_of(experiment_of(text), registry()), ContainsSubstring("experiment.yaml:" + message));
}

/// Made up: saturated at 0.9.
ordered_json report(const ExperimentPoint& point) {
    const double rate = point.sweep.empty() ? 0.1 : std::stod(point.sweep);
    return {{"saturated", rate > 0.5}, {"latency_cycles", {{"mean", 100 * rate}}}};
}

}  // namespace

TEST_CASE("an experiment with synthetic traffic: points are its options put together", "[experiment][traffic]") {
    const std::vector<ExperimentPoint> points = points_of(experiment_of(kNoc + kLines), registry());
    REQUIRE(points.size() == 8);  // narrow is swept, ideal is not
    CHECK(points[1].name() == "short, narrow, rate 0.2");
    CHECK(points[1].run.design == "noc");
    CHECK(
        points[1].run.parameters ==
        std::map<std::string, std::string>{
            {"cycles", "1000"}, {"seed", "3"}, {"packet-flits", "1"}, {"vcs", "2"}, {"size", "4x4"}, {"rate", "0.2"}});
    CHECK(points[7].run.parameters.count("rate") == 0);
}

TEST_CASE("lines end where `until` says so, with published numbers beside them", "[experiment][traffic]") {
    const Experiment experiment = experiment_of(kNoc + kLines);
    std::vector<PointResult> results;
    for (const ExperimentPoint& point : points_of(experiment, registry())) results.push_back({point, report(point)});
    const std::vector<Figure> figures = {make_figure(experiment.figures.front(), experiment, results)};
    const ordered_json drawn = results_json(experiment, results, figures);
    const ordered_json& figure = drawn.at("figures").at(0);
    CHECK(drawn.at("command") == "noc");
    CHECK(drawn.at("points").at(0).at("traffic") == "short");
    CHECK(figure.at("series").at(0).at("values") == ordered_json({10.0, 20.0, nullptr}));
    CHECK(figure.at("series").at(0).at("published") == ordered_json({20.0, nullptr, 100.0}));
    CHECK(figure.at("series").at(1).at("values") == ordered_json({10.0, 10.0, 10.0}));
    REQUIRE(figure.at("comparisons").size() == 2);
    CHECK(figure.at("comparisons").at(0).at("ours") == 10);
    CHECK(figure.at("comparisons").at(1).at("ours").is_null());
    CHECK_THAT(results_table(experiment, results, figures), ContainsSubstring("2 kinds of traffic, 2 designs\n"));
    CHECK_THAT(plots(figures.front()).front().second, ContainsSubstring("</svg>"));
}

TEST_CASE("what is wrong with synthetic traffic is told with its line", "[experiment][traffic][bad]") {
    const std::string good = kNoc + kLines;
    refused_points(replaced(good, "noc", "cpu"), "2: command: expected one of run, noc, mem, found \"cpu\"");
    refused_points(replaced(good, "cycles", "cycle"),
                   "3: set.cycle: expected an option of the command for experiments, found cycle");
    refused_points(replaced(good, "seed: 3", "json: a"),
                   "3: set.json: expected an option of the command for experiments, found json");
    refused_points(replaced(good, "packet-flits: 1", "packet-flits: 0"),
                   "5: traffic[0].set.packet-flits: --packet-flits");
    refused_points(replaced(good, "vcs: 2", "vcs: many"), "8: designs[0].set.vcs: ");
    refused_points(
        replaced(good, "vcs: 2", "packet-flits: 2"),
        "8: designs: expected a key that is set once, found packet-flits, which traffic \"short\" sets as well");
    refused_points(replaced(good, "vcs: 2", "seed: 2"),
                   "8: designs: expected a key that is set once, found seed, which the experiment sets as well");
    refused_points(replaced(good, "packet-flits: 8", "cycles: 8"),
                   "6: traffic: expected a key that is set once, found cycles, which the experiment sets as well");
    refused_points(replaced(good, "packet-flits: 8", "rate: 1"),
                   "6: traffic: expected a key that is not swept, found rate, which \"long\" sets");
    refused_points(replaced(good, "size: 4x4", "size: 4y4"), "8: designs: ");
    refused_points(replaced(good, "0.9]", "fast]"), "10: sweep.values: ");
    refused_points(replaced(good, "name: long", "name: short"),
                   "6: traffic: expected different names of traffic, found \"short\" twice");
    refused_points(replaced(good, "name: e\n", "name: e\nbatches: 3\n"), "2: batches: ");
    refused_points(replaced(good, "traffic: long, measure", "networks: long, measure"),
                   "12: figures[0].networks: expected one of across, ");
    refused_points(replaced(good, "across: sweep", "across: batch"), "12: figures[0].across: expected one of sweep");
    refused_points(replaced(good, "0.9: 100", "0.8: 100"),
                   "13: published.line.sweep: expected a value of the sweep, found 0.8");
    refused_points(replaced(good, "traffic: long, measure", "series: traffic, designs: narrow, measure"),
                   "12: figures[0].until: expected for one of traffic only, found for several");
}

TEST_CASE("keys with a dot are those of a device file", "[experiment][traffic]") {
    const System& mem = registry().system("mem");
    CHECK(mem.parameter_error("mem", "timing.tcl_cycles", "20").empty());
    CHECK_FALSE(registry().system("noc").parameter_error("noc", "timing.tcl_cycles", "20").empty());
    Point point;
    point.design = "mem";
    point.parameters = {{"requests", "2000"}, {"timing.tcl_cycles", "20"}, {"outstanding", "1"}};
    const auto latency_ns = [&] { return mem.prepare(point)->run().at("latency_ns").get<double>(); };
    const double slower = latency_ns();
    point.parameters.erase("timing.tcl_cycles");
    CHECK(slower == Approx(latency_ns() + 6).margin(1));
    point.parameters["timing.tcl"] = "20";
    CHECK_THROWS_AS(mem.check_parameters(point), InputError);
    point.parameters = {{"pattern", "trace"}};
    CHECK_THROWS_WITH(mem.check_parameters(point),
                      ContainsSubstring("expected together with --pattern trace, found one without the other"));
}

TEST_CASE("--set sets an option for all points, or says why not", "[experiment][traffic]") {
    Experiment experiment = experiment_of(kNoc + kLines);
    override_settings(experiment, {{"cycles", "200"}, {"buffer", "4"}}, registry());
    CHECK(experiment.set.at("cycles") == "200");
    const auto says = [&](const char* key, const char* message) {
        CHECK_THROWS_WITH(override_settings(experiment, {{key, "1"}}, registry()), ContainsSubstring(message));
    };
    says("rate", "is swept by");
    says("vcs", "is set by design \"narrow\"");
    says("packet-flits", "is set by traffic \"short\"");
    says("batches", "expected an option of the command for experiments, found batches");
}
