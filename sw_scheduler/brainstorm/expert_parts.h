// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::sched::brainstorm {

/// A model file whose experts go to several devices (expert parallelism: GShard, ICLR 2021; Brainstorm, section 4.2).
/// A device runs the layers in front of the experts and their router on its own inputs, the experts that are placed on
/// it on the cells of all devices, and the layers behind them on its own inputs again. Cells are samples of the model.
///
/// The network has one switch, which sends each sample to one branch; each branch is an expert with layers of its own;
/// one merge closes the switch; what follows takes the merged tensor alone. Anything else is an InputError.
class ExpertParts {
public:
    /// `path`: the model file; `model`: read_model() of it. Throws InputError "file:line: layers.NAME: message".
    ExpertParts(const std::string& path, const Model& model);

    const std::string& router() const { return switch_name_; }
    int router_line() const { return switch_line_; }
    std::size_t experts() const { return regions_.size(); }
    std::uint64_t cell_bytes() const { return cell_.bytes(); }  ///< of a sample that goes to an expert
    std::uint64_t result_bytes() const { return result_bytes_; }

    /// Layers in front of the experts, the router's gate with them.
    const ModelLayers& front() const { return front_; }
    /// Layers behind the merge; nothing if the merged tensor is the network's result.
    const std::optional<ModelLayers>& back() const { return back_; }
    /// The experts `local`, 1 to 63 of them, on `capacity` cells. Branch i of its switch is local[i], the last branch
    /// is for cells that are not there. The gate, one channel of a cell wide, stands for the index lists that come with
    /// the cells: its time is below that of the router by the number of channels. No merge: results leave as they are.
    ModelLayers on_device(const std::vector<std::size_t>& local, std::uint32_t capacity) const;

private:
    struct Region {
        std::vector<LayerSpec> layers;
        std::string result;  ///< the tensor that the merge takes
    };
    void find_regions(const std::string& path, const std::vector<LayerSpec>& layers, const LayerSpec& merge);
    void divide_rest(const std::string& path, const ModelLayers& model, const LayerSpec& router,
                     const LayerSpec& merge);

    std::string name_, switch_name_;
    int switch_line_ = 0;
    TensorShape cell_;
    std::uint64_t result_bytes_ = 0;
    std::vector<Region> regions_;  ///< by branch
    ModelLayers front_;
    std::optional<ModelLayers> back_;
};

}  // namespace switchyard::sched::brainstorm
