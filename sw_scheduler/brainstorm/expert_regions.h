// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::sched::brainstorm {

/// The experts behind one switch.
struct ExpertLayer {
    struct Region {
        std::vector<LayerSpec> layers;
        std::string result;  ///< the tensor that the merge takes
    };
    LayerSpec router, merge;      ///< the switch, and the merge that closes it
    std::size_t switch_id = 0;    ///< in the routes
    TensorShape cell, result;     ///< of a sample, to an expert and from it
    std::size_t results = 1;      ///< of a sample, at the most: they are added up
    std::vector<Region> regions;  ///< by branch

    std::size_t experts() const { return regions.size(); }
};

/// The experts behind each switch of a network. `results`: of a sample at each switch, at the most (default 1). Throws
/// InputError "path:line: layers.NAME: message".
std::vector<ExpertLayer> find_experts(const std::string& path, const ModelLayers& file, const Model& model,
                                      const std::vector<std::size_t>& results);

/// ExpertParts::on_device(), as a network called `name`.
ModelLayers experts_on_device(const std::string& name, const ExpertLayer& experts,
                              const std::vector<std::size_t>& local, std::uint32_t capacity);

}  // namespace switchyard::sched::brainstorm
