// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/sushi/supernet.h"

namespace switchyard::sched::sushi {

/// What may be kept in a persistent buffer: a slice of each tensor of a supernet.
struct SubGraph {
    std::string name;
    std::vector<WeightSlice> slices;
};

/// Number of kernels and of channels of every tensor, one after another (section 3.3, "Encoding").
using Encoding = std::vector<double>;
Encoding encode(const std::vector<WeightSlice>& slices);
/// Euclidean. The paper's text has lost its symbol; it speaks of the minimum distance.
double distance(const Encoding& a, const Encoding& b);
/// Appendix A.4 as read here, since the formula is lost in the text: length of the elementwise minimum of both over the
/// length of the SubGraph; 0 for an empty one.
double hit_ratio(const Encoding& subnet, const Encoding& subgraph);

/// At most `count` different SubGraphs (section 3.2: a set much smaller than all, of sizes close to the buffer's), none
/// larger than `capacity` bytes. They are cut from the SubNets and from what neighbours by size share, in three ways:
/// the layers whose weights are used least often for each byte first; every tensor's kernels scaled alike; the layers
/// from one on, in order of execution and round. The last slice is cut to the kernels that fit.
std::vector<SubGraph> candidate_subgraphs(const Supernet& supernet, std::uint64_t capacity, std::size_t count);

/// Reads SubGraphs: a list of `name` and `slices`, a mapping of tensors to [kernels, channels]. Throws InputError: an
/// unknown tensor, a slice that does not nest, a SubGraph of more than `capacity` bytes.
std::vector<SubGraph> read_subgraphs(const std::string& path, const Supernet& supernet, std::uint64_t capacity);

}  // namespace switchyard::sched::sushi
