// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "switchyard/hw/network_interface/interface_config.h"
#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {

RoutingBlocks::Lists RoutingModel::split(const std::vector<std::uint32_t>& ids,
                                         const std::vector<std::uint64_t>& masks) {
    Lists lists(limits().branches);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        unsigned branch = 0;
        for (std::uint64_t left = masks[i]; left != 0; left >>= 1, ++branch) {
            if (left & 1U) lists[branch].push_back(ids[i]);
        }
    }
    return lists;
}

MergedSamples RoutingModel::merge(const Lists& sources) {
    MergedSamples merged;
    for (const std::vector<std::uint32_t>& source : sources)
        merged.ids.insert(merged.ids.end(), source.begin(), source.end());
    std::sort(merged.ids.begin(), merged.ids.end());
    merged.ids.erase(std::unique(merged.ids.begin(), merged.ids.end()), merged.ids.end());
    for (const std::vector<std::uint32_t>& source : sources) {
        std::vector<bool>& from = merged.from.emplace_back(merged.ids.size());
        std::size_t place = 0;
        for (const std::uint32_t id : source) {
            while (merged.ids[place] != id) ++place;
            from[place] = true;
        }
    }
    return merged;
}

PacketFlits RoutingModel::packetise(const PacketBytes& packet) {
    PacketFlits flits;
    flits.marks.resize(format_.flits(packet.payload_bytes), {false, false, packet.control});
    flits.marks.front().head = flits.marks.back().tail = true;
    flits.bytes = packet.header;
    if (packet.payload) flits.bytes.insert(flits.bytes.end(), packet.payload, packet.payload + packet.payload_bytes);
    flits.bytes.resize(flits.marks.size() * format_.link_bytes);
    return flits;
}

std::unique_ptr<RoutingBlocks> make_routing_blocks(const std::string& impl, const PacketFormat& format,
                                                   const std::string&) {
    if (impl != "packets")
        throw std::invalid_argument(
            not_made("network_interface.impl", kNetworkInterfaceImplementations, impl, "make_routing_blocks"));
    return std::make_unique<RoutingModel>(format);
}

}  // namespace switchyard::hw
