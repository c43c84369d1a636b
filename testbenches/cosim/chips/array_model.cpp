// SPDX-License-Identifier: Apache-2.0
#include <Vrtl_pe_array_8x8_fp32.h>

#include <stdexcept>

#include "switchyard/rtl/pe_array/verilated_core_of.h"

namespace switchyard::rtl {

template <>
hw::ArrayState state_of(const Vrtl_pe_array_8x8_fp32&) {
    return {};
}

std::unique_ptr<VerilatedCore> make_verilated_core(unsigned rows, unsigned columns, bool acc_fp16) {
    if (rows != 8 || columns != 8 || acc_fp16) throw std::invalid_argument("only arrays of 8 x 8 with fp32 here");
    return std::make_unique<VerilatedCoreOf<Vrtl_pe_array_8x8_fp32, 8, 8, false>>();
}

}  // namespace switchyard::rtl
