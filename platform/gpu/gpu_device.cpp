// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/gpu/gpu_device.h"

#include <fmt/format.h>

namespace switchyard::platform {

GpuDevice::GpuDevice(const sc_core::sc_module_name& module_name, const GpuPlatform& platform,
                     SimulationRegistry& registry)
    : sc_module(module_name),
      from_host("from_host"),
      to_host("to_host"),
      extension("extension"),
      from_peers("from_peers"),
      irq("irq"),
      gpu_("gpu", platform.gpu, registry),
      memory_("memory", platform.memory_config(), registry),
      link_("link", platform.host_link, registry),
      bar_("bar"),
      registers_("registers"),
      window_("window") {
    from_host.bind(link_.from_host);
    link_.to_device.bind(bar_);
    bar_.register_b_transport(this, &GpuDevice::b_transport);
    bar_.register_transport_dbg(this, &GpuDevice::debug_transport);
    from_peers.register_b_transport(this, &GpuDevice::peer_transport);
    registers_.bind(gpu_.registers);
    window_.bind(gpu_.window);
    gpu_.device_memory.bind(memory_.socket);
    gpu_.host_memory.bind(link_.from_device);
    link_.to_host.bind(to_host);
    gpu_.irq.bind(irq);
}

::tlm::tlm_fw_transport_if<>* GpuDevice::target_of(std::uint64_t& address) {
    if (address >= kGpuExtension) {
        address -= kGpuExtension;
        return extension.size() > 0 ? extension.operator->() : nullptr;
    }
    if (address < kGpuWindow) return registers_.operator->();
    address -= kGpuWindow;
    return window_.operator->();
}

void GpuDevice::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    std::uint64_t relative = address;
    ::tlm::tlm_fw_transport_if<>* target = target_of(relative);
    if (target == nullptr) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    payload.set_address(relative);
    target->b_transport(payload, delay);
    payload.set_address(address);
}

void GpuDevice::peer_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    window_->b_transport(payload, delay);
}

unsigned GpuDevice::debug_transport(::tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    std::uint64_t relative = address;
    ::tlm::tlm_fw_transport_if<>* target = target_of(relative);
    if (target == nullptr) return 0;
    payload.set_address(relative);
    const unsigned count = target->transport_dbg(payload);
    payload.set_address(address);
    return count;
}

void GpuDevice::debug(bool write, std::uint64_t address, void* data, unsigned bytes) {
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, write, address, data, bytes);
    const unsigned moved = window_->transport_dbg(payload);
    if (moved != bytes)
        throw ModelError(*this, fmt::format("expected device memory for {} bytes at {:#x}, found room for {}", bytes,
                                            address, moved));
}

void GpuDevice::write_memory(std::uint64_t address, const void* data, unsigned bytes) {
    debug(true, address, const_cast<void*>(data), bytes);  // a payload has no pointer to constant data
}

void GpuDevice::read_memory(std::uint64_t address, void* data, unsigned bytes) {
    debug(false, address, data, bytes);
}

}  // namespace switchyard::platform
