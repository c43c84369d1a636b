// SPDX-License-Identifier: Apache-2.0
// InstaNAS (arXiv 1811.10201) as in AnjieCheng/InstaNAS search/models/{instanas,base}.py, forward_single(): 17 layers,
// in each the sum of those of five blocks that the controller chooses for the image. A layer without a choice is left
// out, but if it changes the shape, the basic block stands in.
//
// The controller's choices for a data set are not published. Each block is chosen with `choice_probability`,
// independently; the network before it (the controller) is not part of the stream.
#include <array>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

struct Group {
    std::uint32_t channels, layers, stride;
};
/// For images of 32 x 32 (class MobileNet).
constexpr std::array<Group, 7> kGroups{
    {{16, 1, 1}, {24, 2, 1}, {32, 3, 2}, {64, 4, 2}, {96, 3, 1}, {160, 3, 2}, {320, 1, 1}}};

struct InvertedBlock {
    std::uint32_t side, expansion;
};
constexpr std::array<InvertedBlock, 4> kInvertedBlocks{{{3, 6}, {3, 3}, {5, 6}, {5, 3}}};
constexpr unsigned kBasicBlock = 4, kBlocks = 5;

class InstaNas {
public:
    explicit InstaNas(NetworkLayers& net) : net_(net) {}

    FeatureMap block(unsigned index, const FeatureMap& x, std::uint32_t channels, std::uint32_t stride) {
        if (index == kBasicBlock) {
            const FeatureMap y = convolved(x, channels, Filter::square(3, stride));
            return convolved(y, channels, Filter::square(3));
        }
        const InvertedBlock& shape = kInvertedBlocks[index];
        FeatureMap y = convolved(x, x.channels * shape.expansion, Filter::square(1));
        y = net_.relu(net_.batch_norm(net_.depthwise(y, Filter::square(shape.side, stride))));
        y = net_.batch_norm(net_.convolution(y, channels, Filter::square(1)));
        return stride == 1 && x.channels == channels ? net_.add(y, x) : y;
    }

    FeatureMap convolved(const FeatureMap& x, std::uint32_t channels, const Filter& filter) {
        return net_.relu(net_.batch_norm(net_.convolution(x, channels, filter)));
    }

private:
    NetworkLayers& net_;
};

GeneratedStream generate_instanas(double probability, std::uint32_t image, std::uint32_t classes,
                                  const StreamRequest& request) {
    StreamBuilder stream;
    NetworkLayers net(stream);
    InstaNas blocks(net);
    RandomSource random(request.seed, request.input);
    FeatureMap x = blocks.convolved(net.input(3, image, image), 32, Filter::square(3));
    for (const Group& group : kGroups) {
        for (std::uint32_t i = 0; i < group.layers; ++i) {
            const std::uint32_t stride = i == 0 ? group.stride : 1;
            std::vector<FeatureMap> chosen;
            for (unsigned b = 0; b < kBlocks; ++b)
                if (random.chance(probability)) chosen.push_back(blocks.block(b, x, group.channels, stride));
            if (chosen.empty() && i > 0) continue;
            if (chosen.empty()) chosen.push_back(blocks.block(kBasicBlock, x, group.channels, stride));
            x = net.sum(chosen);
        }
    }
    x = blocks.convolved(x, 1280, Filter::square(1));
    net.linear(net.global_pool(x), classes);
    return {stream.take(), net.multiply_accumulates(), net.parameters()};
}

}  // namespace

StreamGenerator read_instanas(MappingReader& file) {
    const double probability = file.number_or("choice_probability", 0, 1, 0.4);
    const auto image = static_cast<std::uint32_t>(file.integer_or("image", 8, 4096, 32));
    const auto classes = static_cast<std::uint32_t>(file.integer_or("classes", 1, 1 << 20, 10));
    return [=](const StreamRequest& request) { return generate_instanas(probability, image, classes, request); };
}

}  // namespace switchyard::sched
