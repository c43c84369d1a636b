// SPDX-License-Identifier: Apache-2.0
// AmoebaNet-D (arXiv 1802.01548) as in kakaobrain/torchgpipe benchmarks/models/amoebanet: genotype, operations, cells.
// Its sizes (layers, filters) are those of GPipe (arXiv 1811.06965, table 1).
#include <array>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

enum class AmoebaOperation { convolution1, convolution3, convolution7, average3, max2, none };

struct AmoebaBranch {
    unsigned input;
    AmoebaOperation operation;
};

struct AmoebaCell {
    std::array<AmoebaBranch, 10> branches;
    std::vector<unsigned> outputs;
    std::uint32_t stride;  ///< of what reads the cell's inputs
};

/// What the genotype calls max_pool_3x3 is an average pool in that repository.
const AmoebaCell& normal_cell() {
    static const AmoebaCell kCell{{{{1, AmoebaOperation::convolution1},
                                    {1, AmoebaOperation::average3},
                                    {1, AmoebaOperation::none},
                                    {0, AmoebaOperation::convolution7},
                                    {0, AmoebaOperation::convolution1},
                                    {0, AmoebaOperation::convolution7},
                                    {2, AmoebaOperation::average3},
                                    {2, AmoebaOperation::none},
                                    {1, AmoebaOperation::average3},
                                    {5, AmoebaOperation::convolution1}}},
                                  {0, 3, 4, 6},
                                  1};
    return kCell;
}

const AmoebaCell& reduction_cell() {
    static const AmoebaCell kCell{{{{0, AmoebaOperation::max2},
                                    {0, AmoebaOperation::average3},
                                    {2, AmoebaOperation::none},
                                    {1, AmoebaOperation::convolution3},
                                    {2, AmoebaOperation::convolution7},
                                    {2, AmoebaOperation::average3},
                                    {3, AmoebaOperation::none},
                                    {1, AmoebaOperation::max2},
                                    {2, AmoebaOperation::average3},
                                    {3, AmoebaOperation::convolution1}}},
                                  {4, 5, 6},
                                  2};
    return kCell;
}

class AmoebaNet {
public:
    AmoebaNet(NetworkLayers& net, std::uint32_t channels) : net_(net), channels_(channels) {}

    void stem(const FeatureMap& image) {
        x_ = net_.batch_norm(net_.convolution(net_.relu(image), channels_, Filter::square(3, 2)));
        skip_ = x_;
    }

    void append(const AmoebaCell& cell) {
        if (cell.stride == 2) channels_ *= 2;
        const FeatureMap input = x_;
        std::vector<FeatureMap> states{relu_conv_norm(x_, channels_, Filter::square(1)), fitted(skip_)};
        for (std::size_t i = 0; i < cell.branches.size(); i += 2)
            states.push_back(
                net_.add(apply(cell.branches[i], states, cell), apply(cell.branches[i + 1], states, cell)));
        std::vector<FeatureMap> outputs;
        for (const unsigned index : cell.outputs) outputs.push_back(states.at(index));
        x_ = net_.concatenate(outputs);
        skip_ = input;
        reduced_before_ = cell.stride == 2;
    }

    void classify(std::uint32_t classes) { net_.linear(net_.global_pool(x_), classes); }

private:
    FeatureMap relu_conv_norm(const FeatureMap& x, std::uint32_t channels, const Filter& filter) {
        return net_.batch_norm(net_.convolution(net_.relu(x), channels, filter));
    }

    FeatureMap factorized_reduce(const FeatureMap& x, std::uint32_t channels) {
        const FeatureMap active = net_.relu(x);
        const FeatureMap one = net_.convolution(active, channels / 2, Filter::square(1, 2));
        const FeatureMap two = net_.convolution(active, channels - channels / 2, Filter::square(1, 2));
        return net_.batch_norm(net_.concatenate({one, two}));
    }

    FeatureMap fitted(const FeatureMap& previous) {
        if (reduced_before_) return factorized_reduce(previous, channels_);
        if (previous.channels != channels_) return relu_conv_norm(previous, channels_, Filter::square(1));
        return previous;
    }

    FeatureMap apply(const AmoebaBranch& branch, const std::vector<FeatureMap>& states, const AmoebaCell& cell) {
        const FeatureMap& x = states.at(branch.input);
        const std::uint32_t stride = branch.input < 2 ? cell.stride : 1;
        const std::uint32_t narrow = channels_ / 4;
        switch (branch.operation) {
            case AmoebaOperation::none:
                return stride == 1 ? x : factorized_reduce(x, channels_);
            case AmoebaOperation::average3:
                return net_.average_pool(x, Filter::square(3, stride));
            case AmoebaOperation::max2:
                return net_.max_pool(x, Filter::square(2, stride));
            case AmoebaOperation::convolution1:
                return relu_conv_norm(x, channels_, Filter::square(1, stride));
            case AmoebaOperation::convolution3: {
                FeatureMap y = relu_conv_norm(x, narrow, Filter::square(1));
                y = relu_conv_norm(y, narrow, Filter::square(3, stride));
                return relu_conv_norm(y, channels_, Filter::square(1));
            }
            case AmoebaOperation::convolution7:
                break;
        }
        FeatureMap y = relu_conv_norm(x, narrow, Filter::square(1));
        y = relu_conv_norm(y, narrow, {1, 7, 1, stride});
        y = relu_conv_norm(y, narrow, {7, 1, stride, 1});
        return relu_conv_norm(y, channels_, Filter::square(1));
    }

    NetworkLayers& net_;
    std::uint32_t channels_;
    FeatureMap x_, skip_;
    bool reduced_before_ = false;
};

}  // namespace

StreamGenerator read_amoebanet(MappingReader& file) {
    const auto number = [&](const char* key, std::uint64_t high, std::uint64_t otherwise) {
        return static_cast<std::uint32_t>(file.integer_or(key, 1, high, otherwise));
    };
    const std::uint32_t layers = number("layers", 300, 18), filters = number("filters", 4096, 208);
    const std::uint32_t image = number("image", 4096, 224), classes = number("classes", 1 << 20, 1000);
    if (layers % 3 != 0) file.fail("layers", fmt::format("expected a multiple of 3, found {}", layers));
    if (filters % 4 != 0) file.fail("filters", fmt::format("expected a multiple of 4, found {}", filters));
    return [=](const StreamRequest&) {
        StreamBuilder stream;
        NetworkLayers layers_of(stream);
        AmoebaNet net(layers_of, filters / 4);
        net.stem(layers_of.input(3, image, image));
        net.append(reduction_cell());
        net.append(reduction_cell());
        for (unsigned part = 0; part < 3; ++part) {
            if (part > 0) net.append(reduction_cell());
            for (std::uint32_t i = 0; i < layers / 3; ++i) net.append(normal_cell());
        }
        net.classify(classes);
        return GeneratedStream{stream.take(), layers_of.multiply_accumulates(), layers_of.parameters()};
    };
}

}  // namespace switchyard::sched
