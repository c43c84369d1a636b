// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/bank_costs.h"

#include <algorithm>

#include "switchyard/hw/memory/dram/address_mapping.h"

namespace switchyard::hw {
namespace {

/// How the mapping lays out the addresses of one pseudo-channel, from the lowest bit on.
void lay_out(const dram::Device& device, BankCosts& costs) {
    const dram::AddressMapping mapping(device.policy.mapping, device.geometry);
    std::uint64_t local = device.geometry.burst_bytes;  // of the bit, channels left out
    std::uint64_t pieces = 0;
    unsigned banks_below = 0, rows_below = 0;  // bits since the last column bit
    for (std::uint64_t bit = local; bit < device.geometry.bytes(); bit *= 2) {
        const dram::Location at = mapping.locate(bit);
        if (at.channel != 0 || at.pseudo_channel != 0) continue;
        if (at.column != 0) {
            costs.interleaved_banks <<= banks_below;
            banks_below = 0;
        } else if (at.row != 0) {
            rows_below += banks_below == 0 ? 1 : 0;
        } else {
            if (pieces == 0) pieces = local;
            ++banks_below;
        }
        local *= 2;
    }
    costs.piece_bytes = costs.interleaved_banks > 1 ? pieces : costs.row_bytes;
    costs.rows_shift = banks_below > 0 ? rows_below : 0;
}

}  // namespace

BankCosts bank_costs(const dram::Device& device) {
    const dram::Timing& t = device.timing;
    const dram::Geometry& g = device.geometry;
    const dram::ActivationBounds bounds = dram::activation_bounds(device);
    BankCosts costs;
    costs.banks = g.banks();
    costs.row_bytes = g.row_bytes();
    lay_out(device, costs);
    costs.open_rows = device.policy.page == "open";
    costs.activate_ns =
        g.burst_bytes * g.pseudo_channels_in_all() / std::min({bounds.tfaw, bounds.trrd, bounds.command_bus});
    costs.row_cycle_ns = t.ns(t.trc_cycles);
    const unsigned reopening = t.trtp_cycles + t.trp_cycles + t.trcd_read_cycles;
    costs.read_to_row_ns = t.ns(reopening > t.burst_cycles ? reopening - t.burst_cycles : 0);
    costs.write_to_row_ns = t.ns(t.twr_cycles + t.trp_cycles + t.trcd_write_cycles + t.tcwl_cycles);
    costs.turnaround_ns = t.ns(t.twtr_s_cycles + t.tcl_cycles + t.turnaround_cycles);
    const double refresh = device.refresh_loss() * t.trefi_cycles;
    costs.refresh_wait_ns = device.policy.refresh == "all-bank" ? t.ns(device.refresh_loss() * refresh / 2) : 0;
    costs.queue_bytes = (std::uint64_t{device.read_entries()} + device.write_entries()) * g.burst_bytes;
    costs.drain_bytes = std::uint64_t{device.policy.write_high_bursts - device.policy.write_low_bursts} *
                        g.burst_bytes / g.pseudo_channels;
    return costs;
}

std::uint64_t interleave_bytes(const dram::Device& device) {
    const dram::AddressMapping mapping(device.policy.mapping, device.geometry);
    std::uint64_t bit = device.geometry.burst_bytes;
    for (; bit < device.geometry.bytes(); bit *= 2) {
        const dram::Location at = mapping.locate(bit);
        if (at.channel != 0 || at.pseudo_channel != 0) break;
    }
    return bit;
}

}  // namespace switchyard::hw
