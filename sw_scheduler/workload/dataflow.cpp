// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/dataflow.h"

#include <map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

std::vector<std::uint32_t> sample_counts(const DynGraph& graph, const BatchRouting& routing) {
    if (routing.samples != graph.batch_samples() || routing.masks.size() != graph.switches.size())
        throw InputError(graph.file, 0, "routing",
                         fmt::format("expected {} samples and {} switches, found {} and {}", graph.batch_samples(),
                                     graph.switches.size(), routing.samples, routing.masks.size()));
    std::vector<std::uint32_t> counts;
    counts.reserve(graph.operators.size());
    for (const Operator& op : graph.operators) counts.push_back(samples_on(op.path, routing));
    return counts;
}

std::uint32_t source_samples(const DynGraph& graph, const Source& source, const BatchRouting& routing,
                             const std::vector<std::uint32_t>& counts) {
    if (source.switch_id != kNoSwitch) return samples_on({{source.switch_id, source.branch}}, routing);
    if (source.from_host()) return graph.batch_samples();
    return counts[static_cast<std::size_t>(source.producer)];
}

std::uint64_t batch_macs(const DynGraph& graph, const std::vector<std::uint32_t>& counts) {
    std::uint64_t macs = 0;
    for (std::size_t op = 0; op < counts.size(); ++op) macs += counts[op] * graph.operators[op].macs_per_sample;
    return macs;
}

bool is_renaming(const Operator& op) {
    return op.inserted && op.shape.kind == OpKind::elementwise && op.fused.empty();
}

std::uint64_t batch_input_bytes(const DynGraph& graph) {
    std::map<int, std::uint64_t> numbers;  // of samples or tasks
    for (const Operator& op : graph.operators)
        for (const Source& source : op.inputs)
            if (source.producer < kModelInput) numbers[source.producer] = source.shape.bytes();
    std::uint64_t bytes = graph.input.bytes();
    for (const auto& tensor : numbers) bytes += tensor.second;
    return graph.batch_samples() * bytes;
}

std::uint64_t batch_output_bytes(const DynGraph& graph) {
    std::uint64_t bytes = 0;
    for (const int output : graph.outputs)
        bytes += graph.batch_samples() * graph.operators[static_cast<std::size_t>(output)].out_bytes_per_sample;
    return bytes;
}

}  // namespace switchyard::sched
