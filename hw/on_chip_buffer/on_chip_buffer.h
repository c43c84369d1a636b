// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// A buffer on the chip: bytes from address 0 on, any number of initiators. SushiAccel's persistent, dynamic,
/// streaming, output and parameter buffers are of this kind (MLSys 2023, section 4.2.2).
///
/// Modelled: capacity, real bytes, debug access, what is read and written. Not modelled: ports and banks; the width is
/// that which its user takes (Table 1), so accesses add no time of their own. Errors: an access beyond the capacity
/// (TLM_ADDRESS_ERROR_RESPONSE, cause in the registry), byte enables, a streaming width below the length.
class OnChipBuffer : public sc_core::sc_module {
public:
    struct Config {
        std::uint64_t bytes = 0;
    };
    struct Stats {
        std::uint64_t read_bytes = 0, write_bytes = 0;
        std::uint64_t max_bytes = 0;  ///< highest address that was written, plus one
    };
    static constexpr StatCounter<Stats> kCounters[] = {{"read_bytes", "bytes", &Stats::read_bytes},
                                                       {"write_bytes", "bytes", &Stats::write_bytes},
                                                       {"max_bytes", "bytes", &Stats::max_bytes}};

    tlm_utils::multi_passthrough_target_socket<OnChipBuffer> socket;

    OnChipBuffer(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    void b_transport(int id, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int id, ::tlm::tlm_generic_payload& payload);

    SimulationRegistry& registry_;
    std::vector<unsigned char> bytes_;
    Stats stats_;
};

}  // namespace switchyard::hw
