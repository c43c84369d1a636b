// SPDX-License-Identifier: Apache-2.0
// CondConv (arXiv 1904.04971) on EfficientNet (arXiv 1905.11946). A block's routing weights are pool -> linear ->
// sigmoid; each of its convolutions first mixes the weights of its experts and then convolves. As in the authors'
// EfficientNet-CondConv and in timm (efficientnet_cc_b0_4e) the blocks of the last three stages have experts, and the
// convolutions of a block share the routing weights. Width and depth scale as in EfficientNet: B4 is 1.4 and 1.8, 380.
#include <array>
#include <cmath>

#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

struct Stage {
    std::uint32_t side, stride, expansion, channels, blocks;
};
/// EfficientNet-B0.
constexpr std::array<Stage, 7> kStages{{{3, 1, 1, 16, 1},
                                        {3, 2, 6, 24, 2},
                                        {5, 2, 6, 40, 2},
                                        {3, 2, 6, 80, 3},
                                        {5, 1, 6, 112, 3},
                                        {5, 2, 6, 192, 4},
                                        {3, 1, 6, 320, 1}}};
constexpr unsigned kFirstExpertStage = 4;

struct Scaled {
    double width = 1.4, depth = 1.8;
    std::uint32_t image = 380, classes = 1000, experts = 4;

    /// Rounded to a multiple of 8, by no more than a tenth down.
    std::uint32_t channels(std::uint32_t base) const {
        const double wanted = width * base;
        auto rounded = std::max<std::uint32_t>(8, static_cast<std::uint32_t>(wanted + 4) / 8 * 8);
        if (rounded < 0.9 * wanted) rounded += 8;
        return rounded;
    }
    std::uint32_t blocks(std::uint32_t base) const { return static_cast<std::uint32_t>(std::ceil(depth * base)); }
};

class EfficientNet {
public:
    explicit EfficientNet(const Scaled& size) : size_(size), net_(stream_) {}

    GeneratedStream generate() {
        FeatureMap x = norm_swish(
            net_.convolution(net_.input(3, size_.image, size_.image), size_.channels(32), Filter::square(3, 2)));
        for (unsigned i = 0; i < kStages.size(); ++i)
            for (std::uint32_t b = 0; b < size_.blocks(kStages[i].blocks); ++b)
                x = block(x, kStages[i], b == 0 ? kStages[i].stride : 1,
                          size_.experts > 1 && i >= kFirstExpertStage ? size_.experts : 1);
        x = norm_swish(net_.convolution(x, size_.channels(1280), Filter::square(1)));
        net_.linear(net_.global_pool(x), size_.classes);
        return {stream_.take(), net_.multiply_accumulates(), net_.parameters()};
    }

private:
    FeatureMap block(const FeatureMap& x, const Stage& stage, std::uint32_t stride, std::uint32_t experts) {
        const std::uint32_t wide = x.channels * stage.expansion, channels = size_.channels(stage.channels);
        const Filter filter = Filter::square(stage.side, stride);
        FeatureMap routing;
        if (experts > 1) routing = net_.sigmoid(net_.linear(net_.global_pool(x), experts));
        const auto pointwise = [&](const FeatureMap& input, std::uint32_t outputs) {
            if (experts == 1) return net_.convolution(input, outputs, Filter::square(1));
            return net_.convolution(input, outputs, Filter::square(1),
                                    net_.mix_weights(routing, experts, std::uint64_t{input.channels} * outputs));
        };
        FeatureMap y = x;
        if (stage.expansion > 1) y = norm_swish(pointwise(y, wide));
        if (experts == 1) {
            y = net_.depthwise(y, filter);
        } else {
            const std::uint64_t weights = std::uint64_t{wide} * filter.rows * filter.columns;
            y = net_.depthwise(y, filter, net_.mix_weights(routing, experts, weights));
        }
        y = norm_swish(y);
        y = squeeze_excite(y, std::max<std::uint32_t>(1, x.channels / 4));
        y = net_.batch_norm(pointwise(y, channels));
        return stride == 1 && x.channels == channels ? net_.add(y, x) : y;
    }

    FeatureMap squeeze_excite(const FeatureMap& x, std::uint32_t narrow) {
        const FeatureMap squeezed = net_.swish(net_.convolution(net_.global_pool(x), narrow, Filter::square(1)));
        return net_.scale(x, net_.sigmoid(net_.convolution(squeezed, x.channels, Filter::square(1))));
    }

    FeatureMap norm_swish(const FeatureMap& x) { return net_.swish(net_.batch_norm(x)); }

    const Scaled& size_;
    StreamBuilder stream_;
    NetworkLayers net_;
};

}  // namespace

StreamGenerator read_condconv(MappingReader& file) {
    Scaled size;
    size.width = file.number_or("width", 0.1, 10, size.width);
    size.depth = file.number_or("depth", 0.1, 10, size.depth);
    size.image = static_cast<std::uint32_t>(file.integer_or("image", 32, 4096, size.image));
    size.classes = static_cast<std::uint32_t>(file.integer_or("classes", 1, 1 << 20, size.classes));
    size.experts = static_cast<std::uint32_t>(file.integer_or("experts", 1, 256, size.experts));
    return [size](const StreamRequest&) { return EfficientNet(size).generate(); };
}

}  // namespace switchyard::sched
