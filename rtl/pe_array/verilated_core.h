// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/hw/pe_array/array_core.h"

namespace switchyard::rtl {

/// rtl/pe_array/pe_array.sv, Verilated: an ArrayCore that is evaluated in step() and never else.
class VerilatedCore : public hw::ArrayCore {
public:
    /// As RecordedModel: a waveform of every signal in the last cycles, once something has failed.
    virtual void keep_waveform(const std::string& file) = 0;
    /// Calls of step().
    virtual std::uint64_t cycles() const = 0;
    /// As ModelContext::save_coverage().
    virtual void save_coverage(const std::string& file) const = 0;
};

/// Throws InputError, naming the sizes that there are, if there is none of this size.
std::unique_ptr<VerilatedCore> make_verilated_core(unsigned rows, unsigned columns, bool acc_fp16);

}  // namespace switchyard::rtl
