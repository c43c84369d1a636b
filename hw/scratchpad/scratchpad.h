// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <tlm_utils/passthrough_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/demand_paged_memory.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// A tile's scratchpad (Adyna section VI-A and Table III): one store, one port a component of the tile.
///
/// Modelled: capacity; a kernel region at offset 0 that only the controller writes, and nothing else (section VI-B: at
/// most 5 % of the scratchpad); a read and a write channel a port, each serving one burst after another at its own
/// width; a latency that overlaps with the next burst. Real bytes, byte enables, streaming width, debug access, DMI.
/// Accuracy: a channel is held for data length x repeats / width, not rounded; an access ends on a whole cycle.
/// Not modelled: bank conflicts between ports. Bursts of one channel are served in the order in which they are
/// issued, so an initiator that runs ahead of time delays its own later bursts, nobody else's.
class Scratchpad : public sc_core::sc_module {
public:
    struct Config {
        std::uint64_t capacity_bytes = 524288;
        unsigned bytes_per_cycle = 128;        ///< reads: two operand banks of 64 B
        unsigned write_bytes_per_cycle = 64;   ///< writes: one bank
        unsigned network_bytes_per_cycle = 0;  ///< network interface, each direction; 0: the composer sets a link's
        double kernel_share = 0.05;            ///< of the capacity, rounded down to whole kernels
        unsigned latency_cycles = 1;
        double clock_ghz = 1.0;  ///< the chip's, set by the composer
    };
    struct Stats {
        std::uint64_t read_bytes = 0, write_bytes = 0;
        std::uint64_t accesses = 0;     ///< bursts, each repeat counted
        std::uint64_t busy_cycles = 0;  ///< with a burst on some port; never more than have passed
    };
    /// Those that reports have.
    static constexpr StatCounter<Stats> kCounters[] = {{"read_bytes", "bytes", &Stats::read_bytes},
                                                       {"write_bytes", "bytes", &Stats::write_bytes},
                                                       {"accesses", "1", &Stats::accesses},
                                                       {"busy_cycles", "cycles", &Stats::busy_cycles}};

    tlm_utils::passthrough_target_socket_tagged<Scratchpad> pe_array, network_interface, dispatcher, controller;

    Scratchpad(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

    Stats stats() const;
    std::uint64_t kernel_region_bytes() const { return kernel_region_; }
    /// Of all channels together: an upper bound of (read_bytes + write_bytes) / cycles.
    std::uint64_t peak_bytes_per_cycle() const;

private:
    enum Port : int { kPeArray, kNetworkInterface, kDispatcher, kController, kPorts };
    struct Channel {
        unsigned bytes_per_cycle = 1;
        std::uint64_t free_at = 0;
    };

    void b_transport(int port, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int port, ::tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(int port, ::tlm::tlm_generic_payload& payload, ::tlm::tlm_dmi& dmi);

    /// In the kernel region or in the rest.
    static bool may_write(int port, bool kernels);
    /// TLM_OK_RESPONSE or what is wrong with the payload, with the reason in `why`.
    ::tlm::tlm_response_status check(int port, const ::tlm::tlm_generic_payload& payload, std::string& why) const;
    void add_timing(Channel& channel, std::uint64_t bytes, sc_core::sc_time& delay);

    Config config_;
    SimulationRegistry& registry_;
    const std::uint64_t cycle_;  ///< this and all times below in units of the simulator's resolution
    std::uint64_t kernel_region_;
    DemandPagedMemory storage_;
    std::array<Channel, kPorts> read_, write_;
    std::uint64_t busy_until_ = 0, busy_time_ = 0;
    Stats stats_;  ///< busy_cycles: see busy_time_
};

template <class V>
void describe(V& v, Scratchpad::Config& c) {
    v.field("capacity_bytes", c.capacity_bytes, 1024, 1 << 30, "size of a tile's scratchpad");
    v.field("bytes_per_cycle", c.bytes_per_cycle, 1, 4096,
            "read width of the ports of PE array, dispatcher, controller");
    v.field("write_bytes_per_cycle", c.write_bytes_per_cycle, 1, 4096, "write width of the same ports");
    v.field("network_bytes_per_cycle", c.network_bytes_per_cycle, 0, 65536,
            "width of the network interface's port, each direction, at least that of a link; 0: that of a link");
    v.field("kernel_share", c.kernel_share, 0.0001, 0.9999,
            "part of the scratchpad that may hold kernels, at least one; the rest is for data");
    v.field("latency_cycles", c.latency_cycles, 0, 1000, "from the request to the first byte");
}

}  // namespace switchyard::hw
