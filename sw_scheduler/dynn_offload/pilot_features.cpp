// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/dynn_offload/pilot_features.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/dynn_offload/partition.h"
#include "switchyard/sw_scheduler/training_streams/operator_types.h"

namespace switchyard::dynn_offload {

using nlohmann::json;

namespace {

constexpr const char* kFormat = "switchyard-pilot-trace";
constexpr int kVersion = 1;
constexpr std::uint64_t kMaxPaths = std::uint64_t{1} << 20;
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
    throw InputError(file, 0, key, fmt::format("expected idiom or global_id, found {}", name));
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

namespace {

PilotTrace read_header(const JsonReader& header, const std::string& path) {
    header.check_format(kFormat, kVersion, "pilot trace");
    PilotTrace trace;
    trace.network = header.member("network").text();
    const std::string type = header.member("basic_type").text();
    bool known = false;
    std::vector<std::string> types;
    for (unsigned i = 0; i < 3; ++i) {
        types.emplace_back(sched::to_string(static_cast<sched::BasicType>(i)));
        if (type != types.back()) continue;
        trace.basic_type = static_cast<sched::BasicType>(i);
        known = true;
    }
    if (!known) header.member("basic_type").fail(not_one_of(type, types));
    trace.representation = parse_representation(header.member("representation").text(), path, "representation");
    trace.seed = header.member("seed").integer(0, UINT64_MAX);
    for (const JsonReader& row : header.member("matrix").list()) {
        trace.matrix.push_back(row.numbers());
        if (trace.matrix.back().size() != row_elements(trace.representation))
            row.fail(fmt::format("expected rows of {} elements, found one of {}", row_elements(trace.representation),
                                 trace.matrix.back().size()));
    }
    trace.labels.resize(header.member("paths").integer(0, kMaxPaths));
    trace.unit = unit_of(trace.matrix, trace.representation);
    return trace;
}

void read_label(const JsonReader& line, PilotTrace& trace) {
    const JsonReader blocks = line.member("blocks");
    std::vector<BlockVector> label;
    for (const JsonReader& block : blocks.list()) {
        label.push_back(block.numbers());
        if (label.back().size() != vector_elements(trace.representation))
            blocks.fail(fmt::format("expected vectors of {} elements, found one of {}",
                                    vector_elements(trace.representation), label.back().size()));
    }
    if (label.empty() || label.size() > kOutputBlocks)
        blocks.fail(fmt::format("expected 1 to {} blocks, found {}", kOutputBlocks, label.size()));
    const JsonReader number = line.member("path");
    if (trace.labels.empty()) number.fail("expected no path, as the header has 0 paths, found one");
    trace.labels[number.integer(0, trace.labels.size() - 1)] = std::move(label);
}

void read_sample(const JsonReader& line, PilotTrace& trace) {
    sched::TrainingSample sample;
    sample.path = static_cast<std::uint32_t>(line.member("sample").integer(0, UINT32_MAX));
    const std::vector<double> features = line.member("features").numbers();
    sample.features.assign(features.begin(), features.end());
    if (sample.path >= trace.labels.size() || trace.labels[sample.path].empty())
        line.member("sample").fail(
            fmt::format("expected a path whose blocks an earlier line gives, found {}", sample.path));
    if (sample.features.size() != sched::kFeatures)
        line.member("features")
            .fail(fmt::format("expected {} elements, found {}", sched::kFeatures, sample.features.size()));
    trace.samples.push_back(std::move(sample));
}

}  // namespace

PilotTrace read_trace(const std::string& path) {
    return read_trace(TextLines(path, "JSON"));
}

PilotTrace read_trace(TextLines lines) {
    if (!lines.next()) throw InputError(lines.path(), 0, "format", "expected a pilot trace, found an empty file");
    const json head = parse_json(lines.line(), lines.path(), lines.number());
    const JsonReader header(head, lines.path(), lines.number());
    PilotTrace trace = read_header(header, lines.path());
    const std::uint64_t count = header.member("samples").integer(0, UINT64_MAX);
    while (lines.next()) {
        const json document = parse_json(lines.line(), lines.path(), lines.number());
        const JsonReader line(document, lines.path(), lines.number());
        if (line.has("path"))
            read_label(line, trace);
        else
            read_sample(line, trace);
    }
    if (trace.samples.size() != count)
        lines.fail("", fmt::format("expected {} samples, found {}; the trace is cut off", count, trace.samples.size()));
    return trace;
}

}  // namespace switchyard::dynn_offload
