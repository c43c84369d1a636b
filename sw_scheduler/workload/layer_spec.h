// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/workload/cell_router.h"
#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

enum class LayerKind : std::uint8_t {
    convolution,
    depthwise,
    matmul,
    attention,
    elementwise,
    pool,
    norm,
    layer_norm,
    global_pool,
    switching,
    merge,
    sink
};

/// As model files have it: "convolution", "switch".
const std::string& to_string(LayerKind kind);

/// One layer as the model file states it, templates expanded; references are still names.
struct LayerSpec {
    std::string name;
    LayerKind kind = LayerKind::elementwise;
    std::vector<std::string> from;  ///< one, or several for a merge
    std::uint16_t out_channels = 1;
    std::uint16_t filter_rows = 1, filter_columns = 1, stride = 1, pad = 0;
    std::uint16_t heads = 1;  ///< of an attention; of a matmul: in whose order its file does not have the channels
    std::uint16_t group = 0, groups = 1;  ///< as Source::group
    std::vector<FusedStep> fused;
    std::string added;                                 ///< second operand of the fused add, empty if there is none
    std::string factor;                                ///< of the fused scale, empty if there is none
    std::string norm_parameters, position_parameters;  ///< as `parameters`, of fused steps
    int expert = -1;          ///< `parameters` has a matrix for each expert, and this is its; -1: not so
    bool over_input = false;  ///< attention, pool: over the samples of an input
    std::string parameters;   ///< first part of the names of the files with its values
    double weight_scale = 1;
    PoolKind pool = PoolKind::maximum;
    std::string gate;  ///< switch: the layer that makes its mask; empty: a router by number has none
    unsigned branches = 2;
    bool exclusive = true;
    std::optional<double> threshold;  ///< switch: of the gate's result
    unsigned patience = 0;            ///< switch: as Switch::patience
    std::optional<CellAnnotation>
        cell;                          ///< switch: what it routes, of [inputs, samples of one, channels, rows, columns]
    std::optional<CellRouter> router;  ///< switch: how it chooses; `branches`, `exclusive`, `threshold` follow from it
    MergeMode merge_mode = MergeMode::exclusive;
    int line = 0;

    std::string key(const std::string& field = {}) const {
        return "layers." + name + (field.empty() ? "" : "." + field);
    }
};

/// Whether a chip's gates (GateRule) choose as the router does: the largest of the scores, or those above a threshold,
/// without a capacity.
bool gate_chooses(const CellRouter& router);

/// Reads `layers` and `templates` of a model file. Throws InputError.
std::vector<LayerSpec> read_layers(MappingReader& model);

}  // namespace switchyard::sched
