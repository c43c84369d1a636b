// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot_layers.h"

namespace switchyard::dynn_offload {

namespace {

/// A trace as the training reads it: scaled inputs, and the wanted outputs of each path.
struct TrainingSet {
    unsigned type = 0;
    Eigen::VectorXf rows;
    PilotMatrix features;  ///< a column a sample
    PilotMatrix wanted;    ///< a column a path; what the step has launched up to each block's end, in programs
    std::vector<std::uint32_t> paths;  ///< of each sample
};

TrainingSet training_set(const PilotTrace& trace, Representation representation) {
    TrainingSet set;
    set.type = static_cast<unsigned>(trace.basic_type);
    set.rows = matrix_column(trace.matrix, representation);
    set.features.resize(sched::kFeatures, static_cast<Eigen::Index>(trace.samples.size()));
    for (Eigen::Index c = 0; c < set.features.cols(); ++c) {
        const sched::TrainingSample& sample = trace.samples[static_cast<std::size_t>(c)];
        for (unsigned i = 0; i < sched::kFeatures; ++i) set.features(i, c) = sample.features[i];
        set.paths.push_back(sample.path);
    }
    const unsigned elements = vector_elements(representation);
    set.wanted =
        PilotMatrix::Zero(Eigen::Index{kOutputBlocks} * elements, static_cast<Eigen::Index>(trace.labels.size()));
    for (std::size_t path = 0; path < trace.labels.size(); ++path) {
        const std::vector<BlockVector>& label = trace.labels[path];
        for (unsigned e = 0; e < elements; ++e) {
            double sum = 0;
            for (std::size_t b = 0; b < kOutputBlocks; ++b) {
                if (b < label.size()) sum += label[b][e];
                set.wanted(static_cast<Eigen::Index>(b * elements + e), static_cast<Eigen::Index>(path)) =
                    static_cast<float>(sum / trace.unit[e]);
            }
        }
    }
    return set;
}

/// Mean and standard deviation of columns that come one after another.
class Moments {
public:
    explicit Moments(Eigen::Index elements) : sum_(Eigen::VectorXd::Zero(elements)), squares_(sum_) {}
    void add(const Eigen::VectorXf& column) {
        sum_ += column.cast<double>();
        squares_ += column.cast<double>().cwiseAbs2();
        ++count_;
    }
    /// Elements that hardly vary are shifted only. `norm`: of the scaled column, about.
    PilotScaling scaling(double norm) const {
        PilotScaling made(static_cast<unsigned>(sum_.size()));
        if (count_ == 0) return made;
        std::size_t varying = 0;
        std::vector<double> deviations;
        for (Eigen::Index i = 0; i < sum_.size(); ++i) {
            const double mean = sum_[i] / static_cast<double>(count_);
            const double variance = squares_[i] / static_cast<double>(count_) - mean * mean;
            deviations.push_back(std::sqrt(std::max(variance, 0.0)));
            made.shift[i] = static_cast<float>(mean);
            varying += deviations.back() > kMinDeviation;
        }
        const double share = norm / std::sqrt(static_cast<double>(std::max<std::size_t>(varying, 1)));
        for (Eigen::Index i = 0; i < sum_.size(); ++i) {
            const double deviation = deviations[static_cast<std::size_t>(i)];
            if (deviation > kMinDeviation) made.scale[i] = static_cast<float>(share / deviation);
        }
        return made;
    }

private:
    static constexpr double kMinDeviation = 1e-3;
    Eigen::VectorXd sum_, squares_;
    std::size_t count_ = 0;
};

/// Stochastic gradient descent with momentum.
class Descent {
public:
    Descent(PilotLayer& layer, double momentum) : layer_(layer), momentum_(static_cast<float>(momentum)) {
        weight_step_ = PilotMatrix::Zero(layer.weights.rows(), layer.weights.cols());
        bias_step_ = Eigen::VectorXf::Zero(layer.bias.size());
    }
    /// `gradient` at the layer's outputs, a column a sample, already over the samples of the batch.
    void step(const PilotMatrix& inputs, const PilotMatrix& gradient, float rate) {
        weight_step_ *= momentum_;
        weight_step_.noalias() -= rate * (gradient * inputs.transpose());
        bias_step_ = momentum_ * bias_step_ - rate * gradient.rowwise().sum();
        layer_.weights += weight_step_;
        layer_.bias += bias_step_;
    }

private:
    PilotLayer& layer_;
    float momentum_;
    PilotMatrix weight_step_;
    Eigen::VectorXf bias_step_;
};

struct PerceptronDescent {
    Descent first, second, output;
};

void shuffle(std::vector<std::uint32_t>& order, RandomSource& random) {
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.integer(0, static_cast<unsigned>(i - 1))]);
}

}  // namespace

std::vector<double> Pilot::train(const std::vector<PilotTrace>& traces) {
    trained_on.clear();
    Layers& l = *layers_;
    const auto elements = static_cast<Eigen::Index>(vector_elements(config_.representation));
    const Eigen::Index outputs = kOutputBlocks * elements;
    std::vector<TrainingSet> sets;
    Moments of_features(sched::kFeatures), of_rows(l.rows.shift.size());
    std::vector<Moments> of_outputs(kBasicTypes, Moments(outputs));
    for (const PilotTrace& trace : traces) {
        if (trace.representation != config_.representation)
            throw InputError(trace.network, 0, "representation",
                             fmt::format("expected {}, the pilot's, found {}", to_string(config_.representation),
                                         to_string(trace.representation)));
        trained_on.push_back(trace.network);
        sets.push_back(training_set(trace, config_.representation));
        of_rows.add(sets.back().rows);
        for (Eigen::Index c = 0; c < sets.back().features.cols(); ++c) {
            of_features.add(sets.back().features.col(c));
            of_outputs[sets.back().type].add(sets.back().wanted.col(sets.back().paths[static_cast<std::size_t>(c)]));
        }
    }
    // A column of inputs has the same norm from each of the two: that of independent normal elements of the sample.
    const double norm = std::sqrt(static_cast<double>(sched::kFeatures));
    l.features = of_features.scaling(norm);
    l.rows = of_rows.scaling(norm);
    for (unsigned t = 0; t < kBasicTypes; ++t)
        l.perceptrons[t].outputs = of_outputs[t].scaling(std::sqrt(static_cast<double>(outputs)));
    struct Item {
        std::uint32_t set, first;
    };
    std::vector<Item> batches;
    std::vector<std::vector<std::uint32_t>> orders;
    for (std::uint32_t s = 0; s < sets.size(); ++s) {
        TrainingSet& set = sets[s];
        const PilotScaling& labels = l.perceptrons[set.type].outputs;
        set.rows = (set.rows - l.rows.shift).cwiseProduct(l.rows.scale);
        set.features = l.features.scale.asDiagonal() * (set.features.colwise() - l.features.shift);
        set.wanted = labels.scale.asDiagonal() * (set.wanted.colwise() - labels.shift);
        orders.emplace_back(set.paths.size());
        std::iota(orders.back().begin(), orders.back().end(), 0U);
        // A batch is of one trace, so that its matrix passes the input layer once.
        for (std::uint32_t first = 0; first < set.paths.size(); first += config_.batch) batches.push_back({s, first});
    }
    RandomSource random(config_.seed, 0x7a1);
    const auto slope = static_cast<float>(config_.slope);
    const auto active = [slope](const PilotMatrix& x) { return PilotMatrix(x.cwiseMax(slope * x)); };
    const auto derived = [slope](const PilotMatrix& y, const PilotMatrix& gradient) {
        return PilotMatrix((y.array() > 0).select(gradient, slope * gradient));
    };
    Descent of_sample(l.sample, config_.momentum), of_matrix(l.matrix, config_.momentum),
        of_type(l.type, config_.momentum);
    std::vector<PerceptronDescent> of_perceptrons;
    for (Layers::Perceptron& p : l.perceptrons)
        of_perceptrons.push_back({Descent(p.first, config_.momentum), Descent(p.second, config_.momentum),
                                  Descent(p.output, config_.momentum)});
    std::vector<std::uint32_t> sequence(batches.size());
    std::iota(sequence.begin(), sequence.end(), 0U);
    std::vector<double> losses;
    for (unsigned epoch = 0; epoch < config_.epochs; ++epoch) {
        for (std::vector<std::uint32_t>& order : orders) shuffle(order, random);
        shuffle(sequence, random);
        // The rate falls linearly over the last epochs: at a constant rate the weights go on to move at random.
        const double left = (config_.epochs - epoch) / (config_.falling_share * config_.epochs + 1e-9);
        const auto rate = static_cast<float>(config_.learning_rate * std::min(1.0, left));
        double loss = 0;
        std::size_t count = 0;
        for (const std::uint32_t b : sequence) {
            const TrainingSet& set = sets[batches[b].set];
            const std::vector<std::uint32_t>& order = orders[batches[b].set];
            const std::size_t columns = std::min<std::size_t>(config_.batch, order.size() - batches[b].first);
            PilotMatrix features(sched::kFeatures, columns), wanted(outputs, columns);
            for (std::size_t c = 0; c < columns; ++c) {
                const std::uint32_t sample = order[batches[b].first + c];
                features.col(static_cast<Eigen::Index>(c)) = set.features.col(sample);
                wanted.col(static_cast<Eigen::Index>(c)) = set.wanted.col(set.paths[sample]);
            }
            Layers::Perceptron& p = l.perceptrons[set.type];
            PerceptronDescent& descent = of_perceptrons[set.type];
            // Forward.
            const PilotMatrix from_sample = active((l.sample.weights * features).colwise() + l.sample.bias);
            const Eigen::VectorXf of_rows_now = l.matrix.weights * set.rows + l.matrix.bias;
            const Eigen::VectorXf from_matrix = of_rows_now.cwiseMax(slope * of_rows_now);
            const Eigen::VectorXf of_type_now = l.type.weights.col(set.type) + l.type.bias;
            const Eigen::VectorXf from_type = of_type_now.cwiseMax(slope * of_type_now);
            const auto samples = static_cast<Eigen::Index>(columns);
            PilotMatrix joined(from_sample.rows() + from_matrix.size() + from_type.size(), samples);
            joined << from_sample, from_matrix.replicate(1, samples), from_type.replicate(1, samples);
            const PilotMatrix first = active((p.first.weights * joined).colwise() + p.first.bias);
            const PilotMatrix second = active((p.second.weights * first).colwise() + p.second.bias);
            const PilotMatrix output = (p.output.weights * second).colwise() + p.output.bias;
            // Backward: the mean of the squared error over outputs and batch. Its gradient is shortened to a norm of
            // max_gradient: with many neurons the first steps diverge otherwise.
            const PilotMatrix error = output - wanted;
            loss += error.squaredNorm() / static_cast<double>(outputs);
            count += columns;
            PilotMatrix d_output = error / static_cast<float>(error.size());
            d_output.bottomRows(elements) *= static_cast<float>(config_.total_weight);
            const float length = d_output.norm();
            if (length > static_cast<float>(config_.max_gradient))
                d_output *= static_cast<float>(config_.max_gradient) / length;
            const PilotMatrix d_second = derived(second, p.output.weights.transpose() * d_output);
            const PilotMatrix d_first = derived(first, p.second.weights.transpose() * d_second);
            const PilotMatrix d_joined = derived(joined, p.first.weights.transpose() * d_first);
            descent.output.step(second, d_output, rate);
            descent.second.step(first, d_second, rate);
            descent.first.step(joined, d_first, rate);
            of_sample.step(features, d_joined.topRows(from_sample.rows()), rate);
            of_matrix.step(set.rows, d_joined.middleRows(from_sample.rows(), from_matrix.size()).rowwise().sum(), rate);
            PilotMatrix kind = PilotMatrix::Zero(kBasicTypes, 1);
            kind(set.type, 0) = 1;
            of_type.step(kind, d_joined.bottomRows(from_type.size()).rowwise().sum(), rate);
        }
        losses.push_back(loss / static_cast<double>(std::max<std::size_t>(count, 1)));
        if (!std::isfinite(losses.back()))
            throw InputError("", 0, "learning_rate",
                             fmt::format("expected a rate at which training converges, found one at which it diverges "
                                         "in epoch {}; take a lower one",
                                         epoch + 1));
    }
    return losses;
}

}  // namespace switchyard::dynn_offload
