// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tlm>

namespace switchyard::hw {

/// Elements, binary16 or binary32 (wide), behind an initiator socket, in zero time: through DMI where the target grants
/// it, else by debug transport. The caller accounts for the time and the counters of the accesses.
class OperandMemory {
public:
    explicit OperandMemory(::tlm::tlm_initiator_socket<>& socket) : socket_(socket) {}

    /// Throw std::runtime_error if the target does not have the bytes.
    std::uint16_t load(std::uint64_t address) {
        std::uint16_t value;
        if (!inside(address, sizeof value)) return load_slowly(address);
        std::memcpy(&value, dmi_.get_dmi_ptr() + (address - dmi_.get_start_address()), sizeof value);
        return value;
    }
    void store(std::uint64_t address, std::uint16_t value) {
        if (!inside(address, sizeof value)) return store_slowly(address, value);
        std::memcpy(dmi_.get_dmi_ptr() + (address - dmi_.get_start_address()), &value, sizeof value);
    }
    /// The same of a binary32.
    float load_wide(std::uint64_t address);
    void store_wide(std::uint64_t address, float value);

    /// The `count` elements from `address` on, as far as there are any: returns their number.
    std::size_t load(std::uint64_t address, std::uint16_t* values, std::size_t count);

    /// Where the `bytes` bytes from `address` on lie, if DMI is granted for all of them; else null.
    unsigned char* find(std::uint64_t address, std::uint64_t bytes) {
        if (!inside(address, bytes) && !(ask(address) && inside(address, bytes))) return nullptr;
        return dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
    }

    /// For the socket's invalidate_direct_mem_ptr.
    void forget() { granted_ = false; }

private:
    bool inside(std::uint64_t address, std::uint64_t bytes) const {
        return granted_ && address >= dmi_.get_start_address() && address + bytes - 1 <= dmi_.get_end_address();
    }
    /// Asks for DMI at `address`. True if granted for reads and writes.
    bool ask(std::uint64_t address);
    std::uint16_t load_slowly(std::uint64_t address);
    void store_slowly(std::uint64_t address, std::uint16_t value);
    std::size_t debug(::tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes);

    ::tlm::tlm_initiator_socket<>& socket_;
    ::tlm::tlm_dmi dmi_;
    bool granted_ = false;
};

}  // namespace switchyard::hw
