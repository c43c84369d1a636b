// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/onnx_import/node_reader.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"

namespace switchyard::sched {

/// An ONNX tensor that depends on the network's input, as the model format has it.
struct ImportedTensor {
    /// How ONNX's dimensions stand for channels x rows x columns.
    enum class Layout : std::uint8_t {
        map,     ///< [N, C, H, W]
        tokens,  ///< [N, T, C]
        vector,  ///< [N, C x H x W]
        heads,   ///< [N, heads, T, C / heads]: of an attention
        split    ///< [N, T, heads, C / heads]
    };
    std::string name;  ///< "input", a layer, or a branch of a switch
    std::uint32_t channels = 1, rows = 1, columns = 1;
    Layout layout = Layout::map;
    std::uint32_t heads = 1;  ///< of heads and split
    double scale = 1;         ///< a factor that the next layer's weights take over
    bool shared = false;      ///< several operators take it, so that no step can be fused in front of them
    /// Gathers of rows of tables, which the host looks up and adds; empty: it is no such sum.
    std::set<const OnnxNode*> embedded;
    bool known = true;  ///< false: an operator in front of it cannot be imported

    std::uint64_t elements() const { return std::uint64_t{channels} * rows * columns; }
    bool one_pixel() const { return rows == 1 && columns == 1; }
    bool same_shape(const ImportedTensor& o) const {
        return channels == o.channels && rows == o.rows && columns == o.columns;
    }
    /// ONNX's dimensions of a sample: without that of the batch.
    std::vector<std::int64_t> sample_dims() const;
    /// "[N, 3, 8, 8]", "[N, 192] of 3 x 8 x 8": ONNX's dimensions, for messages.
    std::string dims() const;
    std::size_t rank() const { return sample_dims().size() + 1; }
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
    void add_filter(std::uint32_t filter_rows, std::uint32_t filter_columns);
};

/// A constant, or why it cannot be had.
struct ImportedConstant {
    std::optional<OnnxTensor> value;
    std::string reason;
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
    std::map<std::string, ImportedConstant> constants;
};

/// Dimensions on the way from a linear layer to an attention, by what they count: N samples, T tokens, C channels; P
/// thirds of the channels (queries, keys, values), H heads, D channels of a head; 1 nothing.
struct AttentionAxes {
    std::string names;
    std::vector<std::int64_t> sizes;

    bool reshape(const std::vector<std::int64_t>& dims);
    bool transpose(const std::vector<std::int64_t>& order);
    bool squeeze(const std::vector<std::int64_t>& dims);
};

/// A tensor that a conversion takes, and that is converted first: thrown by OnnxImporter::tensor() before the
/// conversion has an effect. Conversions so never call each other, however long a chain of operators is.
struct NeededTensor {
    std::string name;
    ImportScope* scope;
};

/// The operators that OnnxImporter converts, "switchyard.NAME" for those of the domain switchyard, each with the opsets
/// in which it got the definitions that the conversion knows. Empty: it has one definition.
std::map<std::string, std::set<int>> imported_operators();

/// Converts from the outputs backwards: what only computes shapes is never asked for.
class OnnxImporter {
public:
    OnnxImporter(const OnnxGraph& graph, std::string path, const OnnxImportOptions& options);
    ImportedModel run();

private:
    using Tensor = ImportedTensor;
    using Layout = ImportedTensor::Layout;
    using Scope = ImportScope;
    struct Handler {
        Tensor (OnnxImporter::*convert)(NodeReader&, Scope&);
        std::set<int> versions;
    };
    friend std::map<std::string, std::set<int>> imported_operators();

    // onnx_import.cpp
    void prepare(Scope& scope, const OnnxGraph& graph, Scope* outer);
    Tensor tensor(const std::string& name, Scope& scope);
    Tensor resolve(const std::string& name, Scope& scope);
    Tensor convert(const std::string& name, Scope& scope);
    Tensor converted_by(const Handler& handler, const OnnxNode& node, const std::string& name, Scope& scope);
    Tensor graph_input(const std::string& name, const std::vector<std::int64_t>* dims);
    const OnnxNode* producer(const std::string& name, const Scope& scope) const;
    bool is_integer_input(const std::string& name, const Scope& scope) const;
    const std::vector<std::int64_t>* dims_of(const std::string& name, const Scope& scope) const;
    void check_shape(const std::string& name, const Tensor& result, const Scope& scope) const;
    void complain(const std::string& problem);
    const std::string& taken_name(const Tensor& tensor);
    Tensor output(const std::string& name);
    static const std::map<std::string, Handler>& handlers();
    std::string text() const;
    void add_weights(ImportedModel& model) const;

    // onnx_constants.cpp
    void evaluate_constants(Scope& scope);
    bool is_constant(const std::string& name, const Scope& scope) const;
    std::optional<OnnxTensor> constant(const std::string& name, const Scope& scope) const;
    ImportedConstant evaluate(const OnnxNode& node, const Scope& scope);
    void add_computed(std::int64_t elements);  ///< throws NotImportable if they are too many
    std::optional<double> scalar(const std::string& name, const Scope& scope) const;
    /// An input that is to be a constant; `what` names it in the message that it is none.
    OnnxTensor constant_input(NodeReader& node, std::size_t index, const std::string& what, const Scope& scope) const;
    /// "w, a result of Relu (node r)", for messages.
    std::string origin(const std::string& name, const Scope& scope) const;

    // import_layers.cpp
    std::string unique(std::string wish);
    std::string layer_name(const OnnxNode& node, const OnnxTensor* weights);
    ImportedLayer& add_layer(std::string name, std::string kind, const Tensor& from);
    Tensor result_of(const ImportedLayer& layer, const Tensor& like) const;
    ImportedLayer* fusable(const Tensor& input);
    /// The layer that makes `input` if steps can be fused to it, or a new elementwise layer behind it.
    ImportedLayer& layer_to_fuse(const OnnxNode& node, Tensor& input);
    Tensor settled(const OnnxNode& node, Tensor input);
    Tensor operated(const Tensor& input);  ///< not by a pool over all pixels, which is none
    void add_bias(ImportedLayer& layer, const OnnxTensor& bias);
    void take_weights(ImportedLayer& layer, const OnnxTensor& weights, std::vector<std::size_t> shape, Tensor& input);
    void no_values(const OnnxNode& node, const std::string& why = {});
    bool count(const OnnxTensor& parameters);

    // import_operators.cpp
    Tensor gemm(NodeReader& node, Scope& scope);
    Tensor matmul(NodeReader& node, Scope& scope);
    Tensor linear(const OnnxNode& node, Tensor input, const OnnxTensor& weights, bool out_first);
    Tensor batch_norm(NodeReader& node, Scope& scope);
    Tensor layer_norm(NodeReader& node, Scope& scope);
    Tensor activation(NodeReader& node, Scope& scope);
    Tensor activate(const OnnxNode& node, Tensor input, const std::string& function);
    Tensor softmax(NodeReader& node, Scope& scope);
    Tensor add(NodeReader& node, Scope& scope);
    Tensor add_constant(const OnnxNode& node, Tensor input, const OnnxTensor& addend);
    Tensor combine(const OnnxNode& node, Tensor a, Tensor b);
    Tensor binary(NodeReader& node, Scope& scope);
    Tensor scaled(const OnnxNode& node, Tensor input, double factor);
    Tensor multiplied(const OnnxNode& node, Tensor a, Tensor b);

    // import_windows.cpp
    Tensor convolution(NodeReader& node, Scope& scope);
    Tensor pool(NodeReader& node, Scope& scope);
    Tensor global_pool(NodeReader& node, Scope& scope);
    Tensor reduce_mean(NodeReader& node, Scope& scope);
    Tensor set_window(ImportedLayer& layer, const Tensor& input, const std::vector<OnnxWindow>& windows);

    // import_views.cpp
    Tensor identity(NodeReader& node, Scope& scope);
    Tensor dropout(NodeReader& node, Scope& scope);
    Tensor cast(NodeReader& node, Scope& scope);
    Tensor reshape(NodeReader& node, Scope& scope);
    Tensor transpose(NodeReader& node, Scope& scope);
    Tensor gather(NodeReader& node, Scope& scope);

    // import_patterns.cpp
    struct Linear {
        std::string input;
        const OnnxNode* node = nullptr;
        OnnxTensor weights;  ///< [in, out]
        std::optional<OnnxTensor> bias;
        int part = -1;  ///< third of the output channels: 0 queries, 1 keys, 2 values; -1: all of them
        unsigned heads = 1;
        double scale = 1;  ///< multiplied onto it
    };
    std::optional<Linear> linear_behind(std::string name, bool transposed, Scope& scope);
    bool follow(NodeReader& node, const std::vector<std::int64_t>& result, const std::string& name, AttentionAxes& axes,
                Linear& found, const Scope& scope);
    struct Scores {
        const OnnxNode* product = nullptr;  ///< Q K^T
        double scale = 1;
        std::vector<const OnnxNode*> masks;
    };
    std::optional<Scores> scores_behind(std::string name, const Scope& scope);
    Tensor projected(const std::string& name, const std::vector<Linear>& parts, std::int64_t all, const Tensor& input);
    Tensor taken_by(const std::string& name, unsigned times, Scope& scope);
    std::optional<Tensor> attention(const OnnxNode& node, Scope& scope);
    std::optional<Tensor> decomposed_layer_norm(const OnnxNode& node, Scope& scope);
    std::optional<Tensor> decomposed_activation(const OnnxNode& node, Scope& scope);
    Tensor normalise(const OnnxNode& node, Tensor input, const OnnxTensor* gain, const OnnxTensor* offset,
                     double epsilon);

    // import_switches.cpp
    Tensor switch_branch(NodeReader& node, Scope& scope);
    Tensor merge(NodeReader& node, Scope& scope);
    Tensor conditional(NodeReader& node, Scope& scope);
    void sink(const OnnxNode& node, Scope& scope);
    void collect_taken(const OnnxGraph& graph, const Scope& outer, const OnnxNames* made,
                       std::set<std::string>& taken) const;
    std::vector<std::pair<std::string, std::string>> gate_keys(NodeReader& node, const Tensor& gate);

    const OnnxGraph& graph_;
    std::string path_;
    OnnxImportOptions options_;
    ImportedModel model_;
    Scope top_;
    std::deque<Scope> branches_;
    std::deque<ImportedLayer> layers_;
    std::map<std::string, ImportedLayer*> layer_of_;
    std::map<const OnnxNode*, std::vector<Tensor>> results_;  ///< of operators with several outputs
    std::map<const OnnxNode*, std::string> failures_;         ///< why an operator cannot be imported
    std::map<std::string, ImportedWeights> other_weights_;    ///< positions, gains: by name of the file
    std::set<std::shared_ptr<const OnnxSource>> counted_;     ///< parameters
    std::size_t computed_bytes_ = 0;                          ///< of constants that were computed from others
    std::set<std::string> names_;
    std::map<std::string, unsigned> numbers_;  ///< next one for a name that is taken
    std::optional<Tensor> input_;
    std::string input_name_;
    std::int64_t batch_ = kOpenDimension;  ///< of the input
    std::set<const OnnxNode*> host_sum_;   ///< what the input stands for, if the host looks it up
    std::vector<std::string> problems_, outputs_;
    std::set<std::string> named_problems_;
    std::string asked_;  ///< the output of the node that is being converted
};

/// Throws NotImportable unless weights for `channels` fit an input of `expected` of them.
void check_channels(std::int64_t channels, std::uint64_t expected);

/// Throws NotImportable if `tensor` is to be multiplied with a factor, which the operator that takes it cannot take
/// over; `what` names it.
void check_factor(const std::string& what, const ImportedTensor& tensor);

/// "expected a definition of opset 1 or 13, found that of opset 6"; 0: none.
std::string no_definition(const std::set<int>& known, int version);

/// A matrix with its two dimensions the other way round.
OnnxTensor transposed(OnnxTensor matrix);

/// Throws NotImportable unless `constant` can be broadcast to a sample of `tensor`, without making it larger and alike
/// for all samples. Returns its dimensions for a sample, with ones in front.
std::vector<std::int64_t> broadcast_to(const ImportedTensor& tensor, const OnnxTensor& constant);

}  // namespace switchyard::sched
