// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw {

/// What the banks of a pseudo-channel and the turning of its data bus cost beyond the pins, as far as BandwidthTiming
/// knows of it. Nothing by default. Follows from a device file alone; nothing is fitted.
struct BankCosts {
    unsigned banks = 0;              ///< of a pseudo-channel; 0: no costs
    unsigned interleaved_banks = 1;  ///< over N of them its consecutive addresses spread,
    std::uint64_t piece_bytes = 0;   ///< in pieces of N bytes
    std::uint64_t row_bytes = 0;     ///< of one bank
    unsigned rows_shift = 0;         ///< log2 of the blocks (a row in each interleaved bank) before the banks change
    bool open_rows = false;          ///< a row stays open until the bank needs another
    double activate_ns = 0;          ///< from the opening of a row to that of one in any other bank
    double row_cycle_ns = 0;         ///< from the first data of a row to those of the bank's next one: tRC
    double read_to_row_ns = 0;       ///< from the last data of a row that was read to the bank's next ones
    double write_to_row_ns = 0;      ///< or written
    double turnaround_ns = 0;        ///< of the data bus, from reads to writes and back
    double refresh_wait_ns = 0;      ///< of what finds the bus idle, on average: it may be for a refresh
    std::uint64_t queue_bytes = 0;   ///< in which the controller looks for what can go ahead
    std::uint64_t drain_bytes = 0;   ///< of writes that come together before the bus turns to them
};

/// Of one pseudo-channel of the device under its mapping. The constraints are those of the data sheets that the device
/// file names (dram/device.h); from data to data:
/// read_to_row tRTP + tRP + tRCD - burst, write_to_row tWR + tRP + tRCD + tCWL, turnaround tWTR_S + tCL + the idle
/// cycles of the bus, activate the longest of tRRD_S, tFAW / 4 and the command bus. A refresh of all banks keeps data
/// away for r = tRP + tRFC + tRCD of every tREFI, so that who comes at any time waits r^2 / (2 tREFI).
BankCosts bank_costs(const dram::Device& device);

/// Consecutive bytes on one pseudo-channel under the device's mapping.
std::uint64_t interleave_bytes(const dram::Device& device);

}  // namespace switchyard::hw
