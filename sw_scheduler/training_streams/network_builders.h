// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/training_streams/training_network.h"

namespace switchyard::sched {

/// The forward pass of a path: `decisions` as in TrainingNetwork. A loop is decided once a trip: 1 goes on, 0 leaves.
using Decisions = std::vector<std::uint8_t>;

/// LSTM of `blocks` steps at most, `segment` steps a trip.
void record_lstm(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions);
/// Binary child-sum Tree-LSTM (Tai et al. 2015): a cell a node, children first.
void record_tree_lstm(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions);
/// A node of a tree computes a convolution of its children's feature maps, ReLU, pooling and a score (Figs. 1 and 4).
void record_tree_cnn(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions);
/// Unrolled GAN (Metz et al. 2017): a discriminator's updates stay in the graph; `segment` updates a trip.
void record_unrolled_gan(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions);
/// BERT over segments of a document, joined by a mean (Pappagari et al. 2019); `blocks` layers, a trip a segment.
void record_bert(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions);
/// AlphaFold's Evoformer (Jumper et al. 2021, as openfold has it): a trip a block.
void record_evoformer(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions);

/// Trips of a loop that is decided once a trip.
inline unsigned trips_of(const Decisions& decisions) {
    return static_cast<unsigned>(decisions.size());
}

}  // namespace switchyard::sched
