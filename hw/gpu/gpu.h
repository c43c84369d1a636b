// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/command_processor.h"
#include "switchyard/hw/gpu/copy_engines.h"
#include "switchyard/hw/gpu/cta_scheduler.h"
#include "switchyard/hw/gpu/device_memory.h"
#include "switchyard/hw/gpu/multiprocessors.h"

namespace switchyard::hw {

/// A GPU: command processor, CTA scheduler, multiprocessors with L2, copy engines, composed.
///
/// A host writes packets to queues in device memory through `window`, rings the doorbells in `registers`
/// (gpu_registers), and waits for `irq`, or for an event or a COMPLETED register. Other sources of kernels, such as a
/// scheduling window in hardware, hand them over and hear of their completion on a pair of sockets of their own:
/// a write of a kernel packet to `kernels[i]` with any handle as address, which returns when the CTA scheduler has
/// taken it; a write of the u64 tag to that handle out of `completions[i]` when it is complete.
///
/// docs/models/gpu.md says what is modelled and how well; each component's header what is not.
class Gpu : public sc_core::sc_module {
public:
    struct Config {
        std::string name = "a100";
        std::string impl = "cta";
        unsigned kernel_sources = 0;  ///< besides the queues; set by the composer
        MultiprocessorConfig multiprocessors;
        GpuMemoryConfig memory;
        CommandProcessor::Config command_processor;
        CtaScheduler::Config cta_scheduler;
        CopyEngines::Config copy_engines;
    };

    ::tlm::tlm_target_socket<> registers;                           ///< from the host: gpu_registers
    ::tlm::tlm_target_socket<> window;                              ///< from the host: device memory, from address 0 on
    ::tlm::tlm_initiator_socket<> host_memory;                      ///< of the copy engines
    ::tlm::tlm_initiator_socket<> device_memory;                    ///< to DeviceMemory or a DramTarget
    sc_core::sc_vector<::tlm::tlm_target_socket<>> kernels;         ///< kernel_sources of them
    sc_core::sc_vector<::tlm::tlm_initiator_socket<>> completions;  ///< the same
    sc_core::sc_out<bool> irq;

    /// Throws InputError for an implementation that is none, ModelError for a configuration that makes no sense.
    Gpu(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);
    ~Gpu() override;

    /// CtaScheduler::set_hooks().
    void set_hooks(CtaScheduler::KernelHook started, CtaScheduler::KernelHook completed) {
        cta_scheduler_.set_hooks(std::move(started), std::move(completed));
    }
    /// CtaScheduler::set_holds(), CtaScheduler::release().
    void set_holds(CtaScheduler::KernelTest holds, CtaScheduler::KernelHook resident) {
        cta_scheduler_.set_holds(std::move(holds), std::move(resident));
    }
    void release(std::uint64_t tag) { cta_scheduler_.release(tag); }
    /// CommandProcessor::stall().
    std::string stall() const { return command_processor_.stall(); }
    bool idle() const { return command_processor_.idle() && cta_scheduler_.resident_kernels() == 0; }
    const std::vector<KernelRecord>& records() const { return cta_scheduler_.records(); }
    const CommandProcessor& command_processor() const { return command_processor_; }
    const CtaScheduler& cta_scheduler() const { return cta_scheduler_; }
    const Multiprocessors& multiprocessors() const { return *multiprocessors_; }
    const CopyEngines& copy_engines() const { return copy_engines_; }

private:
    enum Initiator : unsigned { kCommands, kSegments, kCopies, kWindow, kInitiators };

    CommandProcessor command_processor_;
    CtaScheduler cta_scheduler_;
    std::unique_ptr<Multiprocessors> multiprocessors_;
    CopyEngines copy_engines_;
    MemoryHub hub_;
    /// Completions of both come to the command processor on one socket.
    class Merge;
    std::unique_ptr<Merge> merge_;
};

/// Sections of a GPU's file: see platform/gpu.
template <class V>
void describe(V& v, Gpu::Config& c) {
    v.field("name", c.name, "name of the GPU, in messages and reports");
    v.choice("impl", c.impl, {"cta", "warp"},
             "an event for each wave of CTAs, or warps that issue cycle by cycle (docs/models/gpu.md)");
}

/// "" or what is wrong with the configuration.
std::string validation_error(const Gpu::Config& config);

}  // namespace switchyard::hw
