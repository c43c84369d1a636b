// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/host_program.h"

namespace switchyard::platform::brainstorm {

/// What the cells of a batch hold on each device, for functional runs: real bytes that collectives move.
///
/// A cell begins with its number + 1, 8 bytes; the rest of it follows from the number. Branches hand cells on as they
/// are. Senders lay cells down as their routers decide. A receiver knows what has come from the bytes alone: from the
/// sizes that were sent first, or, of padded messages, from the padding, which is 0.
class CellContents {
public:
    struct Result {
        std::uint64_t cells = 0;  ///< of the batches that have ended
        std::uint64_t arrived =
            0;                     ///< that lie once where their routes end, with as many results as they have branches
        std::uint64_t intact = 0;  ///< of these: whose bytes are unchanged
        std::uint64_t moved_bytes = 0;  ///< of cells, between devices
    };

    /// Cells begin on the devices that their inputs come to, `cells_of_device` on each. Throws InputError for cells
    /// that are smaller than their number.
    void begin(const sched::brainstorm::BatchProgram& batch, std::size_t devices, std::uint64_t cells_of_device);
    /// The device's buffer as it enters a collective. The cells that leave are no longer on the device.
    std::vector<std::uint8_t> pack(std::uint32_t collective, std::size_t device);
    /// What has come in the buffer is on the device.
    void unpack(std::uint32_t collective, std::size_t device, const std::vector<std::uint8_t>& buffer);
    void end();

    const Result& result() const { return result_; }

private:
    using Bytes = std::vector<std::uint8_t>;
    void keep(std::size_t device, const std::uint8_t* bytes, std::uint64_t count);

    const sched::brainstorm::BatchProgram* batch_ = nullptr;
    std::vector<std::map<std::uint64_t, std::vector<Bytes>>> held_;  ///< [device] copies by cell
    Result result_;
};

}  // namespace switchyard::platform::brainstorm
