// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

/// What was counted at one operator: micro-batches of `unit_samples` samples, by how many samples they had there.
struct OperatorProfile {
    std::uint32_t unit_samples = 1;
    /// False: every dyn_dim has a count of its own. True: kernels have, as a chip's profilers report them (Adyna,
    /// section VI-B); the count at k is that of the dyn_dims above the kernel before, up to k; those at 0 had no
    /// sample. The kernel for `unit_samples` is there.
    bool by_kernel = false;
    std::map<std::uint32_t, std::uint64_t> frequency;  ///< by dyn_dim or kernel
};

/// Frequencies of dyn_dim values (Adyna, section IV).
struct Profile {
    std::uint32_t batch_samples = 1, unit_samples = 1;  ///< of operators that say nothing else
    std::uint64_t batches = 0;
    std::vector<OperatorProfile> operators;  ///< index = operator id
    /// The batches that were counted, where they are at hand: what operators have at the same time. Not in files.
    std::shared_ptr<const std::vector<BatchRouting>> routes;
};

/// What the given batches would make profilers count that tell all dyn_dims apart.
Profile profile_of(const DynGraph& graph, const std::vector<BatchRouting>& batches, std::uint32_t unit_samples);

/// Expected share of the batch's samples that reach each operator, 0 to 1: section V-A weighs work with it. Of what was
/// counted by kernel, all dyn_dims of a kernel's range are taken as equally frequent (section VII).
std::vector<double> expected_fractions(const Profile& profile);
/// Share of the expected multiply-accumulates that are not where they were: of fractions `from`, one an operator, when
/// they become `to`.
double moved_load(const DynGraph& graph, const std::vector<double>& from, const std::vector<double>& to);
/// Fractions with every dyn_dim at its maximum: all ones.
std::vector<double> worst_case_fractions(const DynGraph& graph);

/// JSON (docs/model_format.md): {"batch_samples": 8, "unit_samples": 8, "batches": 100, "operators":
/// {"b1": {"5": 97, "6": 3}, "b2": {"unit_samples": 4, "kernels": {"0": 5, "2": 150, "4": 45}}}}; operators that stand
/// on no branch may be left out. Throws InputError that names the operator and what is wrong with it.
Profile read_profile(const std::string& path, const DynGraph& graph);
/// The same from its text; `source` is for messages.
Profile parse_profile(const std::string& text, const std::string& source, const DynGraph& graph);
/// One operator of such a file, without its model. Throws InputError, also if it is not in the file.
OperatorProfile read_operator_profile(const std::string& path, const std::string& name);
void write_profile(const Profile& profile, const DynGraph& graph, const std::string& path);

}  // namespace switchyard::sched
