// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/packet_header.h"

#include "switchyard/sw_scheduler/base/bytes.h"

namespace switchyard::hw {
namespace {

struct Header {
    PacketKind kind = PacketKind::data;
    std::uint8_t has_values = 0;
    Endpoint source = 0, destination = 0;
    std::uint16_t destinations = 0, edge = 0, unit = 0;
    std::uint32_t payload_bytes = 0;
};

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<Header> header) {
    archive.enumeration(header.kind, PacketKind::receipt);
    archive(header.has_values, header.source, header.destination, header.destinations, header.edge, header.unit,
            header.payload_bytes);
}

}  // namespace

std::vector<std::uint8_t> packet_header(const RoutedExtension& packet) {
    Header header;
    header.kind = packet.kind;
    header.has_values = packet.has_values ? 1 : 0;
    header.source = packet.source;
    header.destination = packet.destinations.front();
    header.destinations = static_cast<std::uint16_t>(packet.destinations.size());
    header.edge = packet.edge;
    header.unit = packet.unit;
    header.payload_bytes = static_cast<std::uint32_t>(packet.payload_bytes);
    ByteWriter writer;
    transfer(writer, header);
    return writer.take();
}

bool read_packet_header(const std::uint8_t* bytes, RoutedExtension& packet) {
    Header header;
    try {
        ByteReader reader(bytes, kPacketHeaderBytes);
        transfer(reader, header);
    } catch (const InputError&) {
        return false;
    }
    if (header.destinations != packet.destinations.size() || (header.has_values != 0) != packet.has_values)
        return false;
    packet.kind = header.kind;
    packet.source = header.source;
    packet.destinations.front() = header.destination;
    packet.edge = header.edge;
    packet.unit = header.unit;
    packet.payload_bytes = header.payload_bytes;
    return true;
}

}  // namespace switchyard::hw
