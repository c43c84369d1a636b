// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/ace/host_api.h"

namespace switchyard::sched::ace {

/// What calls and bookkeeping cost on the host, microseconds unless stated. The defaults are what others measured
/// (docs/ace.md has the sources); those marked as declared nobody published, and an experiment sweeps them.
struct HostCosts {
    double issue_us = 0;                 ///< the application's own time before each kernel; declared
    double launch_us = 1.54;             ///< a kernel launch that returns at once
    double event_record_us = 0.244;      ///< without timing
    double event_wait_us = 0.25;         ///< a stream waits for an event
    double synchronise_us = 0.82;        ///< a stream synchronisation, besides the wait itself
    double segment_pair_ns = 0.5;        ///< a comparison of two segments
    double window_update_us = 0.1;       ///< window of ACE-SW: removing a kernel from the lists; declared
    double poll_us = 0.1;                ///< until a polling thread sees a change; declared
    double plan_us = 0.5;                ///< multi-stream: assigning a kernel to a stream; declared
    double graph_add_node_us = 1.54;     ///< a kernel into a graph; declared: as a launch
    double graph_instantiate_us = 4;     ///< a graph's instantiation, by node; declared
    double graph_launch_us = 15;         ///< a graph's launch
    double graph_launch_node_us = 0.58;  ///< and by node
};

template <class V>
void describe(V& v, HostCosts& c) {
    v.field("issue_us", c.issue_us, 0, 1e6, "the application's own time before each kernel");
    v.field("launch_us", c.launch_us, 0, 1e6, "host time of a kernel launch");
    v.field("event_record_us", c.event_record_us, 0, 1e6, "host time of an event's record");
    v.field("event_wait_us", c.event_wait_us, 0, 1e6, "host time of a stream's wait for an event");
    v.field("synchronise_us", c.synchronise_us, 0, 1e6, "host time of a stream synchronisation besides the wait");
    v.field("segment_pair_ns", c.segment_pair_ns, 0, 1e6, "host time of comparing two segments");
    v.field("window_update_us", c.window_update_us, 0, 1e6, "ACE-SW: host time of a kernel's removal from the window");
    v.field("poll_us", c.poll_us, 0, 1e6, "ACE-SW: until a polling thread sees a change");
    v.field("plan_us", c.plan_us, 0, 1e6, "multi-stream: host time of assigning a kernel to a stream");
    v.field("graph_add_node_us", c.graph_add_node_us, 0, 1e6, "host time of adding a kernel to a graph");
    v.field("graph_instantiate_us", c.graph_instantiate_us, 0, 1e6, "host time of instantiating a graph, by node");
    v.field("graph_launch_us", c.graph_launch_us, 0, 1e6, "host time of a graph's launch");
    v.field("graph_launch_node_us", c.graph_launch_node_us, 0, 1e6, "and by node");
}

struct RuntimeConfig {
    unsigned window = 32;     ///< N: of ACE-SW here, of ACE-HW the device's
    unsigned streams = 8;     ///< multi-stream, graph and ACE-SW, which has a thread for each
    unsigned scheduled = 64;  ///< M of ACE-HW
    DependenceRule rule = DependenceRule::all_hazards;
    bool prepared = false;  ///< multi-stream and graph: plan or graph are there from an earlier input
    HostCosts costs;
};

/// An input of an application: what each of its kernels reads and writes, in the order of issue.
struct Job {
    const std::vector<Footprint>* kernels = nullptr;
    RuntimeConfig config;
    KernelId first_id = 0;  ///< ACE-HW: of the first kernel; that of the next one on this device
};

/// What a runtime did on the host.
struct RuntimeStats {
    std::uint64_t launches = 0, event_records = 0, event_waits = 0, synchronisations = 0;
    std::uint64_t segment_pairs = 0;  ///< compared at run time
    double check_us = 0;              ///< host time of these comparisons
    double construction_us = 0;       ///< before the first launch: plan, graph
};

/// Runs a job to its end, as one of the designs, from a thread of the host. Each returns when the host has seen that
/// all kernels are complete.
using Runtime = void (*)(HostThread& host, const Job& job, RuntimeStats& stats);

/// One stream (Fig. 10b): the baseline.
void run_serial(HostThread& host, const Job& job, RuntimeStats& stats);
/// The whole graph on several streams, with events between them (Fig. 10c).
void run_multi_stream(HostThread& host, const Job& job, RuntimeStats& stats);
/// A graph that is constructed, instantiated and launched (CUDA graphs); its nodes need no call of the host each.
void run_graph(HostThread& host, const Job& job, RuntimeStats& stats);
/// ACE-SW (section 4.2): input FIFO, window module, a scheduler thread for each stream.
void run_ace_sw(HostThread& host, const Job& job, RuntimeStats& stats);
/// ACE-HW (section 4.3): dependences are checked against a stale list while kernels run; the window is on the device.
void run_ace_hw(HostThread& host, const Job& job, RuntimeStats& stats);

/// The runtime called "serial", "multi_stream", "cuda_graph", "ace_sw" or "ace_hw"; null for another name.
Runtime runtime_of(const std::string& design);

}  // namespace switchyard::sched::ace
