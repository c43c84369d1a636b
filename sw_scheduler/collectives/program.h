// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::sched {

/// One message of a collective: `bytes` from the buffer of device `from` at offset `source` to that of device `to` at
/// `destination`. It may start when the transfers in `after` (numbers below its own) have arrived.
struct Transfer {
    unsigned from = 0, to = 0;  ///< the same: a copy within a device, which takes no link
    std::uint64_t source = 0, destination = 0;
    std::uint64_t bytes = 0;       ///< > 0
    std::uint64_t wire_bytes = 0;  ///< bytes on links, with what the protocol adds; 0: `bytes`
    /// What has arrived (at `staging` of the receiver's buffer) is added to `destination`, binary32 by binary32.
    bool reduce = false;
    std::uint64_t staging = 0;
    double step_ns = 0;  ///< software's, before the first byte leaves
    std::vector<std::uint32_t> after;

    std::uint64_t on_wire() const { return wire_bytes > 0 ? wire_bytes : bytes; }
};

/// A collective as a program: who sends what, behind what. The devices execute it at once; transfers that wait for
/// nothing start after base_ns.
struct CollectiveProgram {
    std::string name;
    unsigned devices = 0;
    std::uint64_t buffer_bytes = 0;  ///< of each device, staging included
    double base_ns = 0;
    std::vector<Transfer> transfers;
};

/// "" or the first transfer that makes no sense: an unknown device, no bytes, beyond the buffer, after a later one.
std::string validation_error(const CollectiveProgram& program);

}  // namespace switchyard::sched
