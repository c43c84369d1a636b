// SPDX-License-Identifier: Apache-2.0
// The designs that ACE is compared with: one stream, several streams with events, a graph.
#include <set>

#include "switchyard/sw_scheduler/ace/kernel_graph.h"
#include "switchyard/sw_scheduler/ace/runtime.h"

namespace switchyard::sched::ace {

namespace {

/// A graph on streams: an event is recorded behind a kernel that some kernel of another stream waits for.
struct StreamPlan {
    std::vector<std::vector<KernelNumber>> graph;
    std::vector<unsigned> stream;
    std::vector<bool> recorded;  ///< an event of the kernel's own number

    StreamPlan(const std::vector<Footprint>& kernels, const RuntimeConfig& config)
        : graph(kernel_graph(kernels, config.rule)),
          stream(assign_streams(graph, config.streams)),
          recorded(kernels.size(), false) {
        for (std::size_t k = 0; k < graph.size(); ++k)
            for (const KernelNumber from : graph[k])
                if (stream[from] != stream[k]) recorded[from] = true;
    }
};

/// Of the calls for a kernel, microseconds.
struct CallCosts {
    double wait_us, launch_us, record_us;
    bool node;  ///< of a graph
};

/// Appends a kernel with its events.
void append(HostThread& host, const StreamPlan& plan, KernelNumber kernel, const CallCosts& costs,
            RuntimeStats& stats) {
    const unsigned stream = plan.stream[kernel];
    for (const KernelNumber from : plan.graph[kernel]) {
        if (plan.stream[from] == stream) continue;
        host.work(costs.wait_us);
        host.wait_event(stream, from);
        ++stats.event_waits;
    }
    host.work(costs.launch_us);
    if (costs.node) {
        host.launch_node(stream, kernel);
    } else {
        host.launch(stream, kernel);
    }
    ++stats.launches;
    if (!plan.recorded[kernel]) return;
    host.work(costs.record_us);
    host.record_event(stream, kernel);
    ++stats.event_records;
}

void synchronise_all(HostThread& host, const StreamPlan& plan, const HostCosts& costs, RuntimeStats& stats) {
    const std::set<unsigned> streams(plan.stream.begin(), plan.stream.end());
    for (const unsigned stream : streams) {
        host.work(costs.synchronise_us);
        host.synchronise(stream);
        ++stats.synchronisations;
    }
}

}  // namespace

void run_serial(HostThread& host, const Job& job, RuntimeStats& stats) {
    const HostCosts& costs = job.config.costs;
    for (KernelNumber k = 0; k < job.kernels->size(); ++k) {
        host.work(costs.issue_us + costs.launch_us);
        host.launch(0, k);
        ++stats.launches;
    }
    host.work(costs.synchronise_us);
    host.synchronise(0);
    ++stats.synchronisations;
}

void run_multi_stream(HostThread& host, const Job& job, RuntimeStats& stats) {
    const HostCosts& costs = job.config.costs;
    const StreamPlan plan(*job.kernels, job.config);
    const auto kernels = static_cast<double>(job.kernels->size());
    // The plan needs the whole graph: all kernels are issued before.
    if (!job.config.prepared) stats.construction_us = kernels * (costs.issue_us + costs.plan_us);
    host.work(stats.construction_us);
    for (KernelNumber k = 0; k < job.kernels->size(); ++k)
        append(host, plan, k, {costs.event_wait_us, costs.launch_us, costs.event_record_us, false}, stats);
    synchronise_all(host, plan, costs, stats);
}

void run_graph(HostThread& host, const Job& job, RuntimeStats& stats) {
    const HostCosts& costs = job.config.costs;
    const StreamPlan plan(*job.kernels, job.config);
    const auto kernels = static_cast<double>(job.kernels->size());
    if (!job.config.prepared)
        stats.construction_us = kernels * (costs.issue_us + costs.graph_add_node_us + costs.graph_instantiate_us);
    host.work(stats.construction_us);
    host.work(costs.graph_launch_us);
    for (KernelNumber k = 0; k < job.kernels->size(); ++k)
        append(host, plan, k, {0, costs.graph_launch_node_us, 0, true}, stats);
    synchronise_all(host, plan, costs, stats);
}

Runtime runtime_of(const std::string& design) {
    if (design == "serial") return &run_serial;
    if (design == "multi_stream") return &run_multi_stream;
    if (design == "cuda_graph") return &run_graph;
    if (design == "ace_sw") return &run_ace_sw;
    if (design == "ace_hw") return &run_ace_hw;
    return nullptr;
}

}  // namespace switchyard::sched::ace
