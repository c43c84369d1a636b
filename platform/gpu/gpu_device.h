// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/gpu.h"
#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/platform/gpu/gpu_platform.h"

namespace switchyard::platform {

/// A GPU with its memory behind a host link. The host sees registers from kGpuRegisters on, device memory from
/// kGpuWindow on and `extension` from kGpuExtension on through `from_host`; copy engines read and write host memory
/// through `to_host`. All of it pays the link.
class GpuDevice : public sc_core::sc_module {
public:
    static constexpr std::uint64_t kGpuRegisters = 0, kGpuWindow = 1ull << 48, kGpuExtension = 1ull << 63;

    ::tlm::tlm_target_socket<> from_host;
    ::tlm::tlm_initiator_socket<> to_host;
    /// What a composer adds to the GPU for the host to see, with addresses from 0 on; need not be bound.
    tlm_utils::simple_initiator_socket_optional<GpuDevice> extension;
    /// Device memory from address 0 on, for other devices and their links; pays the memory, not the host link. Need not
    /// be bound.
    tlm_utils::simple_target_socket_optional<GpuDevice> from_peers;
    sc_core::sc_out<bool> irq;

    GpuDevice(const sc_core::sc_module_name& name, const GpuPlatform& platform, SimulationRegistry& registry);

    hw::Gpu& gpu() { return gpu_; }  ///< its `kernels` and `completions` are the composer's to bind
    const hw::Gpu& gpu() const { return gpu_; }
    /// Device memory in no time, for set-up and checks; from the first moment of simulation on. Throws ModelError.
    void write_memory(std::uint64_t address, const void* data, unsigned bytes);
    void read_memory(std::uint64_t address, void* data, unsigned bytes);

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void peer_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(::tlm::tlm_generic_payload& payload);
    /// Where an access goes, with its address relative to that; null for an extension that is not there.
    ::tlm::tlm_fw_transport_if<>* target_of(std::uint64_t& address);
    void debug(bool write, std::uint64_t address, void* data, unsigned bytes);

    hw::Gpu gpu_;
    hw::DeviceMemory memory_;
    hw::PcieLink link_;
    tlm_utils::simple_target_socket<GpuDevice> bar_;
    tlm_utils::simple_initiator_socket<GpuDevice> registers_, window_;
};

}  // namespace switchyard::platform
