// SPDX-License-Identifier: Apache-2.0
#include <Vrtl_pe_array_16x16_fp16.h>
#include <Vrtl_pe_array_16x16_fp16___024root.h>
#include <Vrtl_pe_array_16x16_fp32.h>
#include <Vrtl_pe_array_16x16_fp32___024root.h>
#include <Vrtl_pe_array_2x2_fp16.h>
#include <Vrtl_pe_array_2x2_fp16___024root.h>
#include <Vrtl_pe_array_2x2_fp32.h>
#include <Vrtl_pe_array_2x2_fp32___024root.h>
#include <Vrtl_pe_array_4x4_fp16.h>
#include <Vrtl_pe_array_4x4_fp16___024root.h>
#include <Vrtl_pe_array_4x4_fp32.h>
#include <Vrtl_pe_array_4x4_fp32___024root.h>
#include <Vrtl_pe_array_8x8_fp16.h>
#include <Vrtl_pe_array_8x8_fp16___024root.h>
#include <Vrtl_pe_array_8x8_fp32.h>
#include <Vrtl_pe_array_8x8_fp32___024root.h>
#include <fmt/format.h>

#include "switchyard/rtl/pe_array/array_state.h"
#include "switchyard/rtl/pe_array/verilated_core_of.h"
#include "switchyard/sw_scheduler/base/error.h"

// The arrays that are Verilated (rtl/CMakeLists.txt).
#define SWITCHYARD_ARRAYS(ARRAY) ARRAY(2) ARRAY(4) ARRAY(8) ARRAY(16)

namespace switchyard::rtl {

#define SWITCHYARD_STATES(size)                                              \
    SWITCHYARD_ARRAY_STATE(Vrtl_pe_array_##size##x##size##_fp32, size, size) \
    SWITCHYARD_ARRAY_STATE(Vrtl_pe_array_##size##x##size##_fp16, size, size)
SWITCHYARD_ARRAYS(SWITCHYARD_STATES)

std::unique_ptr<VerilatedCore> make_verilated_core(unsigned rows, unsigned columns, bool acc_fp16) {
    std::string sizes;
#define SWITCHYARD_MAKE(size)                                                                                   \
    sizes += (sizes.empty() ? "" : ", ") + fmt::format("{} x {}", size, size);                                  \
    if (rows == (size) && columns == (size) && acc_fp16)                                                        \
        return std::make_unique<VerilatedCoreOf<Vrtl_pe_array_##size##x##size##_fp16, (size), (size), true>>(); \
    if (rows == (size) && columns == (size))                                                                    \
        return std::make_unique<VerilatedCoreOf<Vrtl_pe_array_##size##x##size##_fp32, (size), (size), false>>();
    SWITCHYARD_ARRAYS(SWITCHYARD_MAKE)
    throw InputError(fmt::format("pe_array.impl: no RTL of an array of {} x {} PEs, only of {}", rows, columns, sizes));
}

}  // namespace switchyard::rtl
