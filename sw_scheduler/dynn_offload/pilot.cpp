// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::dynn_offload {

using nlohmann::json;
using Matrix = Eigen::MatrixXf;  ///< a column a sample

/// Fully connected.
struct Layer {
    Matrix weights;
    Eigen::VectorXf bias;
    Matrix weight_step;  ///< of the last update, for momentum
    Eigen::VectorXf bias_step;

    void start(unsigned in, unsigned out, RandomSource& random) {
        weights.resize(out, in);
        const double range = std::sqrt(6.0 / in);  // He et al. 2015, uniform
        for (Eigen::Index i = 0; i < weights.size(); ++i)
            weights.data()[i] = static_cast<float>(random.uniform(-range, range));
        bias = Eigen::VectorXf::Zero(out);
        weight_step = Matrix::Zero(out, in);
        bias_step = Eigen::VectorXf::Zero(out);
    }
    std::size_t parameters() const { return static_cast<std::size_t>(weights.size() + bias.size()); }
    void update(const Matrix& inputs, const Matrix& gradient, const PilotConfig& config) {
        const auto rate = static_cast<float>(config.learning_rate), momentum = static_cast<float>(config.momentum);
        weight_step = momentum * weight_step - rate * (gradient * inputs.transpose());
        bias_step = momentum * bias_step - rate * gradient.rowwise().sum();
        weights += weight_step;
        bias += bias_step;
    }
};

namespace {

constexpr const char* kPilotFormat = "switchyard-pilot";
constexpr int kPilotVersion = 1;
constexpr unsigned kBasicTypes = 3;
/// Labels are counted in programs (PilotTrace::unit); this many programs are 1, so that outputs are of order 1.
/// The output layer gives the sums up to the end of each block: the last is the whole step, in one number.
constexpr double kProgramsPerOne = 8;

std::vector<float> scaled_matrix(const std::vector<std::vector<double>>& matrix, Representation representation) {
    std::vector<float> inputs(std::size_t{kProgramRows} * row_elements(representation));
    for (std::size_t r = 0; r < std::min<std::size_t>(matrix.size(), kProgramRows); ++r)
        for (std::size_t i = 0; i < matrix[r].size(); ++i)
            // Sizes have many orders of magnitude.
            inputs[r * matrix[r].size() + i] = static_cast<float>(std::log2(1 + matrix[r][i]) / 16);
    return inputs;
}

}  // namespace

struct Pilot::Layers {
    Layer sample, matrix, type;
    struct Perceptron {
        Layer first, second, output;
    };
    std::array<Perceptron, kBasicTypes> perceptrons;
};

Pilot::Pilot(const PilotConfig& config) : config_(config), layers_(std::make_unique<Layers>()) {
    RandomSource random(config.seed, 0x91107);
    const unsigned inputs = config.sample_layer + config.matrix_layer + config.type_layer;
    layers_->sample.start(sched::kFeatures, config.sample_layer, random);
    layers_->matrix.start(kProgramRows * row_elements(config.representation), config.matrix_layer, random);
    layers_->type.start(kBasicTypes, config.type_layer, random);
    for (Layers::Perceptron& p : layers_->perceptrons) {
        p.first.start(inputs, config.neurons, random);
        p.second.start(config.neurons, config.second_layer, random);
        p.output.start(config.second_layer, kOutputBlocks * vector_elements(config.representation), random);
    }
}

Pilot::~Pilot() = default;
Pilot::Pilot(Pilot&&) noexcept = default;
Pilot& Pilot::operator=(Pilot&&) noexcept = default;

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

std::vector<double> Pilot::train(const std::vector<PilotTrace>& traces) {
    trained_on.clear();
    struct Item {
        std::uint32_t trace, sample;
    };
    // A batch is of one trace, so that its matrix passes the input layer once.
    std::vector<std::vector<Item>> batches;
    std::vector<Eigen::VectorXf> matrices;
    RandomSource random(config_.seed, 0x7a1);
    const unsigned elements = vector_elements(config_.representation);
    const auto outputs = static_cast<Eigen::Index>(kOutputBlocks * elements);
    for (std::uint32_t t = 0; t < traces.size(); ++t) {
        if (traces[t].representation != config_.representation)
            throw InputError(traces[t].network, 0, "representation",
                             fmt::format("{}, the pilot's is {}", to_string(traces[t].representation),
                                         to_string(config_.representation)));
        trained_on.push_back(traces[t].network);
        const std::vector<float> inputs = scaled_matrix(traces[t].matrix, config_.representation);
        matrices.emplace_back(
            Eigen::Map<const Eigen::VectorXf>(inputs.data(), static_cast<Eigen::Index>(inputs.size())));
    }
    std::vector<std::vector<std::uint32_t>> orders;
    for (const PilotTrace& trace : traces) {
        orders.emplace_back(trace.samples.size());
        std::iota(orders.back().begin(), orders.back().end(), 0U);
    }
    // Sums over a batch, not means of all elements: the rate is a sample's.
    const auto slope = static_cast<float>(config_.slope);
    const auto active = [slope](const Matrix& x) { return Matrix(x.cwiseMax(slope * x)); };
    const auto derived = [slope](const Matrix& y, const Matrix& gradient) {
        return Matrix((y.array() > 0).select(gradient, slope * gradient));
    };
    std::vector<double> losses;
    for (unsigned epoch = 0; epoch < config_.epochs; ++epoch) {
        batches.clear();
        for (std::uint32_t t = 0; t < traces.size(); ++t) {
            std::vector<std::uint32_t>& order = orders[t];
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[random.integer(0, static_cast<unsigned>(i - 1))]);
            for (std::size_t first = 0; first < order.size(); first += config_.batch) {
                batches.emplace_back();
                for (std::size_t i = first; i < std::min<std::size_t>(first + config_.batch, order.size()); ++i)
                    batches.back().push_back({t, order[i]});
            }
        }
        for (std::size_t i = batches.size(); i > 1; --i)
            std::swap(batches[i - 1], batches[random.integer(0, static_cast<unsigned>(i - 1))]);
        double loss = 0;
        std::size_t count = 0;
        for (const std::vector<Item>& batch : batches) {
            const PilotTrace& trace = traces[batch.front().trace];
            const auto columns = static_cast<Eigen::Index>(batch.size());
            Matrix features(sched::kFeatures, columns), wanted = Matrix::Zero(outputs, columns);
            for (Eigen::Index c = 0; c < columns; ++c) {
                const sched::TrainingSample& sample = trace.samples[batch[static_cast<std::size_t>(c)].sample];
                for (unsigned i = 0; i < sched::kFeatures; ++i) features(i, c) = sample.features[i];
                const std::vector<BlockVector>& label = trace.labels[sample.path];
                for (unsigned e = 0; e < elements; ++e) {
                    double sum = 0;
                    for (std::size_t b = 0; b < kOutputBlocks; ++b) {
                        if (b < label.size()) sum += label[b][e];
                        wanted(static_cast<Eigen::Index>(b * elements + e), c) =
                            static_cast<float>(sum / trace.unit[e] / kProgramsPerOne);
                    }
                }
            }
            Layers& l = *layers_;
            const auto type = static_cast<unsigned>(trace.basic_type);
            Layers::Perceptron& p = l.perceptrons[type];
            const Matrix matrix = matrices[batch.front().trace].replicate(1, columns);
            Matrix kind = Matrix::Zero(kBasicTypes, columns);
            kind.row(type).setOnes();
            // Forward.
            const Matrix from_sample = active((l.sample.weights * features).colwise() + l.sample.bias);
            const Matrix from_matrix =
                active(((l.matrix.weights * matrices[batch.front().trace]) + l.matrix.bias).replicate(1, columns));
            const Matrix from_type = active((l.type.weights * kind).colwise() + l.type.bias);
            Matrix joined(from_sample.rows() + from_matrix.rows() + from_type.rows(), columns);
            joined << from_sample, from_matrix, from_type;
            const Matrix first = active((p.first.weights * joined).colwise() + p.first.bias);
            const Matrix second = active((p.second.weights * first).colwise() + p.second.bias);
            const Matrix output = (p.output.weights * second).colwise() + p.output.bias;
            // Backward: the squared error summed over the outputs, the mean over the batch. Its gradient is shortened
            // to a norm of max_gradient: with many neurons the first steps diverge otherwise.
            const Matrix error = output - wanted;
            loss += error.squaredNorm();
            count += batch.size();
            Matrix d_output = error / static_cast<float>(columns);
            const float norm = d_output.norm();
            if (norm > static_cast<float>(config_.max_gradient))
                d_output *= static_cast<float>(config_.max_gradient) / norm;
            const Matrix d_second = derived(second, p.output.weights.transpose() * d_output);
            const Matrix d_first = derived(first, p.second.weights.transpose() * d_second);
            const Matrix d_joined = derived(joined, p.first.weights.transpose() * d_first);
            p.output.update(second, d_output, config_);
            p.second.update(first, d_second, config_);
            p.first.update(joined, d_first, config_);
            l.sample.update(features, d_joined.topRows(from_sample.rows()), config_);
            l.matrix.update(matrix, d_joined.middleRows(from_sample.rows(), from_matrix.rows()), config_);
            l.type.update(kind, d_joined.bottomRows(from_type.rows()), config_);
        }
        losses.push_back(loss / static_cast<double>(std::max<std::size_t>(count, 1)));
        if (!std::isfinite(losses.back()))
            throw InputError("", 0, "learning_rate", fmt::format("training diverges in epoch {}", epoch + 1));
    }
    return losses;
}

Pilot::Architecture Pilot::encode(const std::vector<std::vector<double>>& matrix, sched::BasicType type) const {
    Architecture made;
    made.basic_type = type;
    made.unit = unit_of(matrix, config_.representation);
    const std::vector<float> inputs = scaled_matrix(matrix, config_.representation);
    const auto slope = static_cast<float>(config_.slope);
    const Eigen::Map<const Eigen::VectorXf> in(inputs.data(), static_cast<Eigen::Index>(inputs.size()));
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
    const Eigen::Map<const Eigen::VectorXf> in(features.data(), static_cast<Eigen::Index>(features.size()));
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
    const Eigen::VectorXf output = p.output.weights * second + p.output.bias;
    const unsigned elements = vector_elements(config_.representation);
    std::vector<BlockVector> blocks(kOutputBlocks, BlockVector(elements));
    for (unsigned e = 0; e < elements; ++e) {
        double before = 0;
        for (unsigned b = 0; b < kOutputBlocks; ++b) {
            const double sum = std::round(output[b * elements + e] * architecture.unit[e] * kProgramsPerOne);
            blocks[b][e] = std::max(0.0, sum - before);
            before = std::max(before, sum);
        }
    }
    while (blocks.size() > 1 && blocks.back()[0] < 1) blocks.pop_back();
    return blocks;
}

namespace {

template <class M>
json numbers(const M& values) {
    return std::vector<float>(values.data(), values.data() + values.size());
}

json to_json(const Layer& layer) {
    return {{"in", layer.weights.cols()},
            {"out", layer.weights.rows()},
            {"weights", numbers(layer.weights)},
            {"bias", numbers(layer.bias)}};
}

void from_json(Layer& layer, const json& value, const std::string& path, const std::string& name) {
    const auto weights = value.at("weights").get<std::vector<float>>(),
               bias = value.at("bias").get<std::vector<float>>();
    if (weights.size() != static_cast<std::size_t>(layer.weights.size()) ||
        bias.size() != static_cast<std::size_t>(layer.bias.size()))
        throw InputError(path, 0, name,
                         fmt::format("{} weights and {} biases instead of {} and {}", weights.size(), bias.size(),
                                     layer.weights.size(), layer.bias.size()));
    std::copy(weights.begin(), weights.end(), layer.weights.data());
    std::copy(bias.begin(), bias.end(), layer.bias.data());
}

template <class L, class F>
void for_layers(L& layers, const F& visit) {
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

}  // namespace

void Pilot::write(const std::string& path) const {
    nlohmann::ordered_json file{{"format", kPilotFormat},
                                {"version", kPilotVersion},
                                {"representation", to_string(config_.representation)},
                                {"neurons", config_.neurons},
                                {"second_layer", config_.second_layer},
                                {"sample_layer", config_.sample_layer},
                                {"matrix_layer", config_.matrix_layer},
                                {"type_layer", config_.type_layer},
                                {"slope", config_.slope},
                                {"learning_rate", config_.learning_rate},
                                {"momentum", config_.momentum},
                                {"batch", config_.batch},
                                {"epochs", config_.epochs},
                                {"seed", config_.seed},
                                {"trained_on", trained_on}};
    for_layers(*layers_, [&](const std::string& name, const Layer& layer) { file["layers"][name] = to_json(layer); });
    make_folder_of(path);
    write_file(file.dump() + "\n", path);
}

Pilot Pilot::read(const std::string& path) {
    const json file = json::parse(read_file(path, kMaxJsonBytes), nullptr, false);
    if (!file.is_object() || file.value("format", "") != kPilotFormat) throw InputError(path, 0, "format", "no pilot");
    if (file.value("version", 0) != kPilotVersion)
        throw InputError(path, 0, "version",
                         fmt::format("version {} of the format; this program reads version {}",
                                     file.value("version", 0), kPilotVersion));
    try {
        PilotConfig config;
        config.representation =
            parse_representation(file.at("representation").get<std::string>(), path, "representation");
        const auto size = [&](const char* key) {
            const auto value = file.at(key).get<std::int64_t>();
            if (value < 1 || value > 1 << 20) throw InputError(path, 0, key, fmt::format("{} is out of range", value));
            return static_cast<unsigned>(value);
        };
        config.neurons = size("neurons");
        config.second_layer = size("second_layer");
        config.sample_layer = size("sample_layer");
        config.matrix_layer = size("matrix_layer");
        config.type_layer = size("type_layer");
        config.slope = file.at("slope").get<double>();
        config.learning_rate = file.at("learning_rate").get<double>();
        config.momentum = file.at("momentum").get<double>();
        config.batch = size("batch");
        config.epochs = size("epochs");
        config.seed = file.at("seed").get<std::uint64_t>();
        Pilot pilot(config);
        pilot.trained_on = file.at("trained_on").get<std::vector<std::string>>();
        const json& layers = file.at("layers");
        for_layers(*pilot.layers_,
                   [&](const std::string& name, Layer& layer) { from_json(layer, layers.at(name), path, name); });
        return pilot;
    } catch (const json::exception& error) {
        throw InputError(path, 0, "", error.what());
    }
}

}  // namespace switchyard::dynn_offload
