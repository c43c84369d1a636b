// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/hw/link/message_engine.h"
#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/brainstorm/batch_compiler.h"
#include "switchyard/sw_scheduler/collectives/link_choice.h"

namespace switchyard::platform::brainstorm {

/// The host's own time, microseconds.
struct HostConfig {
    double launch_us = 1.54;
    double operator_us = 4;
    double synchronise_us = 0.82;
    double decision_us = 2;
};

template <class V>
void describe(V& v, HostConfig& c) {
    v.field("launch_us", c.launch_us, 0, 1e6, "a launch, a copy or an event that returns at once");
    v.field("operator_us", c.operator_us, 0, 1e6, "of the framework before each kernel; declared");
    v.field("synchronise_us", c.synchronise_us, 0, 1e6, "a synchronisation besides the wait itself");
    v.field("decision_us", c.decision_us, 0, 1e6, "of the router's code for a decision that it has read; declared");
}

using LinksConfig = sched::LinksSection<hw::MessageEngine::Config>;

/// Which of Brainstorm's mechanisms run, and what they learn from.
struct MechanismConfig {
    std::string placement = "block", placement_file, all_to_all = "sparse", weights = "resident", profiling = "off";
    bool speculative_routing = false;
    bool functional = false;
    double speculation_certainty = 0;
    unsigned speculation_depth = 1;
    std::string percentiles = "0.5 0.9 1";
    std::string tuned_loads;
    std::uint64_t load_unit = 1;
    unsigned collective_ctas = 0;
    unsigned profile_batches = 40;
    std::uint64_t profile_seed = 1000003;
};

template <class V>
void describe(V& v, MechanismConfig& c) {
    v.choice("placement", c.placement, {"block", "profile", "balanced", "worst"},
             "of branches: in blocks; by annealing on the profile; loads spread evenly; heavy branches together");
    v.field("placement_file", c.placement_file, "of branches, in place of `placement`; relative to the platform file");
    v.choice("all_to_all", c.all_to_all, {"sparse", "padded"}, "sizes first and then the cells, or padded messages");
    v.field("collective_ctas", c.collective_ctas, 0, 1024,
            "CTAs of 640 threads that stay on multiprocessors while a collective moves its data, as NCCL's kernel has "
            "one a channel (up to 32); 0: collectives take links alone");
    v.field("speculative_routing", c.speculative_routing, "the branch of the profile runs while the router decides");
    v.field("speculation_certainty", c.speculation_certainty, 0, 1,
            "share of the profile from which a router is speculated on");
    v.field("speculation_depth", c.speculation_depth, 1, 1000000,
            "routers whose checks may be open before the host waits for the oldest; declared");
    v.choice("weights", c.weights, {"resident", "on_demand", "preloaded"},
             "of branches: always on the device; loaded behind the decision; loaded before it, by the profile");
    v.choice("profiling", c.profiling, {"off", "loads", "correlation", "decisions"},
             "what a kernel behind each router counts");
    v.field("functional", c.functional,
            "several devices: collectives move the cells' contents; one: loads those of weights; both are checked");
    v.field("percentiles", c.percentiles, "of the profile's loads, 0 to 1, for which kernels are tuned");
    v.field("load_unit", c.load_unit, 1, 65536, "loads of percentiles are rounded up to a multiple of it; declared");
    v.field("tuned_loads", c.tuned_loads, "cells that kernels are tuned for, in place of percentiles");
    v.field("profile_batches", c.profile_batches, 1, 100000, "batches of the profile");
    v.field("profile_seed", c.profile_seed, 0, 1e15, "of the profile's batches; another one than that of the run");
}

/// A machine that runs networks of cells and routers, as a platform file with `system: brainstorm` describes it.
struct BrainstormConfig {
    GpuPlatform gpu;
    HostConfig host;
    LinksConfig links{1, 3.4, 5.7};
    MechanismConfig mechanisms;
    std::shared_ptr<const sched::LinkTopology> topology;   ///< null: one device
    std::map<std::string, std::string> network_overrides;  ///< "network.KEY"

    sched::brainstorm::Mechanisms scheduler_mechanisms() const;
    std::vector<double> percentiles() const;
    std::vector<std::uint64_t> tuned_loads() const;  ///< empty: from the profile
};

/// `gpu_file` names the file of the GPU, relative to this one. Overrides "section.key" win over both files; those of
/// `network` are handed on. Throws InputError.
BrainstormConfig read_brainstorm_config(const std::string& path, std::map<std::string, std::string> overrides);

/// Of the sections besides the GPU's (docs/gpu_keys.md).
std::vector<KeyDescription> brainstorm_keys();

}  // namespace switchyard::platform::brainstorm
