// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard {

/// Throws InputError if the parts of an image contradict each other: ids out of range, kernels that do not match their
/// partitions, records of one edge or operator that differ between tiles. `place` words where a tile's program stands.
void check_image(const Image& image, const std::string& source,
                 const std::function<std::string(std::size_t tile)>& place);

}  // namespace switchyard
