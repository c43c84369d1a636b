// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::sched {

/// What one batch asks of each operator: the samples that its routes send there. Index = operator id. The reference of
/// the baselines' conservation checks; of an image, expect() says the same.
/// Throws InputError if the routing has other samples or switches than the graph.
std::vector<std::uint32_t> sample_counts(const DynGraph& graph, const BatchRouting& routing);

/// Samples that an operator takes from one of its sources: those of the producer that pass the switch.
/// `counts` as from sample_counts().
std::uint32_t source_samples(const DynGraph& graph, const Source& source, const BatchRouting& routing,
                             const std::vector<std::uint32_t>& counts);

/// Useful multiply-accumulates of a batch.
std::uint64_t batch_macs(const DynGraph& graph, const std::vector<std::uint32_t>& counts);

/// True of an identity that the front-end inserted so that a switch or an output has an operator to be fused into: a
/// machine whose tensors lie in memory has nothing to do for it.
bool is_renaming(const Operator& op);

/// Bytes that the host moves to memory before a batch, and back after it.
std::uint64_t batch_input_bytes(const DynGraph& graph);
std::uint64_t batch_output_bytes(const DynGraph& graph);

}  // namespace switchyard::sched
