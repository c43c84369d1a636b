// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/dispatcher/kernel_directory.h"
#include "switchyard/hw/dispatcher/value_addresses.h"
#include "switchyard/rtl/dispatcher/dispatcher_model.h"

namespace switchyard::rtl {

/// rtl/dispatcher/dispatcher.sv behind the sockets of hw::KernelDispatcher.
///
/// Time: a cycle in which the RTL has nothing at any port is its own and adds one to `delay`; a transfer takes what its
/// target adds. There is no clock: the RTL is evaluated only while a command is in progress.
/// Differs from the models: its directory has room for kDispatcherKernels kernels, and it takes a stored kernel for
/// unchanged if the checksum is.
/// What the pins show is checked before it is used: kernels that are fetched, each block with its addresses, results
/// and errors. ModelError says what is wrong, the state of the RTL, and where its last cycles are to be seen.
class RtlDispatcher : public hw::KernelDispatcher {
public:
    /// `model`: the library's own unless a test has another. `waveform`: "" for <name>.rtl.fst in the working
    /// directory.
    RtlDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                  std::unique_ptr<DispatcherModel> model = make_dispatcher_model(), const std::string& waveform = "");

    /// Cycles evaluated so far.
    std::uint64_t cycles() const { return model_->cycles(); }
    DispatcherModel& model() { return *model_; }
    /// State machine and pins, in one line.
    std::string state() const;

private:
    void rebuild(std::uint32_t kernels, sc_core::sc_time& delay) override;
    std::uint32_t kernels() const override { return model_->out().kernels; }
    void execute(DispatchExtension& request, sc_core::sc_time& delay) override;

    /// Hands the command on the pins over and serves the ports until the result stands there. `request`: the dispatch,
    /// null for a configuration.
    void run(DispatchExtension* request, sc_core::sc_time& delay);
    void step();
    void serve_fetch(const DispatchExtension* request, sc_core::sc_time& delay);
    void serve_instruction(DispatchExtension& request, sc_core::sc_time& delay);
    /// The block on the pins. Throws ModelError if it is none of the kernel's.
    Command command(const DispatchExtension& request);
    /// Where the values of the block on the pins lie. Throws ModelError if the RTL's address generator does not agree.
    const BlockAddresses* addresses(const DispatchExtension& request);
    /// Throw ModelError for a fetch, or a result, that cannot be.
    void check_fetch(const DispatchExtension& request, std::uint32_t index);
    void check_kernel(const DispatchExtension& request);
    /// Takes the result; throws the cause of a status that is an error.
    void finish(const DispatchExtension& request);
    [[noreturn]] void fault(const std::string& message);

    std::unique_ptr<DispatcherModel> model_;
    KernelBytes fetched_{};
    std::uint32_t fetches_ = 0;           ///< of the present command
    std::uint64_t blocks_ = 0;            ///< the same
    hw::KernelDirectory directory_;       ///< what has been configured
    std::optional<Kernel> kernel_;        ///< of the present dispatch, if it is one
    std::optional<hw::KernelNest> nest_;  ///< the same
    std::optional<hw::ValueAddresses> addresses_;
    BlockAddresses block_;
    std::exception_ptr refusal_;  ///< what the scratchpad, the PE array or the network interface threw
};

}  // namespace switchyard::rtl
