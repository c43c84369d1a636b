// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"

#include <Vrtl_dot_product_array_3x6.h>
#include <Vrtl_dot_product_array_4x4.h>
#include <Vrtl_line_buffer_3.h>
#include <Vrtl_line_buffer_5.h>
#include <Vrtl_line_buffer_7.h>
#include <stdexcept>

#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"
#include "switchyard/rtl/dot_product_array/lockstep_line_buffer.h"
#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"
#include "switchyard/rtl/dot_product_array/verilated_line_buffer.h"

namespace switchyard::rtl {

namespace {

std::unique_ptr<DotProductRtl> make_dot_product_rtl(const sched::DotProductShape& shape) {
    if (shape.rows == 4 && shape.columns == 4)
        return std::make_unique<VerilatedDotProduct<Vrtl_dot_product_array_4x4, true>>(shape);
    if (shape.rows == 3 && shape.columns == 6)
        return std::make_unique<VerilatedDotProduct<Vrtl_dot_product_array_3x6, true>>(shape);
    throw std::invalid_argument("no RTL dot-product array of " + std::to_string(shape.rows) + " x " +
                                std::to_string(shape.columns) + "; there is, of 4 x 4 and 3 x 6");
}

constexpr std::uint32_t kMaxWidth = 256;

std::unique_ptr<LineBufferRtl> make_line_buffer_rtl(std::uint32_t side) {
    if (side == 3) return std::make_unique<VerilatedLineBuffer<Vrtl_line_buffer_3, true>>(kMaxWidth);
    if (side == 5) return std::make_unique<VerilatedLineBuffer<Vrtl_line_buffer_5, true>>(kMaxWidth);
    if (side == 7) return std::make_unique<VerilatedLineBuffer<Vrtl_line_buffer_7, true>>(kMaxWidth);
    throw std::invalid_argument("no RTL line buffer for windows of " + std::to_string(side) + " x " +
                                std::to_string(side) + "; there is, for 3, 5 and 7");
}

}  // namespace

std::unique_ptr<hw::DotProductCore> make_dot_product_core(const std::string& impl, const sched::DotProductShape& shape,
                                                          const std::string& module) {
    if (impl == "rtl") {
        auto rtl = make_dot_product_rtl(shape);
        rtl->keep_waveform(module + ".rtl.fst");
        return rtl;
    }
    if (impl == "lockstep") return std::make_unique<LockstepDotProduct>(shape, module, make_dot_product_rtl(shape));
    return hw::make_dot_product_core(impl, shape, module);
}

std::unique_ptr<hw::LineBufferCore> make_line_buffer(const std::string& impl, std::uint32_t side,
                                                     const std::string& module) {
    if (impl == "rtl") {
        auto rtl = make_line_buffer_rtl(side);
        rtl->keep_waveform(module + ".rtl.fst");
        return rtl;
    }
    if (impl == "lockstep") return std::make_unique<LockstepLineBuffer>(module, make_line_buffer_rtl(side));
    return hw::make_line_buffer(impl, side, module);
}

}  // namespace switchyard::rtl
