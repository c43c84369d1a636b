// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/hw/scheduling_window/cycle_window.h"

namespace switchyard::rtl {

class WindowRtl;

/// The model and the RTL side by side: the outputs must be the same in every cycle.
///
/// The first difference throws RtlFault with the cycle, what either side has, and the FST file <module>.lockstep.fst
/// with the RTL's last cycles in the working directory. A run without a difference leaves no file.
class LockstepWindow : public hw::WindowCore {
public:
    LockstepWindow(const hw::WindowShape& shape, const std::string& module, std::unique_ptr<WindowRtl> rtl);

    hw::WindowOutputs settle(const hw::WindowInputs& inputs) override;
    void clock() override;
    std::string evidence() override;

private:
    hw::CycleWindow model_;
    std::unique_ptr<WindowRtl> rtl_;
    std::uint64_t cycle_ = 0;
};

}  // namespace switchyard::rtl
