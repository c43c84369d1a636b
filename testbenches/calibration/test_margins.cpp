// The scheduler's margins (sched::Margins) against other values, by what the compiled networks take on the chip.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "switchyard/platform/simulation.h"
#include "switchyard/sw_scheduler/backend/compile.h"
#include "switchyard/sw_scheduler/model/model_reader.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

constexpr std::size_t kProfiledBatches = 40, kBatches = 8;
const std::vector<std::string> kNetworks{"skipnet_resnet34", "skipnet_resnet101"};

/// Mean latency of a batch on configs/platforms/adyna.yaml, in us.
double latency_us(const std::string& network, const sched::Margins& margins) {
    const std::filesystem::path result =
        std::filesystem::temp_directory_path() / fmt::format("switchyard_calibration_{}", ::getpid());
    in_child([&] {
        const PlatformConfig chip = read_platform("configs/platforms/adyna.yaml");
        const sched::Model model = sched::read_model("configs/workloads/" + network + ".yaml");
        sched::CompileOptions options;
        const sched::Profile profile = sched::profile_of(model.graph, sched::declared_routing(model, kProfiledBatches),
                                                         model.graph.batch_samples());
        options.profile = &profile;
        options.margins = margins;
        const Image image = sched::compile(model.graph, make_hardware_description(chip), options);
        const RunResult run = run_simulation(chip, image, encode(image), sched::declared_routing(model, kBatches));
        double sum = 0;
        for (const SimulatedHost::Batch& batch : run.host.batches)
            sum += (batch.interrupt - batch.doorbell) / sc_core::sc_time(1, sc_core::SC_US);
        std::ofstream(result) << sum / kBatches;
    });
    double mean = 0;
    std::ifstream(result) >> mean;
    std::filesystem::remove(result);
    REQUIRE(mean > 0);
    return mean;
}

/// The geometric mean over the networks, which the table that is printed has one by one.
double latency_us(const sched::Margins& margins) {
    double product = 1;
    std::cout << fmt::format("smaller_units {:.2f}, alike {:.2f}, deepest {}:", margins.smaller_units, margins.alike,
                             margins.deepest);
    for (const std::string& network : kNetworks) {
        const double latency = latency_us(network, margins);
        product *= latency;
        std::cout << fmt::format("  {} {:.1f} us", network, latency) << std::flush;
    }
    const double mean = std::pow(product, 1.0 / static_cast<double>(kNetworks.size()));
    std::cout << fmt::format("  mean {:.1f} us\n", mean);
    return mean;
}

}  // namespace

TEST_CASE("no other margins are better by more than 2 %", "[calibration]") {
    constexpr double kBound = 1.02;
    const sched::Margins used;
    const double reference = latency_us(used);
    for (const double smaller_units : {0.7, 0.75, 0.8, 0.9, 0.95, 1.0}) {
        sched::Margins margins = used;
        margins.smaller_units = smaller_units;
        CHECK(reference <= kBound * latency_us(margins));
    }
    for (const double alike : {1.0, 1.03, 1.1, 1.2}) {
        sched::Margins margins = used;
        margins.alike = alike;
        CHECK(reference <= kBound * latency_us(margins));
    }
    for (const std::uint16_t deepest : {2, 3, 6, 8}) {
        sched::Margins margins = used;
        margins.deepest = deepest;
        CHECK(reference <= kBound * latency_us(margins));
    }
}
