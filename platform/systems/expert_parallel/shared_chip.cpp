// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/shared_chip.h"
#include "switchyard/tlm/has_process.h"

#include <algorithm>

#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform::expert_parallel {

SharedChip::SharedChip(const sc_core::sc_module_name& module_name, std::vector<PlacedPart*> steps, bool reloads)
    : sc_module(module_name), steps_(std::move(steps)), reloads_(reloads), reloaded_us_(steps_.size()), more_("more") {
    SWITCHYARD_HAS_PROCESS(SharedChip);
    for (PlacedPart* const part : steps_)
        if (part != nullptr) part->set_prepared([this] { more_.notify(sc_core::SC_ZERO_TIME); });
    SC_THREAD(serve);
}

void SharedChip::ready(std::size_t batch, std::size_t step) {
    if (steps_.at(step) == nullptr) return ended_(batch, step);
    ready_.emplace(batch, step);
    more_.notify(sc_core::SC_ZERO_TIME);
}

void SharedChip::await_warm_up() {
    for (PlacedPart* const part : steps_)
        if (part != nullptr) part->await_warm_up();
}

void SharedChip::serve() {
    for (;;) {
        const auto next = std::find_if(ready_.begin(), ready_.end(),
                                       [&](const auto& one) { return steps_[one.second]->is_prepared(one.first); });
        if (next == ready_.end()) {
            wait(more_);
            continue;
        }
        const auto [batch, step] = *next;
        ready_.erase(next);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        if (reloads_ && last_ != step) {
            const double us = steps_[step]->reload_us();
            wait(microseconds(us, "a reload of weights"));
            reloaded_us_[step] += us;
            ++stats_.reloads;
        }
        last_ = step;
        steps_[step]->run(batch);
        stats_.busy_us += (sc_core::sc_time_stamp() - begin) / sc_core::sc_time(1, sc_core::SC_US);
        ended_(batch, step);
    }
}

}  // namespace switchyard::platform::expert_parallel
