// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/operand_memory.h"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::hw {

namespace {

[[noreturn]] void fail_to_load(std::uint64_t address) {
    throw std::runtime_error(fmt::format("expected an operand at {:#x}, found no memory", address));
}

}  // namespace

void OperandMemory::store_slowly(std::uint64_t address, std::uint16_t value) {
    if (ask(address) && inside(address, sizeof value)) {
        std::memcpy(dmi_.get_dmi_ptr() + (address - dmi_.get_start_address()), &value, sizeof value);
    } else if (debug(::tlm::TLM_WRITE_COMMAND, address, &value, sizeof value) != sizeof value) {
        throw std::runtime_error(fmt::format("expected memory for a result at {:#x}, found none", address));
    }
}

float OperandMemory::load_wide(std::uint64_t address) {
    std::array<std::uint16_t, 2> halves{};
    if (load(address, halves.data(), halves.size()) != halves.size()) fail_to_load(address);
    float value = 0;
    std::memcpy(&value, halves.data(), sizeof value);
    return value;
}

void OperandMemory::store_wide(std::uint64_t address, float value) {
    std::array<std::uint16_t, 2> halves{};
    std::memcpy(halves.data(), &value, sizeof value);
    for (std::size_t i = 0; i < halves.size(); ++i) store(address + i * sizeof halves[i], halves[i]);
}

std::size_t OperandMemory::load(std::uint64_t address, std::uint16_t* values, std::size_t count) {
    const std::size_t bytes = count * sizeof *values;
    if (inside(address, bytes) || (ask(address) && inside(address, bytes))) {
        std::memcpy(values, dmi_.get_dmi_ptr() + (address - dmi_.get_start_address()), bytes);
        return count;
    }
    return debug(::tlm::TLM_READ_COMMAND, address, values, bytes) / sizeof *values;
}

std::uint16_t OperandMemory::load_slowly(std::uint64_t address) {
    std::uint16_t value = 0;
    if (ask(address) && inside(address, sizeof value)) return load(address);
    if (debug(::tlm::TLM_READ_COMMAND, address, &value, sizeof value) != sizeof value) fail_to_load(address);
    return value;
}

bool OperandMemory::ask(std::uint64_t address) {
    ::tlm::tlm_generic_payload payload;
    payload.set_write();  // where only reads are granted lie no operands
    payload.set_address(address);
    ::tlm::tlm_dmi dmi;
    if (!socket_->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_write_allowed()) return false;
    dmi_ = dmi;
    return granted_ = true;
}

std::size_t OperandMemory::debug(::tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    return socket_->transport_dbg(payload);
}

}  // namespace switchyard::hw
