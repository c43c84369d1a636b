// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// A PCI Express link between a host and a device: a bridge in each direction.
///
/// Accesses become transaction-layer packets (TLPs). A write is posted: its TLPs, of max_payload_bytes at most, go one
/// way. A read is a request TLP a max_read_request_bytes and completions with data, of max_payload_bytes at most, the
/// other way. Each TLP has tlp_overhead_bytes (framing 4, sequence 2, header 12 or 16, LCRC 4: PCI Express Base
/// Specification 3.0, chapters 2 to 4), and the physical layer's rate is
///     lanes * gigatransfers_per_s * encoding / 8,
/// encoding 8b/10b for generations 1 and 2, 128b/130b from 3 on. Flow control and acknowledgements take dllp_share of
/// it. Each direction carries one TLP after another, in the order in which accesses come; latency_ns is for one way,
/// root complex and device included.
///
/// Modelled: rate, overheads, both directions by themselves, real bytes, debug access. Accuracy: the closed form
/// (pcie_payload_share()) for long transfers. Not modelled: credits that run out, replays, switches, address
/// translation, ordering between reads and posted writes, atomics, message-signalled interrupts.
class PcieLink : public sc_core::sc_module {
public:
    struct Config {
        unsigned generation = 4;  ///< 1 to 5
        unsigned lanes = 16;
        unsigned max_payload_bytes = 256;
        unsigned max_read_request_bytes = 512;
        unsigned tlp_overhead_bytes = 26;  ///< 64-bit addresses
        double dllp_share = 0.02;
        double latency_ns = 500;
    };
    struct Stats {
        std::uint64_t to_device_bytes = 0, to_host_bytes = 0;            ///< payload
        std::uint64_t to_device_wire_bytes = 0, to_host_wire_bytes = 0;  ///< with overhead
        std::uint64_t reads = 0, writes = 0;
    };

    tlm_utils::simple_target_socket<PcieLink> from_host;  ///< the host reads and writes the device
    tlm_utils::simple_initiator_socket<PcieLink> to_device;
    tlm_utils::simple_target_socket<PcieLink> from_device;  ///< the device reads and writes host memory
    tlm_utils::simple_initiator_socket<PcieLink> to_host;

    /// Throws ModelError for a configuration that makes no sense.
    PcieLink(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    enum Direction : unsigned { kToDevice, kToHost };
    using Socket = tlm_utils::simple_initiator_socket<PcieLink>;
    using Payload = ::tlm::tlm_generic_payload;

    void host_access(Payload& payload, sc_core::sc_time& delay) { access(payload, delay, to_device, kToDevice); }
    void device_access(Payload& payload, sc_core::sc_time& delay) { access(payload, delay, to_host, kToHost); }
    unsigned host_debug(Payload& payload) { return to_device->transport_dbg(payload); }
    unsigned device_debug(Payload& payload) { return to_host->transport_dbg(payload); }
    void access(Payload& payload, sc_core::sc_time& delay, Socket& out, Direction forward);
    /// Puts bytes on a direction behind what it carries already; returns when the last one has arrived.
    sc_core::sc_time carry(Direction direction, std::uint64_t wire_bytes, const sc_core::sc_time& from);

    Config config_;
    double bytes_per_ns_;
    sc_core::sc_time free_[2];
    Stats stats_;
};

template <class V>
void describe(V& v, PcieLink::Config& c) {
    v.field("generation", c.generation, 1, 5, "of PCI Express: 2.5, 5, 8, 16, 32 GT/s a lane");
    v.field("lanes", c.lanes, 1, 32, "each direction");
    v.field("max_payload_bytes", c.max_payload_bytes, 128, 4096, "of a TLP; power of 2");
    v.field("max_read_request_bytes", c.max_read_request_bytes, 128, 4096, "of a read's request; power of 2");
    v.field("tlp_overhead_bytes", c.tlp_overhead_bytes, 12, 64, "framing, sequence number, header and LCRC of a TLP");
    v.field("dllp_share", c.dllp_share, 0, 0.5, "of the rate, for flow control and acknowledgements");
    v.field("latency_ns", c.latency_ns, 0, 1e6, "one way, root complex and device included");
}

/// "" or what is wrong.
std::string validation_error(const PcieLink::Config& config);

/// Of one direction, after encoding and dllp_share, in GB/s (bytes a nanosecond).
double pcie_link_gb_per_s(const PcieLink::Config& config);
/// Share of it that payload gets in long transfers: payload / (payload + overhead).
double pcie_payload_share(const PcieLink::Config& config);

}  // namespace switchyard::hw
