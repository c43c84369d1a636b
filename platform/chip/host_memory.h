// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/sparse_memory.h"

namespace switchyard::platform {

/// The host's main memory, behind the chip's DMA port.
///
/// Modelled: a byte-addressed store that costs nothing before it is touched, byte enables, streaming, DMI piece by
/// piece, debug access; a fixed latency and a bandwidth. A RepeatExtension without values moves time only. Accuracy: an
/// access takes latency + bytes / bandwidth, whoever else is there. Not modelled: banks, caches, an IOMMU, contention
/// with the host's own processor.
class HostMemory : public sc_core::sc_module {
public:
    struct Config {
        std::uint64_t memory_bytes = std::uint64_t{8} << 30;
        double memory_latency_ns = 100;
        double memory_gb_per_s = 200;  ///< eight channels of DDR4-3200
    };

    tlm_utils::simple_target_socket<HostMemory> port;

    HostMemory(const sc_core::sc_module_name& name, const Config& config);

    /// For the host's own software, which shares the memory. Throws std::out_of_range beyond the end.
    void write(std::uint64_t address, const std::uint8_t* data, std::uint64_t bytes);
    std::vector<std::uint8_t> read(std::uint64_t address, std::uint64_t bytes);

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(::tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(::tlm::tlm_generic_payload& payload, ::tlm::tlm_dmi& dmi);

    bool inside(std::uint64_t address, std::uint64_t bytes) const {
        return bytes <= config_.memory_bytes && address <= config_.memory_bytes - bytes;
    }

    Config config_;
    SparseMemory memory_;
};

template <class V>
void describe(V& v, HostMemory::Config& c) {
    v.field("memory_bytes", c.memory_bytes, 4096, 1e13, "capacity of the host's memory");
    v.field("memory_latency_ns", c.memory_latency_ns, 0, 1e6, "latency of an access to the host's memory");
    v.field("memory_gb_per_s", c.memory_gb_per_s, 0.001, 1e6, "bandwidth of the host's memory");
}

}  // namespace switchyard::platform
