// SPDX-License-Identifier: Apache-2.0
// Partial sums in binary32: four bytes an element wherever they lie and travel, and sums without a second rounding.

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/npy.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/testbenches/half.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::json;

namespace {

constexpr const char* kGates = "configs/workloads/digits_channel_gate.yaml";
const std::string kFolder = "configs/workloads/digits/channel_gate/";

std::string image_with(const std::string& model, const std::string& sums) {
    return compiled(model + " --platform " + kMini + " --design adyna --set pe_array.partial_sums=" + sums,
                    "sums_" + sums + ".syk");
}

json run_digits(const std::string& sums, const std::string& settings) {
    return report_of_run(
        std::string("--platform ") + kMini + " --set chip.functional=yes --set pe_array.partial_sums=" + sums +
        settings + " --image " + image_with(kGates, sums) + " --weights " + kFolder + "weights --inputs " + kFolder +
        "input_batch0.npy --expect " + kFolder + "logits_batch0.npy --bound 100 --trace " + kFolder + "routing.jsonl");
}

}  // namespace

TEST_CASE("partial sums of groups have four bytes an element in slots, in packets and in memory", "[values]") {
    const Image narrow = read_image(image_with(kGates, "fp16")), wide = read_image(image_with(kGates, "fp32"));
    CHECK(narrow.platform_fingerprint != wide.platform_fingerprint);
    std::size_t parts = 0, merges = 0;
    for (const TileProgram& tile : wide.tiles) {
        for (const OperatorPlacement& placement : tile.placements) {
            const std::string& name = wide.meta.operators.at(placement.op_id).name;
            const bool part = name.find(".part") != std::string::npos;
            CHECK(placement.shape.element_bytes == (part ? 4 : 2));
            if (placement.in_memory()) continue;
            const bool merge = placement.shape.kind == OpKind::merge;
            CHECK(placement.shape.operand_bytes == (merge ? 4 : 2));
            parts += part ? 1 : 0;
            merges += merge ? 1 : 0;
        }
        for (const Edge& edge : tile.edges) {
            if (edge.src_op == kNone || edge.path == EdgePath::mask) continue;
            const bool part = wide.meta.operators.at(edge.src_op).name.find(".part") != std::string::npos;
            CHECK(edge.element_bytes == (part ? 4 : 2));
        }
    }
    CHECK(parts >= 4 * 8);
    CHECK(merges >= 4);
    for (const TileProgram& tile : narrow.tiles)
        for (const Edge& edge : tile.edges) CHECK(edge.element_bytes == 2);
}

TEST_CASE("models of every detail add up the same partial sums", "[values]") {
    const json narrow = run_digits("fp16", ""), wide = run_digits("fp32", "");
    CHECK(narrow.at("values").at("routing").at("differences").empty());
    for (const json* one : {&narrow, &wide}) CHECK(one->at("values").at("outputs").at("different_labels") == 0);
    CHECK(narrow.at("values").at("tensors_crc32") != wide.at("values").at("tensors_crc32"));
    const auto bytes = [](const json& report, const char* what) {
        return report.at("utilisation").at(what).get<std::uint64_t>();
    };
    for (const char* const what : {"scratchpad_read_bytes", "scratchpad_write_bytes"})
        CHECK(bytes(wide, what) > bytes(narrow, what));
    // On four tiles the sums go through memory.
    CHECK(bytes(wide, "hbm_write_bytes") > 1.5 * static_cast<double>(bytes(narrow, "hbm_write_bytes")));

    const json cycle = run_digits("fp32", " --set pe_array.impl=cycle --set dispatcher.impl=walk");
    CHECK(cycle.at("values").at("tensors_crc32") == wide.at("values").at("tensors_crc32"));
}

TEST_CASE("sums in binary32 are rounded once, those in binary16 at every group", "[values]") {
    // One channel a group, weight 1: the sum of four binary16 numbers.
    constexpr std::size_t kSamples = 128, kGroups = 4;
    const std::string folder = scratch("sums");
    std::filesystem::create_directories(folder);
    write_text(scratch("sums.yaml"), R"(name: sums
batch: 128
input: {channels: 4}
layers:
  - {name: data, kind: elementwise, from: input}
  - {name: gate, kind: matmul, out_channels: 4, parameters: open}
  - {name: way, kind: switch, from: data, gate: gate, branches: 4, choose: any, threshold: -1}
  - {name: part0, kind: matmul, from: way.0, group: 0, groups: 4, out_channels: 1, parameters: sum}
  - {name: part1, kind: matmul, from: way.1, group: 1, groups: 4, out_channels: 1, parameters: sum}
  - {name: part2, kind: matmul, from: way.2, group: 2, groups: 4, out_channels: 1, parameters: sum}
  - {name: part3, kind: matmul, from: way.3, group: 3, groups: 4, out_channels: 1, parameters: sum}
  - {name: out, kind: merge, mode: sum, from: [part0, part1, part2, part3]}
)");
    platform::write_npy({{4, 4}, std::vector<float>(16, 0)}, folder + "/open.weight.npy");
    const std::vector<float> weights{static_cast<float>(Half(1.1f)), static_cast<float>(Half(0.7f)),
                                     static_cast<float>(Half(1.3f)), static_cast<float>(Half(0.9f))};
    platform::write_npy({{1, 4}, weights}, folder + "/sum.weight.npy");
    std::mt19937 random(5);
    std::vector<float> inputs;
    for (std::size_t i = 0; i < kSamples * kGroups; ++i)
        inputs.push_back(static_cast<float>(Half(static_cast<float>(random() % 4001) / 1000.0f - 2)));
    platform::write_npy({{kSamples, kGroups}, inputs}, folder + "/inputs.npy");
    for (const bool wide : {false, true}) {
        const std::string sums = wide ? "fp32" : "fp16";
        std::vector<float> expected;
        for (std::size_t sample = 0; sample < kSamples; ++sample) {
            float sum = 0;
            for (std::size_t group = 0; group < kGroups; ++group) {
                const float product = inputs[sample * kGroups + group] * weights[group];  // exact in binary32
                sum += wide ? product : static_cast<float>(Half(product));
            }
            expected.push_back(static_cast<float>(Half(sum)));
        }
        platform::write_npy({{kSamples, 1}, expected}, folder + "/expected.npy");
        const json report = report_of_run(
            std::string("--platform ") + kMini + " --set chip.functional=yes" + " --set pe_array.partial_sums=" + sums +
            " --image " + image_with(scratch("sums.yaml"), sums) + " --weights " + folder + " --inputs " + folder +
            "/inputs.npy --bound 0 --expect " + folder + "/expected.npy");
        CHECK(report.at("values").at("outputs").at("largest_error") == 0);
    }
}
