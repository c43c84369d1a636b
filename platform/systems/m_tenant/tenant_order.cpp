// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/tenant_order.h"

#include <algorithm>

#include "switchyard/platform/systems/m_tenant/tenant_kernels.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"

namespace switchyard::platform {

TenantGraph::TenantGraph(const sched::DynGraph& one)
    : graph(one), consumers(one.consumers()), switch_consumers(one.switches.size()) {
    for (std::size_t op = 0; op < graph.operators.size(); ++op)
        for (const sched::Source& source : graph.operators[op].inputs)
            if (source.switch_id != sched::kNoSwitch)
                switch_consumers[static_cast<std::size_t>(source.switch_id)].push_back(static_cast<int>(op));
}

TenantOrder::TenantOrder(const TenantGraph& graph, const BatchRouting& routing, const TenantConfig& config,
                         double host_cycles)
    : graph_(graph),
      routing_(routing),
      config_(config),
      host_cycles_(host_cycles),
      counts_(sample_counts(graph.graph, routing)),
      done_(counts_.size(), kNever),
      ready_(counts_.size(), kNever),
      switch_ready_(graph.graph.switches.size(), kNever) {}

double TenantOrder::synchronise(unsigned times) {
    synchronisations_ += times;
    return times * host_cycles_;
}

std::vector<TenantOrder::Ready> TenantOrder::begin() {
    std::vector<Ready> ready;
    for (std::size_t op = 0; op < counts_.size(); ++op) announce(static_cast<int>(op), 0, ready);
    return ready;
}

void TenantOrder::announce(int op, double now, std::vector<Ready>& list) {
    const auto id = static_cast<std::size_t>(op);
    if (ready_[id] != kNever) return;
    double ready = now;
    for (const sched::Source& source : at(op).inputs) {
        if (!source.from_host()) ready = std::max(ready, done_[static_cast<std::size_t>(source.producer)]);
        if (source.switch_id != sched::kNoSwitch)
            ready = std::max(ready, switch_ready_[static_cast<std::size_t>(source.switch_id)]);
    }
    if (ready == kNever) return;
    if (at(op).shape.kind == OpKind::merge && count(op) > 0) ready += synchronise(config_.synchronisations_per_merge);
    ready_[id] = ready;
    list.push_back({ready, count(op) > 0 && !is_index_only(at(op)), op});
}

std::vector<TenantOrder::Ready> TenantOrder::complete(int op, double now) {
    const auto id = static_cast<std::size_t>(op);
    std::vector<Ready> ready;
    done_[id] = now;
    for (const int consumer : graph_.consumers[id]) announce(consumer, now, ready);
    const int gated = at(op).gate_switch;
    if (gated == sched::kNoSwitch) return ready;
    const auto gate = static_cast<std::size_t>(gated);
    switch_ready_[gate] = now + (count(op) > 0 ? synchronise(config_.synchronisations_per_switch) : 0);
    for (const int consumer : graph_.switch_consumers[gate]) announce(consumer, now, ready);
    return ready;
}

double TenantOrder::input_share(int op) const {
    if (at(op).shape.kind != OpKind::merge) return 1;
    double samples = 0;
    for (const sched::Source& source : at(op).inputs)
        samples += source_samples(graph_.graph, source, routing_, counts_);
    return samples / (double{1} * count(op) * static_cast<double>(at(op).inputs.size()));
}

}  // namespace switchyard::platform
