// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/hw/dot_product_array/dot_product_core.h"

namespace switchyard::rtl {

class DotProductRtl;

/// The model and the RTL side by side: what leaves the rows must be the same in every cycle. The first difference
/// throws RtlFault with the cycle, the row, what either side has, and the FST file <module>.lockstep.fst with the RTL's
/// last cycles in the working directory. A run without a difference leaves no file.
class LockstepDotProduct : public hw::DotProductCore {
public:
    LockstepDotProduct(const sched::DotProductShape& shape, const std::string& module,
                       std::unique_ptr<DotProductRtl> rtl);
    void step(const hw::DotProductInput& in, hw::DotProductOutput& out) override;
    std::string evidence() override;

private:
    hw::CycleDotProductCore model_;
    std::unique_ptr<DotProductRtl> rtl_;
    hw::DotProductOutput of_rtl_;
    std::uint64_t cycle_ = 0;
};

}  // namespace switchyard::rtl
