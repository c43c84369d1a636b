// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/hw/pe_array/array_core.h"
#include "switchyard/rtl/common/model_context.h"

namespace switchyard::rtl {

/// rtl/pe_array/pe_array.sv, Verilated: an ArrayCore that is evaluated in step() and never else.
class VerilatedCore : public hw::ArrayCore {
public:
    /// Writes every signal of all cycles from now on to an FST file, until the object is gone.
    virtual void trace(const std::string& file) = 0;

    /// Calls of the model's eval().
    std::uint64_t evaluations() const { return evaluations_; }
    const ModelContext& context() const { return context_; }

protected:
    ModelContext context_;
    std::uint64_t evaluations_ = 0;
};

/// Throws InputError, naming the sizes that there are, if there is none of this size.
std::unique_ptr<VerilatedCore> make_verilated_core(unsigned rows, unsigned columns, bool acc_fp16);

}  // namespace switchyard::rtl
