// SPDX-License-Identifier: Apache-2.0
// The trained digits network computed on the chip: against PyTorch, against its recorded routes, and with RTL.

#include <algorithm>
#include <cmath>

#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/conservation.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

constexpr const char* kFolder = "configs/workloads/digits/skipnet";

struct Inference {
    RunResult result;
    NpyArray output;
    std::vector<Check> checks;
};

Inference infer(const std::map<std::string, std::string>& overrides, const std::string& file = digits_image()) {
    std::map<std::string, std::string> settings = overrides;
    settings["chip.functional"] = "on";
    const PlatformConfig platform = read_platform(kMini, settings);
    const std::string text = read_text(file);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    const Image image = decode_image_for(platform, bytes, "digits");
    NetworkValues values(image, std::string(kFolder) + "/weights", std::string(kFolder) + "/input_batch0.npy");
    const std::uint32_t samples = image.meta.batch_samples;
    const std::vector<BatchRouting> none(
        1, BatchRouting{samples, {image.meta.switches.size(), std::vector<std::uint64_t>(samples, 0)}});
    RunOptions options;
    options.values = &values;
    Inference inference;
    inference.result = run_simulation(platform, image, bytes, none, options);
    inference.output = values.output();
    const std::vector<BatchRouting>& routed = inference.result.host.routed;
    inference.checks = check_conservation(platform, image, {expect(image, routed.at(0))}, inference.result);
    return inference;
}

/// What rounding to binary16 does to a logit: weights and results are each rounded by at most 2^-11 of their size in
/// the 18 layers that a sample passes (stem, 8 x 2 convolutions, head), and 36 independent errors add up like sqrt(36).
double rounding_bound(const NpyArray& logits) {
    double largest = 0;
    for (const float logit : logits.values) largest = std::max(largest, std::abs(double{logit}));
    return std::sqrt(36.0) * std::ldexp(1.0, -11) * largest;
}

void check_against_pytorch(const Inference& inference) {
    const NpyArray expected = read_npy(std::string(kFolder) + "/logits_batch0.npy");
    const double bound = rounding_bound(expected);
    const OutputComparison found = compare_outputs(inference.output, expected, bound);
    UNSCOPED_INFO("largest error " << found.largest_error << ", mean " << found.mean_error << ", bound " << bound);
    CHECK(found.samples == 128);
    CHECK(found.largest_error > 0);  // binary32 and binary16 cannot agree
    CHECK(found.largest_error < bound);
    CHECK(found.wrong_labels == 0);
    for (const Check& check : inference.checks) {
        INFO(check.name);
        CHECK(check.ok);
    }
}

}  // namespace

TEST_CASE("the chip computes what PyTorch computed, and takes the routes that it took", "[values]") {
    const std::string acc = GENERATE("fp32", "fp16");
    in_child([&] {
        const Inference inference = infer({{"pe_array.acc", acc}});
        check_against_pytorch(inference);
        const std::string text = read_text(digits_image());
        const Image image = decode_image({text.begin(), text.end()}, "digits");
        const std::vector<BatchRouting> recorded = read_trace(kDigitsTrace, signatures_of(image.meta), 128, 1);
        REQUIRE(inference.result.host.routed.size() == 1);
        for (std::size_t s = 0; s < recorded[0].masks.size(); ++s) {
            INFO(image.meta.switches[s].name);
            CHECK(inference.result.host.routed[0].masks[s] == recorded[0].masks[s]);
        }
    });
}

TEST_CASE("with reductions in slices the chip computes the same up to rounding", "[values]") {
    const sched::Model model = sched::read_model("configs/workloads/digits_skipnet.yaml");
    sched::CompileOptions options;
    options.margins.slices = 100;  // whatever it costs
    options.margins.busy = 2;
    const Image image = sched::compile(model.graph, make_hardware_description(read_platform(kMini)), options);
    const std::string file = scratch("slices.syk");
    write_image(image, file);
    const auto partial = std::count_if(image.meta.operators.begin(), image.meta.operators.end(),
                                       [](const ImageMeta::Operator& op) { return op.partial; });
    CHECK(partial >= 8);
    in_child([&] { check_against_pytorch(infer({}, file)); });
}

namespace {

/// "cycles N" and a line for each tensor that is left in HBM. Children cannot hand results over but through files.
std::string cycles_and_tensors(const std::map<std::string, std::string>& overrides) {
    const std::string file = scratch("tensors");
    in_child([&] {
        const Inference inference = infer(overrides);
        check_against_pytorch(inference);
        std::string text = "cycles " + std::to_string(inference.result.host.batches.at(0).chip_cycles) + "\n";
        for (const auto& [name, crc] : inference.result.tensors) text += name + " " + std::to_string(crc) + "\n";
        CHECK(inference.result.tensors.size() > 10);
        write_text(file, text);
    });
    return read_text(file);
}

std::string bits(const std::string& text) {
    return text.substr(text.find('\n'));
}

}  // namespace

TEST_CASE("models of every detail leave the same bits in HBM in the same cycles", "[values]") {
    const auto run = [](const std::string& array, const std::string& dispatcher) {
        return cycles_and_tensors({{"pe_array.impl", array}, {"dispatcher.impl", dispatcher}});
    };
    const std::string cycle = run("cycle", "walk"), analytic = run("analytic", "analytic");
    CHECK(bits(cycle) == bits(analytic));
#if defined(SWITCHYARD_RTL)
    CHECK(run("rtl", "rtl") == cycle);
#endif
    const auto cycles = [](const std::string& text) { return std::stod(text.substr(7)); };
    CHECK(std::abs(cycles(analytic) / cycles(cycle) - 1) < 0.001);
}

TEST_CASE("whether tiles read together or each for itself, the same bits are left in HBM", "[values]") {
    const auto run = [](const std::string& reads) {
        return cycles_and_tensors({{"network_interface.memory_reads", reads}});
    };
    CHECK(bits(run("unicast")) == bits(run("multicast")));
}
