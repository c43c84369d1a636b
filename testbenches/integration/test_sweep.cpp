// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Two networks, two designs and these axes on mini.yaml.
std::string sweep(const std::string& axes, const std::string& rest = "") {
    const auto root = [](const char* path) { return fs::absolute(path).string(); };
    std::string path = scratch("sweep.yaml");
    write_text(path, "name: tiny\nplatform: " + root(kMini) + "\nset: {chip.impl: stages}\nbatches: 2\nnetworks: [" +
                         root("testbenches/data/moe.yaml") + ", " + root("testbenches/data/early_exit.yaml") +
                         "]\ndesigns: [m-tile, adyna]\naxes:\n" + axes +
                         "objectives:\n  - {name: latency, measure: summary.latency_us.mean, goal: min}\n"
                         "  - {name: energy, measure: energy.total_mj, goal: min}\n" +
                         rest);
    return path;
}

const std::string kBandwidths = "  - {key: noc.link_bytes_per_cycle, values: [96, 192]}\n";

std::string store(const char* name) {
    for (const char* ending : {"", "-wal", "-shm", ".lock"}) fs::remove(scratch(name) + ending);
    return scratch(name);
}

/// The rows of a statement.
json rows(const std::string& database, const std::string& sql) {
    const Outcome outcome = sy_sweep("query --json --store " + database + " \"" + sql + "\"");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return switchyard::parse_json(outcome.out, "output");
}

pid_t start(const std::string& file, const std::string& database) {
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        execl(SY_SWEEP, SY_SWEEP, "run", file.c_str(), "--store", database.c_str(), "--jobs", "2",
              static_cast<char*>(nullptr));
        _exit(127);
    }
    REQUIRE(child > 0);
    return child;
}

/// Until the program writes a result, which goes to the log of SQLite first.
void wait_for_result(const std::string& database) {
    const auto size = [&database] {
        std::error_code none;
        const auto bytes = fs::file_size(database + "-wal", none);
        return none ? 0 : bytes;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (const auto before = size(); size() == before && std::chrono::steady_clock::now() < deadline;)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int ended(pid_t child, int signal) {
    int status = 0;
    kill(child, signal);
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

}  // namespace

TEST_CASE("a sweep runs each point once, and its rows are those of experiments", "[cli][sweep]") {
    const std::string file = sweep(kBandwidths), database = store("once.sqlite");
    const Outcome first = sy_sweep("run " + file + " --store " + database + " --jobs 2 --json " + scratch("s.json"));
    INFO(first.err);
    REQUIRE(first.status == 0);
    CHECK_THAT(first.out, ContainsSubstring("tiny: 8 points: 0 known, 8 run; 8 done, 0 infeasible, 0 failed"));
    CHECK_THAT(first.out, ContainsSubstring("Pareto front"));
    CHECK_THAT(first.err, ContainsSubstring("8 of 8 points"));
    CHECK(read_json(scratch("s.json")).at("ran") == 8);
    const json before = rows(database, "SELECT * FROM point ORDER BY key");

    const Outcome second = sy_sweep("run " + file + " --store " + database);
    CHECK_THAT(second.out, ContainsSubstring("tiny: 8 points: 8 known, 0 run"));
    CHECK(rows(database, "SELECT * FROM point ORDER BY key") == before);
    // More values: only they run.
    sweep("  - {key: noc.link_bytes_per_cycle, values: [48, 96, 192]}\n");
    CHECK_THAT(sy_sweep("run " + file + " --store " + database).out, ContainsSubstring("12 points: 8 known, 4 run"));
    // The bytes of the results do not depend on how many run at a time.
    const std::string other = store("other.sqlite");
    REQUIRE(sy_sweep("run " + file + " --quiet --store " + other + " --jobs 1").status == 0);
    CHECK(rows(other, "SELECT key, state, report FROM point ORDER BY key") ==
          rows(database, "SELECT key, state, report FROM point ORDER BY key"));

    const std::string experiment = scratch("same.yaml"), folder = scratch("same");
    write_text(experiment, "name: same\nplatform: " + fs::absolute(kMini).string() +
                               "\nset: {chip.impl: stages}\nbatches: 2\nnetworks: [" +
                               fs::absolute("testbenches/data/moe.yaml").string() +
                               "]\ndesigns: [adyna]\nfigures: [{name: f, measure: summary.latency_us.mean}]\n");
    REQUIRE(sy_sim("experiment " + experiment + " --report " + folder).status == 0);
    const json report = read_json(folder + "/results.json").at("points").at(0).at("report");
    const json row = rows(database,
                          "SELECT latency, energy, report FROM tiny JOIN point USING (key) WHERE network = 'moe' AND "
                          "design = 'adyna' AND \\\"noc.link_bytes_per_cycle\\\" = 192");
    REQUIRE(row.size() == 1);
    CHECK(switchyard::parse_json(row[0].at("report").get<std::string>(), "report") == report);
    CHECK(row[0].at("latency") == report.at("summary").at("latency_us").at("mean"));

    const Outcome csv = sy_sweep("query --sweep tiny --csv --store " + database);
    CHECK(csv.out.rfind("number,network,design,noc.link_bytes_per_cycle,latency,energy,front,state,", 0) == 0);
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 13);
    CHECK(rows(database, "SELECT count(*) AS n FROM tiny WHERE front").at(0).at("n") > 0);
}

TEST_CASE("a changed input is another point, a file that a point names included", "[cli][sweep]") {
    const std::string database = store("changed.sqlite"), network = scratch("copy.yaml");
    fs::copy_file("testbenches/data/moe.yaml", network, fs::copy_options::overwrite_existing);
    const std::string file = sweep(kBandwidths);
    std::string text = read_text(file);
    const std::string named = fs::absolute("testbenches/data/moe.yaml").string();
    text.replace(text.find(named), named.size(), network);
    write_text(file, text);
    REQUIRE(sy_sweep("run " + file + " --quiet --store " + database).status == 0);
    write_text(network, read_text(network) + "# changed\n");
    CHECK_THAT(sy_sweep("run " + file + " --store " + database).out, ContainsSubstring("8 points: 4 known, 4 run"));
}

TEST_CASE("failures stand in the store and can be retried; what is wrong everywhere is refused", "[cli][sweep]") {
    const std::string database = store("failed.sqlite");
    const std::string file = sweep("  - {key: noc.link_bytes_per_cycle, values: [0, 192]}\n");
    const Outcome outcome = sy_sweep("run " + file + " --store " + database);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.out, ContainsSubstring("8 points: 0 known, 8 run; 4 done, 0 infeasible, 4 failed"));
    const json failed = rows(database, "SELECT message FROM tiny WHERE state = 'failed'");
    REQUIRE(failed.size() == 4);
    CHECK_THAT(failed[0].at("message").get<std::string>(), ContainsSubstring("noc.link_bytes_per_cycle"));
    CHECK_THAT(sy_sweep("run " + file + " --store " + database).out, ContainsSubstring("8 known, 0 run"));
    CHECK_THAT(sy_sweep("run " + file + " --retry --store " + database).out, ContainsSubstring("4 known, 4 run"));

    check_refused(sy_sweep("run " + sweep("  - {key: noc.link_byte, values: [1, 2]}\n") + " --store " + database),
                  {"sweep.yaml: ", "noc.link_byte: expected a known key, found noc.link_byte"});
    check_refused(sy_sweep("query --store " + scratch("nothing.sqlite") + " \"SELECT 1\""), {"nothing.sqlite"});
    check_refused(sy_sweep("query --store " + database + " \"DELETE FROM point\""),
                  {"expected a statement that reads"});
}

TEST_CASE("a sweep that is killed at any moment goes on: no point lost, none twice", "[.ci-long][sweep]") {
    const std::string file = sweep(
        "  - {key: noc.link_bytes_per_cycle, values: [24, 36, 48, 64, 96, 128, 160, 192, 256, 384]}\n  - {key: "
        "noc.link_cycles, values: [1, "
        "2]}\n");
    const std::string database = store("killed.sqlite"), whole = store("whole.sqlite");
    const char* const points_query = "SELECT key, ended, report FROM point ORDER BY key";
    std::mt19937 generator(20);
    unsigned killed = 0;
    json before = json::array();
    for (unsigned attempt = 0; attempt < 20; ++attempt) {
        const pid_t child = start(file, database);
        // Some before there is anything.
        if (attempt % 4 != 0) wait_for_result(database);
        std::this_thread::sleep_for(std::chrono::microseconds(generator() % 150000));
        if (WIFSIGNALED(ended(child, SIGKILL))) ++killed;
        if (!fs::exists(database) || fs::file_size(database) == 0) continue;
        const json tables = rows(database, "SELECT name FROM sqlite_master WHERE name = 'point'");
        if (tables.empty()) continue;
        const json after = rows(database, points_query);
        std::map<std::string, json> by_key;
        for (const json& row : after) by_key[row.at("key")] = row;
        CHECK(by_key.size() == after.size());
        for (const json& row : before) CHECK(by_key[row.at("key")] == row);  // the same run of it: same time
        before = after;
    }
    CHECK(killed >= 10);
    CHECK_FALSE(before.empty());
    const Outcome last = sy_sweep("run " + file + " --store " + database);
    INFO(last.err);
    CHECK(last.status == 0);
    CHECK_THAT(last.out, ContainsSubstring("tiny: 80 points: " + std::to_string(before.size()) + " known"));
    REQUIRE(sy_sweep("run " + file + " --quiet --store " + whole).status == 0);
    const char* const reports_query = "SELECT key, state, report FROM point ORDER BY key";
    CHECK(rows(database, reports_query).size() == 80);
    CHECK(rows(database, reports_query) == rows(whole, reports_query));
}

TEST_CASE("an interrupted sweep ends cleanly and keeps what is done", "[cli][sweep]") {
    const std::string file = sweep("  - {key: noc.link_bytes_per_cycle, from: 8, to: 400, steps: 200, integer: yes}\n");
    const std::string database = store("interrupted.sqlite");
    const pid_t child = start(file, database);
    for (int i = 0; i < 600; ++i) {
        const Outcome outcome = sy_sweep("query --store " + database + " \"SELECT 1 FROM point LIMIT 1\"");
        if (outcome.status == 0 && outcome.out == "1\n1\n") break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const int status = ended(child, SIGINT);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    CHECK(rows(database, "SELECT count(*) AS n FROM point").at(0).at("n") > 0);
}

TEST_CASE("an interrupted run ends cleanly and reports the batches that it has", "[cli]") {
    // On stages by `auto`, which run in a process of their own, and on tiles.
    const std::string chip = GENERATE("auto", "tiles");
    const std::string set = "chip.impl=" + chip, report = scratch("interrupted_" + chip);
    const std::string image = compiled(std::string("testbenches/data/moe.yaml --design adyna --platform ") + kMini);
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl(SY_SIM, SY_SIM, "run", "--platform", kMini, "--set", set.c_str(), "--image", image.c_str(), "--batches",
              "50000", "--report", report.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    REQUIRE(child > 0);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const int status = ended(child, SIGINT);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    const json document = read_json(report + "/report.json");
    CHECK(document.at("ok") == true);
    CHECK(document.at("interrupted").at("batches_asked") == 50000);
    CHECK(document.at("batches").size() < 50000);
    CHECK(document.at("summary").at("batches") == document.at("batches").size());
}

TEST_CASE("mistyped commands, options and keys are answered with the nearest one", "[cli]") {
    check_refused(sy_sim("rnu"), {"; did you mean run?"});
    check_refused(sy_sweep("query --stor x"), {"; did you mean --store?"});
    check_refused(sy_sweep("run x --store y --job=2"), {"; did you mean --jobs?"});
    const std::string file = scratch("mistyped.yaml");
    write_text(file, "name: x\nplatfrom: y\n");
    check_refused(sy_sweep("run " + file + " --store " + scratch("x.sqlite")),
                  {"mistyped.yaml:2: platfrom: expected one of ", "; did you mean platform?"});
}
