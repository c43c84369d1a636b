// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/layer_spec.h"

namespace switchyard::sched {

/// What a model file says, templates expanded, but for its routes: what programs change that make a network from one.
struct ModelLayers {
    std::string name;
    std::uint32_t batch_inputs = 1, samples_per_input = 1;
    TensorShape input;
    std::vector<LayerSpec> layers;
    std::vector<std::string> outputs;  ///< tensors, at least one
};

/// Reads a model file but for the section `routing`. Throws InputError for what is wrong with single keys; names,
/// shapes and rules are read_model()'s.
ModelLayers read_model_layers(const std::string& path);

/// The model file that reads the same (docs/model_format.md), without routes.
std::string to_yaml(const ModelLayers& model);

}  // namespace switchyard::sched
