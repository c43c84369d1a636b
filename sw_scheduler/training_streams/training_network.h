// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/training_streams/sample_data.h"
#include "switchyard/sw_scheduler/training_streams/step_recorder.h"
#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::sched {

/// What a network is built from; chooses the pilot's multilayer perceptron (DyNN-Offload IV-C).
enum class BasicType : std::uint8_t { convolution, recurrent, transformer };
const char* to_string(BasicType type);

/// Elements of a sample's embedding.
inline constexpr unsigned kFeatures = 64;

/// A sample, a batch of inputs that take the same path (inputs of a batch are chosen so: bucketing).
struct TrainingSample {
    std::uint32_t path = 0;       ///< index in TrainingNetwork::decisions
    std::vector<float> features;  ///< kFeatures elements: what the network's own embedding makes of it
};

/// Keys of a description (docs/dynn_offload.md).
struct TrainingNetworkConfig {
    /// tree_cnn, unrolled_gan, tree_lstm, lstm, bert, evoformer, fixed_lstm, fixed_bert; recorded: what `log` has
    std::string network;
    std::string log;  ///< of the DTR simulator (workload/dtr_log.h), for the network `recorded`
    std::uint32_t batch = 32, blocks = 128, width = 1024, heads = 16;
    std::uint32_t input_width = 512;               ///< of the embedding of a word, of noise
    std::uint32_t segment = 128;                   ///< tokens that are processed at a time
    std::uint32_t rows = 256, sequences = 128;     ///< Evoformer: residues, aligned sequences
    std::uint32_t image = 14;                      ///< Tree-CNN: rows and columns of a node's feature map
    double median = 66, p90 = 248;                 ///< of the lengths
    std::uint32_t most = 964;                      ///< longest
    std::uint32_t corpus = 4500, corpus_seed = 1;  ///< trees of the data set
    double embedding_noise = 0.1;                  ///< of a part's embedding over its own size
    double label_buffer_gb = 11.5;                 ///< buffer that the pilot's labels are made for
    std::string data;                              ///< file with lengths or trees instead of the statistics
};

/// A dynamic network that is trained: its program, all paths through it, and samples.
class TrainingNetwork {
public:
    using PathBuilder = std::function<TrainingStream(const std::vector<std::uint8_t>& decisions, std::uint64_t path)>;

    std::string name, file;
    TrainingNetworkConfig config;
    BasicType basic_type = BasicType::recurrent;
    /// The static program in its order: the operators of all branches, loops of constant length unrolled, the body of a
    /// loop that depends on the input once, a row for each control flow.
    std::vector<ProgramRow> program;
    /// Of each path: which way each control flow went, in the order of execution.
    std::vector<std::vector<std::uint8_t>> decisions;
    std::vector<double> weight;  ///< of each path among the samples; sum 1

    std::uint32_t paths() const { return static_cast<std::uint32_t>(decisions.size()); }
    bool is_static() const { return decisions.size() == 1; }
    /// The training step of a path; made at its first use and kept. Not for several threads at once.
    std::shared_ptr<const TrainingStream> stream(std::uint32_t path) const;
    /// `count` independent draws; samples of different seeds are independent.
    ///
    /// An embedding is the sum of the embeddings of the sample's parts (a token, a node of a tree, an unrolled step),
    /// as sum pooling makes it, divided by 8. The embedding of a part depends on its kind, its position and the way
    /// that the program goes for it, is the same in all networks, and has normal elements; to each of its elements
    /// comes normal noise of `embedding_noise`, for two words are never the same.
    std::vector<TrainingSample> samples(std::uint64_t seed, std::size_t count) const;
    /// The path that most probably has a sample of these features: Bayes' rule with how samples() draws them. No
    /// prediction from the embedding is right more often.
    std::uint32_t likeliest_path(const std::vector<float>& features) const;

    PathBuilder build;
    std::shared_ptr<KernelTimes> times;

private:
    mutable std::map<std::uint32_t, std::shared_ptr<const TrainingStream>> streams_;
    mutable std::vector<std::vector<float>> mean_features_;  ///< of the samples of each path; made at the first use
};

/// A network of a description (YAML) on a GPU; `overrides`: values of keys ("batch" -> "64") in the place of the
/// file's; those of other keys are left alone, used ones are removed. Throws InputError.
TrainingNetwork read_training_network(const std::string& path, const GpuDescription& gpu,
                                      std::map<std::string, std::string>& overrides);
/// Names of the keys that overrides may have.
std::vector<std::string> training_network_keys();
std::string training_network_keys_markdown();
/// Throws InputError that names `file`, or the log of a recorded network. `log` and `data` are relative to `file`.
TrainingNetwork make_training_network(const TrainingNetworkConfig& config, const GpuDescription& gpu,
                                      const std::string& file = "");

/// Jaccard distance of two binary vectors: 1 - (both taken) / (either taken). A vector that is shorter is filled with
/// 0.
double jaccard_distance(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace switchyard::sched
