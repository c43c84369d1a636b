// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"

namespace switchyard::sched {

/// An operator cannot be imported; `what()` says why, without the node.
class NotImportable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An ONNX tensor that depends on the network's input, as the model format has it.
struct ImportedTensor {
    /// How ONNX's dimensions stand for channels x rows x columns.
    enum class Layout : std::uint8_t {
        map,     ///< [N, C, H, W]
        tokens,  ///< [N, T, C]
        vector,  ///< [N, C x H x W]
        heads    ///< [N, heads, T, C / heads]: of an attention
    };
    std::string name;  ///< "input", a layer, or a branch of a switch
    std::uint32_t channels = 1, rows = 1, columns = 1;
    Layout layout = Layout::map;
    double scale = 1;       ///< a factor that the next layer's weights take over
    bool shared = false;    ///< several operators take it, so that no step can be fused in front of them
    bool embedded = false;  ///< rows of tables, which the host looks up
    bool known = true;      ///< false: an operator in front of it cannot be imported

    std::uint64_t elements() const { return std::uint64_t{channels} * rows * columns; }
    bool same_shape(const ImportedTensor& o) const {
        return channels == o.channels && rows == o.rows && columns == o.columns;
    }
};

/// One layer of the model file.
struct ImportedLayer {
    std::string name, kind;
    std::vector<std::string> from;
    std::vector<std::pair<std::string, std::string>> keys;  ///< as text, in order
    std::vector<std::string> fused;
    std::string note;             ///< comment behind the layer
    bool has_parameters = false;  ///< it has values of its own, under its name
    double weight_scale = 1;
    std::vector<std::size_t> weight_shape;
    std::vector<float> weight, bias;  ///< with OnnxImportOptions::values; bias: empty until there is one
    std::uint32_t out_channels = 1;   ///< of weight and bias

    bool fuses(const std::string& step) const;
    bool fuses_operand() const;          ///< add or scale
    bool fuses_across_channels() const;  ///< layer_norm or softmax
};

/// A graph, or the subgraph of a branch of `If`.
struct ImportScope {
    const OnnxGraph* graph = nullptr;
    ImportScope* outer = nullptr;
    /// In a subgraph: the outer tensor that it takes, and the branch of the switch that stands for it.
    std::string taken;
    ImportedTensor branch;
    std::map<std::string, const OnnxNode*> producers;
    std::map<std::string, unsigned> uses;
    std::map<std::string, ImportedTensor> tensors;
    std::map<std::string, OnnxTensor> constants;
};

/// Converts from the outputs backwards: what only computes shapes is never asked for.
class OnnxImporter {
public:
    OnnxImporter(const OnnxGraph& graph, std::string path, const OnnxImportOptions& options);
    ImportedModel run();

private:
    using Tensor = ImportedTensor;
    using Layout = ImportedTensor::Layout;
    using Scope = ImportScope;
    using Handler = Tensor (OnnxImporter::*)(const OnnxNode&, Scope&);

    // onnx_import.cpp
    void prepare(Scope& scope, const OnnxGraph& graph);
    Tensor tensor(const std::string& name, Scope& scope);
    Tensor convert(const std::string& name, Scope& scope);
    Tensor graph_input(const std::string& name, const std::vector<std::int64_t>* dims);
    const OnnxNode* producer(const std::string& name, const Scope& scope) const;
    const std::vector<std::int64_t>* dims_of(const std::string& name, const Scope& scope) const;
    void check_shape(const std::string& name, const Tensor& result, const Scope& scope) const;
    void complain(const OnnxNode& node, const std::string& why);
    static const std::map<std::string, Handler>& handlers();
    static const std::map<std::string, Handler>& own_handlers();  ///< of the domain switchyard
    std::string text() const;
    void add_weights(ImportedModel& model) const;

    // onnx_constants.cpp
    std::optional<OnnxTensor> constant(const std::string& name, Scope& scope);
    std::optional<OnnxTensor> evaluate(const OnnxNode& node, Scope& scope);
    std::optional<double> scalar(const std::string& name, Scope& scope);

    // import_layers.cpp
    std::string unique(std::string wish);
    std::string layer_name(const OnnxNode& node, const OnnxTensor* weights);
    ImportedLayer& add_layer(std::string name, std::string kind, const Tensor& from);
    Tensor result_of(const ImportedLayer& layer, const Tensor& like) const;
    ImportedLayer* fusable(const Tensor& input);
    /// The layer that makes `input` if steps can be fused to it, or a new elementwise layer behind it.
    ImportedLayer& layer_to_fuse(const OnnxNode& node, Tensor& input);
    Tensor operated(const Tensor& input);  ///< not by a pool over all pixels, which is none
    void add_bias(ImportedLayer& layer, const OnnxTensor& bias);
    void take_weights(ImportedLayer& layer, const OnnxTensor& weights, std::vector<std::size_t> shape, Tensor& input);
    void no_values(const OnnxNode& node, const std::string& why = {});
    void count(const OnnxTensor& parameters) {
        model_.parameters += static_cast<std::uint64_t>(parameters.stored_elements);
    }

    // import_operators.cpp
    Tensor convolution(const OnnxNode& node, Scope& scope);
    Tensor gemm(const OnnxNode& node, Scope& scope);
    Tensor matmul(const OnnxNode& node, Scope& scope);
    Tensor linear(const OnnxNode& node, Tensor input, const OnnxTensor& weights, bool out_first);
    Tensor batch_norm(const OnnxNode& node, Scope& scope);
    Tensor layer_norm(const OnnxNode& node, Scope& scope);
    Tensor pool(const OnnxNode& node, Scope& scope);
    Tensor global_pool(const OnnxNode& node, Scope& scope);
    Tensor reduce_mean(const OnnxNode& node, Scope& scope);
    Tensor activation(const OnnxNode& node, Scope& scope);
    Tensor activate(const OnnxNode& node, Tensor input, const std::string& function);
    Tensor softmax(const OnnxNode& node, Scope& scope);
    Tensor add(const OnnxNode& node, Scope& scope);
    Tensor add_constant(const OnnxNode& node, Tensor input, const OnnxTensor& addend);
    Tensor combine(const OnnxNode& node, Tensor a, Tensor b);
    Tensor binary(const OnnxNode& node, Scope& scope);
    Tensor pass(const OnnxNode& node, Scope& scope);
    Tensor reshape(const OnnxNode& node, Scope& scope);
    Tensor transpose(const OnnxNode& node, Scope& scope);
    Tensor gather(const OnnxNode& node, Scope& scope);
    void set_window(ImportedLayer& layer, const OnnxNode& node, const Tensor& input, Tensor& result,
                    std::vector<std::int64_t> filter);

    // import_patterns.cpp
    struct Linear {
        std::string input;
        OnnxTensor weights;
        bool out_first = false;
        std::optional<OnnxTensor> bias;
        int part = -1;  ///< third of the output channels: 0 queries, 1 keys, 2 values; -1: all of them
        unsigned heads = 1;
        double scale = 1;  ///< multiplied onto it
    };
    std::optional<Linear> linear_behind(std::string name, Scope& scope);
    Tensor taken_by(const std::string& name, unsigned times, Scope& scope);
    std::optional<Tensor> attention(const OnnxNode& node, Scope& scope);
    std::optional<Tensor> decomposed_layer_norm(const OnnxNode& node, Scope& scope);
    std::optional<Tensor> decomposed_activation(const OnnxNode& node, Scope& scope);
    Tensor normalise(const OnnxNode& node, Tensor input, const OnnxTensor* gain, const OnnxTensor* offset,
                     double epsilon);

    // import_switches.cpp
    Tensor switch_branch(const OnnxNode& node, Scope& scope);
    Tensor merge(const OnnxNode& node, Scope& scope);
    Tensor conditional(const OnnxNode& node, Scope& scope);
    void sink(const OnnxNode& node, Scope& scope);
    void collect_taken(const OnnxGraph& graph, Scope& outer, std::set<std::string>& taken);
    std::vector<std::pair<std::string, std::string>> gate_keys(const OnnxNode& node, const Tensor& gate);

    const OnnxGraph& graph_;
    std::string path_;
    OnnxImportOptions options_;
    ImportedModel model_;
    Scope top_;
    std::deque<Scope> branches_;
    std::deque<ImportedLayer> layers_;
    std::map<std::string, ImportedLayer*> layer_of_;
    std::map<const OnnxNode*, std::vector<Tensor>> results_;  ///< of operators with several outputs
    std::map<std::string, ImportedWeights> other_weights_;    ///< positions, gains: by name of the file
    std::set<std::string> names_;
    std::optional<Tensor> input_;
    std::string input_name_;
    std::vector<std::string> problems_, outputs_;
    std::string asked_;  ///< the output of the node that is being converted
};

}  // namespace switchyard::sched
