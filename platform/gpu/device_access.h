// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

/// The host's end of the link. Writes are posted: post() returns at once, and they arrive in their order.
class DeviceAccess : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<DeviceAccess> link;

    DeviceAccess(const sc_core::sc_module_name& name, SimulationRegistry& registry);

    /// An answer that is an error ends the simulation with ModelError, here and below.
    void post(std::uint64_t address, std::vector<std::uint8_t> bytes);
    void post_word(std::uint64_t address, std::uint32_t value);
    /// Threads only; time passes until it is there or has been answered.
    void write(std::uint64_t address, std::vector<std::uint8_t> bytes);
    std::uint32_t read_word(std::uint64_t address);
    /// In no time.
    void debug_write(std::uint64_t address, std::vector<std::uint8_t> bytes);

private:
    struct Write {
        std::uint64_t address;
        std::vector<std::uint8_t> bytes;
    };
    /// A thread that carries a posted write; there are as many as are under way at a time.
    struct Carrier {
        sc_core::sc_event go;
    };
    void carry(Carrier& carrier);
    void check(const ::tlm::tlm_generic_payload& payload) const;

    SimulationRegistry& registry_;
    std::deque<Carrier> carriers_;
    std::deque<Write> posted_;  ///< whichever carrier runs first takes the first one
    std::vector<Carrier*> idle_;
};

}  // namespace switchyard::platform
