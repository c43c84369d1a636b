// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/operator.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::sched {

/// Producer of a tensor that the host writes; the next ones of a network with several have the numbers below.
inline constexpr int kModelInput = -1;
/// Producers of the numbers of samples and of tasks, which the host writes for routers without a gate.
inline constexpr int kSampleNumbers = -2, kTaskNumbers = -3;
inline constexpr int kNoSwitch = -1;

/// Tensor of one sample.
struct TensorShape {
    std::uint16_t channels = 1, rows = 1, columns = 1;
    std::uint8_t element_bytes = kElementBytes;
    std::uint64_t elements() const { return std::uint64_t{channels} * rows * columns; }
    std::uint64_t bytes() const { return elements() * element_bytes; }
    bool operator==(const TensorShape& o) const {
        return channels == o.channels && rows == o.rows && columns == o.columns;
    }
    bool operator!=(const TensorShape& o) const { return !(*this == o); }
};

/// Branch `branch` of switch `switch_id`.
struct BranchStep {
    int switch_id = kNoSwitch;
    unsigned branch = 0;
    bool operator==(const BranchStep& o) const { return switch_id == o.switch_id && branch == o.branch; }
    bool operator!=(const BranchStep& o) const { return !(*this == o); }
};

/// Where a tensor stands: the branches around it, outermost first. Empty: static, every sample of the batch is there.
/// Two tensors have the same dyn_dim if and only if their paths are equal (Adyna section IV).
using BranchPath = std::vector<BranchStep>;

/// One operand of an operator. The tensor leaves `producer`, passes the switch if there is one (fused into the
/// producer's tiles), and is put back `pops` index lists further out at a merge.
struct Source {
    int producer = kModelInput;  ///< operator id, or kModelInput or less (then there is no switch: see DynGraph)
    int switch_id = kNoSwitch;
    unsigned branch = 0;
    unsigned pops = 0;  ///< merges only, counted after the switch was passed
    OperandRole role = OperandRole::input;
    EdgeReduce reduce = EdgeReduce::none;
    TensorShape shape;  ///< as produced, before `reduce`
    /// Takes this one of N equal groups of its channels: "we divide the convolutional operator into several
    /// sub-operators along the input channel dimension" (Adyna section IV, channel pruning).
    std::uint16_t group = 0, groups = 1;

    bool from_host() const { return producer <= kModelInput; }
    std::uint16_t taken_channels() const { return static_cast<std::uint16_t>(shape.channels / groups); }
    std::uint16_t first_channel() const { return static_cast<std::uint16_t>(group * taken_channels()); }
    std::uint64_t taken_elements() const { return shape.elements() / groups; }
    std::uint64_t taken_bytes() const { return shape.bytes() / groups; }
};

/// Steps folded into the operator that makes the tensor; none changes its shape. A pool that does is an operator
/// (OpKind::pool), a global average pool is Source::reduce. Bias: also a folded batch norm; add: of the source with
/// role second_operand; scale: by the largest channel of the source with role factor; at most one of the two an
/// operator. Layer norm and softmax are computed over the channels of a token.
using FusedStep = EpilogueStep;

enum class MergeMode : std::uint8_t {
    exclusive,  ///< each sample comes from exactly one source
    sum         ///< a sample is the sum of all sources that contain it, zero if none does
};

/// What runs on tiles. Ids are indices in DynGraph::operators, in topological order; they become the image's op_id.
/// Attention takes the 3 * D channels of queries, keys and values (head by head) on T rows and gives D channels on T
/// rows: 2 * T MACs an output element (scores and context), whatever the number of heads; no weights. With
/// OperatorShape::joined the tokens are samples, each of one row.
struct Operator {
    std::string name;
    OperatorShape shape;
    std::vector<Source> inputs;  ///< role input first: one, or several at a merge; then the second operand, if any
    std::vector<FusedStep> fused;
    MergeMode merge_mode = MergeMode::exclusive;
    BranchPath path;              ///< of its result (a merge: after the pops)
    int gate_switch = kNoSwitch;  ///< its result is the routing mask of that switch
    std::uint64_t macs_per_sample = 0;
    std::uint64_t weight_bytes = 0;  ///< with biases and norm parameters
    std::uint64_t out_bytes_per_sample = 0;
    PoolKind pool = PoolKind::maximum;
    std::string parameters;   ///< PARAMETERS.weight.npy and so on hold its values; empty: sizes only
    double weight_scale = 1;  ///< of the weights, not the bias
    std::string norm_parameters, position_parameters;  ///< as ImageMeta::Operator
    int expert = -1;                                   ///< likewise
    std::uint16_t parameter_heads = 1;                 ///< ImageMeta::Operator::heads
    std::uint16_t position_tokens = 0;                 ///< of a fused position: tokens of an input
    int line = 0;                                      ///< in the model file
    bool inserted = false;                             ///< identity made by the front-end

    bool dynamic() const { return !path.empty(); }
    /// A fused step needs all channels of a token, so that no two tiles may share them out.
    bool across_channels() const {
        return std::any_of(fused.begin(), fused.end(), [](FusedStep step) { return is_across_channels(step); });
    }
    TensorShape output() const { return {shape.out_channels, shape.out_rows, shape.out_columns, shape.element_bytes}; }
};

struct Switch {
    std::string name;
    int data = 0;  ///< operator into whose tiles it is fused
    /// Operator that computes its mask; stands on the same path as the data. Without a gate in the model: an inserted
    /// element-wise one that takes the numbers of samples or tasks.
    int gate = 0;
    unsigned branches = 2;
    bool exclusive = true;        ///< a sample takes exactly one branch; otherwise one or more
    BranchPath path;              ///< of its data
    std::vector<unsigned> sinks;  ///< branches whose samples are dropped, ascending
    std::vector<int> enclosed;    ///< operators that stand on one of its branches, nested ones included, ascending
    int line = 0;
    double threshold = 0;      ///< of the gate's result
    unsigned patience = 0;     ///< early exit: the gate's labels in a row, after the first, with which samples leave
    int previous = kNoSwitch;  ///< with patience: the switch around it, whose gate's labels it takes into account
    RoutedBy by = RoutedBy::gate;
    std::uint32_t hash_seed = 1;  ///< RoutedBy::hash
};

/// The dynamic operator graph of Adyna section IV: static topology, dynamic sizes only on the batch dimension.
/// Switches, sinks and global pools are no operators: they live on the edges. Invariants, kept by read_model():
/// operators are in topological order, gates before what stands on their switch's branches; a source with a switch
/// has that switch's data operator as producer; an output passes no switch and is not reduced.
struct DynGraph {
    std::string name;
    std::string file;                     ///< for messages
    std::uint32_t batch_inputs = 1;       ///< model inputs a batch
    std::uint32_t samples_per_input = 1;  ///< folding of patches or tokens into the batch dimension
    std::uint32_t batches_in_flight = 1;  ///< batches that the chip is given together
    TensorShape input;
    std::vector<Operator> operators;
    std::vector<Switch> switches;  ///< outer before inner, in topological order of their data
    std::vector<int> outputs;      ///< operators whose results the host reads

    std::uint32_t batch_samples() const { return batch_inputs * samples_per_input; }
    /// Of all batches that the chip is given together.
    std::uint32_t samples_in_flight() const { return batch_samples() * batches_in_flight; }
    /// Id, or -1.
    int find_operator(const std::string& operator_name) const;
    int find_switch(const std::string& switch_name) const;
    /// For each operator, the operators that take its result (a merge once for each source), ascending.
    std::vector<std::vector<int>> consumers() const;
    /// For each operator, whether the samples of an input all get the same result, because a pool has joined them.
    std::vector<bool> same_for_input() const;
    /// Index = switch id. What traces and route generators are checked against.
    std::vector<SwitchSignature> signatures() const;
    std::uint64_t total_macs_per_sample() const;  ///< all operators, as if static
    std::uint64_t total_weight_bytes() const;
};

/// "block3.1" or "exit0.0 / exit1.1"; "static" for the empty path.
std::string to_string(const BranchPath& path, const std::vector<Switch>& switches);
const char* to_string(OpKind kind);

/// Number of samples of the batch that stand on `path`.
std::uint32_t samples_on(const BranchPath& path, const BatchRouting& routing);

}  // namespace switchyard::sched
