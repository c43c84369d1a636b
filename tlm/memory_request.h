// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tlm>

#include "switchyard/tlm/packet_format.h"

namespace switchyard {

/// What a packet is to a memory interface, or is from one.
enum class MemoryOperation : std::uint8_t {
    none,       ///< no request and no reply
    read,       ///< to a memory interface: send `requested_bytes` from the payload's address to `reply_to`
    write,      ///< to a memory interface: store at the payload's address, then answer write_done
    read_data,  ///< from a memory interface: what was asked for, in as many packets as it takes
    write_done  ///< from a memory interface to the writer
};

/// Bytes that lie together in memory.
struct MemoryRun {
    std::uint64_t address = 0, bytes = 0;
};

/// A request to memory, or a reply. What else the sender puts on a request's payload (extensions that memory does not
/// know) memory copies to the replies, so that who gets them finds it.
///
/// PacketExtension::has_values of a write: the data array is to be stored. Of a read: the replies are to have values.
struct MemoryExtension : ::tlm::tlm_extension<MemoryExtension> {
    MemoryOperation operation = MemoryOperation::none;
    std::uint32_t tag = 0;              ///< copied from request to reply
    std::uint64_t requested_bytes = 0;  ///< read
    std::vector<Endpoint> reply_to;     ///< read: who gets the data (multicast if several)
    std::uint64_t first_byte = 0;       ///< read_data: position of the packet's first byte in what was asked for
    /// Requests with values: where they lie, one behind the other; none: together, from the payload's address on.
    std::shared_ptr<const std::vector<MemoryRun>> runs;

    /// Back to the defaults above; the vector keeps its room.
    void reset() {
        operation = MemoryOperation::none;
        tag = 0;
        requested_bytes = 0;
        reply_to.clear();
        first_byte = 0;
        runs.reset();
    }

    ::tlm::tlm_extension_base* clone() const override { return new MemoryExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const MemoryExtension&>(other);
    }
};

}  // namespace switchyard
