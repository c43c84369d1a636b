// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::sched {

/// Lengths of sentences or documents of a data set: log-normal with the median and the 90th percentile, at most `most`.
struct LengthStatistics {
    double median = 66, p90 = 248;
    unsigned most = 964;

    unsigned draw(RandomSource& random) const;
};

/// A binary tree as the order in which its nodes are computed, children first: 0 a leaf, 1 a node with two children.
/// Leaves + inner nodes = 2 * leaves - 1.
using TreeOrder = std::vector<std::uint8_t>;

/// A tree of this many leaves. Each inner node parts its leaves in the middle, or gives the left child one more, with
/// equal probability: heights near the logarithm of the leaves.
TreeOrder draw_tree(unsigned leaves, RandomSource& random);
unsigned height_of(const TreeOrder& tree);  ///< edges from the root to its farthest leaf

/// One whole number a line. Throws InputError.
std::vector<unsigned> read_lengths(const std::string& path);
/// One tree a line, as zeros and ones in the order above ("0 0 1"). Throws InputError for what is no tree.
std::vector<TreeOrder> read_trees(const std::string& path);

}  // namespace switchyard::sched
