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
/// The first difference throws RtlFault with the cycle, what either side has, and the FST file with the RTL's last
/// cycles (kWindowCycles at least, if there were as many): <module>.lockstep.fst or <module>.lockstep.previous.fst in
/// the working directory. A run without a difference leaves no file.
class LockstepWindow : public hw::WindowCore {
public:
    static constexpr std::uint64_t kWindowCycles = 4096;

    LockstepWindow(const hw::WindowShape& shape, const std::string& module, std::unique_ptr<WindowRtl> rtl);
    ~LockstepWindow() override;

    hw::WindowOutputs settle(const hw::WindowInputs& inputs) override;
    void clock() override;

private:
    void rotate_waveform();

    hw::CycleWindow model_;
    std::unique_ptr<WindowRtl> rtl_;
    std::string waveform_, previous_waveform_;
    std::uint64_t cycle_ = 0;
    bool differed_ = false;
};

}  // namespace switchyard::rtl
