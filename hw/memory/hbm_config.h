// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "switchyard/hw/memory/bank_costs.h"
#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw {

inline constexpr unsigned kMaxPseudoChannels = 16;  ///< of one memory interface

/// HBM2 at 2.4 Gb/s a pin: a stack has 16 pseudo-channels of 64 bits, 19.2 GB/s each; six stacks make the 1842 GB/s of
/// Adyna's Table III. Latencies and refresh are those of configs/devices/hbm2_2400.yaml (tCK 1 / 1.2 ns).
struct HbmConfig {
    std::string impl = "bandwidth";
    unsigned stacks = 6;
    unsigned interfaces_per_stack = 4;
    unsigned pseudo_channels_per_interface = 4;
    double pseudo_channel_gb_per_s = 19.2;
    double read_latency_ns = 34 / 1.2;    ///< closed page, to the first byte: tRCD 17 + CL 17
    double write_latency_ns = 20 / 1.2;   ///< closed page: tRCD 14 + CWL 6
    double refresh_share = 455.0 / 4682;  ///< time lost to refresh: (tRP + tRFC + tRCD) / tREFI
    unsigned burst_bytes = 32;            ///< smallest access: burst of 4 on 64 bits
    unsigned interleave_bytes = 256;      ///< consecutive bytes on one pseudo-channel
    std::uint64_t region_bytes = 1ull << 30;
    unsigned max_packet_bytes = 16384;  ///< also the turns that requests take
    std::string device = "hbm2_2400";   ///< see dram/device.h; impl bandwidth: BankCosts, none if empty
    std::string mapping;                ///< of an interface's addresses; empty: the device's
    std::string page = "device";
    bool check_timing = false;
    std::string request_log;

    double clock_ghz = 1.0;  ///< the chip's, set by the composer: unit of the counters in cycles

    unsigned interfaces() const { return stacks * interfaces_per_stack; }
    /// At the pins of one interface.
    double peak_bytes_per_cycle() const { return pseudo_channels_per_interface * pseudo_channel_gb_per_s / clock_ghz; }
};

template <class V>
void describe(V& v, HbmConfig& c) {
    v.choice("impl", c.impl, {"bandwidth", "bank"},
             "bandwidth and latency of each pseudo-channel with what banks and turnarounds cost it, or its banks and "
             "rows, command by command");
    v.field("stacks", c.stacks, 1, 64, "HBM stacks");
    v.field("interfaces_per_stack", c.interfaces_per_stack, 1, 64, "memory interfaces on the network, a stack");
    v.field("pseudo_channels_per_interface", c.pseudo_channels_per_interface, 1, kMaxPseudoChannels,
            "pseudo-channels behind one interface");
    v.field("pseudo_channel_gb_per_s", c.pseudo_channel_gb_per_s, 0.001, 1e6, "pin bandwidth of a pseudo-channel");
    v.field("read_latency_ns", c.read_latency_ns, 0, 1e6, "from a read's turn to its first byte; impl bandwidth");
    v.field("write_latency_ns", c.write_latency_ns, 0, 1e6,
            "from a write's last byte until it is done; impl bandwidth");
    v.field("refresh_share", c.refresh_share, 0, 0.99, "share of the time that refresh takes; impl bandwidth");
    v.field("burst_bytes", c.burst_bytes, 1, 4096, "smallest number of bytes that a pseudo-channel moves; power of 2");
    v.field("interleave_bytes", c.interleave_bytes, 1, 1 << 20,
            "consecutive bytes on one pseudo-channel; multiple of burst_bytes; impl bandwidth");
    v.field("region_bytes", c.region_bytes, 4096, 1ull << 40, "address space of each interface");
    v.field("max_packet_bytes", c.max_packet_bytes, 32, 1 << 20,
            "largest payload of a reply packet; requests take turns by as much");
    v.field("device", c.device,
            "a device of configs/devices by its name, or the path of a file; its channels are shared out among the "
            "interfaces; impl bandwidth takes the times of banks and turnarounds from it, none if empty");
    v.field("mapping", c.mapping,
            "fields of an address within an interface from the highest bits on, as "
            "row-bank-column:4-channel-pseudochannel-bankgroup-column:1; empty: the device's");
    v.choice("page", c.page, {"device", "open", "closed"}, "impl bank: page policy, or the device's");
    v.field("check_timing", c.check_timing, "impl bank: check every command against the device's timing; slow");
    v.field("request_log", c.request_log,
            "write the requests of interface N to the file request_log.N.csv, which sy-sim mem can replay; empty: no "
            "log");
}

/// The device behind one interface: `device` with the interface's share of its channels and the keys that override its
/// own. Throws InputError if it cannot be had.
dram::Device interface_device(const HbmConfig& config);

/// What that device's banks cost impl bandwidth; nothing if config.device is empty. An interface that hasn't whole
/// channels of the device has as many pseudo-channels of it.
BankCosts bank_costs(const HbmConfig& config);

/// "" or what is wrong with the configuration.
std::string validation_error(const HbmConfig& config);

}  // namespace switchyard::hw
