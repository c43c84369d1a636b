// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/layer_spec.h"

namespace switchyard::sched {

/// Turns layers into a DynGraph: resolves names, orders, infers shapes, propagates dyn_dims from switch to merge and
/// makes switches fusable (a switch, an output or a global pool that has no operator to be fused into gets an identity
/// element-wise operator). `graph` brings name, file, batch and input. Throws InputError that names the operators.
class GraphBuilder {
public:
    GraphBuilder(DynGraph graph, const std::vector<LayerSpec>& layers);
    /// `outputs`: names of tensors; `line` is that of the key.
    DynGraph build(const std::vector<std::string>& outputs, int line);

private:
    /// A named tensor: what an operator takes of it as Source, and where it stands.
    struct Value {
        Source source;
        BranchPath path;
        TensorShape shape() const {
            if (source.reduce == EdgeReduce::none)
                return {source.taken_channels(), source.shape.rows, source.shape.columns};
            return {source.taken_channels(), 1, 1};
        }
    };
    struct Reference {
        int layer = -1;          ///< -1: the host writes it
        int branch = -1;         ///< of a switch
        int host = kModelInput;  ///< what the host writes, of no layer
    };

    Reference resolve(const std::string& tensor, int line, const std::string& key) const;
    std::vector<int> dependencies(const LayerSpec& layer) const;
    std::vector<int> topological_order() const;
    [[noreturn]] void fail_cycle(const std::vector<std::vector<int>>& waits_for, const std::vector<bool>& done) const;

    void place(const LayerSpec& layer);
    void place_switch(const LayerSpec& layer);
    /// The operator whose result is the mask of the switch.
    Value gate_of(const LayerSpec& layer, const Value& data);
    /// The one of a router that chooses by number: it turns the numbers, which the host writes, into masks.
    Value numbers_of(const LayerSpec& layer, const Value& data);
    /// The cells of a switch must be samples.
    void check_cells(const LayerSpec& layer, const TensorShape& data) const;
    void place_sink(const LayerSpec& layer);
    void place_merge(const LayerSpec& layer);
    void place_operator(const LayerSpec& layer);
    void add_factor(const LayerSpec& layer, const Value& input, Operator& op) const;
    /// The switch whose gate's labels one with patience takes into account, or kNoSwitch.
    int switch_before(const BranchPath& path) const;
    Value value(const std::string& tensor, const LayerSpec& layer, const std::string& field) const;
    Value identity(const Value& input, const std::string& name, int line);
    /// A layer must not have the name of an inserted operator.
    void refuse_taken(const std::string& name, int line) const;
    Value add_operator(Operator op);
    /// `name`: of `second`, which a fused step names.
    void require_same_path(const LayerSpec& layer, const std::string& name, const Value& first,
                           const Value& second) const;

    DynGraph graph_;
    const std::vector<LayerSpec>& layers_;
    std::map<std::string, int> index_;       ///< of layers, by name
    std::map<std::string, Value> values_;    ///< results of the layers placed so far
    std::map<std::string, int> switch_ids_;  ///< of the switches placed so far
};

/// Sizes, MACs and weights of a layer on an input, of which `samples_per_input` make up one of the model. Throws
/// InputError "file:line: layers.NAME.KEY: ...".
Operator infer_operator(const LayerSpec& layer, const TensorShape& input, const std::string& file,
                        std::uint32_t samples_per_input = 1);

/// "64x56x56".
std::string to_string(const TensorShape& shape);

/// The rules of Adyna section IV that concern the whole graph. Throws InputError that names the operators.
void check_rules(const DynGraph& graph);

}  // namespace switchyard::sched
