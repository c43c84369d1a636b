// SPDX-License-Identifier: Apache-2.0
#include <Vscheduling_window_covered.h>
#include <Vscheduling_window_faulty.h>

#include <deque>
#include <filesystem>

#include "switchyard/rtl/scheduling_window/lockstep_window.h"
#include "switchyard/rtl/scheduling_window/make_window_core.h"
#include "switchyard/rtl/scheduling_window/verilated_window.h"
#include "switchyard/sw_scheduler/ace/scheduled_list.h"
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/unit/ace/window_traffic.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using test::kWindowRates;
using test::run_traffic;
using test::WindowTraffic;
using testing::random_seed;

namespace {

void random_operations(const hw::WindowShape& shape, std::uint64_t operations) {
    for (std::size_t i = 0; i < kWindowRates.size(); ++i) {
        const auto window = rtl::make_window_core("lockstep", shape, "window");
        WindowTraffic traffic(shape, random_seed() + i, kWindowRates[i]);
        INFO("slots " << shape.slots << ", rates " << i);
        CHECK(run_traffic(*window, traffic, operations) == "");
    }
}

}  // namespace

TEST_CASE("scheduling window: random operations in lockstep", "[cosim]") {
    random_operations({4, 6}, 20000);
    random_operations({16, 64}, 6000);
    random_operations({32, 64}, 4000);
    random_operations({64, 255}, 1000);
}

TEST_CASE("scheduling window: ten million operations in lockstep", "[.window-long]") {
    random_operations({4, 6}, 3400000);
    random_operations({32, 64}, 20000);
}

TEST_CASE("scheduling window: the streams of ACE's workloads in lockstep", "[cosim]") {
    const std::string name =
        GENERATE(as<std::string>(), "ant", "grasp", "humanoid", "halfcheetah", "walker2d", "instanas",
                 "dynamic_routing", "condconv", "nasnet", "amoebanet", "squeezenet", "randwire");
    INFO(name);
    const std::vector<sched::GpuKernel> kernels =
        sched::read_stream_model(std::string(ACE_WORKLOADS) + "/" + name + ".yaml").generate({}).kernels;
    const hw::WindowShape shape{32, 64};
    sched::ace::ScheduledList list(shape.scheduled_kernels, sched::ace::DependenceRule::all_hazards);
    std::vector<sched::ace::WindowEntry> entries;
    for (const sched::GpuKernel& kernel : kernels) entries.push_back(list.send({kernel.reads, kernel.writes}));
    const auto window = rtl::make_window_core("lockstep", shape, "window");
    WindowTraffic traffic(shape, random_seed(), {0.9, 1.0, 1.0, 0.01, 0});
    traffic.play(entries);
    CHECK(run_traffic(*window, traffic, ~std::uint64_t{0}) == "");
    CHECK(traffic.dispatched() == kernels.size());
}

TEST_CASE("scheduling window: coverage", "[cosim][coverage]") {
    const hw::WindowShape shape{3, 3};
    for (std::size_t i = 0; i < kWindowRates.size(); ++i) {
        rtl::VerilatedWindow<Vscheduling_window_covered, false> window(shape);
        WindowTraffic traffic(shape, random_seed() + i, kWindowRates[i]);
        CHECK(run_traffic(window, traffic, 3000) == "");
        window.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/scheduling_window_" + std::to_string(i) +
                             ".dat");
    }

    // The oldest kernel executes while as many come and go as the longest list of the host has; so do long stale lists.
    const hw::WindowShape longest{3, 255};
    rtl::VerilatedWindow<Vscheduling_window_covered, false> window(longest);
    std::deque<unsigned> executing;
    unsigned next = 0, completed = 0, stale = 0;
    hw::WindowInputs in;
    in.dispatch_ready = true;
    while (completed < longest.scheduled_kernels) {
        in.entry_valid = next < longest.scheduled_kernels && stale == 0;
        in.entry_id = static_cast<sched::ace::KernelId>(next);
        in.entry_count = static_cast<std::uint8_t>(next);
        in.upstream_valid = stale > 0;
        in.upstream_id = 255;  // of no kernel here
        const bool oldest_stays = completed + 1 < longest.scheduled_kernels;
        in.complete_valid = executing.size() > (oldest_stays ? 1 : 0);
        if (in.complete_valid) in.complete_id = static_cast<sched::ace::KernelId>(executing[oldest_stays ? 1 : 0]);
        const hw::WindowOutputs out = window.settle(in);
        if (in.entry_valid && out.entry_ready) stale = next++;
        if (in.upstream_valid && out.upstream_ready) --stale;
        if (out.dispatch_valid) executing.push_back(out.dispatch_id);
        if (in.complete_valid && out.complete_ready) {
            executing.erase(executing.begin() + (oldest_stays ? 1 : 0));
            ++completed;
        }
        window.clock();
    }
    CHECK(executing.empty());
    window.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/scheduling_window_longest.dat");
}

TEST_CASE("scheduling window: lockstep finds a fault and leaves its waveform", "[cosim][bad]") {
    const hw::WindowShape shape{4, 6};
    std::string found;
    {
        rtl::LockstepWindow window(shape, "faulty",
                                   std::make_unique<rtl::VerilatedWindow<Vscheduling_window_faulty, true>>(shape));
        WindowTraffic traffic(shape, random_seed(), {0.9, 0.9, 0.9, 0.3, 0.9});
        try {
            run_traffic(window, traffic, 20000);
        } catch (const RtlFault& fault) {
            found = fault.what();
        }
    }
    CHECK_THAT(found, ContainsSubstring("the model has") && ContainsSubstring("waveform: faulty.lockstep.fst"));
    CHECK(std::filesystem::file_size("faulty.lockstep.fst") > 100);
    std::filesystem::remove("faulty.lockstep.fst");
}

TEST_CASE("scheduling window: sizes without RTL are refused", "[cosim][bad]") {
    CHECK_THROWS_WITH(rtl::make_window_core("rtl", {5, 8}, "w"), ContainsSubstring("no RTL scheduling window of 5"));
    CHECK_THROWS_AS(rtl::make_window_core("rtl", {4, 3}, "w"), std::invalid_argument);
    CHECK_NOTHROW(rtl::make_window_core("model", {5, 8}, "w"));
}
