// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::sched {

struct OnnxImportOptions {
    std::string name;         ///< of the model; empty: that of the graph
    std::uint32_t batch = 0;  ///< model inputs a batch; 0: the graph's, 1 where it leaves that open
    bool values = false;      ///< with the weights, for a functional run
};

/// Values of a layer under the name of docs/values.md, binary32, last dimension closest.
struct ImportedWeights {
    std::string name;
    std::vector<std::size_t> shape;
    std::vector<float> values;
};

struct ImportedModel {
    std::string text;  ///< model file (docs/model_format.md)
    std::size_t layers = 0;
    /// Trainable numbers of the network as PyTorch counts them: weights, biases, gains and offsets of norms before they
    /// are folded, whole tables of positions and embeddings.
    std::uint64_t parameters = 0;
    std::uint64_t host_parameters = 0;     ///< of these: in tables of embeddings, which the host looks up
    std::vector<std::string> sizes_only;   ///< operators whose values the model format does not have
    std::vector<ImportedWeights> weights;  ///< with OnnxImportOptions::values
};

/// Reads an ONNX file and states its network in the model format. ONNX's batch dimension is the first one; the tensors
/// of a sample are channels x rows x columns for [N, C, H, W], channels x tokens x 1 for [N, T, C] and channels x 1 x 1
/// for [N, C].
///
/// Operators have the meaning of the file's opset. An attribute or an input that no conversion takes is refused.
///
/// Batch norms are folded into the convolution in front of them. Operators whose values the format does not have
/// (activations other than ReLU and sigmoid, products of two tensors) are stated with their sizes, and listed.
///
/// Throws InputError: one line with the file and all operators that cannot be imported, each with its node.
ImportedModel import_onnx(const std::string& path, const OnnxImportOptions& options);

struct OnnxGraph;

/// The same of a graph that was read from the file at `path` (onnx_graph.h).
ImportedModel import_onnx(const OnnxGraph& graph, const std::string& path, const OnnxImportOptions& options);

}  // namespace switchyard::sched
