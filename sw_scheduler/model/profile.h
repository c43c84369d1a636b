#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/model/graph.h"

namespace switchyard::sched {

/// Frequencies of dyn_dim values, as the chip's profilers count them (Adyna section IV): for each operator, how many
/// hand-over units of `unit_samples` samples had so many samples at the operator.
struct Profile {
    std::uint32_t batch_samples = 1, unit_samples = 1;
    std::uint64_t batches = 0;
    std::vector<std::map<std::uint32_t, std::uint64_t>> frequency;  ///< [operator id][dyn_dim]
};

/// What the given batches would make the profilers count.
Profile profile_of(const DynGraph& graph, const std::vector<BatchRouting>& batches, std::uint32_t unit_samples);

/// Expected share of the batch's samples that reach each operator, 0 to 1: section V-A weighs work with it.
std::vector<double> expected_fractions(const Profile& profile);
/// The same with every dyn_dim at its maximum: all ones.
std::vector<double> worst_case_fractions(const DynGraph& graph);

/// JSON: {"batch_samples": 8, "unit_samples": 8, "batches": 100, "operators": {"b1": {"5": 97, "6": 3}}}; operators
/// that stand on no branch may be left out. Throws InputError that names the operator and what is wrong with it.
Profile read_profile(const std::string& path, const DynGraph& graph);
void write_profile(const Profile& profile, const DynGraph& graph, const std::string& path);

}  // namespace switchyard::sched
