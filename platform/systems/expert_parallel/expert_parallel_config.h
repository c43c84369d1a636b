// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/hw/link/message_engine.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/collectives/link_choice.h"

namespace switchyard::platform::expert_parallel {

/// The chips, and where their experts are.
struct ClusterConfig {
    std::string chip_design = "adyna", chip_set, routed_set;
    std::string placement = "block", placement_file, all_to_all = "sparse", weights = "reloaded", parts;
    std::string simulation = "separate";
    unsigned batches_in_flight = 1;
    bool divided = false;

    bool joint() const { return simulation == "joint"; }
};

template <class V>
void describe(V& v, ClusterConfig& c) {
    v.field("chip_design", c.chip_design, "of each chip: a design that runs model files");
    v.field("chip_set", c.chip_set, "its parameters: \"unit_samples=16 invocation=batch\"");
    v.field("routed_set", c.routed_set, "further ones for parts with experts: \"sampling=profile\"");
    v.choice("placement", c.placement, {"block", "profile", "balanced", "worst"},
             "of experts: in blocks; by annealing on the profile; loads spread evenly; heavy experts together");
    v.field("placement_file", c.placement_file, "of experts, in place of `placement`; relative to the platform file");
    v.choice("all_to_all", c.all_to_all, {"sparse", "padded"}, "sizes first and then the cells, or padded messages");
    v.choice("weights", c.weights, {"reloaded", "resident"},
             "of a part, when it begins: loaded to the tiles again, or there since the batch before if its schedule "
             "keeps them");
    v.choice("simulation", c.simulation, {"separate", "joint"},
             "of parts and messages: one after another, or all chips and links in one SystemC simulation");
    v.field("batches_in_flight", c.batches_in_flight, 1, 64,
            "of all chips, whose parts and messages overlap; with `simulation: joint`");
    v.field("divided", c.divided, "one chip runs the parts one after another, as each of several chips does");
    v.field("parts", c.parts, "folder in which the chips' model files and routes are kept; empty: they are removed");
}

using LinksConfig = sched::LinksSection<hw::MessageEngine::Config>;

/// Several chips and the links between them, as a platform file with `system: expert_parallel` describes them.
struct ExpertParallelConfig {
    ClusterConfig cluster;
    LinksConfig links{4, 0, 0};
    std::string chip_file;                              ///< platform file of each chip
    std::map<std::string, std::string> chip_overrides;  ///< of that file's keys
    /// Of the chips' design: for parts without experts, and for those with.
    std::map<std::string, std::string> chip_parameters, routed_parameters;
    std::shared_ptr<const sched::LinkTopology> topology;  ///< null: one chip

    bool divides() const { return links.devices > 1 || cluster.divided; }
};

/// `chip_file` names the chips' platform file, relative to this one. Overrides "section.key" win over the file; those
/// of other sections than `cluster` and `links` are the chips'. Throws InputError.
ExpertParallelConfig read_expert_parallel_config(const std::string& path, std::map<std::string, std::string> overrides);

std::vector<KeyDescription> expert_parallel_keys();

}  // namespace switchyard::platform::expert_parallel
