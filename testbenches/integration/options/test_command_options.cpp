// SPDX-License-Identifier: Apache-2.0
// The options of the commands that characterise components, and of those that compile, run and sweep: in each case they
// change what is done, or they are refused in one line.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/link_command.h"
#include "switchyard/platform/apps/memory_command.h"
#include "switchyard/platform/apps/noc_command.h"
#include "switchyard/platform/system/process_pool.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/options/option_cases.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::ordered_json;

namespace {

using Values = std::pair<std::string, std::string>;

void resolve(platform::MemoryCommand& command) {
    command.resolve();
}
void resolve(platform::NocCommand& command) {
    command.resolve();
}
void resolve(platform::LinkCommand&) {}

/// In a process of its own: "unused: a b", or the figures of the report, without what it repeats of the options.
template <class Command>
std::string figures(const std::string& arguments, const std::vector<std::string>& repeated) {
    std::string result;
    const auto work = [&](std::size_t) {
        Command command;
        CLI::App app;
        command.add_to(app);
        app.parse(arguments);
        resolve(command);
        std::vector<std::string> unused;
        for (const platform::UnusedParameter& one : command.unused()) unused.push_back(one.name);
        if (!unused.empty()) return fmt::format("unused: {}", fmt::join(unused, " "));
        ordered_json report = command.report();
        for (const std::string& key : repeated) report.erase(key);
        return json_text(report);
    };
    platform::run_all_in_processes(
        1, 1, work, [&](std::size_t, const std::string& text, double) { result = text; },
        [&](std::size_t, const std::string& message, double) { result = "failed: " + message; });
    return result;
}

/// Options of the command line, each as " --name=value".
struct Context {
    std::string fixed;     ///< options that are not tried in it
    std::string defaults;  ///< left out where they are tried
};

/// Each option with two values in each context: the figures differ, or the option is refused.
template <class Command>
void walk(const char* name, const std::vector<Context>& contexts, const std::map<std::string, Values>& options,
          const std::vector<std::string>& repeated) {
    CLI::App app;
    Command command;
    command.add_to(app);
    // Not of the figures: what prints, writes, or is the context.
    const std::vector<std::string> other_options = {
        "help",     "json",   "heat-map",   "keys",    "commands", "set",     "trace", "timed",
        "topology", "family", "collective", "pattern", "impl",     "traffic", "check", "without-dateline"};
    for (const CLI::Option* const option : app.get_options()) {
        const std::string one = option->get_single_name();
        INFO("a new option " << one << " must join the walk");
        CHECK((options.count(one) == 1 ||
               std::find(other_options.begin(), other_options.end(), one) != other_options.end()));
    }
    unsigned used = 0, refused = 0;
    for (const Context& context : contexts) {
        for (const auto& [option, values] : options) {
            if (context.fixed.find(" --" + option + "=") != std::string::npos) continue;
            std::vector<std::string> words;
            boost::split(words, context.defaults, boost::is_space(), boost::token_compress_on);
            std::string others_of_it = context.fixed;
            for (const std::string& word : words)
                if (word.rfind("--" + option + "=", 0) != 0) others_of_it += " " + word;
            const auto with = [&, &option = option](const std::string& value) {
                return figures<Command>(fmt::format("{} --{}={}", others_of_it, option, value), repeated);
            };
            const std::string first = with(values.first);
            INFO(name << others_of_it << " --" << option << ": " << first);
            if (first.rfind("unused: ", 0) == 0 || first.rfind("failed: --", 0) == 0) {
                CHECK((first == "unused: " + option || first.find(": expected ") != std::string::npos));
                ++refused;
                continue;
            }
            CHECK(first.rfind("failed: ", 0) != 0);
            CHECK(first != with(values.second));
            ++used;
        }
    }
    std::cout << fmt::format("{}: {} cases used, {} refused\n", name, used, refused);
    CHECK(used > 0);
    CHECK(refused > 0);
}

}  // namespace

TEST_CASE("every option of sy-sim mem changes the figures of each pattern and model, or is refused", "[options]") {
    std::string log = "time_ns,operation,address,bytes\n";
    for (int i = 0; i < 300; ++i)
        log += fmt::format("{},{},{},64\n", 3 * i, i % 3 == 0 ? "W" : "R", (i * 4800) % 65536);
    write_text(scratch("requests.csv"), log);
    std::vector<Context> contexts;
    for (const char* impl : {"bank", "bandwidth"}) {
        const auto add = [&](const std::string& more, const std::string& defaults) {
            contexts.push_back({fmt::format(" --impl={}{}", impl, more), defaults});
        };
        const std::string requests = "--requests=1500", mixed = requests + " --read-share=0.5";
        for (const char* pattern : {"sequential", "random", "strided", "streams", "row-conflict"})
            add(fmt::format(" --pattern={}", pattern), mixed);
        for (const char* pattern : {"alternating", "copy"}) add(fmt::format(" --pattern={}", pattern), requests);
        for (const char* pattern : {"sequential", "random"}) add(fmt::format(" --pattern={}", pattern), requests);
        add(" --pattern=random --load=40", requests);
        add(" --pattern=trace --trace=" + scratch("requests.csv"), "");
        add(" --pattern=trace --timed --trace=" + scratch("requests.csv"), "");
    }
    walk<platform::MemoryCommand>(
        "sy-sim mem", contexts,
        {{"device", {"hbm2", "ddr4"}},
         {"read-share", {"0.3", "0.6"}},
         {"request-bytes", {"64", "256"}},
         {"requests", {"900", "1100"}},
         {"seed", {"1", "2"}},
         {"stride-bytes", {"256", "65536"}},
         {"streams", {"3", "40"}},
         {"load", {"4", "9"}},
         {"outstanding", {"2", "64"}},
         {"mapping",
          {"row-column-bank-bankgroup-pseudochannel-channel", "channel-pseudochannel-row-bank-bankgroup-column"}},
         {"page", {"open", "closed"}}},
        {"traffic", "mapping", "page", "device", "impl"});
}

TEST_CASE("every option of sy-sim noc changes the figures of each model and topology, or is refused", "[options]") {
    std::vector<Context> contexts;
    for (const char* impl : {"flit", "packet"})
        for (const char* topology : {"torus", "mesh"})
            contexts.push_back({fmt::format(" --impl={} --topology={}", impl, topology),
                                "--traffic=uniform --cycles=1500 --rate=0.25 --vcs=2"});
    walk<platform::NocCommand>(
        "sy-sim noc", contexts,
        {{"size", {"4x4", "5x5"}},
         {"rate", {"0.1", "0.2"}},
         {"packet-flits", {"4", "9"}},
         {"vcs", {"2", "4"}},
         {"buffer", {"2", "16"}},
         {"arbitration", {"round_robin", "oldest_first"}},
         {"switch-iterations", {"1", "3"}},
         {"cycles", {"1500", "1600"}},
         {"warmup", {"100", "200"}},
         {"pipeline", {"1,1,1,1", "2,1,1,1"}},
         {"link-cycles", {"1", "3"}},
         {"seed", {"1", "2"}}},
        {"columns", "rows", "rate", "packet_flits", "vcs", "buffer_flits", "arbitration", "switch_iterations",
         "measured_cycles", "warmup_cycles", "pipeline_cycles", "link_cycles", "seed"});
}

TEST_CASE("every option of sy-sim link changes the figures of each collective, or is refused", "[options]") {
    std::vector<Context> contexts = {
        {" --family=ring --collective=point_to_point", "--to=3 --bytes=1048576 --buffer-chunks=2"}};
    for (const char* collective : {"all_to_all_padded", "all_to_all_sparse", "all_gather", "all_reduce"})
        contexts.push_back({fmt::format(" --family=pcie_tree --collective={}{}", collective,
                                        std::string(collective).rfind("all_to", 0) == 0 ? "" : " --buffer-chunks=2"),
                            "--bytes=65536"});
    walk<platform::LinkCommand>("sy-sim link", contexts,
                                {{"devices", {"4", "6"}},
                                 {"rate-factor", {"1", "2"}},
                                 {"bytes", {"65536", "131072"}},
                                 {"from", {"0", "2"}},
                                 {"to", {"1", "3"}},
                                 {"cell-bytes", {"512", "1024"}},
                                 {"skew", {"0.5", "3"}},
                                 {"ranks", {"shared", "own"}},
                                 {"seed", {"1", "2"}},
                                 {"nccl", {"none", "volta"}},
                                 {"rate", {"copy", "kernel"}},
                                 {"switching", {"cut_through", "store_and_forward"}},
                                 {"chunk-bytes", {"1024", "8192"}},
                                 {"buffer-chunks", {"1", "64"}}},
                                {"devices", "rate", "switching", "chunk_bytes", "buffer_chunks", "from", "to",
                                 "cell_bytes", "skew", "ranks", "seed", "nccl"});
}

TEST_CASE("an option that has no effect beside the others is refused in one line", "[options]") {
    const std::string mini = std::string(" --platform ") + kMini;
    const std::string image = compiled(tiny_model() + mini + " --design adyna", "tiny.syk");
    const std::string tile = compiled(tiny_model() + mini + " --design m-tile", "tile.syk");
    const std::string recorded = scratch("recorded.syk"), routing = scratch("recorded_routing.yaml");
    write_text(routing, "trace: tiny.jsonl\n");
    write_text(scratch("routing.yaml"), "probability: [0.2, 0.8]\n");
    tiny_trace();
    REQUIRE(sy_sched("compile " + tiny_model() + mini + " --design adyna --routing " + routing + " -o " + recorded)
                .status == 0);
    const std::string run = "run" + mini + " --image " + image + " --batches 1 ";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {run + "--model " + tiny_model(), "--model: expected no value here, as it goes with --reschedule"},
        {run + "--bound 0.1", "--bound: expected no value here, as it goes with --expect"},
        {run + "--seed 3 --trace " + tiny_trace(), "--seed: expected no value here, as it goes with generated routes"},
        {"run" + mini + " --image " + recorded + " --batches 1 --seed 3",
         "--seed: expected no seed for tiny, whose routes, "},
        {"run" + mini + " --image " + tile + " --batches 1 --seed 3",
         "--seed: expected no seed for tiny, whose routes, "},
        {run + "--spot-check 1 --set chip.impl=tiles",
         "--spot-check: expected no value here, as it goes with chip.impl"},
        {"mem --keys --device ddr4", "--keys: expected no other option, found some; leave them out to print the keys"},
        {"mem --impl bandwidth --check", "--check: expected no value here, as it goes with --impl bank"},
        {"mem --impl bandwidth --commands x.csv", "--commands: expected no value here, as it goes with --impl bank"},
        {"mem --stride-bytes 64", "--stride-bytes: expected no value here, as it goes with --pattern strided"},
        {"noc --impl packet --arbitration oldest_first", "--arbitration: expected no value here"},
        {"noc --topology mesh --without-dateline", "--without-dateline: expected no value here"},
        {"link --family ring --collective all_reduce --from 1", "--from: expected no value here"},
        {"experiment configs/experiments/digits.yaml --report x --retry",
         "--retry: expected with --store only, found without; leave it out"},
        {"experiment configs/experiments/digits.yaml --report x --spool y",
         "--spool: expected with --executor slurm or command only, found without; leave it out"}};
    for (const auto& [arguments, message] : cases) {
        INFO(arguments);
        check_refused(sy_sim(arguments), {message.c_str()});
    }
    const std::string compile = "compile " + tiny_model() + mini + " -o " + scratch("none.syk") + " --design ";
    const std::string profile = scratch("profile.json");
    write_text(profile, "{}");
    for (const std::string& design : {std::string("m-tile"), std::string("adyna --without routing")}) {
        check_refused(sy_sched(compile + design + " --profile " + profile), {"--profile: expected no value here"});
        check_refused(sy_sched(compile + design + " --routing " + scratch("routing.yaml")),
                      {"--routing: expected no value here"});
    }
    check_refused(
        sy_sched("routes " + tiny_model() + " --batches 2 --seed 4 --routing " + routing + " -o " + scratch("r.jsonl")),
        {"--seed: expected no seed for a network without switches or with recorded routes, found one; leave it out"});
    check_refused(sy_sched("kernels configs/workloads/ace/walker2d.yaml --seed 4 -o " + scratch("k.jsonl")),
                  {"--seed: expected no value here"});
    check_refused(sy_sched("kernels configs/workloads/ace/walker2d.yaml --input 4 -o " + scratch("k.jsonl")),
                  {"--input: expected no value here"});
    CHECK(sy_sched("kernels configs/workloads/ace/instanas.yaml --seed 4 --input 2 -o " + scratch("k.jsonl")).status ==
          0);
}

TEST_CASE("a key of an experiment or a sweep that none of its designs takes is refused", "[options]") {
    const std::string file = scratch("experiment.yaml");
    const auto experiment = [&](const std::string& designs, const std::string& network, const std::string& more) {
        const std::string here = std::filesystem::current_path().string() + "/";
        write_text(file, "name: e\nplatform: " + here + "configs/platforms/sushi_small.yaml\n" + more +
                             "networks: [{file: " + here + "configs/workloads/sushi/digits_supernet.yaml" + network +
                             "}]\ndesigns: [" + designs +
                             "]\nfigures: [{name: f, title: f, measure: summary.batches, label: b}]\n");
        return "experiment " + file + " --report " + scratch("experiment");
    };
    const std::string table = "{design: sushi-table, set: {file: " + scratch("experiment_table.json") + "}}";
    check_refused(sy_sim(experiment(table, "", "batches: 2\n")),
                  {"experiment.yaml: batches: sushi-table does not take it; leave it out (taken by adyna, "});
    check_refused(sy_sim(experiment("sushi", "", "batches: 2\nfirst_batch: 3\n")),
                  {"experiment.yaml: first_batch: sushi does not take it"});
    check_refused(sy_sim(experiment("sushi", ", trace: none.jsonl", "batches: 2\n")),
                  {"experiment.yaml:4: networks: digits_supernet: trace: sushi does not take it"});
    check_refused(sy_sim(experiment("sushi, {design: cpu, set: {batch_size: 4}}", "", "batches: 2\n")),
                  {"designs: cpu: batch_size: cpu does not take it"});
    check_refused(sy_sim(experiment("sushi", "", "")), {"experiment.yaml", "batches: expected a value, found nothing"});
    // One design takes the key, another one has nothing to draw.
    const Outcome mixed = sy_sim(experiment("sushi, " + table, "", "batches: 2\nseed: 3\n"));
    INFO(mixed.err);
    CHECK(mixed.err.find("does not take it") == std::string::npos);

    write_text(file,
               "name: m\ncommand: mem\nset: {requests: 200, stride-bytes: 128}\ntraffic: [{name: s, set: {pattern: "
               "sequential}}]\ndesigns: [{name: d}]\nfigures: [{name: f, title: f, measure: time_ns, label: t}]\n");
    check_refused(sy_sim("experiment " + file + " --report " + scratch("experiment")),
                  {"experiment.yaml: set: stride-bytes: expected no value here, as it goes with --pattern strided"});

    const std::string here = std::filesystem::current_path().string() + "/";
    write_text(
        file,
        "name: s\nplatform: " + here + "configs/platforms/sushi_small.yaml\nbatches: 2\nnetworks: [{file: " + here +
            "configs/workloads/sushi/digits_supernet.yaml, trace: none.jsonl}]\ndesigns: [sushi]\n"
            "axes: [{key: queries.load, values: [0, 1]}]\nobjectives: [{measure: summary.accuracy, goal: max}]\n");
    check_refused(sy_sweep("run " + file + " --store " + scratch("sweep.sqlite")),
                  {"experiment.yaml: networks: digits_supernet: trace: sushi does not take it"});
}
