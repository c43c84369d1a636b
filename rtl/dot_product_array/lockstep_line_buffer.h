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
/// throws RtlFault with the pixel's number, what differs, and the FST file <module>.lockstep.fst with the RTL's last
/// pixels in the working directory. A run without a difference leaves no file.
class LockstepLineBuffer : public hw::LineBufferCore {
public:
    LockstepLineBuffer(const std::string& module, std::unique_ptr<LineBufferRtl> rtl);
    void begin(const hw::LineBufferPass& pass) override;
    bool step(std::int8_t pixel, std::int8_t* window) override;
    std::string evidence() override;

private:
    hw::CycleLineBuffer model_;
    std::unique_ptr<LineBufferRtl> rtl_;
    std::vector<std::int8_t> of_rtl_;
    std::uint64_t number_ = 0;  ///< of the pixel in its pass
};

}  // namespace switchyard::rtl
