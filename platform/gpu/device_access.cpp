// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/gpu/device_access.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sysc/kernel/sc_dynamic_processes.h>

#include "switchyard/hw/gpu/kernel_launch.h"

namespace switchyard::platform {

DeviceAccess::DeviceAccess(const sc_core::sc_module_name& module_name, SimulationRegistry& registry)
    : sc_module(module_name), link("link"), registry_(registry) {}

void DeviceAccess::check(const ::tlm::tlm_generic_payload& payload) const {
    if (payload.is_response_ok()) return;
    throw registry_.failure(*this, fmt::format("the device answers {}", payload.get_response_string()));
}

void DeviceAccess::write(std::uint64_t address, std::vector<std::uint8_t> bytes) {
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, true, address, bytes.data(), static_cast<unsigned>(bytes.size()));
    sc_core::sc_time delay;
    link->b_transport(payload, delay);
    wait(delay);
    check(payload);
}

std::uint32_t DeviceAccess::read_word(std::uint64_t address) {
    std::uint32_t value = 0;
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, false, address, &value, sizeof value);
    sc_core::sc_time delay;
    link->b_transport(payload, delay);
    wait(delay);
    check(payload);
    return value;
}

void DeviceAccess::debug_write(std::uint64_t address, std::vector<std::uint8_t> bytes) {
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, true, address, bytes.data(), static_cast<unsigned>(bytes.size()));
    const unsigned taken = link->transport_dbg(payload);
    if (taken != bytes.size())
        throw ModelError(*this, fmt::format("expected device memory for {} bytes at {:#x}, found room for {}",
                                            bytes.size(), address, taken));
}

void DeviceAccess::post(std::uint64_t address, std::vector<std::uint8_t> bytes) {
    if (idle_.empty()) {
        Carrier& carrier = carriers_.emplace_back();
        idle_.push_back(&carrier);
        sc_core::sc_spawn([this, &carrier] { carry(carrier); });
    }
    Carrier& carrier = *idle_.back();
    idle_.pop_back();
    posted_.push_back({address, std::move(bytes)});
    carrier.go.notify(sc_core::SC_ZERO_TIME);
}

void DeviceAccess::post_word(std::uint64_t address, std::uint32_t value) {
    std::vector<std::uint8_t> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    post(address, std::move(bytes));
}

void DeviceAccess::carry(Carrier& carrier) {
    for (;;) {
        wait(carrier.go);
        Write next = std::move(posted_.front());
        posted_.pop_front();
        write(next.address, std::move(next.bytes));
        idle_.push_back(&carrier);
    }
}

}  // namespace switchyard::platform
