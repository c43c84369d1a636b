// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "experiment_text.h"
#include "switchyard/platform/experiment/constraint.h"
#include "switchyard/platform/experiment/pareto.h"
#include "switchyard/platform/experiment/point_key.h"
#include "switchyard/platform/experiment/point_store.h"
#include "switchyard/platform/experiment/sweep.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/read_files.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

const std::string kStart =
    "name: tiny\nplatform: mini.yaml\nbatches: 2\nnetworks: [a.yaml, {file: b.yaml, name: bee}]\n"
    "designs: [adyna, {design: m-tile, set: {chip.impl: tiles}}]\n";
const std::string kEnd = "objectives: [{name: latency, measure: summary.latency_us.mean}]\n";

std::vector<SweepPoint> points(const std::string& axes, const std::string& rest = "") {
    const ScratchFolder folder("switchyard-sweep");
    return points_of(read_sweep(folder.file("sweep.yaml", kStart + "axes:\n" + axes + rest + kEnd)));
}

const std::string kTwo =
    "  - {key: noc.link_cycles, values: [1, 2, 3]}\n"
    "  - {keys: [chip.columns, chip.rows], values: [[1, 2], [2, 2]]}\n";

}  // namespace

TEST_CASE("a grid has all networks, designs and values, the last axis fastest", "[sweep]") {
    const std::vector<SweepPoint> grid = points(kTwo);
    REQUIRE(grid.size() == 2 * 2 * 3 * 2);
    CHECK(grid[0].name() == "a, adyna, chip.columns 1, chip.rows 2, noc.link_cycles 1");
    CHECK(grid[1].name() == "a, adyna, chip.columns 2, chip.rows 2, noc.link_cycles 1");
    CHECK(grid[6].run.design == "m-tile");
    CHECK(grid[6].run.overrides.at("chip.impl") == "tiles");
    CHECK(grid.back().network == "bee");
    CHECK(grid.back().run.overrides.at("noc.link_cycles") == "3");
}

TEST_CASE("a range has steps, linear or logarithmic, and integers once", "[sweep]") {
    const auto values = [](const std::string& range) {
        std::vector<std::string> result;
        for (const SweepPoint& point : points("  - {key: noc.x, " + range + "}\n"))
            if (point.network == "a" && point.design == "adyna") result.push_back(point.settings.at("noc.x"));
        return result;
    };
    CHECK(values("from: 0, to: 1, steps: 5") == std::vector<std::string>{"0", "0.25", "0.5", "0.75", "1"});
    CHECK(values("from: 1, to: 100, steps: 3, scale: log") == std::vector<std::string>{"1", "10", "100"});
    CHECK(values("from: 1, to: 3, steps: 9, integer: yes") == std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("a Latin hypercube has one sample in each part of each axis", "[sweep]") {
    const std::string axes = "  - {key: noc.x, from: 0, to: 20}\n  - {key: noc.y, from: 1, to: 1024, scale: log}\n";
    const std::string sample = "sample: {method: latin_hypercube, points: 20, seed: 7}\n";
    const std::vector<SweepPoint> all = points(axes, sample);
    REQUIRE(all.size() == 4 * 20);
    std::set<int> x, y;
    for (std::size_t i = 0; i < 20; ++i) {
        x.insert(static_cast<int>(std::stod(all[i].settings.at("noc.x"))));
        y.insert(static_cast<int>(2 * std::log2(std::stod(all[i].settings.at("noc.y")))));
    }
    CHECK(x.size() == 20);
    CHECK(y.size() == 20);
    // Every network and design has the same samples, and the seed alone decides on them.
    CHECK(all[0].settings == all[20].settings);
    CHECK(points(axes, sample)[5].settings == all[5].settings);
    CHECK(points(axes, "sample: {method: random, points: 20, seed: 7}\n").size() == 80);
    CHECK(points(axes, "sample: {method: latin_hypercube, points: 20, seed: 8}\n")[5].settings != all[5].settings);
}

TEST_CASE("constraints between keys, networks and designs", "[sweep]") {
    CHECK(points(kTwo, "constraints: [chip.columns * chip.rows < 4]\n").size() == 12);
    CHECK(points(kTwo, "constraints: [\"design = 'adyna' and network <> 'bee'\", noc.link_cycles % 2 = 1]\n").size() ==
          4);
    // What a design does not have is no obstacle.
    CHECK(points(kTwo, "constraints: [chip.impl = 'tiles']\n").size() == 24);
    CHECK_THROWS_WITH(
        points(kTwo, "constraints: [chip.colums > 1]\n"),
        ContainsSubstring("sweep.yaml:9: constraints: \"chip.colums > 1\": expected a condition in SQL") &&
            ContainsSubstring("found an error: no such column: chip.colums"));
    CHECK_THROWS_WITH(points(kTwo, "constraints: [1 +]\n"), ContainsSubstring("syntax error"));
    CHECK_THROWS_WITH(points(kTwo, "constraints: [chip.columns > 9]\n"),
                      ContainsSubstring("expected a point that holds them, found none"));
}

TEST_CASE("what is wrong with a sweep is one line", "[sweep][bad]") {
    const auto refused = [](const std::string& axes, const std::string& message, const std::string& rest = "") {
        CHECK_THROWS_WITH(points(axes, rest), ContainsSubstring(message));
    };
    refused("  - {key: noc.x, values: [1, 1]}\n", "axes[0].values: expected each value once, found one twice");
    refused("  - {key: noc.x, values: [1]}\n  - {key: noc.x, values: [2]}\n",
            "expected a key of one axis, found noc.x in two");
    refused("  - {key: noc.x, from: 2, to: 1, steps: 2}\n", "axes[0].to: expected a number above from, 2, found 1");
    refused("  - {key: noc.x, from: 0, to: 1, steps: 2, scale: log}\n",
            "expected a positive number for scale log, found 0");
    refused("  - {key: noc.x, from: 0, to: 1}\n", "expected values or steps for noc.x on a grid, found neither");
    refused("  - {keys: [noc.x, noc.y], values: [[1]]}\n", "expected 2 values in each, one a key, found 1");
    refused("  - {key: noc.x, values: [1], designs: nobody}\n", "expected a design of the sweep, found \"nobody\"");
    refused("  - {key: batch_size, values: [0]}\n", "batch_size: expected an integer from 1, found \"0\"");
    refused(kTwo, "sample.points: expected a value, found nothing", "sample: {method: random}\n");
}

TEST_CASE("an axis may be of some designs only; the others have one point", "[sweep]") {
    CHECK(points("  - {key: sampling, values: [uniform, profile, optimal], designs: adyna}\n").size() == 2 * (3 + 1));
}

TEST_CASE("the Pareto front is what a search over all pairs says", "[sweep]") {
    std::mt19937 generator(5);
    std::vector<std::vector<double>> values(200);
    for (auto& value : values)
        for (int objective = 0; objective < 3; ++objective) value.push_back(static_cast<double>(generator() % 12));
    const std::vector<bool> front = pareto_front(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        bool dominated = false;
        for (const auto& other : values) {
            bool all = true;
            for (std::size_t k = 0; k < 3; ++k) all = all && other[k] <= values[i][k];
            dominated = dominated || (all && other != values[i]);
        }
        CHECK(front[i] == !dominated);
    }
    CHECK(pareto_front({}).empty());
}

TEST_CASE("a store keeps each point once, and its sweep is a view", "[sweep]") {
    const ScratchFolder folder("switchyard-sweep");
    PointStore store(folder.file("store.sqlite"));
    StoredPoint point;
    point.key = "k1";
    point.configuration = "{}";
    point.version = "v";
    point.state = "done";
    point.report = R"({"a": {"b": 2.5}})";
    point.inputs = {{"file", "hash"}};
    store.add(point);
    CHECK_THROWS_AS(store.add(point), InputError);
    REQUIRE(store.find("k1"));
    CHECK(store.find("k1")->inputs == point.inputs);
    CHECK(store.find("k1")->report == point.report);
    CHECK_FALSE(store.find("k2"));
    store.set_sweep("s", {{"k1", "n", "d", R"({"x.y": 3})"}, {"k2", "n", "d", R"({"x.y": 4})"}},
                    {{"x.y", R"(json_extract(settings, '$."x.y"'))"}, {"b", "json_extract(report, '$.a.b')"}});
    Statement rows(store.database(), R"(SELECT "x.y", b, state FROM s)");
    REQUIRE(rows.step());
    CHECK(rows.integer(0) == 3);
    CHECK(rows.number(1) == 2.5);
    REQUIRE(rows.step());
    CHECK(rows.is_null(1));
    CHECK(rows.text(2) == "open");
    CHECK_FALSE(rows.step());
    store.remove("k1");
    CHECK_FALSE(store.find("k1"));
}

TEST_CASE("a point's key depends on configuration, contents of files and version, not on names", "[sweep]") {
    const ScratchFolder folder("switchyard-sweep");
    const auto copy = [&folder](const std::string& from, const std::string& to) {
        return folder.file(to, read_file(from, kMaxTextBytes));
    };
    Point point;
    point.design = "adyna";
    point.workload = "testbenches/data/moe.yaml";
    point.platform = "configs/platforms/mini.yaml";
    const auto key = [](const Point& of, const char* version = "v") {
        return PointKeys(registry(), version).of(of).hash;
    };
    const std::string first = key(point);
    CHECK(first.size() == 36);
    CHECK(key(point) == first);
    CHECK(key(point, "w") != first);
    Point other = point;
    other.overrides["noc.link_cycles"] = "3";
    CHECK(key(other) != first);
    other = point;
    other.platform = copy(point.platform, "renamed.yaml");
    CHECK(key(other) == first);
    std::ofstream(other.platform, std::ios::app) << "# changed\n";
    CHECK(key(other) != first);
    other.platform = folder.file("missing.yaml");
    CHECK_THAT(PointKeys(registry(), "v").of(other).error, ContainsSubstring("missing.yaml: cannot be read"));
}

TEST_CASE("files that are read are noted, also by the outer one", "[sweep]") {
    const ScratchFolder folder("switchyard-sweep");
    const std::string file = folder.file("a", "text");
    const ReadFiles outer;
    {
        const ReadFiles inner;
        read_file(file, kMaxTextBytes);
        CHECK(inner.paths() == std::set<std::string>{file});
    }
    CHECK(outer.paths() == std::set<std::string>{file});
}
