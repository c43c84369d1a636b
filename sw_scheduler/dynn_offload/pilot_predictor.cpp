// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"

namespace switchyard::dynn_offload {

PartitionConfig label_partition(const sched::TrainingNetwork& network) {
    PartitionConfig config;
    config.buffer_bytes = static_cast<std::uint64_t>(network.config.label_buffer_gb * 1e9);
    config.max_blocks = kOutputBlocks;
    return config;
}

PathMapper::PathMapper(const sched::TrainingNetwork& network, BlockPlanner& labels, Representation representation) {
    for (std::uint32_t path = 0; path < network.paths(); ++path) {
        labels_.push_back(block_vectors(*network.stream(path), labels.blocks(path), representation));
        double operators = 0;
        for (const BlockVector& block : labels_.back()) operators += block[0];
        operators_.push_back(operators);
        by_operators_.emplace_back(operators, path);
    }
    std::sort(by_operators_.begin(), by_operators_.end());
}

PathMapper::BySize::const_iterator PathMapper::first_of_size(double operators) const {
    return std::lower_bound(by_operators_.begin(), by_operators_.end(), std::make_pair(operators, 0U));
}

// Of what has been launched up to each block's end, as the pilot is trained: a boundary that is off by some operators
// counts once, not in both of its blocks.
double PathMapper::difference(const std::vector<BlockVector>& output, std::uint32_t path) const {
    const std::vector<BlockVector>& label = labels_[path];
    double difference = 0;
    for (std::size_t e = 0; e < label.front().size(); ++e) {
        double a = 0, c = 0, apart = 0;
        for (std::size_t b = 0; b < std::max(label.size(), output.size()); ++b) {
            if (b < label.size()) a += label[b][e];
            if (b < output.size()) c += output[b][e];
            apart += std::abs(a - c);
        }
        difference += apart / (1 + a + c);
    }
    return difference;
}

double PathMapper::separation(std::uint32_t path) const {
    const double operators = operators_[path];
    double nearest = std::numeric_limits<double>::infinity();
    for (auto at = first_of_size(operators); at != by_operators_.end() && at->first == operators; ++at)
        if (labels_[at->second] != labels_[path]) nearest = std::min(nearest, difference(labels_[path], at->second));
    return nearest;
}

PathMapper::Match PathMapper::map(const std::vector<BlockVector>& output) const {
    double operators = 0;
    for (const BlockVector& block : output) operators += block[0];
    // Paths with the same number of operators stand together; the nearest ones are before or behind the place.
    const auto place = first_of_size(operators);
    double nearest = 0;
    if (place == by_operators_.end())
        nearest = by_operators_.back().first;
    else if (place == by_operators_.begin())
        nearest = place->first;
    else
        nearest = operators - (place - 1)->first < place->first - operators ? (place - 1)->first : place->first;
    Match match;
    double best = -1;
    for (auto at = first_of_size(nearest); at != by_operators_.end() && at->first == nearest; ++at) {
        if (labels_[at->second] == output) return {at->second, true};
        const double difference = this->difference(output, at->second);
        if (best >= 0 && difference >= best) continue;
        best = difference;
        match.path = at->second;
    }
    return match;
}

PathComparison::PathComparison(const sched::TrainingNetwork& network)
    : network_(network), labels_(network, label_partition(network)) {}

bool PathComparison::mispredicted(std::uint32_t predicted, std::uint32_t taken) {
    if (predicted == taken) return false;
    const auto signature = [this](std::uint32_t path) {
        std::uint64_t& known = signatures_[path];
        if (known == 0) known = blocks_signature(*network_.stream(path), labels_.blocks(path));
        return known;
    };
    return signature(predicted) != signature(taken);
}

namespace {

const Pilot& suitable(const sched::TrainingNetwork& network, const Pilot& pilot) {
    if (pilot.trained_for(network.basic_type)) return pilot;
    throw InputError(
        pilot.source_file, 0, "trained_on",
        fmt::format("expected a pilot trained on the network's type, found {}, not {}, the type of {}",
                    fmt::join(pilot.trained_on, ", "), sched::to_string(network.basic_type), network.name));
}

}  // namespace

PilotPredictor::PilotPredictor(const sched::TrainingNetwork& network, const Pilot& pilot)
    : pilot_(suitable(network, pilot)),
      comparison_(network),
      architecture_(pilot.encode(feature_matrix(network, pilot.config().representation), network.basic_type)),
      mapper_(std::make_unique<PathMapper>(network, comparison_.labels(), pilot.config().representation)) {}

PilotPredictor::~PilotPredictor() = default;

std::vector<BlockVector> PilotPredictor::output_of(const sched::TrainingSample& sample) const {
    return pilot_.infer(sample.features, architecture_);
}

std::vector<BlockVector> PilotPredictor::label_of(std::uint32_t path) {
    return mapper_->label(path);
}

double PilotPredictor::difference_of(const std::vector<BlockVector>& output, std::uint32_t path) const {
    return mapper_->difference(output, path);
}

double PilotPredictor::separation_of(std::uint32_t path) const {
    return mapper_->separation(path);
}

std::uint32_t PilotPredictor::path_of(const std::vector<BlockVector>& output, bool* exact) {
    const PathMapper::Match match = mapper_->map(output);
    if (exact != nullptr) *exact = match.exact;
    return match.path;
}

PilotEvaluation evaluate_pilot(const sched::TrainingNetwork& network, const Pilot& pilot, std::uint64_t seed,
                               std::size_t samples) {
    PilotPredictor predictor(network, pilot);
    MispredictionRecords records;
    PilotEvaluation result;
    const auto size_of = [&predictor](std::uint32_t path) {
        double operators = 0;
        for (const BlockVector& block : predictor.label_of(path)) operators += block[0];
        return operators;
    };
    std::map<std::uint32_t, std::uint32_t> of_labels;  // path to which a path's own label is mapped
    std::map<std::uint32_t, double> separations;
    for (const sched::TrainingSample& sample : network.samples(seed, samples)) {
        bool exact = false;
        const std::vector<BlockVector> output = predictor.output_of(sample);
        const std::uint32_t path = predictor.path_of(output, &exact);
        ++result.samples;
        result.exact += exact;
        result.other_path += path != sample.path;
        result.right_size += path != sample.path && size_of(path) == size_of(sample.path);
        result.other_label += predictor.label_of(path) != predictor.label_of(sample.path);
        result.mispredictions += predictor.mispredicted(path, sample.path);
        const auto of_label = of_labels.find(sample.path);
        const std::uint32_t labelled =
            of_label != of_labels.end() ? of_label->second : predictor.path_of(predictor.label_of(sample.path));
        of_labels[sample.path] = labelled;
        result.label_limit += predictor.mispredicted(labelled, sample.path);
        result.input_limit += predictor.mispredicted(network.likeliest_path(sample.features), sample.path);
        const auto separation = separations.try_emplace(sample.path, -1).first;
        if (separation->second < 0) separation->second = predictor.separation_of(sample.path);
        if (std::isfinite(separation->second)) {
            const double difference = predictor.difference_of(output, sample.path);
            ++result.compared;
            result.output_difference += difference;
            result.label_separation += separation->second;
            result.resolved += 2 * difference < separation->second;
        }
        const std::uint32_t used = records.find(output).value_or(path);
        if (!predictor.mispredicted(used, sample.path)) continue;
        ++result.handled;
        records.record(output, sample.path);
    }
    result.records = records.size();
    if (result.compared > 0) {
        result.output_difference /= static_cast<double>(result.compared);
        result.label_separation /= static_cast<double>(result.compared);
    }
    return result;
}

Prediction true_prediction(const sched::TrainingNetwork& network, BlockPlanner& planner, std::uint32_t path) {
    Prediction made;
    made.stream = network.stream(path);
    made.blocks = planner.blocks(path);
    return made;
}

}  // namespace switchyard::dynn_offload
