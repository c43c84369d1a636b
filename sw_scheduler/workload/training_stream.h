// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace switchyard::sched {

/// Index in TrainingStream::tensors.
using TensorId = std::uint32_t;
inline constexpr TensorId kNoTensor = std::numeric_limits<TensorId>::max();
/// Instead of an operator's index: none, before the first, or never.
inline constexpr std::uint32_t kNoOperator = std::numeric_limits<std::uint32_t>::max();

enum class TensorKind : std::uint8_t {
    parameter,        ///< persistent; read by forward and backward, updated by the optimiser
    gradient,         ///< of a parameter; from the backward pass to the optimiser step
    optimiser_state,  ///< persistent; Adam's two moments
    activation,       ///< a result of the forward pass, or the gradient of one
    input             ///< of the sample, and constants: on the device from the start, cannot be computed again
};

/// A tensor, or a view of one.
struct TrainingTensor {
    std::string name;  ///< may be empty (logs)
    std::uint64_t bytes = 0;
    TensorKind kind = TensorKind::activation;
    /// A view has no bytes of its own (bytes = 0) and shares the storage of this tensor, which is no view itself.
    /// kNoTensor: it has its own storage. Use storage_of().
    TensorId alias_of = kNoTensor;
    /// The same number in every stream of a network for the same parameter, or the same result of the same operator at
    /// the same place of the program (TrainingOperator::site). What a plan for another path is matched with.
    std::uint64_t key = 0;

    // Set by finish_lifetimes(). Of a storage: of all its views together.
    std::uint32_t producer = kNoOperator;        ///< first operator that writes it; kNoOperator: there from the start
    std::uint32_t first_use = kNoOperator;       ///< first operator that has it as operand
    std::uint32_t last_use = kNoOperator;        ///< last operator that has it as operand
    std::uint32_t released_after = kNoOperator;  ///< operator behind which the program drops it; kNoOperator: never

    bool is_view() const { return alias_of != kNoTensor; }
    /// Survives the training step: parameters and optimiser states.
    bool persistent() const { return kind == TensorKind::parameter || kind == TensorKind::optimiser_state; }
};

enum class TrainingPhase : std::uint8_t { forward, backward, optimiser };

/// Occurrences of the six memory access patterns in an operator (DyNN-Offload IV-A2).
struct Idioms {
    std::uint16_t transpose = 0, gather = 0, scatter = 0, reduction = 0, stream = 0, stencil = 0;
    std::array<std::uint16_t, 6> counts() const { return {transpose, gather, scatter, reduction, stream, stencil}; }
};

/// One operator, a GPU kernel or a few that are launched together. Operands are ids of tensors or views; an operator
/// runs only when the storages of all of them are in device memory.
struct TrainingOperator {
    std::string name;  ///< operator type: "linear", "linear.backward", "adam", ...
    TrainingPhase phase = TrainingPhase::forward;
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;    ///< fresh results; written in full, never read before
    std::vector<TensorId> in_place;  ///< read and written: gradients that are accumulated, parameters in the optimiser
    std::vector<TensorId> released;  ///< dropped by the program behind this operator (storages and views)
    double ns = 0;                   ///< base time on the device, all operands resident, kernel launch in it
    double flops = 0;
    std::uint64_t workspace_bytes = 0;  ///< scratch memory while it runs
    Idioms idioms;
    std::array<std::uint32_t, 3> sizes{};  ///< last three elements of its signature: summed input dimensions
    std::uint16_t control_flows = 0;       ///< of the program that are decided directly before it
    std::uint32_t type = 0;  ///< number of the operator type, the same for all networks ("global id", Fig. 11)
    /// Place in the network's program with the trip of each loop: the same in every stream of the network.
    std::uint64_t site = 0;
    /// May be run again from its operands with the same results: neither in place nor random.
    bool repeatable() const { return in_place.empty(); }
};

/// One training step (forward, backward, optimiser) of one path through a network: operators in execution order, all
/// dynamism resolved. Invariants, checked by check_stream():
/// - operands are valid ids; a tensor is written once (`writes`), before any use, unless it is there from the start;
/// - nothing is used after its storage was released; a storage is released when the last reference to it is, once;
/// - persistent tensors are never released.
struct TrainingStream {
    std::string network;        ///< "var_lstm", or the log's file name
    std::string file;           ///< for messages
    std::uint64_t path = 0;     ///< number of the path through the network, hash of its decisions
    std::uint32_t samples = 1;  ///< batch
    std::vector<TrainingTensor> tensors;
    std::vector<TrainingOperator> operators;

    TensorId storage_of(TensorId tensor) const { return tensors[tensor].is_view() ? tensors[tensor].alias_of : tensor; }
    double total_ns() const;
    std::uint64_t persistent_bytes() const;  ///< parameters and optimiser states
    /// Most bytes alive at once if memory is unlimited: what unmodified PyTorch needs, workspaces in it.
    std::uint64_t peak_bytes() const;
    std::uint64_t total_bytes() const;  ///< of all storages
    /// Storages of all operands of an operator, ascending, each once.
    std::vector<TensorId> storages(std::uint32_t index) const;
};

/// Computes producer, first_use, last_use and released_after of all tensors. With `release_at_last_use`, first fills
/// TrainingOperator::released so that all that does not persist is dropped behind its last use (logs carry their own).
void finish_lifetimes(TrainingStream& stream, bool release_at_last_use);

/// Throws InputError "FILE: operator N (NAME): ..." for the first invariant that does not hold.
void check_stream(const TrainingStream& stream);

const char* to_string(TensorKind kind);
const char* to_string(TrainingPhase phase);

}  // namespace switchyard::sched
