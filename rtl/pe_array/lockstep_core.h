// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/hw/pe_array/cycle_core.h"
#include "switchyard/rtl/pe_array/verilated_core.h"

namespace switchyard::rtl {

/// The model and the RTL side by side: both get every input, and every output must be the same in every cycle.
///
/// The first difference throws RtlFault that says in which cycle and at which port, and leaves
/// <name>.lockstep.txt with the state of both and <name>.lockstep.fst with the RTL's last cycles in the working
/// directory.
class LockstepCore : public hw::ArrayCore {
public:
    LockstepCore(std::string name, std::unique_ptr<hw::ArrayCore> model, std::unique_ptr<VerilatedCore> rtl,
                 unsigned columns);

    void step(const hw::ArrayInput& in, hw::ArrayOutput& out) override;
    hw::ArrayState state() const override { return model_->state(); }
    std::string evidence() override { return rtl_->evidence(); }

private:
    /// "" or the first port that differs, with both values.
    std::string difference(const hw::ArrayOutput& model) const;
    [[noreturn]] void differ(const std::string& how);

    std::string name_;
    std::unique_ptr<hw::ArrayCore> model_;
    std::unique_ptr<VerilatedCore> rtl_;
    hw::ArrayOutput rtl_out_;
    std::uint64_t cycle_ = 0;
};

}  // namespace switchyard::rtl
