// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/packet.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// Copies between host memory and device memory, and within device memory, in chunks.
///
/// `copies` takes packets (a write, the address is a handle) in any number; the engines see to them in the order of
/// arrival, one each at a time. A write of the tag to the handle goes out of `completions`. outstanding_chunks of a
/// copy are under way at a time, each read and then written. Time is that of the sockets behind, and setup_ns.
/// Modelled: real bytes. Not modelled: compression, peer devices, scattered pages.
class CopyEngines : public sc_core::sc_module {
public:
    struct Config {
        unsigned engines = 2;
        unsigned chunk_bytes = 65536;
        unsigned outstanding_chunks = 4;
        double setup_ns = 1000;
    };
    struct Stats {
        std::uint64_t copies = 0;
        std::uint64_t to_device_bytes = 0, to_host_bytes = 0, on_device_bytes = 0;
    };

    tlm_utils::simple_target_socket<CopyEngines> copies;
    tlm_utils::simple_initiator_socket<CopyEngines> completions;
    tlm_utils::simple_initiator_socket<CopyEngines> host_memory, device_memory;

    CopyEngines(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    using Memory = tlm_utils::simple_initiator_socket<CopyEngines>;
    struct Copy {
        std::uint64_t handle = 0;
        GpuPacket packet;
    };
    void take(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void run(unsigned engine);
    void copy(const GpuPacket& packet);
    void access(Memory& memory, bool write, std::uint64_t address, std::vector<std::uint8_t>& data,
                const GpuPacket& packet);

    Config config_;
    std::deque<Copy> waiting_;
    sc_core::sc_event arrived_;
    Stats stats_;
};

template <class V>
void describe(V& v, CopyEngines::Config& c) {
    v.field("engines", c.engines, 1, 64, "copies that go on side by side");
    v.field("chunk_bytes", c.chunk_bytes, 64, 1 << 24, "bytes that an engine reads and writes at a time");
    v.field("outstanding_chunks", c.outstanding_chunks, 1, 64, "of a copy that are under way at a time");
    v.field("setup_ns", c.setup_ns, 0, 1e6, "before the first byte of a copy");
}

}  // namespace switchyard::hw
