// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/scheduling_window/lockstep_window.h"

#include <fmt/format.h>

#include "switchyard/rtl/scheduling_window/verilated_window.h"

namespace switchyard::rtl {

LockstepWindow::LockstepWindow(const hw::WindowShape& shape, const std::string& module, std::unique_ptr<WindowRtl> rtl)
    : model_(shape), rtl_(std::move(rtl)) {
    rtl_->keep_waveform(module + ".lockstep.fst");
}

hw::WindowOutputs LockstepWindow::settle(const hw::WindowInputs& inputs) {
    const hw::WindowOutputs model = model_.settle(inputs), rtl = rtl_->settle(inputs);
    if (model == rtl) return model;
    throw RtlFault(fmt::format("lockstep: cycle {}: {} differs: the model has {}; the RTL has {}{}", cycle_,
                               first_difference(model, rtl), text_of(model), text_of(rtl), evidence()));
}

void LockstepWindow::clock() {
    model_.clock();
    rtl_->clock();
    ++cycle_;
}

std::string LockstepWindow::evidence() {
    return rtl_->evidence();
}

}  // namespace switchyard::rtl
