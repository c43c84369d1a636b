// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "switchyard/testbenches/integration/values/digits_reference.h"

namespace switchyard::testing {

/// Tokens of an image: its rows.
inline constexpr std::size_t kTokens = 8;

/// The classifiers of digits_early_exit for one image of 8x8 pixels, a logit a label: those behind layers 0 to `last`.
/// `folder` holds the parameters. The bound of a logit is that of ReferenceLogit with these steps: the embedding; in
/// each layer queries, keys and values, scores, what is attended to, projection with norm, and both linear layers, the
/// second with norm; the mean over the tokens and the classifier.
std::vector<ReferenceGates> early_exit_labels(const std::string& folder, const float* image, std::size_t last);

/// Experts that an image's tokens take in a layer.
using TokenExperts = std::array<std::size_t, kTokens>;

/// The routers of digits_moe for one image, a logit an expert, of its tokens: of layer experts.size() when the tokens
/// take these experts in the layers before. Steps: the embedding; in each layer norm, queries, keys and values, scores,
/// what is attended to, projection, the second norm; in those before also the expert's two linear layers, the product
/// with its probability and the sum, and in the last one the router.
std::vector<ReferenceGates> moe_routers(const std::string& folder, const float* image,
                                        const std::vector<TokenExperts>& experts);

}  // namespace switchyard::testing
