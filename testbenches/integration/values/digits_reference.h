// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace switchyard::testing {

/// What one gate of a digits network decides by, in binary64 from the trained binary32 parameters.
struct ReferenceLogit {
    double value = 0;
    /// How far the chip's arithmetic may be off. Each of the steps on the sample's way (convolutions, the mean over the
    /// pixels, the gate) rounds weights and results to binary16, by at most 2^-11 of their size each, so 2 * steps
    /// independent errors add up like the root of their number; they meet in a sum of products w[j] * x[j], which are
    /// as large as their magnitudes, whatever cancels: sqrt(2 * steps) * 2^-11 * (sum |w[j] * x[j]| + |bias|).
    double bound = 0;
};

/// Of the gates of one switch.
using ReferenceGates = std::vector<ReferenceLogit>;

/// The gates of digits_skipnet for one image of 8x8 pixels: one for each of the blocks, when the sample takes these
/// branches before it (masks, one a block). `folder` holds the parameters.
std::vector<ReferenceGates> skipnet_gates(const std::string& folder, const float* image,
                                          const std::vector<std::size_t>& masks);

/// The same of digits_channel_gate: eight gates for each of four layers.
std::vector<ReferenceGates> channel_gates(const std::string& folder, const float* image,
                                          const std::vector<std::size_t>& masks);

}  // namespace switchyard::testing
