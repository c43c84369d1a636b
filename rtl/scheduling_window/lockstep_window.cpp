// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/scheduling_window/lockstep_window.h"

#include <cstdio>

#include <fmt/format.h>

#include "switchyard/rtl/scheduling_window/verilated_window.h"

namespace switchyard::rtl {

LockstepWindow::LockstepWindow(const hw::WindowShape& shape, const std::string& module, std::unique_ptr<WindowRtl> rtl)
    : model_(shape),
      rtl_(std::move(rtl)),
      waveform_(module + ".lockstep.fst"),
      previous_waveform_(module + ".lockstep.previous.fst") {
    rtl_->open_waveform(waveform_);
}

LockstepWindow::~LockstepWindow() {
    rtl_->close_waveform();
    if (differed_) return;
    std::remove(waveform_.c_str());
    std::remove(previous_waveform_.c_str());
}

void LockstepWindow::rotate_waveform() {
    rtl_->close_waveform();
    std::rename(waveform_.c_str(), previous_waveform_.c_str());
    rtl_->open_waveform(waveform_);
}

hw::WindowOutputs LockstepWindow::settle(const hw::WindowInputs& inputs) {
    const hw::WindowOutputs model = model_.settle(inputs), rtl = rtl_->settle(inputs);
    if (model == rtl) return model;
    differed_ = true;
    rtl_->close_waveform();
    throw RtlFault(fmt::format("cycle {}: the model has {}; the RTL has {}; waveform: {}", cycle_, text_of(model),
                               text_of(rtl), waveform_));
}

void LockstepWindow::clock() {
    model_.clock();
    rtl_->clock();
    if (++cycle_ % kWindowCycles == 0) rotate_waveform();
}

}  // namespace switchyard::rtl
