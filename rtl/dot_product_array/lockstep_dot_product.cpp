// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"

#include <cstdio>

#include <fmt/format.h>

#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"

namespace switchyard::rtl {

LockstepDotProduct::LockstepDotProduct(const sched::DotProductShape& shape, const std::string& module,
                                       std::unique_ptr<DotProductRtl> rtl)
    : model_(shape), rtl_(std::move(rtl)), of_rtl_(shape), waveform_(module + ".lockstep.fst") {
    rtl_->open_waveform(waveform_);
}

LockstepDotProduct::~LockstepDotProduct() {
    rtl_->close_waveform();
    if (!differed_) std::remove(waveform_.c_str());
}

void LockstepDotProduct::step(const hw::DotProductInput& in, hw::DotProductOutput& out) {
    model_.step(in, out);
    rtl_->step(in, of_rtl_);
    for (std::size_t row = 0; row < out.valid.size(); ++row) {
        if (out.valid[row] == of_rtl_.valid[row] && out.sums[row] == of_rtl_.sums[row]) continue;
        differed_ = true;
        rtl_->close_waveform();
        throw RtlFault(
            fmt::format("cycle {}, row {}: the model has sum {} (valid {}); the RTL has {} ({}); waveform: {}", cycle_,
                        row, out.sums[row], out.valid[row], of_rtl_.sums[row], of_rtl_.valid[row], waveform_));
    }
    if (++cycle_ % kWindowCycles == 0) {
        rtl_->close_waveform();
        rtl_->open_waveform(waveform_);
    }
}

}  // namespace switchyard::rtl
