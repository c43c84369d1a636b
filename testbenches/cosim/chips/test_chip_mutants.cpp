// SPDX-License-Identifier: Apache-2.0
// A fault in a block of a chip is reported where it is: the program ends with status 2, and the last line names the
// instance, the simulated time and a waveform, which exists.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/dispatcher/fst_changes.h"
#include "switchyard/testbenches/cosim/mutation/mutation.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
namespace fs = std::filesystem;

namespace {

/// A block: the settings in front of the name of the implementation that give it to one tile, and its instances as
/// messages name them.
struct Block {
    std::vector<std::string> settings;
    const char* instance;
    std::vector<std::string> commands{};  ///< of `sy-sim`, in which the block is; none: a chip of the system adyna
};
const Block kDispatcher{{"dispatcher.impl_of_tiles=2="}, R"(\.tile_2\.dispatcher(\.rtl)?: )"},
    kArray{{"pe_array.impl=cycle", "pe_array.impl_of_tiles=2="}, R"(\.tile_2\.pe_array: )"},
    kInterface{{"network_interface.impl="}, R"(\.network_interface: )"},
    kNetwork{{"noc.impl=flit", "noc.impl_of_tiles=1="}, R"(\.torus: .*router \(1,0\))"},
    kWindow{{"scheduling_window.impl="},
            R"(\.scheduling_window[: ])",
            {"run --design ace-hw --platform configs/platforms/ace_rtx3070.yaml --workload "
             "configs/workloads/ace/walker2d.yaml "
             "--batches 1",
             "run --design ace-hw --platform configs/platforms/ace_rtx3070.yaml --workload "
             "configs/workloads/ace/instanas.yaml "
             "--batches 1"}},
    kDotProducts{{"array.impl="},
                 R"(\.array(\.|: ))",
                 {"run --design sushi --platform configs/platforms/sushi_small.yaml --workload "
                  "configs/workloads/sushi/digits_supernet.yaml --batches 2 --set accelerator.functional=no",
                  "run --design sushi --platform configs/platforms/sushi_small.yaml --workload "
                  "configs/workloads/sushi/digits_supernet.yaml --batches 2"}};

const Block& block_of(const std::string& file) {
    static const std::map<std::string, const Block*> kBlocks{
        {"fp16_pkg.sv", &kArray},
        {"skew.sv", &kArray},
        {"pe.sv", &kArray},
        {"pe_array.sv", &kArray},
        {"switch_splitter.sv", &kInterface},
        {"merge_reorder.sv", &kInterface},
        {"packetiser.sv", &kInterface},
        {"window_pkg.sv", &kWindow},
        {"window_slot.sv", &kWindow},
        {"oldest_kernel.sv", &kWindow},
        {"scheduling_window.sv", &kWindow},
        {"dot_product_pkg.sv", &kDotProducts},
        {"dot_product_engine.sv", &kDotProducts},
        {"dot_product_array.sv", &kDotProducts},
        {"line_buffer.sv", &kDotProducts},
    };
    if (const auto found = kBlocks.find(file); found != kBlocks.end()) return *found->second;
    static const std::vector<std::string> kRouter{
        "router",         "round_robin", "stage_timer",  "flit_buffer",      "route_computation",
        "multicast_copy", "input_vc",    "vc_allocator", "switch_allocator", "output_"};
    for (const std::string& prefix : kRouter)
        if (file.rfind(prefix, 0) == 0) return kNetwork;
    return kDispatcher;
}

/// Seconds after which a run counts as one that hangs.
constexpr int kLimitSeconds = 100;

std::string digits_values() {
    return " --weights configs/workloads/digits/skipnet/weights "
           "--inputs configs/workloads/digits/skipnet/input_batch0.npy";
}

struct Run {
    std::string command;
};

/// The programs in which a mutant of `block` runs.
std::vector<Run> runs_of(const Block& block) {
    std::vector<Run> runs;
    for (const std::string impl : {"rtl", "lockstep"}) {
        std::string options, settings;
        for (const std::string& setting : block.settings) {
            const std::string whole = setting + (setting.back() == '=' ? impl : "");
            options += " --set " + whole;
            settings += " " + whole;
        }
        for (const std::string& command : block.commands)
            runs.push_back({std::string(SY_SIM_MUTANTS) + " " + command + options});
        if (!block.commands.empty()) continue;
        for (const bool values : {false, true}) {
            std::string chip = std::string(SY_SIM_MUTANTS) + " run --platform " + kMini + " --image " + digits_image() +
                               " --trace " + kDigitsTrace + " --batches 1" + options;
            if (values) chip += " --set chip.functional=yes" + digits_values();
            runs.push_back({chip});
        }
        for (const char* which : {"first", "second"})
            runs.push_back({std::string(TWO_ACCELERATORS) + " " + kMini + " " + digits_image() +
                            " configs/workloads/digits/skipnet " + which + settings});
    }
    return runs;
}

struct Verdict {
    bool failed = false;
    std::string last;   ///< the last line of a run that failed
    std::string wrong;  ///< "" if the run succeeds or fails as it should
};

/// What is wrong with the last line of a run that failed in `folder`, or "".
std::string fault_of_line(const std::string& last, const Block& block, const Run& run, const std::string& folder) {
    if (!std::regex_search(last, std::regex(R"([0-9]+ (fs|ps|ns|us|ms|s): )"))) return "no time";
    if (!std::regex_search(last, std::regex(block.instance))) return "no instance";
    for (const char* which : {"first", "second"})
        if (run.command.find(std::string(" ") + which + " ") != std::string::npos &&
            last.find(std::string(which) + ".") == std::string::npos)
            return std::string("not ") + which;
    std::smatch waveform;
    if (!std::regex_search(last, waveform, std::regex(R"(; waveform: ([^ ;]+\.fst)$)"))) return "no waveform";
    try {
        const auto changes = fst_changes(folder + "/" + waveform[1].str());
        if (changes.at("clk_i") < 1) return "an empty waveform";
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

Verdict judge(const Mutant& mutant, const Run& run) {
    const Block& block = block_of(mutant.file);
    const std::string folder = scratch("chip"), out = folder + "/out", err = folder + "/err";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string root = fs::current_path().string();
    fs::create_directory_symlink(root + "/configs", folder + "/configs");
    const std::string limited = "cd " + folder + " && SWITCHYARD_MUTANT=" + std::to_string(mutant.number) +
                                " timeout " + std::to_string(kLimitSeconds) + " " + run.command + " >" + out + " 2>" +
                                err;
    const int status = std::system(limited.c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    Verdict verdict;
    verdict.failed = code != 0;
    if (code == 0 || code == 1) {  // 1: values differ from those that were expected
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".fst") verdict.wrong = "leaves " + entry.path().filename().string();
        return verdict;
    }
    std::istringstream lines(read_text(err));
    for (std::string line; std::getline(lines, line);) verdict.last = line;
    verdict.wrong = code != 2 ? "status " + std::to_string(code) : fault_of_line(verdict.last, block, run, folder);
    return verdict;
}

/// Every `stride`-th mutant: in each of the programs, or in one of them, which takes turns.
void check_chips(unsigned stride, bool each) {
    unsigned tried = 0, found = 0, number = 0;
    for (const Mutant& mutant : read_mutants(MUTANTS)) {
        if (number++ % stride != 0) continue;
        const std::vector<Run> runs = runs_of(block_of(mutant.file));
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (!each && i != tried % runs.size()) continue;
            const Verdict verdict = judge(mutant, runs[i]);
            found += verdict.failed ? 1 : 0;
            if (!verdict.wrong.empty())
                FAIL_CHECK(mutant.text() << "\n  " << runs[i].command << "\n  " << verdict.wrong << ": "
                                         << verdict.last);
            std::cout << mutant.number << '\t' << mutant.file << '\t' << i << '\t'
                      << (verdict.failed ? "fails" : "passes") << '\t' << verdict.wrong << '\t' << verdict.last
                      << std::endl;
        }
        ++tried;
    }
    std::cout << found << " runs with a mutant have failed, of " << tried << " mutants\n";
    CHECK(found > tried / 4);
}

}  // namespace

TEST_CASE("chips with mutants: the original passes in every program", "[mutants]") {
    std::vector<std::string> files{"dispatcher.sv", "pe_array.sv",          "switch_splitter.sv",
                                   "router.sv",     "scheduling_window.sv", "dot_product_array.sv"};
    for (const std::string& file : files) {
        const std::vector<Run> runs = runs_of(block_of(file));
        for (const std::size_t i : {std::size_t{1}, runs.size() - 2}) {  // on a chip, and of two accelerators
            const Run& run = runs[i];
            INFO(run.command);
            const Verdict verdict = judge({0, file, 0, "", "", "", 0}, run);
            CHECK(verdict.wrong == "");
            CHECK(!verdict.failed);
        }
    }
}

TEST_CASE("chips with mutants: a router that stands still, or is busy with nothing, is reported", "[mutants]") {
    struct Change {
        std::string file, original, mutated;
    };
    const std::vector<Change> changes{
        {"round_robin.sv", "later != '0", "later == '0"},                                    // grants nothing
        {"output_vc.sv", "held_q && !(send_i && tail_i)", "held_q || !(send_i && tail_i)"},  // frees no VC
        {"input_vc.sv", "vc_alloc_q", "~vc_alloc_q"}};                                       // busy from the reset on
    const Change& change = changes.at(GENERATE(0u, 1u, 2u));
    const std::vector<Mutant> all = read_mutants(MUTANTS);
    const auto mutant = std::find_if(all.begin(), all.end(), [&](const Mutant& one) {
        return one.file == change.file && one.original == change.original && one.mutated == change.mutated;
    });
    REQUIRE(mutant != all.end());
    const std::vector<Run> runs = runs_of(block_of(change.file));
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {  // RTL, on a chip and in two accelerators
        INFO(mutant->text() << ": " << runs[i].command);
        const Verdict verdict = judge(*mutant, runs[i]);
        CHECK(verdict.failed);
        CHECK(verdict.wrong + ": " + verdict.last == ": " + verdict.last);
    }
}

TEST_CASE("chips with mutants: a fault is reported where it is", "[mutants]") {
    check_chips(131, false);
}

TEST_CASE("chips with mutants: in every program", "[.all-mutants]") {
    check_chips(31, true);
}
