// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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

PathMapper::Match PathMapper::map(const std::vector<BlockVector>& output) const {
    double operators = 0;
    for (const BlockVector& block : output) operators += block[0];
    // Paths with the same number of operators stand together; the nearest ones are before or behind the place.
    const auto place = std::lower_bound(by_operators_.begin(), by_operators_.end(), std::make_pair(operators, 0U));
    double nearest = 0;
    if (place == by_operators_.end())
        nearest = by_operators_.back().first;
    else if (place == by_operators_.begin())
        nearest = place->first;
    else
        nearest = operators - (place - 1)->first < place->first - operators ? (place - 1)->first : place->first;
    Match match;
    double best = -1;
    for (auto at = std::lower_bound(by_operators_.begin(), by_operators_.end(), std::make_pair(nearest, 0U));
         at != by_operators_.end() && at->first == nearest; ++at) {
        const std::vector<BlockVector>& label = labels_[at->second];
        if (label == output) return {at->second, true};
        double difference = 0;
        for (std::size_t b = 0; b < std::max(label.size(), output.size()); ++b)
            for (std::size_t e = 0; e < label.front().size(); ++e) {
                const double a = b < label.size() ? label[b][e] : 0, c = b < output.size() ? output[b][e] : 0;
                difference += std::abs(a - c) / (1 + a + c);
            }
        if (best >= 0 && difference >= best) continue;
        best = difference;
        match.path = at->second;
    }
    return match;
}

PilotPredictor::PilotPredictor(const sched::TrainingNetwork& network, BlockPlanner& planner, const Pilot& pilot)
    : network_(network),
      planner_(planner),
      pilot_(pilot),
      label_planner_(network, label_partition(network)),
      architecture_(pilot.encode(feature_matrix(network, pilot.config().representation), network.basic_type)) {}

PilotPredictor::~PilotPredictor() = default;

std::vector<BlockVector> PilotPredictor::output_of(const sched::TrainingSample& sample) const {
    return pilot_.infer(sample.features, architecture_);
}

std::uint32_t PilotPredictor::path_of(const sched::TrainingSample& sample, bool* exact) {
    if (mapper_ == nullptr)
        mapper_ = std::make_unique<PathMapper>(network_, label_planner_, pilot_.config().representation);
    const PathMapper::Match match = mapper_->map(output_of(sample));
    if (exact != nullptr) *exact = match.exact;
    return match.path;
}

Prediction PilotPredictor::predict(const sched::TrainingSample& sample) {
    Prediction made;
    made.output = output_of(sample);
    const std::uint32_t path = path_of(sample, &made.exact);
    made.stream = network_.stream(path);
    made.blocks = planner_.blocks(path);
    return made;
}

PilotEvaluation evaluate_pilot(const sched::TrainingNetwork& network, const Pilot& pilot, std::uint64_t seed,
                               std::size_t samples) {
    BlockPlanner planner(network, label_partition(network));
    PilotPredictor predictor(network, planner, pilot);
    MispredictionRecords records;
    PilotEvaluation result;
    const auto same = [&](std::uint32_t a, std::uint32_t b) {
        return a == b || same_blocks(*network.stream(a), planner.blocks(a), *network.stream(b), planner.blocks(b));
    };
    for (const sched::TrainingSample& sample : network.samples(seed, samples)) {
        bool exact = false;
        const std::vector<BlockVector> output = predictor.output_of(sample);
        const std::uint32_t path = predictor.path_of(sample, &exact);
        ++result.samples;
        result.exact += exact;
        result.other_path += path != sample.path;
        result.mispredictions += !same(path, sample.path);
        const std::uint32_t used = records.find(output).value_or(path);
        if (same(used, sample.path)) continue;
        ++result.handled;
        records.record(output, sample.path);
    }
    result.records = records.size();
    return result;
}

Prediction true_prediction(const sched::TrainingNetwork& network, BlockPlanner& planner, std::uint32_t path) {
    Prediction made;
    made.stream = network.stream(path);
    made.blocks = planner.blocks(path);
    return made;
}

}  // namespace switchyard::dynn_offload
