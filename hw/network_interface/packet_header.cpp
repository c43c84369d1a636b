// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/packet_header.h"

#include "switchyard/sw_scheduler/base/bytes.h"

namespace switchyard::hw {
namespace {

constexpr std::uint8_t kHasValues = 0x80;

struct Header {
    MessageKind kind = MessageKind::data;
    std::uint8_t operation = 0;  ///< and kHasValues
    Endpoint source = 0, destination = 0;
    std::uint16_t destinations = 0, edge = 0, unit = 0;
    std::uint32_t payload_bytes = 0;
};

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<Header> header) {
    archive.enumeration(header.kind, MessageKind::control);
    archive(header.operation, header.source, header.destination, header.destinations, header.edge, header.unit,
            header.payload_bytes);
}

}  // namespace

std::vector<std::uint8_t> packet_header(const PacketHeaderFields& fields) {
    const auto& [packet, memory, message] = fields;
    Header header;
    header.kind = message.kind;
    header.operation = static_cast<std::uint8_t>(memory.operation);
    if (packet.has_values) header.operation |= kHasValues;
    header.source = packet.source;
    header.destination = packet.destinations.front();
    header.destinations = static_cast<std::uint16_t>(packet.destinations.size());
    header.edge = message.edge;
    header.unit = message.unit;
    header.payload_bytes = static_cast<std::uint32_t>(packet.payload_bytes);
    ByteWriter writer;
    transfer(writer, header);
    return writer.take();
}

bool read_packet_header(const std::uint8_t* bytes, const PacketHeaderFields& fields) {
    const auto& [packet, memory, message] = fields;
    Header header;
    try {
        ByteReader reader(bytes, kPacketHeaderBytes);
        transfer(reader, header);
    } catch (const InputError&) {
        return false;
    }
    const unsigned operation = header.operation & ~unsigned{kHasValues};
    if (header.destinations != packet.destinations.size() || operation > unsigned(MemoryOperation::write_done) ||
        ((header.operation & kHasValues) != 0) != packet.has_values)
        return false;
    message.kind = header.kind;
    memory.operation = static_cast<MemoryOperation>(operation);
    packet.source = header.source;
    packet.destinations.front() = header.destination;
    message.edge = header.edge;
    message.unit = header.unit;
    packet.payload_bytes = header.payload_bytes;
    return true;
}

}  // namespace switchyard::hw
