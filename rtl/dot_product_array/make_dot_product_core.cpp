// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"

#include <Vrtl_dot_product_array_3x6.h>
#include <Vrtl_dot_product_array_4x4.h>
#include <stdexcept>

#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"
#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"

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

}  // namespace

std::unique_ptr<hw::DotProductCore> make_dot_product_core(const std::string& impl, const sched::DotProductShape& shape,
                                                          const std::string& module) {
    if (impl == "rtl") return make_dot_product_rtl(shape);
    if (impl == "lockstep") return std::make_unique<LockstepDotProduct>(shape, module, make_dot_product_rtl(shape));
    return hw::make_dot_product_core(impl, shape, module);
}

}  // namespace switchyard::rtl
