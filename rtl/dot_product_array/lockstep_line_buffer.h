// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/hw/dot_product_array/line_buffer.h"

namespace switchyard::rtl {

class LineBufferRtl;

/// The model and the RTL side by side: both give a window with the same pixels, and the same one. The first difference
/// throws RtlFault with the pixel's number, what differs, and the FST file <module>.lockstep.fst in the working
/// directory, which begins with the pass, or kWindowPixels before at most. A run without a difference leaves no file.
class LockstepLineBuffer : public hw::LineBufferCore {
public:
    static constexpr std::uint64_t kWindowPixels = 4096;

    LockstepLineBuffer(const std::string& module, std::unique_ptr<LineBufferRtl> rtl);
    ~LockstepLineBuffer() override;
    void begin(const hw::LineBufferPass& pass) override;
    bool step(std::int8_t pixel, std::int8_t* window) override;

private:
    hw::CycleLineBuffer model_;
    std::unique_ptr<LineBufferRtl> rtl_;
    std::vector<std::int8_t> of_rtl_;
    std::string waveform_;
    std::uint64_t number_ = 0;
    bool differed_ = false;
};

}  // namespace switchyard::rtl
