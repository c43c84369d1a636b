// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tlm>

#include "switchyard/hw/gpu/packet.h"
#include "switchyard/sw_scheduler/workload/memory_segment.h"

namespace switchyard::hw {

/// A kernel on the GPU, from its dispatch to its completion.
struct KernelLaunch {
    GpuPacket packet;
    std::vector<sched::MemorySegment> reads, writes;
    std::uint64_t number = 0;  ///< of all kernels of this GPU, in the order of dispatch
    unsigned source = 0;       ///< who handed it to the CTA scheduler
    std::uint64_t handle = 0;  ///< the source's, which its completion carries
};

/// On the sockets between the CTA scheduler and the multiprocessors: a write of u32 CTAs to address 4 * multiprocessor.
/// Towards the multiprocessors: start them; back: they have finished.
struct CtaExtension : ::tlm::tlm_extension<CtaExtension> {
    std::shared_ptr<const KernelLaunch> kernel;

    ::tlm::tlm_extension_base* clone() const override { return new CtaExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        kernel = static_cast<const CtaExtension&>(other).kernel;
    }
};

/// Fills a payload with a read or write of bytes that lie together, all attributes set. The response is incomplete.
void set_access(::tlm::tlm_generic_payload& payload, bool write, std::uint64_t address, void* data, unsigned bytes);

}  // namespace switchyard::hw
