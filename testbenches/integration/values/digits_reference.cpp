// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/values/digits_reference.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/platform/system/npy.h"

namespace switchyard::testing {

namespace {

using platform::NpyArray;

/// Channels of square maps.
struct Maps {
    std::size_t channels = 0, side = 0;
    std::vector<double> values;

    Maps(std::size_t count, std::size_t pixels) : channels(count), side(pixels), values(count * pixels * pixels) {}
    double& at(std::size_t c, std::size_t y, std::size_t x) { return values[(c * side + y) * side + x]; }
    double at(std::size_t c, std::size_t y, std::size_t x) const { return values[(c * side + y) * side + x]; }
    double mean(std::size_t c) const {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(c * side * side);
        double sum = 0;
        for (auto value = first; value != first + static_cast<std::ptrdiff_t>(side * side); ++value) sum += *value;
        return sum / static_cast<double>(side * side);
    }
};

class Parameters {
public:
    explicit Parameters(std::string folder) : folder_(std::move(folder)) {}
    NpyArray weight(const std::string& layer) const {
        return platform::read_npy(folder_ + "/" + layer + ".weight.npy");
    }
    NpyArray bias(const std::string& layer) const { return platform::read_npy(folder_ + "/" + layer + ".bias.npy"); }

private:
    std::string folder_;
};

/// 3x3, pad 1, with bias.
Maps convolved(const Maps& in, const Parameters& parameters, const std::string& layer) {
    const NpyArray weight = parameters.weight(layer), bias = parameters.bias(layer);
    Maps out(bias.values.size(), in.side);
    for (std::size_t k = 0; k < out.channels; ++k) {
        for (std::size_t y = 0; y < in.side; ++y) {
            for (std::size_t x = 0; x < in.side; ++x) {
                double sum = bias.values[k];
                for (std::size_t i = 0; i < in.channels * 9; ++i) {
                    const std::size_t row = y + i / 3 % 3, column = x + i % 3;  // of the padded map
                    if (row == 0 || column == 0 || row > in.side || column > in.side) continue;
                    sum += weight.values[k * in.channels * 9 + i] * in.at(i / 9, row - 1, column - 1);
                }
                out.at(k, y, x) = sum;
            }
        }
    }
    return out;
}

void rectify(Maps& maps) {
    for (double& value : maps.values) value = std::max(value, 0.0);
}

Maps stem(const Parameters& parameters, const float* image) {
    Maps in(1, 8);
    std::copy_n(image, in.values.size(), in.values.begin());
    Maps out = convolved(in, parameters, "stem");
    rectify(out);
    return out;
}

/// A linear layer on 4 x the mean over the pixels, behind `convolutions` of them.
ReferenceGates gates(const Maps& maps, const Parameters& parameters, const std::string& layer, unsigned convolutions) {
    const NpyArray weight = parameters.weight(layer), bias = parameters.bias(layer);
    const double steps = convolutions + 2.0;
    ReferenceGates result;
    for (std::size_t gate = 0; gate < bias.values.size(); ++gate) {
        double sum = bias.values[gate], magnitude = std::abs(sum);
        for (std::size_t c = 0; c < maps.channels; ++c) {
            const double product = 4 * weight.values[gate * maps.channels + c] * maps.mean(c);
            sum += product;
            magnitude += std::abs(product);
        }
        result.push_back({sum, std::sqrt(2 * steps) * std::ldexp(1.0, -11) * magnitude});
    }
    return result;
}

Maps max_pooled(const Maps& in) {
    Maps out(in.channels, in.side / 2);
    for (std::size_t c = 0; c < out.channels; ++c) {
        for (std::size_t y = 0; y < out.side; ++y) {
            for (std::size_t x = 0; x < out.side; ++x) {
                out.at(c, y, x) = std::max(std::max(in.at(c, 2 * y, 2 * x), in.at(c, 2 * y, 2 * x + 1)),
                                           std::max(in.at(c, 2 * y + 1, 2 * x), in.at(c, 2 * y + 1, 2 * x + 1)));
            }
        }
    }
    return out;
}

}  // namespace

std::vector<ReferenceGates> skipnet_gates(const std::string& folder, const float* image,
                                          const std::vector<std::size_t>& masks) {
    const Parameters parameters(folder);
    Maps h = stem(parameters, image);
    unsigned convolutions = 1;
    std::vector<ReferenceGates> result;
    for (std::size_t block = 0; block < masks.size(); ++block) {
        result.push_back(gates(h, parameters, fmt::format("gate.{}", block), convolutions));
        if (masks[block] != 2) continue;
        Maps inner = convolved(h, parameters, fmt::format("a.{}", block));
        rectify(inner);
        const Maps sum = convolved(inner, parameters, fmt::format("b.{}", block));
        for (std::size_t i = 0; i < h.values.size(); ++i) h.values[i] += sum.values[i];
        rectify(h);
        convolutions += 2;
    }
    return result;
}

std::vector<ReferenceGates> channel_gates(const std::string& folder, const float* image,
                                          const std::vector<std::size_t>& masks) {
    constexpr std::size_t kGroup = 4;
    const Parameters parameters(folder);
    Maps h = stem(parameters, image);
    std::vector<ReferenceGates> result;
    for (std::size_t layer = 0; layer < masks.size(); ++layer) {
        result.push_back(gates(h, parameters, fmt::format("sal.{}", layer), static_cast<unsigned>(layer) + 1));
        const std::size_t pixels = h.side * h.side;
        for (std::size_t i = 0; i < h.values.size(); ++i)
            if ((masks[layer] >> (i / pixels / kGroup) & 1) == 0) h.values[i] = 0;
        h = convolved(h, parameters, fmt::format("conv.{}", layer));
        rectify(h);
        if (layer == 1) h = max_pooled(h);
    }
    return result;
}

}  // namespace switchyard::testing
