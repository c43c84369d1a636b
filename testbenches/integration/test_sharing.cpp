// SPDX-License-Identifier: Apache-2.0
// Tile sharing (Adyna, section V-B): branches whose sizes swing get through sooner when either may use some of the
// other's tiles, and compute the same.

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/conservation.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;
using nlohmann::json;

namespace {

constexpr const char* kSwing = "testbenches/data/swing.yaml";
constexpr const char* kChip = " --platform configs/platforms/adyna.yaml";

std::string compile(const std::string& model, const std::string& options) {
    return compiled(model + kChip + " --design adyna" + options);
}

bool shares(const std::string& image) {
    return sy_sched("inspect " + image).out.find("    shares ") != std::string::npos;
}

json run_shared(const std::string& image, const std::string& chip, const std::string& options = "") {
    return report_of_run("--image " + image + kChip + " --batches 12 --set chip.impl=" + chip + options);
}

void check_shared_tiles(const std::string& chip) {
    CAPTURE(chip);
    const std::string image = compile(kSwing, "");
    REQUIRE(shares(image));
    const json together = run_shared(image, chip);
    const std::string separate = compile(kSwing, " --without sharing");
    REQUIRE_FALSE(shares(separate));
    const json apart = run_shared(separate, chip);
    CHECK(mean_latency_us(together) < 0.95 * mean_latency_us(apart));
    for (std::size_t batch = 0; batch < 12; ++batch)
        CHECK(together.at("batches").at(batch).at("macs") == apart.at("batches").at(batch).at("macs"));
}

}  // namespace

TEST_CASE("branches whose sizes swing take less time on shared tiles, for the same work", "[sharing]") {
    check_shared_tiles("stages");
}

TEST_CASE("branches whose sizes swing take less time on shared tiles, tile by tile too", "[.ci-long][sharing]") {
    check_shared_tiles("tiles");
}

TEST_CASE("pipelines choose the allocations that tiles choose", "[sharing][stages]") {
    const std::string image = compile(kSwing, "");
    const json tiles = run_shared(image, "tiles"), stages = run_shared(image, "stages");
    constexpr double kBound = 0.15;  // stages let a transfer hold its links for too long here (docs/models/stages.md)
    CHECK(std::abs(mean_latency_us(stages) / mean_latency_us(tiles) - 1) < kBound);
    for (const char* const counter :
         {"pe_array.macs", "pe_array.busy_cycles", "dispatcher.dispatches", "dispatcher.blocks_issued",
          "dispatcher.blocks_skipped", "controller.units", "controller.empty_units", "network_interface.sent_bytes",
          "network_interface.delivered_copy_bytes", "network_interface.samples_sent"}) {
        CAPTURE(counter);
        CHECK(stages.at("counters").at(counter) == tiles.at("counters").at(counter));
    }
    CHECK(stages.at("operators") == tiles.at("operators"));
}

TEST_CASE("the profile of an operator on shared tiles is that of all its allocations", "[sharing]") {
    const std::string profile = scratch("sharing_profile.json");
    run_shared(compile(kSwing, ""), "stages", " --write-profile " + profile);
    const json counted = read_json(profile);
    for (const char* const branch : {"left", "right"}) {
        const json& one = counted.at("operators").at(branch);
        unsigned units = 0;
        for (const json& count : one.at("kernels")) units += count.get<unsigned>();
        CHECK(units == 12 * 512 / one.at("unit_samples").get<unsigned>());
    }
    // Other designs read it, and so does the one that wrote it.
    compile(kSwing, " --without sharing --profile " + profile);
    CHECK(shares(compile(kSwing, " --profile " + profile)));
}

TEST_CASE("the host schedules branches with shared tiles anew while they run", "[sharing]") {
    const std::string image = compile(kSwing, "");
    const json report = run_shared(image, "stages", " --reschedule 4 --model " + std::string(kSwing));
    CHECK(report.at("batches").size() == 12);
}

namespace {

void check_that_sharing_brings_nothing(const std::string& model) {
    CAPTURE(model);
    const auto program = [&](const char* options) {  // whatever it says of its design
        const std::string text = read_text(compile(model, options));
        Image image = decode_image({text.begin(), text.end()}, model);
        image.meta.without.clear();
        return encode(image);
    };
    CHECK((program("") == program(" --without sharing")));
}

}  // namespace

TEST_CASE("a network in which sharing brings nothing is compiled as without it", "[sharing]") {
    check_that_sharing_brings_nothing(
        GENERATE(as<std::string>{}, "testbenches/data/moe16.yaml", "configs/workloads/digits_skipnet.yaml"));
}

TEST_CASE("FBSNet, in which sharing brings nothing, is compiled as without it", "[.ci-long][sharing]") {
    check_that_sharing_brings_nothing("configs/workloads/fbsnet_mcifarnet.yaml");
}

TEST_CASE("the digits are recognised on shared tiles too", "[sharing][values]") {
    const std::string name = "channel_gate";
    const std::string folder = "configs/workloads/digits/" + name;
    in_child([&] {
        const PlatformConfig platform =
            read_platform(kMini, {{"chip.functional", "yes"}, {"chip.columns", "8"}, {"chip.rows", "4"}});
        const sched::Model model = sched::read_model("configs/workloads/digits_" + name + ".yaml");
        const sched::Profile profile =
            sched::profile_of(model.graph, sched::declared_routing(model, 4), model.graph.batch_samples());
        sched::CompileOptions options;
        options.profile = &profile;
        options.without = {"grouping"};
        options.margins.sharing = 1e9;  // whatever it costs
        const std::vector<std::uint8_t> bytes =
            encode(sched::compile(model.graph, make_hardware_description(platform), options));
        const Image image = decode_image_for(platform, bytes, name);
        CHECK(sched::explain(image).find("    shares ") != std::string::npos);
        NetworkValues values(image, folder + "/weights", folder + "/input_batch0.npy");
        const std::uint32_t samples = image.meta.batch_samples;
        const std::vector<BatchRouting> none(
            1, BatchRouting{samples, {image.meta.switches.size(), std::vector<std::uint64_t>(samples, 0)}});
        RunOptions run_options;
        run_options.values = &values;
        const RunResult result = run_simulation(platform, image, bytes, none, run_options);
        const NpyArray expected = read_npy(folder + "/logits_batch0.npy");
        const OutputComparison found = compare_outputs(values.output(), expected, 1e9);
        CHECK(found.samples == samples);
        CHECK(found.wrong_labels == 0);
        for (const Check& check :
             check_conservation(platform, image, {expect(image, result.host.routed.at(0))}, result)) {
            INFO(check.name);
            CHECK(check.ok);
        }
    });
}
