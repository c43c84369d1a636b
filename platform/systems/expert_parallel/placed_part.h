// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <systemc>

#include "switchyard/platform/system/joint_run.h"

namespace switchyard::platform::expert_parallel {

/// Batches that a part runs before those that count: the first one loads the weights, the second one finds them.
constexpr std::size_t kWarmUpBatches = 2;

/// The model of a part on one chip, as the chip's schedule sees it. Batches count from 0, without those of the warm-up,
/// which the model runs by itself.
class PlacedPart : public BatchGate {
public:
    /// The first part's inputs come from the host, and the last part's outputs go there; others are on links and in
    /// HBM.
    PlacedPart(bool first, bool last) : first_(first), last_(last) {}

    bool host_sends_inputs() const override { return first_; }
    bool host_fetches_outputs() const override { return last_; }
    void await_begin(std::size_t batch) override;
    void note_end(std::size_t batch) override;

    /// Called when the model's host has all for the next batch.
    void set_prepared(std::function<void()> prepared) { prepared_ = std::move(prepared); }
    bool is_prepared(std::size_t batch) const { return at_gate_ && *at_gate_ == batch + kWarmUpBatches; }
    /// From a thread, once the batch is prepared: runs it and returns when it has ended.
    void run(std::size_t batch);
    void await_warm_up();
    /// What the first batch of the warm-up took longer than the second one, microseconds.
    double reload_us() const;
    /// Of each batch that has ended, in their order, microseconds.
    std::vector<double> batch_us() const;

private:
    bool first_, last_;
    bool warm_ = false;
    std::optional<std::size_t> at_gate_;  ///< the batch for which the host waits, with the warm-up's
    std::function<void()> prepared_;
    std::size_t allowed_ = kWarmUpBatches;  ///< batches, with the warm-up's
    sc_core::sc_event warmed_up_, begin_, end_;
    sc_core::sc_time begun_;
    std::vector<double> us_;
};

}  // namespace switchyard::platform::expert_parallel
