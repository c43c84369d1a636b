// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"

// What the sources of the pilot have in common.
namespace switchyard::dynn_offload {

using PilotMatrix = Eigen::MatrixXf;  ///< a column a sample

inline constexpr unsigned kBasicTypes = 3;

/// Fully connected.
struct PilotLayer {
    PilotMatrix weights;
    Eigen::VectorXf bias;

    /// He et al. 2015, uniform; biases 0.
    void start(unsigned in, unsigned out, RandomSource& random) {
        weights.resize(out, in);
        const double range = std::sqrt(6.0 / in);
        for (Eigen::Index i = 0; i < weights.size(); ++i)
            weights.data()[i] = static_cast<float>(random.uniform(-range, range));
        bias = Eigen::VectorXf::Zero(out);
    }
    std::size_t parameters() const { return static_cast<std::size_t>(weights.size() + bias.size()); }
};

/// x becomes (x - shift) * scale, element by element: mean 0 and variance 1 over what the pilot was trained with.
struct PilotScaling {
    Eigen::VectorXf shift, scale;

    explicit PilotScaling(unsigned elements = 0)
        : shift(Eigen::VectorXf::Zero(elements)), scale(Eigen::VectorXf::Ones(elements)) {}
};

struct Pilot::Layers {
    PilotLayer sample, matrix, type;
    struct Perceptron {
        PilotLayer first, second, output;
        PilotScaling outputs;  ///< of this type's labels
    };
    std::array<Perceptron, kBasicTypes> perceptrons;
    PilotScaling features{sched::kFeatures}, rows;

    /// `visit(name, layer)` for all layers, in the order of the file.
    template <class L, class F>
    static void for_layers(L& layers, const F& visit) {
        visit("sample", layers.sample);
        visit("matrix", layers.matrix);
        visit("type", layers.type);
        for (unsigned i = 0; i < kBasicTypes; ++i) {
            const std::string name = sched::to_string(static_cast<sched::BasicType>(i));
            visit(name + ".first", layers.perceptrons[i].first);
            visit(name + ".second", layers.perceptrons[i].second);
            visit(name + ".output", layers.perceptrons[i].output);
        }
    }
    template <class L, class F>
    static void for_scalings(L& layers, const F& visit) {
        visit("features", layers.features);
        visit("rows", layers.rows);
        for (unsigned i = 0; i < kBasicTypes; ++i)
            visit(sched::to_string(static_cast<sched::BasicType>(i)), layers.perceptrons[i].outputs);
    }
};

/// The architecture feature matrix as one column of kProgramRows rows, before it is scaled: logarithms, because sizes
/// have many orders of magnitude.
inline Eigen::VectorXf matrix_column(const std::vector<std::vector<double>>& matrix, Representation representation) {
    const unsigned elements = row_elements(representation);
    Eigen::VectorXf column = Eigen::VectorXf::Zero(Eigen::Index{kProgramRows} * elements);
    for (std::size_t r = 0; r < std::min<std::size_t>(matrix.size(), kProgramRows); ++r)
        for (std::size_t i = 0; i < elements; ++i)
            column[static_cast<Eigen::Index>(r * elements + i)] = static_cast<float>(std::log2(1 + matrix[r][i]));
    return column;
}

}  // namespace switchyard::dynn_offload
