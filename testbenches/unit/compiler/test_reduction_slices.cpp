// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "switchyard/sw_scheduler/adyna/compiler/reduction_slices.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

const std::string kResidual = with_switch(
    "  - {name: body, kind: convolution, from: s.1, out_channels: 16, filter: 3, pad: 1, fused: [bias, {add: s.1}, "
    "relu]}\n"
    "  - {name: late, kind: convolution, out_channels: 16, filter: 3, pad: 1, fused: [bias, relu, {add: body}]}\n"
    "  - {name: odd, kind: convolution, out_channels: 10, filter: 1, fused: [norm]}\n"
    "  - {name: wide, kind: convolution, out_channels: 16, filter: 1}\n"
    "  - {name: out, kind: merge, from: [s.0, wide], mode: exclusive}\n");

std::vector<unsigned> whole(const DynGraph& graph) {
    return std::vector<unsigned>(graph.operators.size(), 1);
}

}  // namespace

TEST_CASE("An operator can be cut where its channels divide and a sum may begin with what is added", "[slices]") {
    const Model model = model_of(kResidual);
    const auto op = [&model](const char* name) { return model.graph.operators[model.graph.find_operator(name)]; };
    CHECK(can_slice(op("body"), 4));
    CHECK_FALSE(can_slice(op("body"), 3));  // 16 channels
    CHECK_FALSE(can_slice(op("late"), 2));  // adds behind a ReLU
    CHECK(can_slice(op("odd"), 8));
    CHECK(can_slice(op("wide"), 5));
    CHECK_FALSE(can_slice(op("out"), 2));
    CHECK(can_slice(op("out"), 1));
    std::vector<unsigned> slices = whole(model.graph);
    slices[model.graph.find_operator("late")] = 2;
    CHECK_THROWS_AS(sliced(model.graph, slices), std::invalid_argument);
}

TEST_CASE("Partial sums are binary32 on request: of slices, and of what is made for a sum alone", "[slices]") {
    const Model model = model_of(kResidual);
    std::vector<unsigned> slices = whole(model.graph);
    slices[model.graph.find_operator("body")] = 4;
    for (const bool wide : {false, true}) {
        const SlicedGraph cut = sliced(model.graph, slices, wide);
        for (std::size_t id = 0; id < cut.graph.operators.size(); ++id) {
            const Operator& op = cut.graph.operators[id];
            INFO(op.name);
            const unsigned bytes = wide && cut.partial[id] != 0 ? 4 : 2;
            CHECK(op.shape.element_bytes == bytes);
            CHECK(op.out_bytes_per_sample == bytes * op.output().elements());
            CHECK(op.shape.operand_bytes == 2);
            for (const Source& source : op.inputs) {
                if (source.producer >= 0)
                    CHECK(source.shape.element_bytes == cut.graph.operators[source.producer].shape.element_bytes);
            }
        }
    }
    const std::string parts = with_switch(
        "  - {name: a, kind: convolution, from: s.0, out_channels: 16, filter: 1}\n"
        "  - {name: b, kind: convolution, from: s.1, out_channels: 16, filter: 1}\n"
        "  - {name: out, kind: merge, from: [a, b], mode: sum}\n");
    const std::string shared = parts +
                               "  - {name: again, kind: merge, from: [a, b], mode: sum}\n"
                               "  - {name: both, kind: elementwise, fused: [{add: out}]}\n";
    const auto bytes = [](const std::string& text, const char* name) {
        const Model one = model_of(text);
        const SlicedGraph cut = sliced(one.graph, whole(one.graph), true);
        const OperatorShape& shape = cut.graph.operators[cut.graph.find_operator(name)].shape;
        return std::pair<unsigned, unsigned>(shape.operand_bytes, shape.element_bytes);
    };
    using Bytes = std::pair<unsigned, unsigned>;
    CHECK(bytes(parts, "a") == Bytes(2, 4));
    CHECK(bytes(parts, "b") == Bytes(2, 4));
    CHECK(bytes(parts, "out") == Bytes(4, 2));
    // Somebody else takes the result of a, in binary16.
    CHECK(bytes(shared, "a") == Bytes(2, 2));
    CHECK(bytes(shared, "b") == Bytes(2, 2));
    CHECK(bytes(shared, "out") == Bytes(2, 2));
}

TEST_CASE("Slices do the operator's work, one after another", "[slices]") {
    const Model model = model_of(kResidual);
    const DynGraph& before = model.graph;
    std::vector<unsigned> slices = whole(before);
    const int body = before.find_operator("body"), odd = before.find_operator("odd");
    slices[body] = 4;
    slices[odd] = 2;
    const SlicedGraph cut = sliced(before, slices);
    const DynGraph& after = cut.graph;
    REQUIRE(after.operators.size() == before.operators.size() + 4);
    CHECK(after.total_macs_per_sample() == before.total_macs_per_sample());
    CHECK(after.total_weight_bytes() == before.total_weight_bytes());
    CHECK(std::accumulate(cut.partial.begin(), cut.partial.end(), 0) == 4);
    for (std::size_t id = 0; id < after.operators.size(); ++id) {
        const Operator& op = after.operators[id];
        CHECK(op.path == before.operators[cut.original[id]].path);
        for (const Source& source : op.inputs) CHECK(source.producer < static_cast<int>(id));
    }

    const int first = after.find_operator("body[0]");
    REQUIRE(first >= 0);
    CHECK(after.find_operator("body") == first + 3);
    for (unsigned i = 0; i < 4; ++i) {
        const Operator& slice = after.operators[first + static_cast<int>(i)];
        CHECK(slice.shape.in_channels == 4);
        CHECK(slice.shape.out_channels == 16);
        CHECK(slice.inputs.at(0).group == i);
        CHECK(slice.inputs.at(0).groups == 4);
        CHECK(slice.inputs.at(0).first_channel() == 4 * i);
        REQUIRE(slice.inputs.size() == 2);
        CHECK(slice.inputs[1].role == OperandRole::second_operand);
        CHECK(slice.fused.front() == FusedStep::add);
        CHECK(slice.fused.size() == (i == 3 ? 3u : 1u));
    }
    // The block's input is added first, the bias and the ReLU come last.
    CHECK(after.operators[first].inputs[1].switch_id == 0);
    CHECK(after.operators[first + 1].inputs[1].producer == first);
    CHECK(after.operators[first + 3].fused == std::vector<FusedStep>{FusedStep::add, FusedStep::bias, FusedStep::relu});
    const int odd_last = after.find_operator("odd");
    CHECK(after.operators[odd_last - 1].inputs.size() == 1);
    CHECK(after.operators[odd_last - 1].fused.empty());
    CHECK(after.operators[odd_last].fused == std::vector<FusedStep>{FusedStep::add, FusedStep::norm});
    CHECK(after.operators[after.find_operator("wide")].inputs.at(0).producer == odd_last);

    // Switches and outputs follow.
    CHECK(after.operators[after.switches[0].gate].gate_switch == 0);
    CHECK(after.switches[0].enclosed.size() == before.switches[0].enclosed.size() + 4);
    for (std::size_t i = 0; i < before.outputs.size(); ++i)
        CHECK(after.operators[after.outputs[i]].name == before.operators[before.outputs[i]].name);
    const std::vector<int> ids = cut.of(std::vector<int>{[&] {
        std::vector<int> all(before.operators.size());
        std::iota(all.begin(), all.end(), 0);
        return all;
    }()});
    CHECK(ids == cut.original);
}

TEST_CASE("Reductions that leave no room beside them are cut, others stay whole", "[slices]") {
    // 3072 channels of 128 rows into 768: a slot of 32 rows and weights of 32 channels fill a scratchpad of 512 KiB.
    const Model bert = read_model("configs/workloads/pabee_bert.yaml");
    const std::vector<double> all(bert.graph.operators.size(), 1.0);
    const HardwareDescription chip = large_chip();
    const std::vector<unsigned> slices =
        useful_slices(bert.graph, chip, all, chip.tiles(), 0, {}, find_design("adyna"));
    for (std::size_t op = 0; op < slices.size(); ++op) {
        const std::string& name = bert.graph.operators[op].name;
        INFO(name);
        CHECK((slices[op] > 1) == (name.size() > 5 && name.compare(name.size() - 5, 5, ".down") == 0));
    }
    const Model resnet = read_model("configs/workloads/skipnet_resnet34.yaml");
    CHECK(useful_slices(resnet.graph, chip, std::vector<double>(resnet.graph.operators.size(), 1.0), chip.tiles(), 0,
                        {}, find_design("adyna")) == whole(resnet.graph));
}

TEST_CASE("An operator that whole cannot be on the chip with its feeder is cut where memory is slow", "[slices]") {
    // The 24 MiB and 96 MiB in front of and behind BERT's first feed-forward layer: with little bandwidth, segments
    // must be cut at the small tensors. Alone, bound by its bytes, the second layer gains nothing by slices.
    const Model bert = read_model("configs/workloads/pabee_bert.yaml");
    const Design design = find_design("m-tile");
    const std::vector<double> all(bert.graph.operators.size(), 1.0);
    HardwareDescription chip = large_chip();
    for (auto& interface : chip.memory) interface.bytes_per_cycle /= 8;
    const std::vector<unsigned> slices = useful_slices(bert.graph, chip, all, chip.tiles(), 0, {}, design);
    const auto segments_of = [&](const std::vector<unsigned>& counts) {
        const SlicedGraph cut = sliced(bert.graph, counts);
        const Workload workload(cut.graph, chip, cut.of(all));
        StageSearch search(workload, chip);
        double cycles = 0;
        bool together = false;  // the last pair of feed-forward layers
        for (const SegmentPlan& plan : Segmenter(search, design, chip.tiles(), 0).best()) {
            cycles += plan.cycles;
            const int up = cut.graph.find_operator("layer12.up"), down = cut.graph.find_operator("layer12.down");
            together |= plan.first <= up && down < plan.last;
        }
        return std::make_pair(cycles, together);
    };
    const auto [cycles, together] = segments_of(slices);
    const auto [whole_cycles, whole_together] = segments_of(whole(bert.graph));
    CHECK(together);
    CHECK_FALSE(whole_together);
    CHECK(cycles < 0.7 * whole_cycles);
}

TEST_CASE("An operator of which not even all slices fit on the chip at once is cut all the same", "[slices]") {
    // BERT with 512 tokens: weights of the second feed-forward layer beside two samples of its input.
    std::ifstream file("configs/workloads/pabee_bert.yaml");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string tokens = "rows: 128";
    REQUIRE(text.find(tokens) != std::string::npos);
    text.replace(text.find(tokens), tokens.size(), "rows: 512");
    const Model bert = model_of(text);
    const Design design = find_design("m-tile");
    const std::vector<double> all(bert.graph.operators.size(), 1.0);
    const HardwareDescription chip = large_chip();
    const auto cycles = [&](const std::vector<unsigned>& slices) {
        const SlicedGraph cut = sliced(bert.graph, slices);
        const Workload workload(cut.graph, chip, cut.of(all));
        StageSearch search(workload, chip);
        double sum = 0, work = 0;
        for (const SegmentPlan& plan : Segmenter(search, design, chip.tiles(), 0).best()) sum += plan.cycles;
        for (std::size_t op = 0; op < cut.graph.operators.size(); ++op) work += workload.load(static_cast<int>(op));
        CHECK(sum > work / chip.tiles());
        CHECK(sum < 1.3 * work / chip.tiles());
        return sum;
    };
    CHECK_THROWS_AS(cycles(whole(bert.graph)), InputError);
    const std::vector<unsigned> slices = useful_slices(bert.graph, chip, all, chip.tiles(), 0, {}, design);
    CHECK(slices[static_cast<std::size_t>(bert.graph.find_operator("layer1.down"))] > 1);
    CHECK_NOTHROW(cycles(slices));
}

}  // namespace switchyard::sched
