// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/dispatcher/kernel_directory.h"
#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/hw/dispatcher/value_addresses.h"

namespace switchyard::hw {

/// What the dispatchers in C++ share: directory, search and fetch.
class ModelDispatcher : public KernelDispatcher {
protected:
    using KernelDispatcher::KernelDispatcher;

    void rebuild(std::uint32_t kernels, sc_core::sc_time& delay) override;
    std::uint32_t kernels() const override { return static_cast<std::uint32_t>(directory_.size()); }
    void execute(DispatchExtension& request, sc_core::sc_time& delay) override;

    /// The template nest of kernel request.kernel; fills in the request's macs and blocks. Throws as KernelNest does,
    /// and what issue() throws.
    virtual void run(const Kernel& kernel, DispatchExtension& request, sc_core::sc_time& delay) = 0;

private:
    /// Position of the best fit in the kernel store.
    std::uint32_t search(DispatchExtension& request, sc_core::sc_time& delay);
    /// Reads the kernel as a real dispatcher would, and checks that it is still the one that was configured.
    void fetch(std::uint32_t index, sc_core::sc_time& delay);

    KernelDirectory directory_;
};

/// One command for each distinct block shape, from a closed form that is remembered.
class AnalyticDispatcher : public ModelDispatcher {
public:
    using ModelDispatcher::ModelDispatcher;

private:
    void rebuild(std::uint32_t kernels, sc_core::sc_time& delay) override;
    void run(const Kernel& kernel, DispatchExtension& request, sc_core::sc_time& delay) override;
    /// `command`, which is `run`, with addresses: a few blocks at a time.
    void issue_with_values(Command command, const KernelNest::Run& run, ValueAddresses& addresses,
                           DispatchExtension& request, sc_core::sc_time& delay);

    std::map<int, NestCache> plans_;      ///< of each kernel that was selected
    std::vector<BlockAddresses> blocks_;  ///< of a command with addresses
};

/// The state machine: visits every block in the kernel's order and issues one command a block.
class WalkDispatcher : public ModelDispatcher {
public:
    using ModelDispatcher::ModelDispatcher;

private:
    void run(const Kernel& kernel, DispatchExtension& request, sc_core::sc_time& delay) override;
};

}  // namespace switchyard::hw
