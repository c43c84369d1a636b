// SPDX-License-Identifier: Apache-2.0
// Dynamic Routing (arXiv 2003.10401) as in yanwei-li/DynamicRouting dl_lib/modeling/dynamic_arch and
// meta_arch/dynamic4seg.py: stem to a quarter of the size, 16 layers of cells at four scales, each cell with a gate
// that opens or closes its paths to the next layer's cells (finer, same, coarser), a decoder.
//
// A cell whose paths are all closed hands on its input; a path that is closed is not computed, as the publication
// counts FLOPs. Gates open independently with `open_probability`; the default gives the mean of Dynamic-A, 52.5 GFLOPs
// in the repository's table (unit_kernel_streams checks it).
#include <array>
#include <optional>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

constexpr unsigned kScales = 4;

struct RoutedNetwork {
    std::uint32_t rows = 1024, columns = 2048, channels = 64, layers = 16, classes = 19;
    double open_probability = 0.48;
    bool small_gate = true;  ///< a gate sees the map at a quarter of its size
};

/// To the finer scale, to the same, to the coarser.
using CellOutputs = std::array<std::optional<FeatureMap>, 3>;
enum Path : unsigned { kFiner = 0, kSame = 1, kCoarser = 2 };

class RoutedCells {
public:
    RoutedCells(const RoutedNetwork& shape, const StreamRequest& request)
        : shape_(shape), net_(stream_), random_(request.seed, request.input) {}

    GeneratedStream generate() {
        FeatureMap x =
            norm_relu(net_.convolution(net_.input(3, shape_.rows, shape_.columns), 64, Filter::square(3, 2)));
        x = norm_relu(separable(x, 64, 1));
        x = norm_relu(separable(x, shape_.channels, 2));
        std::vector<CellOutputs> previous{cell(x, false, true)};
        for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
            const unsigned cells = std::min(layer + 2, kScales);
            std::vector<CellOutputs> next;
            for (unsigned scale = 0; scale < cells; ++scale) next.push_back(scale_of_layer(layer, scale, previous));
            previous = std::move(next);
        }
        decode(previous);
        return {stream_.take(), net_.multiply_accumulates(), net_.parameters()};
    }

private:
    CellOutputs scale_of_layer(std::uint32_t layer, unsigned scale, const std::vector<CellOutputs>& previous) {
        std::vector<FeatureMap> inputs;
        const auto append = [&](unsigned from, Path path) {
            if (from < previous.size() && previous[from][path]) inputs.push_back(*previous[from][path]);
        };
        if (scale > 0) append(scale - 1, kCoarser);
        append(scale, kSame);
        append(scale + 1, kFiner);
        if (inputs.empty()) return {};
        const bool last = layer + 1 == shape_.layers;
        return cell(net_.sum(inputs), !last && scale > 0, !last && scale + 1 < kScales);
    }

    CellOutputs cell(const FeatureMap& x, bool finer, bool coarser) {
        FeatureMap gate = shape_.small_gate ? net_.interpolate(x, 1, 4) : x;
        gate = norm_relu(net_.convolution(gate, x.channels / 2, Filter::square(1)));
        const unsigned paths = 1u + finer + coarser;
        const FeatureMap logits = net_.convolution(net_.global_pool(gate), paths, Filter::square(1));
        const FeatureMap weights = net_.relu(net_.tanh(logits));
        const bool same_open = open();
        const bool finer_open = finer && open();
        const bool coarser_open = coarser && open();
        CellOutputs outputs;
        if (!same_open && !finer_open && !coarser_open) {
            outputs[kSame] = x;
            return outputs;
        }
        FeatureMap y = norm_relu(separable(x, x.channels, 1));
        y = net_.batch_norm(separable(y, x.channels, 1));
        y = net_.add(y, x);  // sep_conv_3x3 + skip_connect
        if (same_open) outputs[kSame] = weighted(net_.relu(y), weights);
        if (finer_open) {
            const FeatureMap up = norm_relu(net_.convolution(net_.relu(y), x.channels / 2, Filter::square(1)));
            outputs[kFiner] = weighted(net_.interpolate(up, 2, 1), weights);
        }
        if (coarser_open)
            outputs[kCoarser] =
                weighted(norm_relu(net_.convolution(net_.relu(y), 2 * x.channels, Filter::square(1, 2))), weights);
        return outputs;
    }

    /// From the coarsest scale to the finest; a scale that no path reached adds nothing.
    void decode(const std::vector<CellOutputs>& features) {
        std::optional<FeatureMap> prediction;
        for (unsigned scale = static_cast<unsigned>(features.size()); scale-- > 0;) {
            std::vector<FeatureMap> terms;
            if (prediction) terms.push_back(*prediction);
            if (features[scale][kSame]) terms.push_back(*features[scale][kSame]);
            if (terms.empty()) continue;
            const FeatureMap sum = net_.sum(terms);
            const std::uint32_t channels = scale > 0 ? sum.channels / 2 : sum.channels;
            prediction = norm_relu(net_.convolution(sum, channels, Filter::square(1)));
            if (scale > 0) prediction = net_.interpolate(*prediction, 2, 1);
        }
        if (!prediction) return;
        net_.interpolate(net_.convolution(*prediction, shape_.classes, Filter::square(3)), 4, 1);
    }

    bool open() { return random_.chance(shape_.open_probability); }
    FeatureMap norm_relu(const FeatureMap& x) { return net_.relu(net_.batch_norm(x)); }
    FeatureMap separable(const FeatureMap& x, std::uint32_t channels, std::uint32_t stride) {
        return net_.convolution(net_.depthwise(x, Filter::square(3, stride)), channels, Filter::square(1));
    }
    FeatureMap weighted(const FeatureMap& x, const FeatureMap& weights) {
        return net_.scale(x, {weights.segment, 1, 1, 1});
    }

    const RoutedNetwork& shape_;
    StreamBuilder stream_;
    NetworkLayers net_;
    RandomSource random_;
};

}  // namespace

StreamGenerator read_dynamic_routing(MappingReader& file) {
    RoutedNetwork shape;
    const auto number = [&](const char* key, std::uint64_t low, std::uint64_t high, std::uint32_t& value) {
        value = static_cast<std::uint32_t>(file.integer_or(key, low, high, value));
    };
    number("rows", 128, 8192, shape.rows);
    number("columns", 128, 8192, shape.columns);
    number("channels", 2, 4096, shape.channels);
    number("layers", 1, 256, shape.layers);
    number("classes", 1, 4096, shape.classes);
    shape.small_gate = file.choice_or("gate", {"small", "full"}) == "small";
    shape.open_probability = file.number_or("open_probability", 0, 1, shape.open_probability);
    const auto check_side = [&](const char* key, std::uint32_t pixels) {
        if (pixels % 128 != 0)
            file.fail(key,
                      fmt::format("expected a multiple of 128, as the coarsest gate sees one pixel of 128, found {}",
                                  pixels));
    };
    check_side("rows", shape.rows);
    check_side("columns", shape.columns);
    return [shape](const StreamRequest& request) { return RoutedCells(shape, request).generate(); };
}

}  // namespace switchyard::sched
