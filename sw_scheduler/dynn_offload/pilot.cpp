// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "switchyard/sw_scheduler/dynn_offload/pilot_layers.h"

namespace switchyard::dynn_offload {

Pilot::Pilot(const PilotConfig& config) : config_(config), layers_(std::make_unique<Layers>()) {
    RandomSource random(config.seed, 0x91107);
    const unsigned inputs = config.sample_layer + config.matrix_layer + config.type_layer;
    const unsigned rows = kProgramRows * row_elements(config.representation);
    const unsigned outputs = kOutputBlocks * vector_elements(config.representation);
    layers_->sample.start(sched::kFeatures, config.sample_layer, random);
    layers_->matrix.start(rows, config.matrix_layer, random);
    layers_->type.start(kBasicTypes, config.type_layer, random);
    layers_->rows = PilotScaling(rows);
    for (Layers::Perceptron& p : layers_->perceptrons) {
        p.first.start(inputs, config.neurons, random);
        p.second.start(config.neurons, config.second_layer, random);
        p.output.start(config.second_layer, outputs, random);
        p.outputs = PilotScaling(outputs);
    }
}

Pilot::~Pilot() = default;
Pilot::Pilot(Pilot&&) noexcept = default;
Pilot& Pilot::operator=(Pilot&&) noexcept = default;

bool Pilot::trained_for(sched::BasicType type) const {
    // Training sets the mean of the outputs of each type that it has seen; operators are never 0 on average.
    return layers_->perceptrons[static_cast<unsigned>(type)].outputs.shift.any();
}

std::size_t Pilot::active_parameters() const {
    const Layers::Perceptron& p = layers_->perceptrons.front();
    return layers_->sample.parameters() + layers_->matrix.parameters() + layers_->type.parameters() +
           p.first.parameters() + p.second.parameters() + p.output.parameters();
}

std::size_t Pilot::parameters() const {
    const Layers::Perceptron& p = layers_->perceptrons.front();
    return active_parameters() +
           (kBasicTypes - 1) * (p.first.parameters() + p.second.parameters() + p.output.parameters());
}

Pilot::Architecture Pilot::encode(const std::vector<std::vector<double>>& matrix, sched::BasicType type) const {
    Architecture made;
    made.basic_type = type;
    made.unit = unit_of(matrix, config_.representation);
    const auto slope = static_cast<float>(config_.slope);
    const Eigen::VectorXf in =
        (matrix_column(matrix, config_.representation) - layers_->rows.shift).cwiseProduct(layers_->rows.scale);
    Eigen::VectorXf out = layers_->matrix.weights * in + layers_->matrix.bias;
    for (const float x : out) made.encoded.push_back(std::max(x, slope * x));
    out = layers_->type.weights.col(static_cast<Eigen::Index>(type)) + layers_->type.bias;
    for (const float x : out) made.encoded.push_back(std::max(x, slope * x));
    return made;
}

std::vector<BlockVector> Pilot::infer(const std::vector<float>& features, const Architecture& architecture) const {
    const auto slope = static_cast<float>(config_.slope);
    const auto active = [slope](Eigen::VectorXf& x) { x = x.cwiseMax(slope * x); };
    const Layers::Perceptron& p = layers_->perceptrons[static_cast<unsigned>(architecture.basic_type)];
    const Eigen::Map<const Eigen::VectorXf> raw(features.data(), static_cast<Eigen::Index>(features.size()));
    const Eigen::VectorXf in = (raw - layers_->features.shift).cwiseProduct(layers_->features.scale);
    Eigen::VectorXf sample = layers_->sample.weights * in + layers_->sample.bias;
    active(sample);
    Eigen::VectorXf joined(p.first.weights.cols());
    joined.head(sample.size()) = sample;
    for (std::size_t i = 0; i < architecture.encoded.size(); ++i)
        joined[sample.size() + static_cast<Eigen::Index>(i)] = architecture.encoded[i];
    Eigen::VectorXf first = p.first.weights * joined + p.first.bias;
    active(first);
    Eigen::VectorXf second = p.second.weights * first + p.second.bias;
    active(second);
    const Eigen::VectorXf output =
        (p.output.weights * second + p.output.bias).cwiseQuotient(p.outputs.scale) + p.outputs.shift;
    const unsigned elements = vector_elements(config_.representation);
    std::vector<BlockVector> blocks(kOutputBlocks, BlockVector(elements));
    for (unsigned e = 0; e < elements; ++e) {
        double before = 0;
        for (unsigned b = 0; b < kOutputBlocks; ++b) {
            const double sum = std::round(output[b * elements + e] * architecture.unit[e]);
            blocks[b][e] = std::max(0.0, sum - before);
            before = std::max(before, sum);
        }
    }
    while (blocks.size() > 1 && blocks.back()[0] < 1) blocks.pop_back();
    return blocks;
}

}  // namespace switchyard::dynn_offload
