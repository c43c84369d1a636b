// SPDX-License-Identifier: Apache-2.0
// The scheduler's margins (sched::Margins) against other values, by what compiled networks take on the chip. None of
// these networks is in an experiment of the evaluation: the test `calibration_apart`.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/platform/systems/adyna/rescheduler.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

const std::vector<std::string> kNetworks{
    "testbenches/calibration/networks/gated_blocks.yaml", "testbenches/calibration/networks/exits.yaml",
    "testbenches/calibration/networks/experts.yaml",      "testbenches/calibration/networks/channel_groups.yaml",
    "testbenches/calibration/networks/patches.yaml",      "configs/workloads/digits_skipnet.yaml",
    "configs/workloads/digits_channel_gate.yaml",         "configs/workloads/digits_early_exit.yaml"};

/// What `measure` returns, from a process of its own: one simulation a process.
double measured(const std::function<double()>& measure) {
    const std::filesystem::path result =
        std::filesystem::temp_directory_path() / fmt::format("switchyard_calibration_{}", ::getpid());
    in_child([&] { std::ofstream(result) << measure(); });
    double value = 0;
    std::ifstream(result) >> value;
    std::filesystem::remove(result);
    REQUIRE(value > 0);
    return value;
}

struct Compiled {
    Compiled(const std::string& network, const sched::Margins& margins, const std::string& impl)
        : model(sched::read_model(network)) {
        chip.chip.impl = impl;
        options.margins = margins;
        image = compile_network(model, chip, options).image;
    }
    PlatformConfig chip = read_platform("configs/platforms/adyna.yaml");
    sched::Model model;
    NetworkImageOptions options;
    Image image;
};

/// Mean latency of a batch on configs/platforms/adyna.yaml, in us.
double latency_us(const std::string& network, const sched::Margins& margins) {
    constexpr std::size_t kBatches = 4;
    return measured([&] {
        const Compiled c(network, margins, "tiles");
        const RunResult run =
            run_simulation(c.chip, c.image, encode(c.image), sched::declared_routing(c.model, kBatches));
        double sum = 0;
        for (const SimulatedHost::Batch& batch : run.host.batches)
            sum += (batch.interrupt - batch.doorbell) / sc_core::sc_time(1, sc_core::SC_US);
        return sum / kBatches;
    });
}

/// Of a batch, re-scheduling included, where frequencies drift more and faster than the network declares.
double rescheduled_us(const std::string& network, const sched::Margins& margins) {
    constexpr std::size_t kBatches = 160, kInterval = 20;
    return measured([&] {
        const Compiled c(network, margins, "stages");
        sched::Model drifting = c.model;
        drifting.routing.distribution->drift_amplitude = 0.24;
        drifting.routing.distribution->drift_period_batches = kBatches;
        Rescheduler rescheduler(c.model, c.chip, c.options, c.image, expected_routes(c.model, c.options));
        RunOptions run;
        run.reschedule_interval = kInterval;
        run.reschedule = [&rescheduler](const SimulatedHost::Profile& profile) { return rescheduler(profile); };
        return run_simulation(c.chip, c.image, encode(c.image), sched::declared_routing(drifting, kBatches), run)
                   .end_ns /
               1e3 / kBatches;
    });
}

template <class Measure>
double geometric_mean(const std::vector<std::string>& networks, const std::string& margin, Measure&& measure) {
    double product = 1;
    std::cout << margin << ":";
    for (const std::string& network : networks) {
        const double us = measure(network);
        product *= us;
        std::cout << fmt::format("  {} {:.1f}", std::filesystem::path(network).stem().string(), us) << std::flush;
    }
    const double mean = std::pow(product, 1.0 / static_cast<double>(networks.size()));
    std::cout << fmt::format("  mean {:.1f} us\n", mean) << std::flush;
    return mean;
}

constexpr double kBound = 1.02;

}  // namespace

TEST_CASE("no other margins are better by more than 2 %", "[calibration]") {
    const auto mean = [](const std::string& name, const sched::Margins& margins) {
        return geometric_mean(kNetworks, name,
                              [&](const std::string& network) { return latency_us(network, margins); });
    };
    const double reference = mean("as they are", {});
    const auto try_values = [&](const char* name, auto sched::Margins::*margin, auto values) {
        for (const auto value : values) {
            sched::Margins margins;
            margins.*margin = value;
            CHECK(reference <= kBound * mean(fmt::format("{} {}", name, value), margins));
        }
    };
    try_values("smaller_units", &sched::Margins::smaller_units, std::vector<double>{0.7, 0.75, 0.8, 0.9, 0.95, 1.0});
    try_values("alike", &sched::Margins::alike, std::vector<double>{1.0, 1.03, 1.1, 1.2});
    try_values("exchanged", &sched::Margins::exchanged, std::vector<double>{0.9, 0.98, 1.0});
    try_values("slices", &sched::Margins::slices, std::vector<double>{0.7, 0.8, 0.95, 1.0});
    try_values("busy", &sched::Margins::busy, std::vector<double>{0.5, 0.6, 0.8, 0.9});
    try_values("deepest", &sched::Margins::deepest, std::vector<std::uint16_t>{2, 3, 6, 8});
    try_values("sharing", &sched::Margins::sharing, std::vector<double>{0.9, 0.94, 1.0});
}

TEST_CASE("no other share of moved load is better by more than 2 %", "[calibration]") {
    // Not those whose batches wait for the host's transfers, of which there are more or fewer by the output's layout,
    // or whose routes are recorded.
    const std::vector<std::string> networks(kNetworks.begin(), kNetworks.begin() + 4);
    const auto mean = [&](double moved) {
        sched::Margins margins;
        margins.moved = moved;
        return geometric_mean(networks, fmt::format("moved {}", moved),
                              [&](const std::string& network) { return rescheduled_us(network, margins); });
    };
    const double reference = mean(sched::Margins().moved);
    for (const double moved : {0.0, 0.02, 0.1, 0.2, 1.0}) CHECK(reference <= kBound * mean(moved));
}
