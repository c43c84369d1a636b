// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/sparse_memory.h"

namespace switchyard::hw {

/// Device memory for packets, events and copies, the fast way: an access takes its latency, and its bytes at the
/// sustained bandwidth, one access after another. Kernels' own traffic is the multiprocessors' business. A DramTarget
/// (hw/memory) may stand in its place: every command to every bank.
class DeviceMemory : public sc_core::sc_module {
public:
    struct Config {
        std::uint64_t bytes = 40ull << 30;
        double latency_ns = 407;
        double gb_per_s = 1555 * 0.93;  ///< sustained
    };
    struct Stats {
        std::uint64_t read_bytes = 0, write_bytes = 0;
    };

    tlm_utils::simple_target_socket<DeviceMemory> socket;

    DeviceMemory(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(::tlm::tlm_generic_payload& payload);

    Config config_;
    SparseMemory memory_;
    sc_core::sc_time free_;
    Stats stats_;
};

/// Makes one way to device memory of those of several initiators. `on_write` hears of each write when it is done.
class MemoryHub : public sc_core::sc_module {
public:
    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<MemoryHub>> in;
    tlm_utils::simple_initiator_socket<MemoryHub> out;

    MemoryHub(const sc_core::sc_module_name& name, unsigned initiators, std::function<void(unsigned)> on_write);

private:
    void b_transport(int initiator, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(int initiator, ::tlm::tlm_generic_payload& payload);

    std::function<void(unsigned)> on_write_;
};

}  // namespace switchyard::hw
