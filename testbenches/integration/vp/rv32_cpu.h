// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>
#include <systemc>
#include <tlm>

#include "switchyard/testbenches/integration/vp/rv32_core.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::testing {

/// An Rv32Core in front of a bus: loosely timed, one instruction a cycle plus the time of its accesses, temporally
/// decoupled by the global quantum. Fetches, loads and stores use DMI where it is granted.
class Rv32Cpu : public sc_core::sc_module, private Rv32Memory {
public:
    struct Config {
        sc_core::sc_time cycle{10, sc_core::SC_NS};
        std::uint32_t reset_pc = 0;
        bool uses_dmi = true;
    };

    tlm_utils::simple_initiator_socket<Rv32Cpu> bus;
    sc_core::sc_in<bool> external_irq, timer_irq;

    Rv32Cpu(const sc_core::sc_module_name& name, const Config& config);

    const Rv32Core& core() const { return core_; }
    /// Transport calls so far; the other accesses went through DMI.
    std::uint64_t transports() const { return transports_; }

private:
    SWITCHYARD_HAS_PROCESS(Rv32Cpu);
    struct Region {
        std::uint64_t begin, end;  ///< last address
        unsigned char* data;
        bool reads, writes;
        sc_core::sc_time read_latency, write_latency;
    };

    void run();
    bool fetch(std::uint32_t address, std::uint32_t& instruction) override;
    bool load(std::uint32_t address, unsigned bytes, std::uint32_t& value) override;
    bool store(std::uint32_t address, unsigned bytes, std::uint32_t value) override;
    bool access(::tlm::tlm_command command, std::uint32_t address, unsigned bytes, std::uint32_t& value);
    const Region* region(::tlm::tlm_command command, std::uint32_t address, unsigned bytes) const;
    void ask_for_region(::tlm::tlm_command command, std::uint32_t address);
    void forget_regions(sc_dt::uint64 begin, sc_dt::uint64 end);

    Config config_;
    Rv32Core core_;
    tlm_utils::tlm_quantumkeeper time_;
    std::vector<Region> regions_;
    std::uint64_t transports_ = 0;
};

}  // namespace switchyard::testing
