// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/training_streams/training_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/sections.h"
#include "switchyard/sw_scheduler/training_streams/network_builders.h"
#include "switchyard/sw_scheduler/workload/dtr_log.h"

namespace switchyard::sched {

namespace {

constexpr const char* kSection = "training";
constexpr const char* kRecorded = "recorded";
constexpr double kEmbeddingScale = 0.125;

struct Kind {
    const char* name;
    BasicType type;
    void (*record)(StepRecorder&, const TrainingNetworkConfig&, const Decisions&);
    bool tree, fixed;
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> kKinds{
        {"tree_cnn", BasicType::convolution, record_tree_cnn, true, false},
        {"tree_lstm", BasicType::recurrent, record_tree_lstm, true, false},
        {"unrolled_gan", BasicType::recurrent, record_unrolled_gan, false, false},
        {"lstm", BasicType::recurrent, record_lstm, false, false},
        {"fixed_lstm", BasicType::recurrent, record_lstm, false, true},
        {"bert", BasicType::transformer, record_bert, false, false},
        {"fixed_bert", BasicType::transformer, record_bert, false, true},
        {"evoformer", BasicType::transformer, record_evoformer, false, false},
    };
    return kKinds;
}

template <class V>
void describe(V& v, TrainingNetworkConfig& c) {
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) names.emplace_back(kind.name);
    names.emplace_back(kRecorded);
    v.choice("network", c.network, names, "what is built");
    v.field("batch", c.batch, 1, 1 << 20, "inputs of a training step; all take the same path");
    v.field("blocks", c.blocks, 1, 1 << 16, "most cells, layers or blocks of a path (Table II)");
    v.field("width", c.width, 1, 1 << 16, "hidden size, channels of a node, of the aligned sequences");
    v.field("heads", c.heads, 1, 1024, "BERT: of an attention");
    v.field("input_width", c.input_width, 1, 1 << 16, "elements of a word's embedding, of noise, channels of a leaf");
    v.field("segment", c.segment, 1, 1 << 16, "tokens or steps between two decisions of the loop");
    v.field("rows", c.rows, 1, 1 << 16, "Evoformer: residues");
    v.field("sequences", c.sequences, 1, 1 << 16, "Evoformer: aligned sequences");
    v.field("image", c.image, 1, 1 << 12, "Tree-CNN: rows and columns of a node's feature map");
    v.field("median", c.median, 1, 1e6, "of the lengths");
    v.field("p90", c.p90, 1, 1e6, "90th percentile of the lengths");
    v.field("most", c.most, 1, 1 << 20, "longest");
    v.field("corpus", c.corpus, 1, 1 << 20, "sentences of the data set: trees, lengths");
    v.field("corpus_seed", c.corpus_seed, 0, 0x7FFFFFFF, "another seed is another data set of the same statistics");
    v.field("embedding_noise", c.embedding_noise, 0, 100,
            "of the embedding of a part, over its own standard deviation");
    v.field("label_buffer_gb", c.label_buffer_gb, 0.001, 1e6, "GB of the buffer that the pilot's labels are made for");
    v.field("data", c.data, "file with a length or a tree a line, instead of the statistics");
    v.field("log", c.log, "network: recorded: a step that was recorded on a device, a log of the DTR simulator");
}

/// A path that a description names is relative to the description.
std::string beside(const std::string& file, const std::string& named) {
    const std::size_t slash = file.find_last_of('/');
    if (named.empty() || named.front() == '/' || slash == std::string::npos) return named;
    return file.substr(0, slash + 1) + named;
}

/// A network of one path: the step of the log, with its times.
TrainingNetwork recorded_network(const TrainingNetworkConfig& config, const std::string& file) {
    if (config.log.empty())
        throw InputError(file, 0, "training.log", "expected the log of a recorded network, found none");
    TrainingNetwork network;
    network.name = config.network;
    network.file = file;
    network.config = config;
    network.decisions.emplace_back();
    network.weight.push_back(1);
    TrainingStream recorded = read_dtr_log(beside(file, config.log));
    recorded.samples = config.batch;
    for (const TrainingOperator& op : recorded.operators)
        network.program.push_back({false, op.idioms, op.sizes, op.type});
    network.build = [recorded](const std::vector<std::uint8_t>& /*decisions*/, std::uint64_t path) {
        TrainingStream step = recorded;
        step.path = path;
        return step;
    };
    return network;
}

/// How often each path comes among the samples of the data set.
std::map<std::vector<std::uint8_t>, std::size_t> count_paths(const TrainingNetworkConfig& c, const Kind& kind,
                                                             const std::string& file) {
    std::map<std::vector<std::uint8_t>, std::size_t> counts;
    const unsigned max_trips =
        std::max(1U, c.network == "bert" || c.network == "fixed_bert" ? (c.most + c.segment - 1) / c.segment
                     : c.network == "evoformer"                       ? c.blocks
                                                                      : c.blocks / c.segment);
    const auto loop = [](unsigned trips) {
        std::vector<std::uint8_t> decisions(trips, 1);
        decisions.back() = 0;
        return decisions;
    };
    if (kind.fixed) {
        counts[loop(max_trips)] = 1;
        return counts;
    }
    const std::string data = beside(file, c.data);
    if (kind.tree && !data.empty()) {
        for (const TreeOrder& tree : read_trees(data)) ++counts[tree];
        return counts;
    }
    RandomSource random(c.corpus_seed, 0x5eed);
    const LengthStatistics statistics{c.median, c.p90, c.most};
    if (kind.tree) {
        const unsigned max_leaves = (c.blocks + 1) / 2;
        for (unsigned i = 0; i < c.corpus; ++i)
            ++counts[draw_tree(std::min(statistics.draw(random), max_leaves), random)];
        return counts;
    }
    if (!data.empty()) {
        for (const unsigned length : read_lengths(data))
            ++counts[loop(std::min((length + c.segment - 1) / c.segment, max_trips))];
        return counts;
    }
    if (c.network == "lstm" || c.network == "bert") {
        for (unsigned i = 0; i < c.corpus; ++i)
            ++counts[loop(std::min((statistics.draw(random) + c.segment - 1) / c.segment, max_trips))];
        return counts;
    }
    // No statistics are published: all numbers of trips alike. AlphaFold runs two blocks at least (Table II).
    for (unsigned trips = c.network == "evoformer" ? std::min(2U, max_trips) : 1; trips <= max_trips; ++trips)
        ++counts[loop(trips)];
    return counts;
}

/// What the embedding of a part of kind (position, decision) is, in all networks.
const std::vector<float>& part_embedding(std::size_t position, std::uint8_t decision) {
    static std::map<std::uint64_t, std::vector<float>> known;
    const std::uint64_t kind = 2 * position + decision;
    std::vector<float>& embedding = known[kind];
    if (embedding.empty()) {
        RandomSource random(0xe3bed, kind);
        for (unsigned i = 0; i < kFeatures; ++i) embedding.push_back(static_cast<float>(random.normal()));
    }
    return embedding;
}

}  // namespace

const char* to_string(BasicType type) {
    constexpr const char* kNames[] = {"convolution", "recurrent", "transformer"};
    return kNames[static_cast<unsigned>(type)];
}

std::shared_ptr<const TrainingStream> TrainingNetwork::stream(std::uint32_t path) const {
    std::shared_ptr<const TrainingStream>& kept = streams_[path];
    if (kept == nullptr) {
        TrainingStream made = build(decisions.at(path), path);
        made.file = file;
        kept = std::make_shared<const TrainingStream>(std::move(made));
    }
    return kept;
}

std::vector<TrainingSample> TrainingNetwork::samples(std::uint64_t seed, std::size_t count) const {
    std::vector<double> sums;
    for (const double share : weight) sums.push_back((sums.empty() ? 0 : sums.back()) + share);
    RandomSource random(seed, 0x5a3b1e);
    std::vector<TrainingSample> made(count);
    for (TrainingSample& sample : made) {
        const double drawn = random.uniform() * sums.back();
        sample.path = static_cast<std::uint32_t>(
            std::min<std::size_t>(std::upper_bound(sums.begin(), sums.end(), drawn) - sums.begin(), sums.size() - 1));
        const std::vector<std::uint8_t>& path = decisions[sample.path];
        std::vector<double> sum(kFeatures);
        for (std::size_t position = 0; position < path.size(); ++position) {
            const std::vector<float>& part = part_embedding(position, path[position]);
            for (unsigned i = 0; i < kFeatures; ++i) sum[i] += part[i] + config.embedding_noise * random.normal();
        }
        for (const double element : sum) sample.features.push_back(static_cast<float>(element * kEmbeddingScale));
    }
    return made;
}

std::uint32_t TrainingNetwork::likeliest_path(const std::vector<float>& features) const {
    if (mean_features_.empty()) {
        for (const std::vector<std::uint8_t>& path : decisions) {
            std::vector<double> sum(kFeatures);
            for (std::size_t position = 0; position < path.size(); ++position)
                for (unsigned i = 0; i < kFeatures; ++i) sum[i] += part_embedding(position, path[position])[i];
            mean_features_.emplace_back();
            for (const double element : sum)
                mean_features_.back().push_back(static_cast<float>(element * kEmbeddingScale));
        }
    }
    std::uint32_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::uint32_t path = 0; path < paths(); ++path) {
        double squares = 0;
        for (unsigned i = 0; i < kFeatures; ++i) {
            const double difference = features[i] - mean_features_[path][i];
            squares += difference * difference;
        }
        const double deviation = kEmbeddingScale * std::max(config.embedding_noise, 1e-6);
        const double variance = deviation * deviation * static_cast<double>(decisions[path].size());
        const double logarithm =
            std::log(weight[path]) - squares / (2 * variance) - kFeatures / 2.0 * std::log(variance);
        if (logarithm <= most) continue;
        most = logarithm;
        best = path;
    }
    return best;
}

TrainingNetwork make_training_network(const TrainingNetworkConfig& config, const GpuDescription& gpu,
                                      const std::string& file) {
    if (config.network == kRecorded) return recorded_network(config, file);
    if (!config.log.empty())
        throw InputError(file, 0, "training.log", "expected none, found one; set network: recorded");
    const auto kind =
        std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.name == config.network; });
    if (kind == kinds().end())
        throw InputError(file, 0, "training.network", "expected a known network, found " + config.network);
    if (config.network.find("bert") != std::string::npos && config.width % config.heads != 0)
        throw InputError(file, 0, "training.heads",
                         fmt::format("expected a divisor of the width, {}, found {}", config.width, config.heads));
    if (config.network == "evoformer" && config.width % 64 != 0)
        throw InputError(file, 0, "training.width",
                         fmt::format("expected a multiple of 64 for the Evoformer, found {}", config.width));
    if (!kind->tree && config.network != "evoformer" && config.network.find("bert") == std::string::npos &&
        config.blocks % config.segment != 0)
        throw InputError(file, 0, "training.segment",
                         fmt::format("expected a divisor of {} blocks, found {}", config.blocks, config.segment));
    TrainingNetwork network;
    network.name = config.network;
    network.file = file;
    network.config = config;
    network.basic_type = kind->type;
    network.times = std::make_shared<KernelTimes>(gpu);
    double total = 0;
    for (const auto& [decisions, count] : count_paths(config, *kind, file)) {
        network.decisions.push_back(decisions);
        network.weight.push_back(static_cast<double>(count));
        total += static_cast<double>(count);
    }
    for (double& weight : network.weight) weight /= total;
    const auto record = kind->record;
    const auto times = network.times;
    network.build = [record, times, config](const std::vector<std::uint8_t>& decisions, std::uint64_t path) {
        StepRecorder recorder(*times, config.network, config.batch);
        record(recorder, config, decisions);
        return recorder.finish(path);
    };
    const auto longest = std::max_element(network.decisions.begin(), network.decisions.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    StepRecorder recorder(*times, config.network, config.batch);
    record(recorder, config, *longest);
    network.program = recorder.program();
    return network;
}

TrainingNetwork read_training_network(const std::string& path, const GpuDescription& gpu,
                                      std::map<std::string, std::string>& overrides) {
    const YAML::Node root = load_yaml(path);
    check_sections(root, path, {"", {kSection}, {"name"}, {kSection}});
    TrainingNetworkConfig config;
    ConfigReader reader(root[kSection], path, kSection, &overrides);
    describe(reader, config);
    reader.finish();
    if (config.p90 < config.median)
        throw InputError(path, line_of(root[kSection]), "training.p90", "expected the median or more, found less");
    TrainingNetwork network = make_training_network(config, gpu, path);
    if (const std::string name = section_text(root, "name"); !name.empty()) network.name = name;
    return network;
}

std::vector<std::string> training_network_keys() {
    std::vector<KeyDescription> keys;
    TrainingNetworkConfig config;
    ConfigReader reader(YAML::Node(), "", kSection, nullptr, &keys);
    config.network = kinds().front().name;
    describe(reader, config);
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const KeyDescription& key : keys) names.push_back(key.key);
    return names;
}

std::string training_network_keys_markdown() {
    std::vector<KeyDescription> keys;
    TrainingNetworkConfig config;
    config.network = kinds().front().name;
    ConfigReader reader(YAML::Node(), "", kSection, nullptr, &keys);
    describe(reader, config);
    return key_table(keys);
}

double jaccard_distance(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    std::size_t both = 0, either = 0;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const bool in_a = i < a.size() && a[i] != 0, in_b = i < b.size() && b[i] != 0;
        both += in_a && in_b;
        either += in_a || in_b;
    }
    return either == 0 ? 0 : 1 - static_cast<double>(both) / static_cast<double>(either);
}

}  // namespace switchyard::sched
