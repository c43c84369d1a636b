// SPDX-License-Identifier: Apache-2.0
// SqueezeNet 1.0 (arXiv 1602.07360, table 1, and torchvision's models/squeezenet.py: no padding, pools keep partial
// windows): a 7x7 convolution, eight fire modules, a 1x1 convolution to the classes.
#include <array>

#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

struct Fire {
    std::uint32_t squeeze, expand;
    bool pool_behind;
};

constexpr std::array<Fire, 8> kFires{{{16, 64, false},
                                      {16, 64, false},
                                      {32, 128, true},
                                      {32, 128, false},
                                      {48, 192, false},
                                      {48, 192, false},
                                      {64, 256, true},
                                      {64, 256, false}}};

}  // namespace

StreamGenerator read_squeezenet(MappingReader& file) {
    const auto image = static_cast<std::uint32_t>(file.integer_or("image", 32, 4096, 224));
    const auto classes = static_cast<std::uint32_t>(file.integer_or("classes", 1, 1 << 20, 1000));
    return [image, classes](const StreamRequest&) {
        StreamBuilder stream;
        NetworkLayers net(stream);
        const Filter half = Filter::unpadded(3, 2);
        FeatureMap x = net.relu(net.convolution(net.input(3, image, image), 96, Filter::unpadded(7, 2)));
        x = net.max_pool(x, half);
        for (const Fire& fire : kFires) {
            const FeatureMap squeezed = net.relu(net.convolution(x, fire.squeeze, Filter::square(1)));
            const FeatureMap narrow = net.relu(net.convolution(squeezed, fire.expand, Filter::square(1)));
            const FeatureMap wide = net.relu(net.convolution(squeezed, fire.expand, Filter::square(3)));
            x = net.concatenate({narrow, wide});
            if (fire.pool_behind) x = net.max_pool(x, half);
        }
        net.global_pool(net.relu(net.convolution(x, classes, Filter::square(1))));
        return GeneratedStream{stream.take(), net.multiply_accumulates(), net.parameters()};
    };
}

}  // namespace switchyard::sched
