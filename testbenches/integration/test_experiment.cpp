// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const char* const kEarlier = "{\"format\": \"switchyard-experiment\"}";

std::string root(const std::string& path) {
    return fs::absolute(path).string();
}

/// An experiment on mini.yaml with these networks and designs, and these figures.
std::string experiment(const std::string& networks, const std::string& designs, const std::string& rest,
                       unsigned batches = 3) {
    std::string path = scratch("experiment.yaml");
    write_text(path, "name: tiny\nplatform: " + root(kMini) + "\nset: {chip.impl: auto}\nbatches: " +
                         std::to_string(batches) + "\nnetworks: " + networks + "\ndesigns: " + designs + "\n" + rest);
    return path;
}

const std::string kSpeedup =
    "figures:\n"
    "  - {name: speedup, measure: summary.latency_us.mean, over: m-tile, inverse: yes,\n"
    "     published: [{design: adyna, mean: 1.5, source: nobody}]}\n";
const std::string kRest = kSpeedup +
                          "  - {name: energy, kind: stacks, measure: energy.parts_mj, over: m-tile}\n"
                          "  - {name: time, kind: lines, measure: batches.latency_us, networks: moe}\n";

std::string two_networks() {
    return "[" + root("testbenches/data/moe.yaml") + ", " + root("testbenches/data/early_exit.yaml") + "]";
}

std::map<std::string, std::string> files_of(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            files[fs::relative(entry.path(), folder).string()] = read_text(entry.path().string());
    return files;
}

/// The results of an experiment that must succeed.
json results_of(const std::string& file, const std::string& more = "") {
    const std::string folder = scratch("results");
    const Outcome outcome = sy_sim("experiment " + file + " --report " + folder + " " + more);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return read_json(folder + "/results.json");
}

/// Exit status 2, the last line on standard error holds `parts`, nothing on standard output; old results stay.
void check_failed(const std::string& file, std::initializer_list<const char*> parts) {
    const std::string folder = scratch("failed");
    fs::create_directories(folder);
    write_text(folder + "/results.json", kEarlier);
    const Outcome outcome = sy_sim("experiment " + file + " --report " + folder);
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    REQUIRE_FALSE(outcome.err.empty());
    const std::size_t line = outcome.err.rfind('\n', outcome.err.size() - 2);
    for (const char* part : parts)
        CHECK_THAT(outcome.err.substr(line == std::string::npos ? 0 : line), ContainsSubstring(part));
    CHECK(files_of(folder) == std::map<std::string, std::string>{{"results.json", kEarlier}});
    fs::remove_all(folder);
}

}  // namespace

TEST_CASE("an experiment writes the same bytes, one point at a time or two", "[cli][experiment]") {
    const std::string file = experiment(two_networks(), "[m-tile, {design: adyna, set: {sampling: profile}}]", kRest);
    const std::string one = scratch("one"), two = scratch("two");
    const Outcome first = sy_sim("experiment " + file + " --report " + one + " --jobs 1");
    INFO(first.err);
    REQUIRE(first.status == 0);
    const Outcome second = sy_sim("experiment " + file + " --report " + two + " --jobs 2");
    REQUIRE(second.status == 0);

    const std::map<std::string, std::string> files = files_of(one);
    CHECK(files == files_of(two));
    CHECK(first.out == second.out);
    CHECK(files.at("table.txt") == "# Written by switchyard\n" + first.out);
    for (const char* plot : {"speedup.svg", "speedup.published.svg", "energy.svg", "time.svg"})
        CHECK_THAT(files.at(std::string("plots/") + plot), ContainsSubstring("</svg>"));
    CHECK(files.size() == 7);  // with the page
    CHECK_THAT(first.err, ContainsSubstring("[4/4] early_exit, adyna: "));

    const json results = switchyard::parse_json(files.at("results.json"), "results.json");
    CHECK(results.at("ok") == true);
    REQUIRE(results.at("points").size() == 4);
    const auto latency = [&results](std::size_t point) {
        return mean_latency_us(results.at("points").at(point).at("report"));
    };
    const json& series = results.at("figures").at(0).at("series").at(1);
    CHECK(series.at("name") == "adyna");
    CHECK(series.at("values").at(0).get<double>() == Approx(latency(0) / latency(1)));
    CHECK(series.at("values").at(1).get<double>() == Approx(latency(2) / latency(3)));
    CHECK(results.at("figures").at(2).at("series").at(1).at("values").size() == 3);
}

TEST_CASE("a point's report is that of sy-sched and sy-sim", "[cli][experiment]") {
    const json results = results_of(experiment("[" + root(kDigits) + "]", "[{design: adyna, set: {sampling: profile}}]",
                                               "figures: [{name: f, measure: summary.latency_us.mean}]\n"));
    const std::string image = scratch("point.syk"), folder = scratch("point");
    REQUIRE(sy_sched(std::string("compile ") + kDigits + " --platform " + kMini +
                     " --design adyna --sampling profile -o " + image)
                .status == 0);
    REQUIRE(sy_sim(std::string("run --platform ") + kMini + " --set chip.impl=auto --image " + image + " --trace " +
                   kDigitsTrace + " --batches 3 --report " + folder)
                .status == 0);
    CHECK(results.at("points").at(0).at("report") == read_json(folder + "/report.json"));
}

TEST_CASE("routes change from phase to phase", "[cli][experiment]") {
    const std::string network =
        "[{file: " + root("testbenches/data/early_exit.yaml") +
        ", phases: [{from_batch: 0, probability: [0, 1]}, {from_batch: 2, probability: [1, 0]}]}]";
    const json results = results_of(
        experiment(network, "[adyna-static]", "figures: [{name: f, measure: summary.latency_us.mean}]\n", 4));
    const json& batches = results.at("points").at(0).at("report").at("batches");
    CHECK(batches.at(0).at("macs") == batches.at(1).at("macs"));  // all leave at the first exit
    CHECK(batches.at(2).at("macs") == batches.at(3).at("macs"));  // none leaves
    CHECK(batches.at(2).at("macs") > batches.at(0).at("macs"));
}

TEST_CASE("batches, seed and platform keys can be set for a run", "[cli][experiment]") {
    const std::string file = experiment("[" + root("testbenches/data/moe.yaml") + "]", "[adyna]",
                                        "figures: [{name: f, measure: summary.latency_us.mean}]\n");
    const auto report = [&file](const std::string& more) {
        return results_of(file, more).at("points").at(0).at("report");
    };
    const json plain = report(""), seeded = report("--set seed=5 --set batches=2"),
               narrow = report("--set noc.link_bytes_per_cycle=8");
    CHECK(plain.at("summary").at("batches") == 3);
    CHECK(seeded.at("summary").at("batches") == 2);
    CHECK(seeded.at("routing").at("seed") == 5);
    CHECK(seeded.at("batches").at(0).at("macs") != plain.at("batches").at(0).at("macs"));
    CHECK(narrow.at("platform").at("link_bytes_per_cycle") == 8);
    CHECK(mean_latency_us(narrow) > mean_latency_us(plain));
}

TEST_CASE("a sweep over the batch size changes the batch", "[cli][experiment]") {
    const json results = results_of(
        experiment("[" + root("testbenches/data/moe.yaml") + "]", "[adyna]",
                   "sweep: {key: batch_size, values: [1, 4]}\n"
                   "figures: [{name: f, measure: summary.latency_us.mean, across: sweep, series: network}]\n"));
    REQUIRE(results.at("points").size() == 2);
    CHECK(results.at("points").at(0).at("batch_size") == "1");
    CHECK(results.at("points").at(0).at("report").at("summary").at("samples_per_batch") == 2);  // two an input
    CHECK(results.at("points").at(1).at("report").at("summary").at("samples_per_batch") == 8);
}

TEST_CASE("mechanisms are turned off alone", "[cli][experiment]") {
    const json results = results_of(experiment("[" + root("testbenches/data/moe.yaml") + "]",
                                               "[adyna, {design: adyna, name: one, set: {without: multi_kernel}}]",
                                               "figures: [{name: f, measure: summary.latency_us.mean}]\n", 8));
    const auto max_kernels = [&results](std::size_t point) {
        std::size_t max = 0;
        for (const json& op : results.at("points").at(point).at("report").at("operators")) {
            std::size_t selected = 0;
            for (const json& kernel : op.at("kernels")) selected += kernel.at("dyn_dim") > 0 ? 1 : 0;
            max = std::max(max, selected);
        }
        return max;
    };
    CHECK(max_kernels(0) > 1);
    CHECK(max_kernels(1) == 1);
}

TEST_CASE("a point that fails leaves the results of an earlier run as they are", "[cli][experiment][bad]") {
    // The recorded routes of the second network end before the batches do.
    check_failed(
        experiment("[" + root("testbenches/data/moe.yaml") + ", {file: " + root(kDigits) + ", name: digits}]",
                   "[adyna]", "figures: [{name: f, measure: summary.latency_us.mean}]\n", 201),
        {"experiment.yaml: digits, adyna: ", "routing.jsonl: batches: expected 201 batches or more, found 200"});
    check_failed(experiment(two_networks(), "[{design: adyna, set: {sampling: best}}]",
                            "figures: [{name: f, measure: summary.latency_us.mean}]\n"),
                 {"adyna: ", "best"});
    check_failed(experiment(two_networks(), "[{design: adyna, set: {unit_samples: few}}]",
                            "figures: [{name: f, measure: summary.latency_us.mean}]\n"),
                 {"design adyna: unit_samples: expected a number of samples, found few"});
    check_failed(experiment(two_networks(), "[{design: adyna, set: {reschedule: 0}}]",
                            "figures: [{name: f, measure: summary.latency_us.mean}]\n"),
                 {"design adyna: reschedule: expected a number of batches, found 0"});
    check_failed(experiment(two_networks(), "[{design: adyna, set: {unit_samples: 5}}]",
                            "figures: [{name: f, measure: summary.latency_us.mean}]\n"),
                 {"expected a point of the experiment that fits, found none",
                  "expected a batch of whole units of 5 samples, found "});
    check_failed(experiment(two_networks(), "[{design: adyna, set: {without: luck}}]",
                            "figures: [{name: f, measure: summary.latency_us.mean}]\n"),
                 {"mechanism: expected one of frequency_weighting, multi_kernel", ", found luck"});
    check_failed(experiment(two_networks(), "[adyna]", "figures: [{name: f, measure: summary.latency.mean}]\n"),
                 {"experiment.yaml:7: figures.f.measure: ",
                  "expected one number under summary.latency.mean of the report, found none"});
}

TEST_CASE("a point that does not fit its chip is a gap", "[cli][experiment]") {
    const std::string folder = scratch("gaps");
    const std::string file =
        experiment(two_networks(), "[m-tile, {design: adyna, name: small, set: {scratchpad.capacity_bytes: 4096}}]",
                   kSpeedup +
                       "  - {name: energy, kind: stacks, measure: energy.parts_mj}\n"
                       "  - {name: time, kind: lines, measure: batches.latency_us, networks: moe}\n");
    const std::string text = read_text(file);
    write_text(file, text.substr(0, text.find("design: adyna, mean")) + "design: small, mean" +
                         text.substr(text.find("design: adyna, mean") + 19));
    const Outcome outcome = sy_sim("experiment " + file + " --report " + folder);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK_THAT(outcome.err, ContainsSubstring("moe, small: a gap: "));
    const json results = read_json(folder + "/results.json");
    CHECK(results.at("ok") == true);
    const json& point = results.at("points").at(1);
    CHECK(point.at("design") == "small");
    CHECK(point.at("report").is_null());
    CHECK_THAT(point.at("infeasible").get<std::string>(), ContainsSubstring("expected room for a kernel, found none"));
    CHECK_FALSE(results.at("points").at(0).contains("infeasible"));
    const json& speedup = results.at("figures").at(0);
    CHECK(speedup.at("series").at(0).at("values").at(0) == 1.0);
    for (const json& value : speedup.at("series").at(1).at("values")) CHECK(value.is_null());
    CHECK(speedup.at("comparisons").at(0).at("ours").is_null());
    CHECK(results.at("figures").at(1).at("series").at(1).at("values").at(0).is_null());
    CHECK(results.at("figures").at(2).at("series").at(0).at("values").size() == 3);
    const std::string table = read_text(folder + "/table.txt");
    CHECK(table == "# Written by switchyard\n" + outcome.out);
    CHECK_THAT(table, ContainsSubstring("gaps (-), points that do not fit their chip:\n  moe, small: "));
    for (const char* plot : {"speedup", "energy"})
        CHECK_THAT(read_text(folder + "/plots/" + plot + ".svg"), ContainsSubstring("moe: does not fit"));
    fs::remove_all(folder);
}

TEST_CASE("results take their names when all are whole", "[cli][experiment][bad]") {
    const std::string file = experiment(two_networks(), "[m-tile, adyna]", kRest), folder = scratch("limited");
    REQUIRE(sy_sim("experiment " + file + " --report " + folder + " --set batches=2").status == 0);
    const std::map<std::string, std::string> before = files_of(folder);
    // The plots fit, what is written after them does not.
    const Outcome outcome = limited(24, "experiment " + file + " --report " + folder);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, ContainsSubstring(": cannot be written: File too large"));
    CHECK(files_of(folder) == before);
    fs::remove_all(folder);
}

TEST_CASE("the gpu design needs no file, wherever the program runs", "[cli][experiment]") {
    const std::string rest = "figures: [{name: f, measure: summary.latency_us.mean}]\n";
    const auto report = [&rest](const std::string& design, const std::string& where) {
        const std::string file = experiment("[" + root("testbenches/data/moe.yaml") + "]", design, rest);
        const std::string folder = scratch("gpu");
        const Outcome outcome = sy_sim_in(where, "experiment " + file + " --report " + folder);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_json(folder + "/results.json").at("points").at(0).at("report");
    };
    const json here = report("[{design: gpu, set: {file: " + root("configs/platforms/a100.yaml") + "}}]", ".");
    CHECK(report("[gpu]", "/tmp") == here);
}

TEST_CASE("bad experiments are refused with file, line and key", "[cli][experiment][bad]") {
    const std::string figure = "figures: [{name: f, measure: summary.latency_us.mean}]\n";
    const auto refused = [](const std::string& file, std::initializer_list<const char*> parts,
                            const std::string& more = "") {
        check_refused(sy_sim("experiment " + file + " --report " + scratch("refused") + " " + more), parts);
        CHECK_FALSE(fs::exists(scratch("refused")));
    };
    refused(scratch("nowhere.yaml"), {"sy-sim: ", "nowhere.yaml: cannot be read"});
    refused(experiment(two_networks(), "[adjna]", figure),
            {"experiment.yaml:6: designs: design: expected one of adyna, adyna-static"});
    refused(experiment("[nowhere.yaml]", "[adyna]", figure), {"nowhere.yaml: cannot be read"});
    refused(experiment(two_networks(), "[adyna]", figure + "colour: red\n"),
            {"experiment.yaml:8: colour: expected one of "});
    const std::string good = experiment(two_networks(), "[adyna]", figure);
    refused(good, {"--set: noc.link: expected a known key, found noc.link"}, "--set noc.link=1");
    refused(good, {"--set: batches: expected an integer from 1"}, "--set batches=none");
    refused(good, {"--jobs"}, "--jobs 0");
    check_refused(sy_sim("experiment " + good), {"--report"});
    check_refused(sy_sim("experiment " + good + " --report /dev/null/x"), {"/dev/null/x: cannot be written"});
}

TEST_CASE("every key of an experiment's results is in docs/experiments.md", "[cli][experiment][docs]") {
    json results = results_of(
        experiment(two_networks(), "[m-tile, adyna]",
                   "sweep: {key: noc.link_cycles, values: [1, 2], designs: adyna}\n"
                   "figures:\n"
                   "  - {name: bars, measure: summary.latency_us.mean, series: sweep, designs: adyna, over: m-tile,\n"
                   "     source: nobody, published: [{sweep: 1, mean: 1}]}\n"
                   "  - {name: lines, kind: lines, across: sweep, series: network, designs: adyna,\n"
                   "     measure: summary.latency_us.mean, crossing: 1}\n"
                   "  - {name: stacks, kind: stacks, measure: energy.parts_mj, designs: m-tile}\n"));
    const std::string text = read_text("docs/experiments.md");
    for (json& point : results.at("points")) {
        point.erase("report");  // docs/report_format.md
        point.erase("set");     // keys of platforms and designs
        point.erase("noc.link_cycles");
    }
    const auto flat = results.flatten();
    for (const auto& [path, value] : flat.items()) {
        std::string key = path;  // the last one that is no index
        while (std::isdigit(static_cast<unsigned char>(key.back())) != 0 || key.back() == '/') key.pop_back();
        INFO(path);
        CHECK(text.find("`" + key.substr(key.rfind('/') + 1) + "`") != std::string::npos);
    }
}

TEST_CASE("synthetic traffic: a point's report is that of sy-sim noc or mem, byte for byte", "[cli][experiment]") {
    const auto write = [](const std::string& text) {
        std::string path = scratch("traffic.yaml");
        write_text(path, text);
        return path;
    };
    const std::string noc = write(
        "name: tiny\ncommand: noc\nset: {cycles: 500, size: 4x4}\ntraffic: [{name: t, set: {packet-flits: 4}}]\n"
        "designs: [{name: flits, set: {impl: flit}}, {name: packets, set: {impl: packet}}]\n"
        "sweep: {key: rate, values: [0.1, 0.2]}\n"
        "figures: [{name: f, kind: lines, across: sweep, measure: latency_cycles.mean, until: saturated}]\n");
    const std::string one = scratch("one"), two = scratch("two"), file = scratch("point.json");
    REQUIRE(sy_sim("experiment " + noc + " --report " + one + " --jobs 1").status == 0);
    REQUIRE(sy_sim("experiment " + noc + " --report " + two + " --jobs 2").status == 0);
    CHECK(files_of(one) == files_of(two));
    REQUIRE(sy_sim("noc --cycles 500 --size 4x4 --packet-flits 4 --impl packet --rate 0.2 --json " + file).status == 0);
    CHECK(read_json(one + "/results.json").at("points").at(3).at("report") == read_json(file));

    const json memory =
        results_of(write("name: tiny\ncommand: mem\ntraffic: [{name: t, set: {requests: 2000}}]\n"
                         "designs: [{name: bank, set: {device: ddr4}}]\n"
                         "figures: [{name: f, measure: share_of_peak, scale: 100}]\n"));
    REQUIRE(sy_sim("mem --device ddr4 --requests 2000 --json " + file).status == 0);
    CHECK(memory.at("points").at(0).at("report") == read_json(file));
}
