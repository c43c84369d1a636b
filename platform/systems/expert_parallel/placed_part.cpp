// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/placed_part.h"

#include <algorithm>

namespace switchyard::platform::expert_parallel {

void PlacedPart::await_begin(std::size_t batch) {
    if (batch >= kWarmUpBatches && !warm_) {
        warm_ = true;
        warmed_up_.notify(sc_core::SC_ZERO_TIME);
    }
    if (batch >= allowed_) {
        at_gate_ = batch;
        if (prepared_) prepared_();
        while (batch >= allowed_) sc_core::wait(begin_);
        at_gate_.reset();
    }
    begun_ = sc_core::sc_time_stamp();
}

void PlacedPart::note_end(std::size_t /*batch*/) {
    us_.push_back((sc_core::sc_time_stamp() - begun_) / sc_core::sc_time(1, sc_core::SC_NS) * 1e-3);
    end_.notify(sc_core::SC_ZERO_TIME);
}

void PlacedPart::run(std::size_t batch) {
    allowed_ = batch + kWarmUpBatches + 1;
    begin_.notify(sc_core::SC_ZERO_TIME);
    while (us_.size() < allowed_) sc_core::wait(end_);
}

void PlacedPart::await_warm_up() {
    while (!warm_) sc_core::wait(warmed_up_);
}

double PlacedPart::reload_us() const {
    return std::max(0.0, us_.at(0) - us_.at(1));
}

std::vector<double> PlacedPart::batch_us() const {
    return {us_.begin() + static_cast<std::ptrdiff_t>(std::min(us_.size(), kWarmUpBatches)), us_.end()};
}

}  // namespace switchyard::platform::expert_parallel
