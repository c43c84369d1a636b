// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/hw/dispatcher/kernel_directory.h"
#include "switchyard/testbenches/cosim/dispatcher/pin_bench.h"

namespace switchyard::testing {

/// What a dispatcher has to do with a list of commands, from the models of hw/ and, for addresses, from the layouts.
class Reference {
public:
    Reference(FunctionalCoverage& coverage, unsigned room = rtl::kDispatcherKernels)
        : coverage_(coverage), room_(room) {}

    /// `store`: kernel store of the scratchpad. The outcome's `cycles` are those without any stall.
    PinOutcome expect(const PinCommand& command, const std::vector<KernelBytes>& store);

private:
    PinOutcome expect_dispatch(const PinCommand& command, const std::vector<KernelBytes>& store);
    PinOutcome expect_configure(const PinCommand& command, const std::vector<KernelBytes>& store);
    void expect_kernel(const PinCommand& command, const KernelBytes& bytes, PinOutcome& outcome);
    void expect_blocks(const PinCommand& command, const Kernel& kernel, PinOutcome& outcome);
    void cover_loops(const Kernel& kernel);

    FunctionalCoverage& coverage_;
    unsigned room_;
    hw::KernelDirectory directory_;
    std::vector<std::uint32_t> invocations_;
};

/// "" or where the two differ.
std::string difference(const PinOutcome& expected, const PinOutcome& seen);

}  // namespace switchyard::testing
