// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchyard::hw::dram {

using Cycle = std::uint64_t;  ///< of the device's clock tCK
inline constexpr Cycle kNever = ~Cycle{0};

inline constexpr unsigned kMaxPseudoChannels = 4;  ///< of one channel
inline constexpr unsigned kMaxBanks = 64;          ///< of one pseudo-channel
inline constexpr unsigned kMaxBankGroups = 16;

/// What a device consists of, each count a power of two. A channel has its own command bus, a pseudo-channel its own
/// banks and data bus. Memories without pseudo-channels have one a channel, those without bank groups one group.
struct Geometry {
    unsigned channels = 8;
    unsigned pseudo_channels = 1;  ///< of a channel
    unsigned bank_groups = 4;      ///< of a pseudo-channel
    unsigned banks_per_group = 4;
    unsigned rows = 32768;         ///< of a bank
    unsigned bursts_per_row = 32;  ///< page size / burst_bytes
    unsigned burst_bytes = 64;     ///< one column access: burst length * data pins / 8

    unsigned banks() const { return bank_groups * banks_per_group; }  ///< of a pseudo-channel
    unsigned pseudo_channels_in_all() const { return channels * pseudo_channels; }
    std::uint64_t row_bytes() const { return std::uint64_t{bursts_per_row} * burst_bytes; }
    std::uint64_t bytes() const { return row_bytes() * rows * banks() * pseudo_channels_in_all(); }
};

template <class V>
void describe(V& v, Geometry& c) {
    v.field("channels", c.channels, 1, 64, "channels; power of 2");
    v.field("pseudo_channels", c.pseudo_channels, 1, kMaxPseudoChannels, "pseudo-channels of a channel; power of 2");
    v.field("bank_groups", c.bank_groups, 1, kMaxBankGroups, "bank groups of a pseudo-channel; power of 2");
    v.field("banks_per_group", c.banks_per_group, 1, kMaxBanks, "banks of a bank group; power of 2");
    v.field("rows", c.rows, 1, 1 << 24, "rows of a bank; power of 2");
    v.field("bursts_per_row", c.bursts_per_row, 1, 1 << 14, "column accesses of a row; power of 2");
    v.field("burst_bytes", c.burst_bytes, 1, 4096, "bytes of a column access; power of 2");
}

/// The constraints between commands, in cycles of tCK, named as in the JEDEC standards. A suffix S (short) holds
/// between different bank groups, L (long) within one.
struct Timing {
    double tck_ps = 1000;
    unsigned burst_cycles = 2;  ///< data bus time of a column access: burst length / 2
    unsigned tcl_cycles = 14, tcwl_cycles = 4;
    unsigned trcd_read_cycles = 14, trcd_write_cycles = 14;
    unsigned trp_cycles = 14, trp_all_cycles = 14;
    unsigned tras_cycles = 34, trc_cycles = 48;
    unsigned trrd_s_cycles = 4, trrd_l_cycles = 6, tfaw_cycles = 30;
    unsigned tccd_s_cycles = 2, tccd_l_cycles = 2;
    unsigned twr_cycles = 16, twtr_s_cycles = 6, twtr_l_cycles = 8, trtp_cycles = 6;
    unsigned turnaround_cycles = 1;  ///< idle data bus between a read's data and a write's
    unsigned trefi_cycles = 3900, trfc_cycles = 260;
    unsigned trefi_bank_cycles = 0, trfc_bank_cycles = 0;  ///< per-bank refresh; 0: the device has none
    unsigned trrefd_cycles = 0;                            ///< between a per-bank refresh and an activate
    bool shared_command_bus = false;
    unsigned activate_bus_cycles = 1, precharge_bus_cycles = 1, column_bus_cycles = 1;

    double ns(double cycles) const { return cycles * tck_ps / 1000; }
    /// Between the first cycles of two column accesses of the same kind, to other groups and to the same.
    unsigned column_s_cycles() const { return tccd_s_cycles > burst_cycles ? tccd_s_cycles : burst_cycles; }
    unsigned column_l_cycles() const { return tccd_l_cycles > burst_cycles ? tccd_l_cycles : burst_cycles; }
    /// From a read to a write of the same pseudo-channel.
    unsigned read_to_write_cycles() const;
    /// From a write to a read or a precharge: until the last data have been taken.
    unsigned write_data_cycles() const { return tcwl_cycles + burst_cycles; }
};

template <class V>
void describe(V& v, Timing& c) {
    v.field("tck_ps", c.tck_ps, 1, 1e6, "clock period");
    v.field("burst_cycles", c.burst_cycles, 1, 64, "data bus time of a column access: burst length / 2");
    v.field("tcl_cycles", c.tcl_cycles, 1, 1000, "read to first data (RL)");
    v.field("tcwl_cycles", c.tcwl_cycles, 1, 1000, "write to first data (WL)");
    v.field("trcd_read_cycles", c.trcd_read_cycles, 1, 1000, "activate to read");
    v.field("trcd_write_cycles", c.trcd_write_cycles, 1, 1000, "activate to write");
    v.field("trp_cycles", c.trp_cycles, 1, 1000, "precharge of a bank to activate");
    v.field("trp_all_cycles", c.trp_all_cycles, 1, 1000, "precharge of all banks to refresh");
    v.field("tras_cycles", c.tras_cycles, 1, 1000, "activate to precharge");
    v.field("trc_cycles", c.trc_cycles, 1, 1000, "activate to activate of a bank");
    v.field("trrd_s_cycles", c.trrd_s_cycles, 1, 1000, "activate to activate of another bank group");
    v.field("trrd_l_cycles", c.trrd_l_cycles, 1, 1000, "activate to activate of the same bank group");
    v.field("tfaw_cycles", c.tfaw_cycles, 1, 1000, "window in which a pseudo-channel may have four activates");
    v.field("tccd_s_cycles", c.tccd_s_cycles, 1, 1000, "column access to column access of another bank group");
    v.field("tccd_l_cycles", c.tccd_l_cycles, 1, 1000, "column access to column access of the same bank group");
    v.field("twr_cycles", c.twr_cycles, 1, 1000, "last data of a write to precharge");
    v.field("twtr_s_cycles", c.twtr_s_cycles, 1, 1000, "last data of a write to a read of another bank group");
    v.field("twtr_l_cycles", c.twtr_l_cycles, 1, 1000, "last data of a write to a read of the same bank group");
    v.field("trtp_cycles", c.trtp_cycles, 1, 1000, "read to precharge of its bank");
    v.field("turnaround_cycles", c.turnaround_cycles, 0, 1000, "idle data bus between a read's data and a write's");
    v.field("trefi_cycles", c.trefi_cycles, 1, 1 << 20, "mean time between refreshes of all banks");
    v.field("trfc_cycles", c.trfc_cycles, 1, 1 << 20, "refresh of all banks to activate");
    v.field("trefi_bank_cycles", c.trefi_bank_cycles, 0, 1 << 20,
            "mean time between refreshes of one bank or another; 0: no refresh bank by bank");
    v.field("trfc_bank_cycles", c.trfc_bank_cycles, 0, 1 << 20, "refresh of one bank to its activate");
    v.field("trrefd_cycles", c.trrefd_cycles, 0, 1000, "between the refresh of one bank and the activate of another");
    v.field("shared_command_bus", c.shared_command_bus,
            "one command bus a channel; otherwise one for row and one for column commands, as HBM has");
    v.field("activate_bus_cycles", c.activate_bus_cycles, 1, 16, "time of an activate on the command bus");
    v.field("precharge_bus_cycles", c.precharge_bus_cycles, 1, 16,
            "time of a precharge or a refresh on the command bus");
    v.field("column_bus_cycles", c.column_bus_cycles, 1, 16, "time of a read or a write on the command bus");
}

/// What the controller of a channel does within these constraints.
struct Policy {
    std::string mapping = "row-bankgroup-bank-pseudochannel-column-channel";
    std::string page = "open";
    std::string refresh = "all-bank";
    bool staggered_refresh = false;
    std::string queues = "channel";
    unsigned read_queue_bursts = 32, write_queue_bursts = 32;  ///< of a channel or a bank, as `queues` says
    unsigned write_high_bursts = 24, write_low_bursts = 8;     ///< of a channel
    unsigned starvation_limit_cycles = 2000;
};

template <class V>
void describe(V& v, Policy& c) {
    v.field("mapping", c.mapping,
            "fields of an address from the highest bits on, as row-bankgroup-bank-pseudochannel-column-channel; "
            "column:2 takes two bits of a field");
    v.choice("page", c.page, {"open", "closed"},
             "a row stays open until another is wanted or a refresh is due, or is closed with the last access that "
             "waits for it (auto-precharge)");
    v.choice("refresh", c.refresh, {"all-bank", "per-bank", "none"}, "how rows are refreshed");
    v.field("staggered_refresh", c.staggered_refresh,
            "pseudo-channels refresh one after another; otherwise all at the same time, so that what is spread over "
            "them waits once");
    v.choice("queues", c.queues, {"channel", "bank"}, "what the two queues' lengths are those of");
    v.field("read_queue_bursts", c.read_queue_bursts, 1, 1024, "reads among which the controller can choose");
    v.field("write_queue_bursts", c.write_queue_bursts, 1, 1024, "writes among which the controller can choose");
    v.field("write_high_bursts", c.write_high_bursts, 1, 1024,
            "waiting writes of a channel with which it turns from reads to writes");
    v.field("write_low_bursts", c.write_low_bursts, 0, 1024, "waiting writes with which it turns back to reads");
    v.field("starvation_limit_cycles", c.starvation_limit_cycles, 1, 1e9,
            "an access that has waited longer goes before row hits");
}

/// A DRAM device with its controller: one file of configs/devices.
struct Device {
    std::string name = "dram";
    std::string standard = "HBM2";
    Geometry geometry;
    Timing timing;
    Policy policy;
    std::uint32_t contents = 0;  ///< CRC-32 of its file, comments, layout and overrides left out

    double pseudo_channel_gb_per_s() const;
    double peak_gb_per_s() const { return geometry.pseudo_channels_in_all() * pseudo_channel_gb_per_s(); }
    /// Share of the time that refresh makes a bank unusable, as the standard asks for it: tRFC / tREFI.
    double refresh_share() const;
    /// Share of the time in which refresh keeps data off the bus: all banks are closed before and one is opened again.
    double refresh_loss() const;
    /// Between two refreshes of a pseudo-channel, of all banks or of one; 0: none.
    double refresh_interval_ns() const;
    /// Entries of the queues of a channel when all banks have theirs.
    unsigned read_entries() const { return policy.read_queue_bursts * queues_of_channel(); }
    unsigned write_entries() const { return policy.write_queue_bursts * queues_of_channel(); }

private:
    unsigned queues_of_channel() const {
        return policy.queues == "channel" ? 1 : geometry.banks() * geometry.pseudo_channels;
    }
};

template <class V>
void describe(V& v, Device& c) {
    v.field("name", c.name, "name of the device, in messages and reports");
    v.field("standard", c.standard, "standard or family, in reports");
}

/// What bounds reads of one burst each to rows that nobody has open, in GB/s of the whole device, refresh not counted.
struct ActivationBounds {
    double tfaw = 0, trrd = 0, trc = 0, command_bus = 0;
    double min() const;
};
ActivationBounds activation_bounds(const Device& device);

/// "" or what is wrong with the device.
std::string validation_error(const Device& device);

/// Reads a device: a name of builtin_devices(), one of the short names hbm2, ddr4 and lpddr4, or the path of a file
/// (anything with a '/' or ".yaml"). `overrides` ("timing.tfaw_cycles" -> "16") win over it.
/// Throws InputError "file:line: section.key: ..." for what cannot be read, is unknown, out of range or contradictory.
Device read_device(const std::string& name, std::map<std::string, std::string> overrides = {});

/// Names of the files in configs/devices when the library was built, which it holds.
std::vector<std::string> builtin_devices();

/// A Markdown table of the keys of a device file.
std::string device_keys_markdown();

}  // namespace switchyard::hw::dram
