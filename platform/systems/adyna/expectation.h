// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// What one batch must do, derived from the image's edges and the routing masks alone, without the chip's models: the
/// reference of the report's conservation checks.
struct Expectation {
    std::vector<std::uint64_t> operator_samples;             ///< index = op_id; model inputs included
    std::vector<std::vector<std::uint64_t>> branch_samples;  ///< [switch_id][branch]: samples whose mask has the bit
    std::uint64_t macs = 0;                                  ///< sum of samples times ImageMeta's macs_per_sample
};

/// Index = switch_id; what the image's switches look like to a trace.
std::vector<SwitchSignature> signatures_of(const ImageMeta& meta);

/// Every sample takes every branch of every switch: what a machine does that cannot route samples.
BatchRouting every_branch(const ImageMeta& meta);

/// Ids of the samples that reach an operator or a tensor in HBM.
std::vector<std::uint32_t> samples_at(const Image& image, const BatchRouting& routing, std::uint16_t op_id);

/// Throws InputError if the routing's switches or samples are not the image's.
Expectation expect(const Image& image, const BatchRouting& routing);

}  // namespace switchyard::platform
