// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/dynn_offload/misprediction_records.h"
#include "switchyard/sw_scheduler/dynn_offload/partition.h"
#include "switchyard/sw_scheduler/dynn_offload/path_comparison.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot_features.h"

namespace switchyard::dynn_offload {

/// How a pilot is built and trained.
struct PilotConfig {
    Representation representation = Representation::idiom;
    /// Of the first hidden layer of each multilayer perceptron. The published memory (Table IV) is proportional to the
    /// neurons, so only one of the hidden layers can grow with them.
    unsigned neurons = 512;
    unsigned second_layer = 32;  ///< neurons of the second hidden layer
    unsigned sample_layer = 32;  ///< outputs of the input layer of the sample
    unsigned matrix_layer = 8;   ///< of the architecture feature matrix
    unsigned type_layer = 4;     ///< of the basic type
    double learning_rate = 0.01;
    double momentum = 0.9;
    double falling_share = 0.5;  ///< of the epochs, the last ones, over which the rate falls to 0
    double total_weight = 16;    ///< of the last block's outputs, the sums of the whole step, in the loss
    double max_gradient = 1;     ///< norm of a batch's gradient at the outputs
    double slope = 0.01;         ///< LeakyReLU below 0
    unsigned batch = 8, epochs = 20;
    std::uint64_t seed = 1;
};

/// The pilot: three input layers, three multilayer perceptrons of which the network's basic type activates one, and its
/// output layer (DyNN-Offload IV-C). LeakyReLU, stochastic gradient descent, mean squared error.
class Pilot {
public:
    explicit Pilot(const PilotConfig& config);
    ~Pilot();
    Pilot(Pilot&&) noexcept;
    Pilot& operator=(Pilot&&) noexcept;

    /// Trains from its random start: the same traces and configuration give the same pilot, bit for bit. Returns the
    /// mean loss of each epoch. Throws InputError for a trace of another representation.
    std::vector<double> train(const std::vector<PilotTrace>& traces);

    /// Of a network; kept, so that the architecture feature matrix passes its input layer only once.
    struct Architecture {
        sched::BasicType basic_type = sched::BasicType::recurrent;
        std::vector<double> unit;
        std::vector<float> encoded;  ///< outputs of the input layers of the matrix and of the type
    };
    Architecture encode(const std::vector<std::vector<double>>& matrix, sched::BasicType type) const;
    /// Ten elements a block, kOutputBlocks blocks, rounded to whole numbers; blocks without operators at the end are
    /// left out.
    std::vector<BlockVector> infer(const std::vector<float>& features, const Architecture& architecture) const;

    const PilotConfig& config() const { return config_; }
    std::size_t parameters() const;         ///< of all three multilayer perceptrons
    std::size_t active_parameters() const;  ///< that one inference uses

    std::vector<std::string> trained_on;  ///< names of the networks of the traces
    std::string source_file;              ///< that it was read from, for messages

    /// Whether networks of the type were among those: each type has a multilayer perceptron of its own.
    bool trained_for(sched::BasicType type) const;

    /// A versioned JSON file.
    void write(const std::string& path) const;
    /// Throws InputError: no pilot, another version, a layer that is missing or has other sizes.
    static Pilot read(const std::string& path);

private:
    struct Layers;
    class Training;
    PilotConfig config_;
    std::unique_ptr<Layers> layers_;
};

/// Maps the pilot's output back to a path (DyNN-Offload IV-B): of all paths through the network, the one whose blocks
/// have exactly the output; if there is none, the nearest by number of operators: that of the whole step and, among
/// equals, the sums of what is launched up to the end of each block.
class PathMapper {
public:
    /// Traverses the network's program once, along all paths.
    PathMapper(const sched::TrainingNetwork& network, BlockPlanner& labels, Representation representation);

    struct Match {
        std::uint32_t path = 0;
        bool exact = false;
    };
    Match map(const std::vector<BlockVector>& output) const;
    const std::vector<BlockVector>& label(std::uint32_t path) const { return labels_.at(path); }
    /// How far an output is from the label of a path: for each element, the differences of the sums up to the blocks'
    /// ends, over the sums of the step. Of the paths of a size, map() takes the one with the smallest.
    double difference(const std::vector<BlockVector>& output, std::uint32_t path) const;
    /// The smallest difference between the label of this path and another label of the same size; infinite if there is
    /// none. An output that is farther than half of it from the label of its path may be mapped to another path.
    double separation(std::uint32_t path) const;

private:
    using BySize = std::vector<std::pair<double, std::uint32_t>>;
    BySize::const_iterator first_of_size(double operators) const;

    std::vector<std::vector<BlockVector>> labels_;
    std::vector<double> operators_;  ///< of each path
    BySize by_operators_;            ///< ascending
};

/// What the runtime asks before each training step.
class PilotPredictor {
public:
    /// Labels are made for the network's own label_buffer_gb, so that they stay the same whatever budget is simulated.
    /// Throws InputError for a pilot that was trained with no network of this basic type.
    PilotPredictor(const sched::TrainingNetwork& network, const Pilot& pilot);
    ~PilotPredictor();
    /// Index of the predicted path, without records.
    std::uint32_t path_of(const std::vector<BlockVector>& output, bool* exact = nullptr);
    std::vector<BlockVector> output_of(const sched::TrainingSample& sample) const;
    std::vector<BlockVector> label_of(std::uint32_t path);
    /// PathMapper::difference and PathMapper::separation.
    double difference_of(const std::vector<BlockVector>& output, std::uint32_t path) const;
    double separation_of(std::uint32_t path) const;
    bool mispredicted(std::uint32_t predicted, std::uint32_t taken) {
        return comparison_.mispredicted(predicted, taken);
    }

private:
    const Pilot& pilot_;
    PathComparison comparison_;
    Pilot::Architecture architecture_;
    std::unique_ptr<PathMapper> mapper_;
};

/// Mispredictions (PathComparison::mispredicted) among samples in their order.
struct PilotEvaluation {
    std::size_t samples = 0, exact = 0;  ///< exact: a path with just the pilot's output was found
    std::size_t other_path = 0;          ///< another path than the one taken, with the same blocks or not
    std::size_t other_label = 0;         ///< a path whose blocks have other vectors
    std::size_t right_size = 0;          ///< of the other paths: as many operators and control flows as the one taken
    std::size_t mispredictions = 0;      ///< without handling
    std::size_t handled = 0;  ///< mispredictions with handling: recorded cases are not predicted wrongly again
    std::size_t records = 0;
    /// Mispredictions of a pilot whose output is the label of the path that is taken: what vectors of blocks leave
    /// open.
    std::size_t label_limit = 0;
    /// Mispredictions of the most probable path given the embedding: what the input leaves open.
    std::size_t input_limit = 0;
    /// Means over the samples whose path has others of its size (PathMapper): how far the pilot's output is from the
    /// label of the path that is taken, and how far the nearest other label is.
    double output_difference = 0, label_separation = 0;
    std::size_t resolved = 0;  ///< of them: the output is nearer than half of that
    std::size_t compared = 0;  ///< samples that have both
};
PilotEvaluation evaluate_pilot(const sched::TrainingNetwork& network, const Pilot& pilot, std::uint64_t seed,
                               std::size_t samples);

/// Partition that labels are made with.
PartitionConfig label_partition(const sched::TrainingNetwork& network);

/// The right path in place of a prediction (oracle designs).
Prediction true_prediction(const sched::TrainingNetwork& network, BlockPlanner& planner, std::uint32_t path);

}  // namespace switchyard::dynn_offload
