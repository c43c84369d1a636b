// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace switchyard::sched {

/// Tiles for each operator in proportion to its expected load (Adyna section V-A): load = work of one sample x
/// expected dyn_dim. Largest remainder, at least minimum[i] (one, if `minimum` is empty) each; ties go to the lower
/// index. The result sums up to `tiles`. Throws std::invalid_argument if the minimums exceed `tiles` or a load is
/// negative.
std::vector<unsigned> allocate_proportional(unsigned tiles, const std::vector<double>& loads,
                                            const std::vector<unsigned>& minimum = {});

/// Improves an allocation by the cost model: as long as that makes the slowest stage faster, gives it tiles of the
/// operators that remain fastest with one tile less. `stage_cycles(i, tiles)`: a micro-batch of operator i;
/// infinite if it does not fit. The slowest stage never becomes slower, and no operator falls below its minimum.
void refine(std::vector<unsigned>& allocation, const std::vector<unsigned>& minimum,
            const std::function<double(std::size_t, unsigned)>& stage_cycles);

}  // namespace switchyard::sched
