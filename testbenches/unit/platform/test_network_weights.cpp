// SPDX-License-Identifier: Apache-2.0
// Files of weights, and the slices that a chip gets of them.

#include <cstring>
#include <string>
#include <vector>

#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/systems/adyna/network_weights.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/half.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

class WeightFolder : public ScratchFolder {
public:
    WeightFolder() : ScratchFolder("switchyard-weights") {}
    /// 0, 1, 2, ... from `first` on.
    void count(const std::string& name, std::vector<std::size_t> shape, float first = 0) const {
        NpyArray array{std::move(shape), {}};
        std::size_t values = 1;
        for (const std::size_t size : array.shape) values *= size;
        for (std::size_t i = 0; i < values; ++i) array.values.push_back(first + static_cast<float>(i));
        write_npy(array, file(name + ".npy"));
    }
};

struct Matmul {
    ImageMeta::Operator meta;
    OperatorPlacement placement;
    TileOperator op;

    Matmul(unsigned in, unsigned out, unsigned k_factor = 1) {
        meta.name = "m";
        meta.parameters = "p";
        placement.shape.in_channels = static_cast<std::uint16_t>(in);
        placement.shape.out_channels = static_cast<std::uint16_t>(out);
        placement.k_factor = static_cast<std::uint16_t>(k_factor);
        placement.partitions = {{4, 1, 1}};
    }
    /// Numbers of a slice.
    std::vector<float> slice(const WeightFolder& folder, std::size_t ik, std::size_t count) const {
        const auto slices = weight_slices("model.yaml", folder.path(), meta, placement, op, 2 * count);
        REQUIRE(slices.size() == placement.k_factor);
        REQUIRE(slices[ik].size() == 2 * count);
        std::vector<float> numbers;
        for (std::size_t i = 0; i < count; ++i) {
            Half half;
            std::memcpy(&half, &slices[ik][2 * i], sizeof half);
            numbers.push_back(static_cast<float>(half));
        }
        return numbers;
    }
    std::string error(const WeightFolder& folder) const {
        try {
            weight_slices("model.yaml", folder.path(), meta, placement, op, 64);
        } catch (const InputError& error) {
            const std::string message = error.what();
            const std::size_t at = message.find(folder.path());
            return at == std::string::npos ? message : message.substr(at + folder.path().size() + 1);
        }
        return "";
    }
};

}  // namespace

TEST_CASE("weights, then the values of each step, of the slice's channels", "[weights]") {
    const WeightFolder folder;
    folder.count("p.weight", {4, 2});
    folder.count("p.bias", {4}, 100);
    folder.count("n.weight", {4}, 200);
    folder.count("n.bias", {4}, 300);
    folder.count("pos", {3, 4}, 400);  // token, channel
    Matmul m(2, 4, 2);
    m.meta.norm_parameters = "n";
    m.meta.position_parameters = "pos";
    m.op.epilogue = {EpilogueStep::bias, EpilogueStep::position, EpilogueStep::layer_norm};
    m.op.position_tokens = 3;
    CHECK(m.slice(folder, 1, 16) ==
          std::vector<float>{4, 5, 6, 7, 102, 103, 402, 406, 410, 403, 407, 411, 202, 203, 302, 303});
    m.meta.weight_scale = 0.5;
    CHECK(m.slice(folder, 0, 16) ==
          std::vector<float>{0, 0.5, 1, 1.5, 100, 101, 400, 404, 408, 401, 405, 409, 200, 201, 300, 301});
}

TEST_CASE("an expert's matrix is in, out in the file", "[weights]") {
    const WeightFolder folder;
    folder.count("p", {2, 3, 2});
    Matmul m(3, 2);
    m.meta.expert = 1;
    CHECK(m.slice(folder, 0, 6) == std::vector<float>{6, 8, 10, 7, 9, 11});
    m.meta.expert = 2;
    CHECK(m.error(folder) ==
          "p.npy: shape: expected more than 2 experts of 3 x 2 weights for operator m, found (2, 3, 2)");
}

TEST_CASE("queries, keys and values are put head by head", "[weights]") {
    const WeightFolder folder;
    folder.count("in_proj_weight", {12, 1});
    folder.count("in_proj_bias", {12}, 20);
    Matmul m(1, 12);
    m.meta.parameters = "in_proj_";
    m.meta.heads = 2;
    m.op.epilogue = {EpilogueStep::bias};
    CHECK(m.slice(folder, 0, 24) ==
          std::vector<float>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11, 20, 21, 24, 25, 28, 29, 22, 23, 26, 27, 30, 31});
}

TEST_CASE("files of weights that are missing or of another shape", "[weights]") {
    const WeightFolder folder;
    Matmul m(2, 4);
    CHECK(m.error(folder).find("p.weight.npy: ") == 0);
    folder.count("p.weight", {4, 3});
    CHECK(m.error(folder) == "p.weight.npy: shape: expected 4 channels of 2 weights for operator m, found (4, 3)");
    folder.count("p.weight", {4, 2});
    CHECK(m.error(folder).empty());
    m.op.epilogue = {EpilogueStep::layer_norm};
    CHECK(m.error(folder) ==
          "model.yaml: m: expected parameters for its weights, found none; name them in the model file");
    m.op.epilogue = {EpilogueStep::position};
    m.op.position_tokens = 3;
    CHECK(m.error(folder) ==
          "model.yaml: m: expected parameters for its positions, found none; name them in the model file");
    m.meta.position_parameters = "pos";
    folder.count("pos", {4, 3});
    CHECK(m.error(folder) == "pos.npy: shape: expected 3 tokens of 4 channels for operator m, found (4, 3)");
    m.meta.parameters.clear();
    CHECK(m.error(folder) ==
          "model.yaml: m: expected parameters for its weights, found none; name them in the model file");
}

TEST_CASE("layers whose results are channels of a group take their part of the files of all groups", "[weights]") {
    const WeightFolder folder;
    const unsigned groups = 4, own = 3, filter = 2;
    folder.count("all.weight", {groups * own, 1, filter, filter});
    folder.count("all.bias", {groups * own}, 100);
    folder.count("own.weight", {own, 1, filter, filter});
    folder.count("own.bias", {own}, 100);
    for (unsigned group = 0; group < groups; ++group) {
        CAPTURE(group);
        Matmul depthwise(own, own);
        depthwise.placement.shape.kind = OpKind::depthwise;
        depthwise.placement.shape.filter_rows = depthwise.placement.shape.filter_columns = filter;
        depthwise.op.epilogue = {EpilogueStep::bias};
        depthwise.meta.group = static_cast<std::uint16_t>(group);
        depthwise.meta.groups = groups;
        depthwise.meta.parameters = "all";
        const std::size_t weights = std::size_t{own} * filter * filter;
        const std::vector<float> taken = depthwise.slice(folder, 0, weights + own);
        for (std::size_t i = 0; i < weights; ++i) CHECK(taken[i] == static_cast<float>(group * weights + i));
        for (std::size_t i = 0; i < own; ++i) CHECK(taken[weights + i] == static_cast<float>(100 + group * own + i));
        depthwise.meta.parameters = "own";
        CHECK(depthwise.slice(folder, 0, weights + own).front() == 0);
        depthwise.meta.groups = groups + 1;
        depthwise.meta.parameters = "all";
        CHECK(depthwise.error(folder).find(", found (12, 1, 2, 2)") != std::string::npos);
    }
}
