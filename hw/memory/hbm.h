// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/memory/hbm_config.h"
#include "switchyard/hw/memory/memory_interface.h"

namespace switchyard::hw {

/// All stacks of HBM2 of the chip as interfaces at the edge of the network. Interface i serves the addresses
/// [i * region_bytes, (i + 1) * region_bytes) and has an endpoint of its own.
///
/// Modelled, and not modelled: see MemoryInterface.
class Hbm : public sc_core::sc_module {
public:
    using Config = HbmConfig;
    using Stats = MemoryInterface::Stats;

    sc_core::sc_vector<::tlm::tlm_target_socket<>> in;      ///< by interface: requests
    sc_core::sc_vector<::tlm::tlm_initiator_socket<>> out;  ///< by interface: replies

    /// `endpoints`: by interface. Throws ModelError if the configuration cannot be built.
    Hbm(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
        const std::vector<Endpoint>& endpoints);

    Stats stats() const;  ///< summed over the interfaces
    /// MemoryInterface::finish_log() of all.
    void finish_logs();
    const MemoryInterface& interface(unsigned index) const { return interfaces_[index]; }
    unsigned interfaces() const { return static_cast<unsigned>(interfaces_.size()); }

private:
    sc_core::sc_vector<MemoryInterface> interfaces_;
};

}  // namespace switchyard::hw
