// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot_layers.h"

namespace switchyard::dynn_offload {

// Named: Pilot::Training has members of these types.
namespace pilot_training {

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

}  // namespace pilot_training

using namespace pilot_training;

/// One training: the traces as it reads them, the batches, and the descent of each layer.
class Pilot::Training {
public:
    Training(Layers& layers, const PilotConfig& config)
        : l_(layers),
          config_(config),
          elements_(static_cast<Eigen::Index>(vector_elements(config.representation))),
          outputs_(kOutputBlocks * elements_),
          slope_(static_cast<float>(config.slope)),
          of_sample_(layers.sample, config.momentum),
          of_matrix_(layers.matrix, config.momentum),
          of_type_(layers.type, config.momentum),
          random_(config.seed, 0x7a1) {
        for (Layers::Perceptron& p : layers.perceptrons)
            of_perceptrons_.push_back({Descent(p.first, config.momentum), Descent(p.second, config.momentum),
                                       Descent(p.output, config.momentum)});
    }

    /// Reads the traces and scales layers and traces by their moments. Throws InputError.
    void read(const std::vector<PilotTrace>& traces) {
        Moments of_features(sched::kFeatures), of_rows(l_.rows.shift.size());
        std::vector<Moments> of_outputs(kBasicTypes, Moments(outputs_));
        for (const PilotTrace& trace : traces) {
            if (trace.representation != config_.representation)
                throw InputError(trace.network, 0, "representation",
                                 fmt::format("expected {}, the pilot's, found {}", to_string(config_.representation),
                                             to_string(trace.representation)));
            sets_.push_back(training_set(trace, config_.representation));
            of_rows.add(sets_.back().rows);
            for (Eigen::Index c = 0; c < sets_.back().features.cols(); ++c) {
                of_features.add(sets_.back().features.col(c));
                of_outputs[sets_.back().type].add(
                    sets_.back().wanted.col(sets_.back().paths[static_cast<std::size_t>(c)]));
            }
        }
        // A column of inputs has the same norm from each of the two: that of independent normal elements of the sample.
        const double norm = std::sqrt(static_cast<double>(sched::kFeatures));
        l_.features = of_features.scaling(norm);
        l_.rows = of_rows.scaling(norm);
        for (unsigned t = 0; t < kBasicTypes; ++t)
            l_.perceptrons[t].outputs = of_outputs[t].scaling(std::sqrt(static_cast<double>(outputs_)));
        scale_sets();
    }

    /// The mean loss of each epoch. Throws InputError if it diverges.
    std::vector<double> run() {
        std::vector<std::uint32_t> sequence(batches_.size());
        std::iota(sequence.begin(), sequence.end(), 0U);
        std::vector<double> losses;
        for (unsigned epoch = 0; epoch < config_.epochs; ++epoch) {
            for (std::vector<std::uint32_t>& order : orders_) shuffle(order, random_);
            shuffle(sequence, random_);
            // The rate falls linearly over the last epochs: at a constant rate the weights go on to move at random.
            const double left = (config_.epochs - epoch) / (config_.falling_share * config_.epochs + 1e-9);
            const auto rate = static_cast<float>(config_.learning_rate * std::min(1.0, left));
            double loss = 0;
            std::size_t count = 0;
            for (const std::uint32_t b : sequence) {
                const Columns columns = columns_of(batches_[b]);
                loss += descend(sets_[batches_[b].set], columns, rate);
                count += static_cast<std::size_t>(columns.features.cols());
            }
            losses.push_back(loss / static_cast<double>(std::max<std::size_t>(count, 1)));
            if (!std::isfinite(losses.back()))
                throw InputError("", 0, "learning_rate",
                                 fmt::format("expected a rate at which training converges, found one at which it "
                                             "diverges in epoch {}; take a lower one",
                                             epoch + 1));
        }
        return losses;
    }

private:
    struct Batch {
        std::uint32_t set, first;
    };
    struct Columns {
        PilotMatrix features, wanted;
    };

    void scale_sets() {
        for (std::uint32_t s = 0; s < sets_.size(); ++s) {
            TrainingSet& set = sets_[s];
            const PilotScaling& labels = l_.perceptrons[set.type].outputs;
            set.rows = (set.rows - l_.rows.shift).cwiseProduct(l_.rows.scale);
            set.features = l_.features.scale.asDiagonal() * (set.features.colwise() - l_.features.shift);
            set.wanted = labels.scale.asDiagonal() * (set.wanted.colwise() - labels.shift);
            orders_.emplace_back(set.paths.size());
            std::iota(orders_.back().begin(), orders_.back().end(), 0U);
            // A batch is of one trace, so that its matrix passes the input layer once.
            for (std::uint32_t first = 0; first < set.paths.size(); first += config_.batch)
                batches_.push_back({s, first});
        }
    }

    Columns columns_of(const Batch& batch) const {
        const TrainingSet& set = sets_[batch.set];
        const std::vector<std::uint32_t>& order = orders_[batch.set];
        const std::size_t columns = std::min<std::size_t>(config_.batch, order.size() - batch.first);
        Columns found{PilotMatrix(sched::kFeatures, columns), PilotMatrix(outputs_, columns)};
        for (std::size_t c = 0; c < columns; ++c) {
            const std::uint32_t sample = order[batch.first + c];
            found.features.col(static_cast<Eigen::Index>(c)) = set.features.col(sample);
            found.wanted.col(static_cast<Eigen::Index>(c)) = set.wanted.col(set.paths[sample]);
        }
        return found;
    }

    PilotMatrix active(const PilotMatrix& x) const { return x.cwiseMax(slope_ * x); }
    Eigen::VectorXf active_column(const Eigen::VectorXf& x) const { return x.cwiseMax(slope_ * x); }
    PilotMatrix derived(const PilotMatrix& y, const PilotMatrix& gradient) const {
        return (y.array() > 0).select(gradient, slope_ * gradient);
    }

    /// The mean of the squared error over outputs and batch has a gradient that is shortened to a norm of max_gradient:
    /// with many neurons the first steps diverge otherwise.
    PilotMatrix gradient_of(const PilotMatrix& error) const {
        PilotMatrix gradient = error / static_cast<float>(error.size());
        gradient.bottomRows(elements_) *= static_cast<float>(config_.total_weight);
        const float length = gradient.norm();
        if (length > static_cast<float>(config_.max_gradient))
            gradient *= static_cast<float>(config_.max_gradient) / length;
        return gradient;
    }

    /// One step of all layers, forward and backward. The loss, summed over the samples.
    double descend(const TrainingSet& set, const Columns& columns, float rate) {
        Layers::Perceptron& p = l_.perceptrons[set.type];
        PerceptronDescent& descent = of_perceptrons_[set.type];
        const PilotMatrix from_sample = active((l_.sample.weights * columns.features).colwise() + l_.sample.bias);
        const Eigen::VectorXf from_matrix = active_column(l_.matrix.weights * set.rows + l_.matrix.bias);
        const Eigen::VectorXf from_type = active_column(l_.type.weights.col(set.type) + l_.type.bias);
        const Eigen::Index samples = columns.features.cols();
        PilotMatrix joined(from_sample.rows() + from_matrix.size() + from_type.size(), samples);
        joined << from_sample, from_matrix.replicate(1, samples), from_type.replicate(1, samples);
        const PilotMatrix first = active((p.first.weights * joined).colwise() + p.first.bias);
        const PilotMatrix second = active((p.second.weights * first).colwise() + p.second.bias);
        const PilotMatrix output = (p.output.weights * second).colwise() + p.output.bias;

        const PilotMatrix error = output - columns.wanted, d_output = gradient_of(error);
        const PilotMatrix d_second = derived(second, p.output.weights.transpose() * d_output);
        const PilotMatrix d_first = derived(first, p.second.weights.transpose() * d_second);
        const PilotMatrix d_joined = derived(joined, p.first.weights.transpose() * d_first);
        descent.output.step(second, d_output, rate);
        descent.second.step(first, d_second, rate);
        descent.first.step(joined, d_first, rate);
        of_sample_.step(columns.features, d_joined.topRows(from_sample.rows()), rate);
        of_matrix_.step(set.rows, d_joined.middleRows(from_sample.rows(), from_matrix.size()).rowwise().sum(), rate);
        PilotMatrix kind = PilotMatrix::Zero(kBasicTypes, 1);
        kind(set.type, 0) = 1;
        of_type_.step(kind, d_joined.bottomRows(from_type.size()).rowwise().sum(), rate);
        return error.squaredNorm() / static_cast<double>(outputs_);
    }

    Layers& l_;
    const PilotConfig& config_;
    Eigen::Index elements_, outputs_;
    float slope_;
    std::vector<TrainingSet> sets_;
    std::vector<Batch> batches_;
    std::vector<std::vector<std::uint32_t>> orders_;  ///< by set: of its samples
    Descent of_sample_, of_matrix_, of_type_;
    std::vector<PerceptronDescent> of_perceptrons_;
    RandomSource random_;
};

std::vector<double> Pilot::train(const std::vector<PilotTrace>& traces) {
    Training training(*layers_, config_);
    training.read(traces);
    trained_on.clear();
    for (const PilotTrace& trace : traces) trained_on.push_back(trace.network);
    return training.run();
}

}  // namespace switchyard::dynn_offload
