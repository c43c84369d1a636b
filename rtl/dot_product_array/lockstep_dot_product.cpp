// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"

#include <fmt/format.h>

#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"

namespace switchyard::rtl {

LockstepDotProduct::LockstepDotProduct(const sched::DotProductShape& shape, const std::string& module,
                                       std::unique_ptr<DotProductRtl> rtl)
    : model_(shape), rtl_(std::move(rtl)), of_rtl_(shape) {
    rtl_->keep_waveform(module + ".lockstep.fst");
}

void LockstepDotProduct::step(const hw::DotProductInput& in, hw::DotProductOutput& out) {
    model_.step(in, out);
    rtl_->step(in, of_rtl_);
    for (std::size_t row = 0; row < out.valid.size(); ++row) {
        if (out.valid[row] == of_rtl_.valid[row] && out.sums[row] == of_rtl_.sums[row]) continue;
        throw RtlFault(fmt::format(
            "lockstep: cycle {}, sum of row {} differs: the model has sum {} (valid {}); the RTL has {} ({}){}", cycle_,
            row, out.sums[row], out.valid[row], of_rtl_.sums[row], of_rtl_.valid[row], evidence()));
    }
    ++cycle_;
}

std::string LockstepDotProduct::evidence() {
    return rtl_->evidence();
}

}  // namespace switchyard::rtl
