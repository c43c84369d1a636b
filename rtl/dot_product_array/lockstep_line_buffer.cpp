// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dot_product_array/lockstep_line_buffer.h"

#include <fmt/format.h>

#include "switchyard/rtl/dot_product_array/verilated_line_buffer.h"

namespace switchyard::rtl {

LockstepLineBuffer::LockstepLineBuffer(const std::string& module, std::unique_ptr<LineBufferRtl> rtl)
    : rtl_(std::move(rtl)) {
    rtl_->keep_waveform(module + ".lockstep.fst");
}

void LockstepLineBuffer::begin(const hw::LineBufferPass& pass) {
    number_ = 0;
    of_rtl_.resize(std::size_t{pass.side} * pass.side);
    model_.begin(pass);
    rtl_->begin(pass);
}

bool LockstepLineBuffer::step(std::int8_t pixel, std::int8_t* window) {
    const bool of_model = model_.step(pixel, window), of_rtl = rtl_->step(pixel, of_rtl_.data());
    const auto differs = [&](const std::string& what) {
        throw RtlFault(fmt::format("lockstep: pixel {}: {}{}", number_, what, evidence()));
    };
    if (of_model != of_rtl)
        differs(fmt::format("the model gives {} window, the RTL {}", of_model ? "a" : "no", of_rtl ? "one" : "none"));
    for (std::size_t tap = 0; of_model && tap < of_rtl_.size(); ++tap)
        if (window[tap] != of_rtl_[tap])
            differs(fmt::format("value {} of the window is {} in the model and {} in the RTL", tap, window[tap],
                                of_rtl_[tap]));
    ++number_;
    return of_model;
}

std::string LockstepLineBuffer::evidence() {
    return rtl_->evidence();
}

}  // namespace switchyard::rtl
