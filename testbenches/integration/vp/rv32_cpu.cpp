// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/vp/rv32_cpu.h"

#include <algorithm>
#include <cstring>

namespace switchyard::testing {

using sc_core::sc_time;

Rv32Cpu::Rv32Cpu(const sc_core::sc_module_name& name, const Config& config)
    : sc_module(name),
      bus("bus"),
      external_irq("external_irq"),
      timer_irq("timer_irq"),
      config_(config),
      core_(static_cast<Rv32Memory&>(*this)) {
    bus.register_invalidate_direct_mem_ptr(this, &Rv32Cpu::forget_regions);
    SC_THREAD(run);
}

void Rv32Cpu::run() {
    core_.reset(config_.reset_pc);
    time_.reset();
    for (;;) {
        core_.set_interrupts((external_irq.read() ? Rv32Core::kExternal : 0u) |
                             (timer_irq.read() ? Rv32Core::kTimer : 0u));
        if (!core_.waits()) {
            core_.step();
            time_.inc(config_.cycle);
            if (time_.need_sync()) time_.sync();
        } else if (time_.get_local_time() != sc_core::SC_ZERO_TIME) {
            time_.sync();  // the lines may change on the way
        } else {
            wait(external_irq.value_changed_event() | timer_irq.value_changed_event());
            time_.reset();
        }
    }
}

bool Rv32Cpu::fetch(std::uint32_t address, std::uint32_t& instruction) {
    return access(::tlm::TLM_READ_COMMAND, address, sizeof instruction, instruction);
}

bool Rv32Cpu::load(std::uint32_t address, unsigned bytes, std::uint32_t& value) {
    return access(::tlm::TLM_READ_COMMAND, address, bytes, value);
}

bool Rv32Cpu::store(std::uint32_t address, unsigned bytes, std::uint32_t value) {
    return access(::tlm::TLM_WRITE_COMMAND, address, bytes, value);
}

bool Rv32Cpu::access(::tlm::tlm_command command, std::uint32_t address, unsigned bytes, std::uint32_t& value) {
    const bool writes = command == ::tlm::TLM_WRITE_COMMAND;
    if (!writes) value = 0;
    if (const Region* const found = region(command, address, bytes)) {
        unsigned char* const data = found->data + (address - found->begin);
        if (writes)
            std::memcpy(data, &value, bytes);
        else
            std::memcpy(&value, data, bytes);
        time_.inc(writes ? found->write_latency : found->read_latency);
        return true;
    }
    ::tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    sc_time delay = time_.get_local_time();
    bus->b_transport(payload, delay);
    time_.set(delay);
    ++transports_;
    if (payload.is_dmi_allowed() && config_.uses_dmi) ask_for_region(command, address);
    return payload.is_response_ok();
}

const Rv32Cpu::Region* Rv32Cpu::region(::tlm::tlm_command command, std::uint32_t address, unsigned bytes) const {
    for (const Region& region : regions_) {
        if (address >= region.begin && std::uint64_t{address} + bytes - 1 <= region.end)
            return (command == ::tlm::TLM_WRITE_COMMAND ? region.writes : region.reads) ? &region : nullptr;
    }
    return nullptr;
}

void Rv32Cpu::ask_for_region(::tlm::tlm_command command, std::uint32_t address) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    ::tlm::tlm_dmi dmi;
    if (!bus->get_direct_mem_ptr(payload, dmi)) return;
    regions_.push_back({dmi.get_start_address(), dmi.get_end_address(), dmi.get_dmi_ptr(), dmi.is_read_allowed(),
                        dmi.is_write_allowed(), dmi.get_read_latency(), dmi.get_write_latency()});
}

void Rv32Cpu::forget_regions(sc_dt::uint64 begin, sc_dt::uint64 end) {
    regions_.erase(std::remove_if(regions_.begin(), regions_.end(),
                                  [&](const Region& region) { return region.begin <= end && begin <= region.end; }),
                   regions_.end());
}

}  // namespace switchyard::testing
