// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/dynn_offload/data_parallel.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/link/collective_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::platform::dynn_offload_system {

using memory_managers::ActionKind;

DataParallel::DataParallel(const std::string& topology_file, unsigned gpus, std::uint64_t bucket_bytes)
    : gpus_(gpus), bucket_bytes_(bucket_bytes) {
    const sched::LinkTopology topology = sched::read_link_topology(topology_file);
    if (topology.devices() < gpus)
        throw InputError(
            topology_file, 0, "devices",
            fmt::format("expected at least the {} devices of training.gpus, found {}", gpus, topology.devices()));
    topology_ = std::make_shared<const sched::LinkTopology>(topology.first_devices(gpus));
}

double DataParallel::all_reduce_ns(std::uint64_t bytes) {
    // A bucket of another size than the usual one is the last: few sizes come.
    const auto found = known_ns_.find(bytes);
    if (found != known_ns_.end()) return found->second;
    constexpr auto kRing = sched::NcclCollective::all_reduce_ring;
    const sched::CollectiveCosts costs = sched::nccl_costs(kRing, sched::nccl_protocol(kRing, *topology_, bytes, true));
    hw::MessageEngine::Config engine;
    engine.rate = "kernel";
    const double ns = hw::run_collective(topology_, engine, sched::ring_all_reduce(*topology_, bytes, costs)).ns;
    known_ns_.emplace(bytes, ns);
    return ns;
}

double DataParallel::exposed_ns(const sched::TrainingStream& stream, const memory_managers::MemoryProgram& program,
                                const memory_managers::Timeline& line) {
    if (gpus_ < 2) return 0;
    // When each gradient is complete: the last operator of the backward pass that has written it.
    std::map<sched::TensorId, double> complete_ns;
    double backward_ns = 0;
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
        const memory_managers::Action& action = program.actions[i];
        if (action.kind != ActionKind::compute) continue;
        const sched::TrainingOperator& op = stream.operators[action.op];
        if (op.phase == sched::TrainingPhase::optimiser) continue;
        backward_ns = std::max(backward_ns, line.end[i]);
        for (const auto* list : {&op.writes, &op.in_place})
            for (const sched::TensorId tensor : *list) {
                const sched::TensorId id = stream.storage_of(tensor);
                if (stream.tensors[id].kind == sched::TensorKind::gradient) complete_ns[id] = line.end[i];
            }
    }
    std::vector<std::pair<double, std::uint64_t>> gradients;
    gradients.reserve(complete_ns.size());
    for (const auto& [id, ns] : complete_ns) gradients.emplace_back(ns, stream.tensors[id].bytes);
    std::sort(gradients.begin(), gradients.end());
    double free_ns = 0;
    std::uint64_t filled = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        filled += gradients[i].second;
        const bool last = i + 1 == gradients.size();
        if (filled == 0 || (filled < bucket_bytes_ && !last)) continue;
        free_ns = std::max(free_ns, gradients[i].first);
        // What is larger than a bucket goes as several of them, one behind the other.
        const std::uint64_t whole = filled / bucket_bytes_, rest = filled % bucket_bytes_ / 4 * 4;
        if (whole > 0) free_ns += static_cast<double>(whole) * all_reduce_ns(bucket_bytes_);
        if (rest > 0) free_ns += all_reduce_ns(rest);
        filled = 0;
    }
    return std::max(0.0, free_ns - backward_ns);
}

}  // namespace switchyard::platform::dynn_offload_system
