// SPDX-License-Identifier: Apache-2.0
// NASNet-A (arXiv 1707.07012) as in tensorflow/models research/slim/nets/nasnet/{nasnet,nasnet_utils}.py: the cells'
// operations and inputs, which states are concatenated, how the previous cell's output is brought to the cell's shape.
#include <array>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

enum class CellOperation { separable3, separable5, separable7, average3, max3, none };

struct Branch {
    CellOperation operation;
    unsigned input;
};

struct CellShape {
    std::array<Branch, 10> branches;  ///< pairs that are added
    unsigned first_output;            ///< states from here on are concatenated, and the first ones that nobody used
    bool previous_in_output;
};

constexpr CellShape kNormal{{{{CellOperation::separable5, 0},
                              {CellOperation::separable3, 1},
                              {CellOperation::separable5, 1},
                              {CellOperation::separable3, 1},
                              {CellOperation::average3, 0},
                              {CellOperation::none, 1},
                              {CellOperation::average3, 1},
                              {CellOperation::average3, 1},
                              {CellOperation::separable3, 0},
                              {CellOperation::none, 0}}},
                            2,
                            true};
constexpr CellShape kReduction{{{{CellOperation::separable5, 0},
                                 {CellOperation::separable7, 1},
                                 {CellOperation::max3, 0},
                                 {CellOperation::separable7, 1},
                                 {CellOperation::average3, 0},
                                 {CellOperation::separable5, 1},
                                 {CellOperation::none, 3},
                                 {CellOperation::average3, 2},
                                 {CellOperation::separable3, 2},
                                 {CellOperation::max3, 0}}},
                               3,
                               false};

class NasNet {
public:
    explicit NasNet(NetworkLayers& net) : net_(net) {}

    /// States 0 and 1 are the cell before (`x`) and the one before that.
    FeatureMap cell(const CellShape& shape, const FeatureMap& x, const FeatureMap* previous, std::uint32_t filters,
                    std::uint32_t stride) {
        const FeatureMap before = previous == nullptr ? x : fitted(*previous, x, filters);
        std::vector<FeatureMap> states{net_.batch_norm(net_.convolution(net_.relu(x), filters, Filter::square(1))),
                                       before};
        for (std::size_t i = 0; i < shape.branches.size(); i += 2)
            states.push_back(net_.add(apply(shape.branches[i], states, filters, stride),
                                      apply(shape.branches[i + 1], states, filters, stride)));
        std::vector<FeatureMap> outputs;
        if (shape.previous_in_output) outputs.push_back(states[1]);
        outputs.insert(outputs.end(), states.begin() + shape.first_output, states.end());
        return net_.concatenate(outputs);
    }

private:
    FeatureMap fitted(const FeatureMap& previous, const FeatureMap& x, std::uint32_t filters) {
        if (previous.rows != x.rows) {
            const FeatureMap active = net_.relu(previous);
            // Every second pixel, and the same one to the right and below.
            const Filter skip{1, 1, 2, 2};
            const FeatureMap one = net_.convolution(net_.average_pool(active, skip), filters / 2, Filter::square(1));
            const FeatureMap two =
                net_.convolution(net_.average_pool(active, skip), filters - filters / 2, Filter::square(1));
            return net_.batch_norm(net_.concatenate({one, two}));
        }
        if (previous.channels == filters) return previous;
        return net_.batch_norm(net_.convolution(net_.relu(previous), filters, Filter::square(1)));
    }

    FeatureMap apply(const Branch& branch, const std::vector<FeatureMap>& states, std::uint32_t filters,
                     std::uint32_t cell_stride) {
        const FeatureMap& x = states.at(branch.input);
        const std::uint32_t stride = branch.input < 2 ? cell_stride : 1;
        switch (branch.operation) {
            case CellOperation::separable3:
                return separable_twice(x, 3, filters, stride);
            case CellOperation::separable5:
                return separable_twice(x, 5, filters, stride);
            case CellOperation::separable7:
                return separable_twice(x, 7, filters, stride);
            case CellOperation::average3:
                return pooled(net_.average_pool(x, Filter::square(3, stride)), filters);
            case CellOperation::max3:
                return pooled(net_.max_pool(x, Filter::square(3, stride)), filters);
            case CellOperation::none:
                break;
        }
        if (stride == 1 && x.channels == filters) return x;
        return net_.batch_norm(net_.convolution(net_.relu(x), filters, Filter::square(1, stride)));
    }

    FeatureMap pooled(const FeatureMap& x, std::uint32_t filters) {
        if (x.channels == filters) return x;
        return net_.batch_norm(net_.convolution(x, filters, Filter::square(1)));
    }

    FeatureMap separable_twice(const FeatureMap& x, std::uint32_t side, std::uint32_t filters, std::uint32_t stride) {
        FeatureMap y = x;
        for (const std::uint32_t step : {stride, 1u}) {
            y = net_.depthwise(net_.relu(y), Filter::square(side, step));
            y = net_.batch_norm(net_.convolution(y, filters, Filter::square(1)));
        }
        return y;
    }

    NetworkLayers& net_;
};

struct NasNetSize {
    std::uint32_t cells, filters, stem_filters, image, classes;
};

GeneratedStream generate_nasnet(const NasNetSize& size) {
    StreamBuilder stream;
    NetworkLayers net(stream);
    NasNet cells(net);
    FeatureMap x =
        net.batch_norm(net.convolution(net.input(3, size.image, size.image), size.stem_filters, Filter::square(3, 2)));
    std::vector<FeatureMap> outputs{x};
    const auto append = [&](const CellShape& shape, std::uint32_t filters, std::uint32_t stride) {
        const FeatureMap* previous = outputs.size() > 1 ? &outputs[outputs.size() - 2] : nullptr;
        x = cells.cell(shape, x, previous, filters, stride);
        outputs.push_back(x);
    };
    append(kReduction, size.filters / 4, 2);
    append(kReduction, size.filters / 2, 2);
    std::uint32_t filters = size.filters;
    for (std::uint32_t i = 0; i < size.cells; ++i) {
        if (i == size.cells / 3 || i == 2 * size.cells / 3) {
            filters *= 2;
            append(kReduction, filters, 2);
        }
        append(kNormal, filters, 1);
    }
    net.linear(net.global_pool(net.relu(x)), size.classes);
    return {stream.take(), net.multiply_accumulates(), net.parameters()};
}

}  // namespace

StreamGenerator read_nasnet(MappingReader& file) {
    const auto number = [&](const char* key, std::uint64_t high, std::uint64_t otherwise) {
        return static_cast<std::uint32_t>(file.integer_or(key, 1, high, otherwise));
    };
    const NasNetSize size{number("cells", 300, 12), number("filters", 4096, 44), number("stem_filters", 4096, 32),
                          number("image", 4096, 224), number("classes", 1 << 20, 1000)};
    if (size.filters % 4 != 0) file.fail("filters", fmt::format("expected a multiple of 4, found {}", size.filters));
    if (size.cells < 3) file.fail("cells", fmt::format("expected at least 3 cells, found {}", size.cells));
    return [size](const StreamRequest&) { return generate_nasnet(size); };
}

}  // namespace switchyard::sched
