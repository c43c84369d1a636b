// SPDX-License-Identifier: Apache-2.0
#include "random_step.h"

#include <algorithm>
#include <memory>
#include <set>

#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::testing {

using namespace sched;

TrainingStream random_step(std::uint64_t seed, std::uint64_t path) {
    RandomSource shape(seed, 1);
    TrainingStream stream;
    stream.network = "random";
    stream.path = path;
    const auto tensor = [&](TensorKind kind, std::uint64_t bytes, std::uint64_t key) {
        TrainingTensor made;
        made.bytes = bytes;
        made.kind = kind;
        made.key = key;
        stream.tensors.push_back(made);
        return static_cast<TensorId>(stream.tensors.size() - 1);
    };
    struct Layer {
        TensorId weights, other, input, result;
    };
    const unsigned layers = shape.integer(1, 14), weights = shape.integer(1, layers), branch = shape.integer(0, layers);
    std::vector<TensorId> parameters, moments;
    for (unsigned w = 0; w < weights; ++w) {
        parameters.push_back(tensor(TensorKind::parameter, shape.integer(1, 200), 1000 + w));
        moments.push_back(tensor(TensorKind::optimiser_state, 2 * stream.tensors[parameters.back()].bytes, 2000 + w));
    }
    std::vector<TensorId> results{tensor(TensorKind::input, shape.integer(1, 100), 1)};
    std::vector<Layer> forward;
    RandomSource other_path(seed, 100 + path);
    for (unsigned l = 0; l < layers; ++l) {
        RandomSource& random = l >= branch ? other_path : shape;
        const std::uint64_t at = l >= branch ? 100 * (path + 1) + l : l;
        TrainingOperator op;
        op.name = "layer";
        op.ns = random.uniform(1, 1000);
        op.workspace_bytes = random.chance(0.2) ? random.integer(1, 50) : 0;
        Layer layer{random.choose(parameters), random.choose(results), results.back(), 0};
        layer.result = tensor(TensorKind::activation, random.integer(1, 200), 10000 + at);
        op.reads = {layer.input, layer.weights, layer.other};
        op.writes = {layer.result};
        if (random.chance(0.2)) {  // a view of it goes on
            const TensorId view = tensor(TensorKind::activation, 0, 20000 + at);
            stream.tensors[view].alias_of = layer.result;
            op.writes.push_back(view);
            results.push_back(view);
        } else {
            results.push_back(layer.result);
        }
        stream.operators.push_back(op);
        forward.push_back(layer);
    }
    std::vector<TensorId> of_parameter(parameters.size(), kNoTensor);
    TensorId gradient = results.back();
    for (unsigned l = layers; l-- > 0;) {
        const Layer& layer = forward[l];
        const auto w = static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), layer.weights) -
                                                parameters.begin());
        TrainingOperator op;
        op.name = "layer.backward";
        op.phase = TrainingPhase::backward;
        op.ns = shape.uniform(1, 2000);
        op.reads = {gradient, layer.weights, layer.input, layer.other};
        gradient = tensor(TensorKind::activation, stream.tensors[stream.storage_of(layer.input)].bytes, 30000 + l);
        op.writes = {gradient};
        if (of_parameter[w] == kNoTensor) {
            of_parameter[w] = tensor(TensorKind::gradient, stream.tensors[layer.weights].bytes, 3000 + w);
            op.writes.push_back(of_parameter[w]);
        } else {
            op.in_place = {of_parameter[w]};
        }
        stream.operators.push_back(op);
    }
    for (std::size_t w = 0; w < parameters.size(); ++w) {
        if (of_parameter[w] == kNoTensor) continue;
        TrainingOperator op;
        op.name = "adam";
        op.phase = TrainingPhase::optimiser;
        op.ns = shape.uniform(1, 100);
        op.reads = {of_parameter[w]};
        op.in_place = {parameters[w], moments[w]};
        stream.operators.push_back(op);
    }
    finish_lifetimes(stream, true);
    check_stream(stream);
    return stream;
}

std::uint64_t largest_operator(const TrainingStream& stream) {
    std::uint64_t most = 0;
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
        std::uint64_t bytes = stream.operators[i].workspace_bytes;
        for (const TensorId id : stream.storages(i)) bytes += stream.tensors[id].bytes;
        most = std::max(most, bytes);
    }
    return most;
}

dynn_offload::Prediction filled_blocks(const TrainingStream& stream, std::uint64_t half_bytes) {
    dynn_offload::Prediction made;
    made.stream = std::make_shared<TrainingStream>(stream);
    dynn_offload::ExecutionBlock block;
    std::uint64_t workspace = 0;
    std::set<TensorId> needed;
    const auto close = [&](std::uint32_t next) {
        block.needed_bytes = workspace;
        for (const TensorId id : needed) {
            block.needed.push_back(id);
            block.needed_bytes += stream.tensors[id].bytes;
            const std::uint32_t producer = stream.tensors[id].producer;
            if (producer == kNoOperator || producer < block.first) block.fetched.push_back(id);
        }
        made.blocks.blocks.push_back(block);
        block = {};
        block.first = next;
        needed.clear();
        workspace = 0;
    };
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
        std::set<TensorId> with = needed;
        for (const TensorId id : stream.storages(i)) with.insert(id);
        const auto fits = [&] {
            std::uint64_t bytes = std::max(workspace, stream.operators[i].workspace_bytes);
            for (const TensorId id : with) bytes += stream.tensors[id].bytes;
            return bytes <= half_bytes;
        };
        if (block.operators > 0 && !fits()) {
            close(i);
            with.clear();
            for (const TensorId id : stream.storages(i)) with.insert(id);
        }
        needed = with;
        workspace = std::max(workspace, stream.operators[i].workspace_bytes);
        ++block.operators;
    }
    close(0);
    return made;
}

}  // namespace switchyard::testing
