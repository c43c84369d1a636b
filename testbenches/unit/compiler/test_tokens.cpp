// SPDX-License-Identifier: Apache-2.0
// Schedules of layers that work on tokens: what must stay on one tile, and labels between gates.

#include <algorithm>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

Image compiled(const Model& model, const HardwareDescription& chip, std::uint32_t unit_samples = 0) {
    const Profile profile = profile_of(model.graph, declared_routing(model, 4), model.graph.batch_samples());
    CompileOptions options;
    options.design = "adyna";
    options.profile = &profile;
    options.unit_samples = unit_samples;
    return compile(model.graph, chip, options);
}

void check_shares(const HardwareDescription& chip) {
    for (const char* const file : {"configs/workloads/digits_early_exit.yaml", "configs/workloads/digits_moe.yaml"}) {
        INFO(file << " on " << chip.name);
        const Model model = read_model(file);
        const Image image = compiled(model, chip);
        std::size_t across = 0, joined = 0;
        for (const TileProgram& program : image.tiles) {
            for (const TileOperator& op : program.operators) {
                const OperatorPlacement& placement = program.placement(op.op_id);
                if (std::any_of(op.epilogue.begin(), op.epilogue.end(), is_across_channels)) {
                    ++across;
                    CHECK(placement.k_factor == 1);
                    CHECK(op.kept_offset == op.out_slot_bytes / 3);
                }
                if (op.gate_rule == GateRule::patience) CHECK(placement.k_factor == 1);
                if (placement.shape.joined == 1) continue;
                ++joined;
                CHECK(placement.shape.joined == 8);
                CHECK(placement.unit_samples % 8 == 0);
                for (const Partition& part : placement.partitions) CHECK(keeps_groups(placement.shape, part));
                CHECK(program.order(op.segment) == nullptr);
            }
        }
        CHECK(across > 0);
        CHECK((joined > 0) == (model.graph.samples_per_input > 1));
        CHECK_NOTHROW(decode_image(encode(image), "image"));
    }
}

}  // namespace

TEST_CASE("tiles share out neither the channels of a norm nor the samples of an input", "[tokens]") {
    check_shares(mini_chip());
}

TEST_CASE("tiles of a large chip share out neither the channels of a norm nor the samples of an input",
          "[.ci-long][tokens]") {
    check_shares(large_chip());
}

TEST_CASE("gates with patience send labels along their chain", "[tokens]") {
    const Model model = read_model("configs/workloads/digits_early_exit.yaml");
    const Image image = compiled(model, mini_chip());
    const auto op_id = [&](const std::string& name) {
        return static_cast<std::uint16_t>(model.graph.find_operator(name));
    };
    std::vector<const Edge*> labels(5, nullptr);
    for (const TileProgram& program : image.tiles) {
        for (const Edge& edge : program.edges)
            if (edge.path == EdgePath::labels) labels.at(edge.switch_id) = &edge;
        for (const TileOperator& op : program.operators) {
            if (op.gate_switch == kNone) continue;
            CHECK(op.gate_rule == GateRule::patience);
            CHECK(op.gate_patience == 2);
            CHECK(op.previous_switch == (op.gate_switch == 0 ? kNone : op.gate_switch - 1));
        }
    }
    for (std::size_t i = 0; i < 4; ++i) {
        REQUIRE(labels[i] != nullptr);
        CHECK(labels[i]->src_op == op_id("heads" + std::to_string(i)));
        CHECK(labels[i]->dst_op == op_id("heads" + std::to_string(i + 1)));
    }
    CHECK(labels[4] == nullptr);  // nobody asks behind the last exit
}

TEST_CASE("micro-batches are whole inputs where samples are joined", "[tokens]") {
    const Model model = read_model("configs/workloads/digits_moe.yaml");
    CHECK_NOTHROW(compiled(model, large_chip(), 64));
    CHECK_THROWS_WITH(compiled(model, large_chip(), 4),
                      Catch::Matchers::ContainsSubstring(
                          "expected a batch of whole units of 4 samples and whole inputs of 8 in each, found "
                          "1024 samples"));
}

TEST_CASE("outputs with a result an input", "[tokens]") {
    const auto per_input = [](const char* file) {
        const Image image = compiled(read_model(file), mini_chip());
        std::vector<bool> result;
        for (const ImageMeta::Tensor& tensor : image.meta.tensors)
            if (tensor.kind == "output") result.push_back(tensor.per_input);
        return result;
    };
    CHECK(per_input("configs/workloads/digits_moe.yaml") == std::vector<bool>{true});
    CHECK(per_input("configs/workloads/digits_early_exit.yaml") == std::vector<bool>(6, false));
}

}  // namespace switchyard::sched
