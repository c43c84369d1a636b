// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/tlm/packet_format.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {

/// A packet in front of the packetiser.
struct PacketBytes {
    std::vector<std::uint8_t> header;       ///< header_bytes of them
    std::uint64_t payload_bytes = 0;        ///< behind the header
    const std::uint8_t* payload = nullptr;  ///< null: only sizes move, the bytes are zeros
    bool control = false;                   ///< on the virtual channels of the control class
};

/// A packet behind the packetiser: its flits.
struct PacketFlits {
    struct Mark {
        bool head = false, tail = false, control = false;
        bool operator==(const Mark& o) const { return head == o.head && tail == o.tail && control == o.control; }
    };
    std::vector<Mark> marks;          ///< one a flit
    std::vector<std::uint8_t> bytes;  ///< of all flits, link_bytes each
};

/// What an implementation of RoutingBlocks is built for.
struct RoutingLimits {
    unsigned branches = 64;                                                   ///< of a switch
    unsigned sources = std::numeric_limits<unsigned>::max();                  ///< of a merge
    std::uint64_t samples = std::uint64_t{1} << 32;                           ///< of a batch: ids below it
    std::uint64_t payload_bytes = std::numeric_limits<std::uint64_t>::max();  ///< of a packet
};

/// The data path of a network interface that can be exchanged: switch, merge and packetiser. Functions of what goes in;
/// the time that they take is the network interface's. Those of an RTL implementation throw RtlFault.
class RoutingBlocks : public RtlPart {
public:
    using Lists = std::vector<std::vector<std::uint32_t>>;  ///< ids of samples

    /// What goes in beyond them is not noticed.
    virtual RoutingLimits limits() const = 0;
    /// The switch: of the samples `ids`, whose routing masks are `masks`, those that each branch gets, in their order;
    /// a list for every branch that the block has.
    virtual Lists split(const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks) = 0;
    /// The merge: the samples of all sources, each an ascending list, in one ascending list.
    virtual MergedSamples merge(const Lists& sources) = 0;
    /// The packetiser.
    virtual PacketFlits packetise(const PacketBytes& packet) = 0;
    /// Whether the network interface is to send its packets through packetise(): a model's flits hold what went in.
    virtual bool packetises() const = 0;
};

/// Makes the blocks that `impl` names for the network interface `module`. Throws std::invalid_argument if there are
/// none.
using RoutingBlocksFactory = std::function<std::unique_ptr<RoutingBlocks>(
    const std::string& impl, const PacketFormat& format, const std::string& module)>;

/// The model, impl `packets`.
class RoutingModel : public RoutingBlocks {
public:
    explicit RoutingModel(const PacketFormat& format = {}) : format_(format) {}

    RoutingLimits limits() const override { return {}; }
    Lists split(const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks) override;
    MergedSamples merge(const Lists& sources) override;
    PacketFlits packetise(const PacketBytes& packet) override;
    bool packetises() const override { return false; }

private:
    PacketFormat format_;
};

/// RoutingBlocksFactory of this library: the model alone.
std::unique_ptr<RoutingBlocks> make_routing_blocks(const std::string& impl, const PacketFormat& format,
                                                   const std::string& module);

}  // namespace switchyard::hw
