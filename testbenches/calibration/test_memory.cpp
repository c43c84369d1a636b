// hbm.impl bandwidth against hbm.impl bank: the same networks on the same chip, by how long a batch takes.

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

constexpr std::size_t kProfiledBatches = 40;
constexpr double kBound = 0.05;

struct Workload {
    std::string model, platform;
};

std::vector<Workload> workloads() {
    std::vector<Workload> all;
    for (const auto& entry : std::filesystem::directory_iterator("configs/workloads")) {
        if (entry.path().extension() != ".yaml") continue;
        const std::string name = entry.path().stem();
        all.push_back({name, name.rfind("digits_", 0) == 0 ? "mini" : "adyna"});
    }
    std::sort(all.begin(), all.end(), [](const Workload& a, const Workload& b) { return a.model < b.model; });
    return all;
}

/// Cycles of one batch, all tiles simulated.
double batch_cycles(const Workload& workload, const std::string& impl) {
    const std::filesystem::path result =
        std::filesystem::temp_directory_path() / fmt::format("switchyard_memory_{}", ::getpid());
    in_child([&] {
        const PlatformConfig chip = read_platform("configs/platforms/" + workload.platform + ".yaml",
                                                  {{"chip.impl", "tiles"}, {"hbm.impl", impl}});
        const sched::Model model = sched::read_model("configs/workloads/" + workload.model + ".yaml");
        sched::CompileOptions options;
        const sched::Profile profile = sched::profile_of(model.graph, sched::declared_routing(model, kProfiledBatches),
                                                         model.graph.batch_samples());
        options.profile = &profile;
        const Image image = sched::compile(model.graph, make_hardware_description(chip), options);
        const RunResult run = run_simulation(chip, image, encode(image), sched::declared_routing(model, 1));
        std::ofstream(result) << run.host.batches.at(0).chip_cycles;
    });
    double cycles = 0;
    std::ifstream(result) >> cycles;
    std::filesystem::remove(result);
    REQUIRE(cycles > 0);
    return cycles;
}

}  // namespace

TEST_CASE("the bandwidth model is within 5 % of the banks on every workload", "[calibration][memory]") {
    const std::vector<Workload> all = workloads();
    REQUIRE(all.size() >= 12);
    for (const Workload& workload : all) {
        CAPTURE(workload.model);
        const double fast = batch_cycles(workload, "bandwidth"), bank = batch_cycles(workload, "bank");
        std::cout << fmt::format("{:<22} bandwidth {:>10.0f}  bank {:>10.0f} cycles  {:+.1f} %\n", workload.model, fast,
                                 bank, 100 * (bank / fast - 1))
                  << std::flush;
        CHECK(fast == Approx(bank).epsilon(kBound));
    }
}
