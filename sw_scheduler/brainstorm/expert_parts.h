// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/expert_regions.h"
#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::sched::brainstorm {

/// A model file whose experts go to several devices (expert parallelism: GShard, ICLR 2021; Brainstorm, section 4.2).
/// A device runs the layers in front of the experts and their router on its own inputs, the experts that are placed on
/// it on the cells of all devices, and the layers behind them on its own inputs again, up to the next router. Cells are
/// samples of the model.
///
/// Each switch follows the merge of the one before; each of its branches is an expert with layers of its own; one merge
/// closes it; what follows takes the merged tensor alone. A sample may go to several experts, or to none: the merge
/// adds results up, in a layer an expert of the part behind it. Anything else is an InputError.
class ExpertParts {
public:
    /// `path`: the model file; `model`: read_model() of it; `results`: of a sample at each switch, at the most (default
    /// 1). Throws InputError "file:line: layers.NAME: message".
    ExpertParts(const std::string& path, const Model& model, const std::vector<std::size_t>& results = {});

    const std::vector<ExpertLayer>& layers() const { return experts_; }
    /// What a device runs on its own inputs: in front of each layer of experts, with its router's gate or the layer
    /// that reads the numbers by which it chooses, and behind the last one. Nothing where there are no layers.
    const std::vector<std::optional<ModelLayers>>& between() const { return between_; }
    /// The experts `local`, 1 to 63 of them, of a layer on `capacity` cells. Branch i of its switch is local[i], the
    /// last branch is for cells that are not there. The gate, one channel of a cell wide, stands for the index lists
    /// that come with the cells: its time is below that of the router by the number of channels. No merge: results
    /// leave as they are.
    ModelLayers on_device(std::size_t layer, const std::vector<std::size_t>& local, std::uint32_t capacity) const;

private:
    /// The number of merges in front of each layer that is no expert; of switches and merges too.
    std::map<std::string, std::size_t> sections(const std::vector<LayerSpec>& layers) const;
    void divide_rest(const std::string& path, const ModelLayers& file);
    ModelLayers section(const std::string& path, const ModelLayers& file, std::size_t number,
                        const std::map<std::string, std::size_t>& section_of) const;

    std::string name_;
    std::vector<ExpertLayer> experts_;
    std::set<std::string> inside_;  ///< layers of experts, switches and merges
    std::vector<std::optional<ModelLayers>> between_;
};

}  // namespace switchyard::sched::brainstorm
