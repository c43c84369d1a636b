// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/dynn_offload/pilot_features.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/dynn_offload/partition.h"
#include "switchyard/sw_scheduler/training_streams/operator_types.h"

namespace switchyard::dynn_offload {

using nlohmann::json;

namespace {

constexpr const char* kFormat = "switchyard-pilot-trace";
constexpr int kVersion = 1;
constexpr unsigned kIdioms = 6, kTypes = static_cast<unsigned>(sched::OpType::kinds);

/// Adds one operator to a row or, behind the first element, to a block's vector.
void add_operator(const sched::Idioms& idioms, const std::array<std::uint32_t, 3>& sizes, std::uint32_t type,
                  Representation representation, double* row) {
    if (representation == Representation::global_id) {
        row[std::min(type, kTypes - 1)] += 1;
        return;
    }
    const auto counts = idioms.counts();
    for (unsigned i = 0; i < kIdioms; ++i) row[i] += counts[i];
    for (unsigned i = 0; i < 3; ++i) row[kIdioms + i] += sizes[i];
}

}  // namespace

const char* to_string(Representation representation) {
    return representation == Representation::idiom ? "idiom" : "global_id";
}

Representation parse_representation(const std::string& name, const std::string& file, const std::string& key) {
    if (name == "idiom") return Representation::idiom;
    if (name == "global_id") return Representation::global_id;
    throw InputError(file, 0, key, fmt::format("unknown representation {}; there are idiom, global_id", name));
}

unsigned row_elements(Representation representation) {
    return representation == Representation::idiom ? kIdioms + 3 : kTypes;
}

std::vector<std::vector<double>> feature_matrix(const sched::TrainingNetwork& network, Representation representation) {
    std::vector<std::vector<double>> matrix;
    for (const sched::ProgramRow& row : network.program) {
        matrix.emplace_back(row_elements(representation));
        if (!row.control_flow) add_operator(row.idioms, row.sizes, row.type, representation, matrix.back().data());
    }
    return matrix;
}

std::vector<double> unit_of(const std::vector<std::vector<double>>& matrix, Representation representation) {
    std::vector<double> unit(vector_elements(representation));
    unit[0] = static_cast<double>(matrix.size());
    for (const std::vector<double>& row : matrix)
        for (std::size_t i = 0; i < row.size(); ++i) unit[i + 1] += row[i];
    // An idiom that the program hardly has may come in its backward pass.
    for (double& element : unit) element = std::max(element, unit[0]);
    return unit;
}

std::vector<BlockVector> block_vectors(const sched::TrainingStream& stream, const ExecutionBlocks& blocks,
                                       Representation representation) {
    std::vector<BlockVector> vectors;
    for (const ExecutionBlock& block : blocks.blocks) {
        if (vectors.size() < kOutputBlocks) vectors.emplace_back(vector_elements(representation));
        BlockVector& sum = vectors.back();
        for (std::uint32_t i = block.first; i < block.first + block.operators; ++i) {
            const sched::TrainingOperator& op = stream.operators[i];
            sum[0] += 1 + op.control_flows;
            add_operator(op.idioms, op.sizes, op.type, representation, sum.data() + 1);
        }
    }
    return vectors;
}

std::uint64_t blocks_signature(const sched::TrainingStream& stream, const ExecutionBlocks& blocks) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a over 64-bit words
    const auto add = [&](std::uint64_t word) {
        for (unsigned byte = 0; byte < 8; ++byte) hash = (hash ^ ((word >> (8 * byte)) & 0xFF)) * 0x100000001b3;
    };
    for (const ExecutionBlock& block : blocks.blocks) {
        add(block.operators);
        std::vector<std::uint64_t> keys;
        for (const sched::TensorId id : block.fetched) keys.push_back(stream.tensors[id].key);
        std::sort(keys.begin(), keys.end());
        for (const std::uint64_t key : keys) add(key);
        add(keys.size());
    }
    return hash == 0 ? 1 : hash;
}

PilotTrace record_trace(const sched::TrainingNetwork& network, BlockPlanner& planner, Representation representation,
                        std::uint64_t seed, std::size_t samples) {
    PilotTrace trace;
    trace.network = network.name;
    trace.basic_type = network.basic_type;
    trace.representation = representation;
    trace.seed = seed;
    trace.matrix = feature_matrix(network, representation);
    trace.unit = unit_of(trace.matrix, representation);
    trace.samples = network.samples(seed, samples);
    trace.labels.resize(network.paths());
    for (const sched::TrainingSample& sample : trace.samples) {
        std::vector<BlockVector>& label = trace.labels[sample.path];
        if (label.empty())
            label = block_vectors(*network.stream(sample.path), planner.blocks(sample.path), representation);
    }
    return trace;
}

void write_trace(const PilotTrace& trace, const std::string& path) {
    OutputFile file(path);
    json header = {{"format", kFormat},
                   {"version", kVersion},
                   {"network", trace.network},
                   {"basic_type", sched::to_string(trace.basic_type)},
                   {"representation", to_string(trace.representation)},
                   {"seed", trace.seed},
                   {"paths", trace.labels.size()},
                   {"samples", trace.samples.size()},
                   {"matrix", trace.matrix}};
    file.stream() << json_text(header) << '\n';
    for (std::size_t i = 0; i < trace.labels.size(); ++i)
        if (!trace.labels[i].empty())
            file.stream() << json_text(json{{"path", i}, {"blocks", trace.labels[i]}}) << '\n';
    for (const sched::TrainingSample& sample : trace.samples)
        file.stream() << json_text(json{{"sample", sample.path}, {"features", sample.features}}) << '\n';
    file.commit();
}

PilotTrace read_trace(const std::string& path) {
    std::ifstream file = open_input(path);
    int number = 0;
    std::string text;
    const auto next = [&](json& line) {
        ++number;
        if (!read_line(file, text, path, number)) return false;
        line = parse_json(text, path, number);
        if (!line.is_object()) throw InputError(path, number, "", "no JSON object: the trace is damaged or cut off");
        return true;
    };
    PilotTrace trace;
    json line;
    if (!next(line) || line.value("format", "") != kFormat) throw InputError(path, 1, "format", "no pilot trace");
    if (line.value("version", 0) != kVersion)
        throw InputError(
            path, 1, "version",
            fmt::format("version {} of the format; this program reads version {}", line.value("version", 0), kVersion));
    try {
        trace.network = line.at("network").get<std::string>();
        const std::string type = line.at("basic_type").get<std::string>();
        bool known = false;
        for (unsigned i = 0; i < 3; ++i)
            if (type == sched::to_string(static_cast<sched::BasicType>(i))) {
                trace.basic_type = static_cast<sched::BasicType>(i);
                known = true;
            }
        if (!known) throw InputError(path, 1, "basic_type", "unknown: " + type);
        trace.representation =
            parse_representation(line.at("representation").get<std::string>(), path, "representation");
        trace.seed = line.at("seed").get<std::uint64_t>();
        trace.matrix = line.at("matrix").get<std::vector<std::vector<double>>>();
        for (const std::vector<double>& row : trace.matrix)
            if (row.size() != row_elements(trace.representation))
                throw InputError(path, 1, "matrix", fmt::format("a row of {} elements", row.size()));
        trace.labels.resize(line.at("paths").get<std::size_t>());
        trace.unit = unit_of(trace.matrix, trace.representation);
        const auto count = line.at("samples").get<std::size_t>();
        while (next(line)) {
            if (line.contains("path")) {
                const auto label = line.at("blocks").get<std::vector<BlockVector>>();
                for (const BlockVector& block : label)
                    if (block.size() != vector_elements(trace.representation))
                        throw InputError(path, number, "blocks", fmt::format("a vector of {} elements", block.size()));
                if (label.empty() || label.size() > kOutputBlocks)
                    throw InputError(path, number, "blocks", fmt::format("{} blocks", label.size()));
                trace.labels.at(line.at("path").get<std::size_t>()) = label;
                continue;
            }
            sched::TrainingSample sample;
            sample.path = line.at("sample").get<std::uint32_t>();
            sample.features = line.at("features").get<std::vector<float>>();
            if (sample.path >= trace.labels.size() || trace.labels[sample.path].empty())
                throw InputError(path, number, "sample", fmt::format("path {} has no label", sample.path));
            if (sample.features.size() != sched::kFeatures)
                throw InputError(path, number, "features", fmt::format("{} elements", sample.features.size()));
            trace.samples.push_back(std::move(sample));
        }
        if (trace.samples.size() != count)
            throw InputError(path, number, "",
                             fmt::format("{} of {} samples: the trace is cut off", trace.samples.size(), count));
    } catch (const json::exception& error) {
        throw InputError(path, number, "", error.what());
    } catch (const std::out_of_range&) {
        throw InputError(path, number, "path", "there is no such path");
    }
    return trace;
}

}  // namespace switchyard::dynn_offload
