// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/training_streams/kernel_times.h"
#include "switchyard/sw_scheduler/training_streams/operator_types.h"
#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::sched {

/// A row of the static program: an operator that a path may run, or a control flow (DyNN-Offload IV-A2).
struct ProgramRow {
    bool control_flow = false;
    Idioms idioms;
    std::array<std::uint32_t, 3> sizes{};
    std::uint32_t type = 0;
};

/// Records the forward pass of one training step, operator by operator, and makes the backward pass and the optimiser
/// step from it: reverse-mode differentiation over the operators. All elements have 4 bytes.
///
/// - An operator's backward operators read the gradients of its results and what it has saved; the gradient of a tensor
///   that several operators read is summed up by one `accumulate` for each further contribution. Gradients of
///   parameters are accumulated in place by the operator that makes them (a product with beta = 1).
/// - The optimiser is Adam: each parameter has two moments of its size.
/// - Each tensor is released behind its last use, as PyTorch's reference counts do.
class StepRecorder {
public:
    StepRecorder(KernelTimes& times, std::string network, std::uint32_t samples);

    /// Operators that follow stand at this place of the program: the same number in all paths of a network.
    /// `body`: which part of the static program they are; the first time that a body comes, its operators become rows.
    void at(std::uint64_t place, unsigned body);
    /// A control flow of the program is decided here. The first time that a number comes, it becomes a row.
    void control_flow(unsigned number);

    /// The parameter of this name; a second call with it gives the same tensor.
    TensorId parameter(const std::string& name, std::uint64_t elements);
    TensorId input(std::uint64_t elements);

    /// Rows x in times in x out.
    TensorId linear(TensorId x, const std::string& weights, std::uint64_t rows, std::uint64_t in, std::uint64_t out);
    /// m x k times k x n of two activations, `count` times.
    TensorId product(TensorId a, TensorId b, std::uint64_t count, std::uint64_t m, std::uint64_t k, std::uint64_t n);
    /// `op` gives the batch, channels and sizes; its weights are a parameter.
    TensorId convolution(TensorId x, const std::string& weights, const GpuOperator& op);
    TensorId add(TensorId a, TensorId b);
    TensorId multiply(TensorId a, TensorId b);
    TensorId sigmoid(TensorId x) { return unary(OpType::sigmoid, OpType::sigmoid_backward, x, false); }
    TensorId tanh(TensorId x) { return unary(OpType::tanh, OpType::tanh_backward, x, false); }
    TensorId relu(TensorId x) { return unary(OpType::relu, OpType::relu_backward, x, false); }
    TensorId gelu(TensorId x) { return unary(OpType::gelu, OpType::gelu_backward, x, true); }
    TensorId softmax(TensorId x) { return unary(OpType::softmax, OpType::softmax_backward, x, false); }
    /// With a mask of one byte an element, which the backward pass reads instead of the input.
    TensorId dropout(TensorId x);
    TensorId layer_norm(TensorId x, const std::string& weights, std::uint64_t channels);
    TensorId pool(TensorId x, std::uint64_t out_elements);
    TensorId transpose(TensorId x);
    TensorId mean(TensorId x, std::uint64_t out_elements);
    TensorId concatenate(const std::vector<TensorId>& parts);
    /// Rows of a table of parameters.
    TensorId embedding(TensorId indices, const std::string& table, std::uint64_t entries, std::uint64_t rows,
                       std::uint64_t width);
    /// `parts` equal parts of x: views, which cost nothing. Their gradients are put together by one operator.
    std::vector<TensorId> split(TensorId x, unsigned parts);
    /// Stands at the end of the forward pass.
    void loss(TensorId x);

    /// Backward pass and optimiser step; the recorder is empty afterwards.
    TrainingStream finish(std::uint64_t path);

    /// Rows of the static program that the path has met.
    const std::vector<ProgramRow>& program() const { return program_; }

private:
    struct Backward {
        OpType type;  ///< add: no kernel, the gradient of the result itself
        std::vector<TensorId> saved;
        TensorId target;  ///< tensor or parameter whose gradient it makes
        double ns, flops;
    };
    struct Step {
        std::vector<TensorId> results;
        std::vector<Backward> backward;
        std::uint64_t site;
        std::array<std::uint32_t, 3> sizes;
    };

    std::uint64_t elements(TensorId id) const { return elements_[id]; }
    std::uint64_t bytes(TensorId id) const { return 4 * elements_[id]; }
    double streamed_ns(std::initializer_list<std::uint64_t> element_counts) const;
    TensorId add_tensor(std::string name, std::uint64_t elements, TensorKind kind, std::uint64_t key);
    TensorId result(const char* name, std::uint64_t elements);
    void launch(OpType type, const std::vector<TensorId>& reads, const std::vector<TensorId>& writes, double ns,
                double flops, std::vector<Backward> backward);
    TensorId unary(OpType forward, OpType backward, TensorId x, bool saves_input);
    bool needs_gradient(TensorId id) const { return stream_.tensors[id].kind != TensorKind::input; }
    void emit_backward(const Step& step, const Backward& backward);
    TrainingOperator make(OpType type, TrainingPhase phase, std::uint64_t site, double ns, double flops) const;

    KernelTimes& times_;
    TrainingStream stream_;
    std::vector<std::uint64_t> elements_;  ///< of views too
    std::map<std::string, TensorId> parameters_;
    std::vector<Step> tape_;
    std::vector<TensorId> gradient_;                   ///< of each tensor, kNoTensor: none yet
    std::map<TensorId, std::uint64_t> contributions_;  ///< to the gradient of a tensor so far
    std::uint64_t place_ = 0, next_ = 0;
    std::vector<ProgramRow> program_;
    std::set<unsigned> bodies_, flows_;
    bool new_body_ = true;
    std::uint16_t pending_flows_ = 0;
};

}  // namespace switchyard::sched
