// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/transport.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::hw::flit {

Transport::Transport(FlitNetwork& network, std::size_t endpoints, const PacketFormat& format, Multicast multicast)
    : network_(network),
      endpoints_(endpoints),
      format_(format),
      pieces_(format, network.config().buffer_flits),
      multicast_(multicast),
      sent_(2 * endpoints * endpoints),
      expected_(2 * endpoints * endpoints) {
    if (pieces_.room() == 0)
        throw std::invalid_argument(
            fmt::format("expected header_bytes that leave room for data in a piece of a multicast, half of "
                        "buffer_flits ({}), found {}",
                        network.config().buffer_flits, format.header_bytes));
}

std::uint32_t Transport::send(unsigned source, const std::vector<std::uint16_t>& destinations, std::uint64_t bytes,
                              TrafficClass traffic) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(messages_.size()));
        messages_.emplace_back();
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    Message& message = messages_[id];
    message.source = static_cast<std::uint16_t>(source);
    message.group = static_cast<std::uint8_t>(traffic);
    message.missing_copies = static_cast<std::uint32_t>(destinations.size());
    message.copies.clear();

    const bool tree = destinations.size() > 1 && multicast_ == Multicast::tree;
    const std::uint64_t pieces = tree ? pieces_.count(bytes) : 1;
    for (const std::uint16_t endpoint : destinations)
        message.copies.push_back(
            {endpoint, static_cast<std::uint32_t>(pieces), sent_[flow(source, endpoint, message.group)]++});
    if (tree) {
        std::uint64_t left = bytes;
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
            const std::uint64_t here = std::min(left, pieces_.room());
            left -= here;
            network_.multicast(source, destinations.data(), destinations.size(),
                               static_cast<std::uint32_t>(unicast_flits(here)), id, traffic, padding(here));
        }
    } else {
        for (const std::uint16_t endpoint : destinations)
            network_.send(source, endpoint, static_cast<std::uint32_t>(unicast_flits(bytes)), id, traffic,
                          padding(bytes));
    }
    ++in_flight_;
    ++stats_.messages;
    return id;
}

const std::vector<Transport::Arrival>& Transport::collect() {
    arrivals_.clear();
    for (const FlitNetwork::Delivery& delivery : network_.deliveries()) {
        const auto id = static_cast<std::uint32_t>(delivery.tag);
        Message& message = messages_[id];
        const auto copy = std::find_if(message.copies.begin(), message.copies.end(),
                                       [&](const Copy& c) { return c.endpoint == delivery.endpoint; });
        if (--copy->missing_packets == 0) arrive(id, *copy);
    }
    return arrivals_;
}

void Transport::arrive(std::uint32_t id, Copy& copy) {
    const unsigned endpoint = copy.endpoint;
    const std::size_t f = flow(messages_[id].source, endpoint, messages_[id].group);
    if (copy.number != expected_[f]) {
        parked_[{f, copy.number}] = id;
        ++stats_.parked;
        stats_.max_parked = std::max<std::uint64_t>(stats_.max_parked, parked_.size());
        return;
    }
    complete_at_endpoint(id, endpoint);
    for (auto next = parked_.find({f, ++expected_[f]}); next != parked_.end();
         next = parked_.find({f, ++expected_[f]})) {
        complete_at_endpoint(next->second, endpoint);
        parked_.erase(next);
    }
}

void Transport::complete_at_endpoint(std::uint32_t id, unsigned endpoint) {
    const bool last = --messages_[id].missing_copies == 0;
    arrivals_.push_back({id, static_cast<std::uint16_t>(endpoint), last});
    ++stats_.arrivals;
    if (!last) return;
    free_.push_back(id);
    --in_flight_;
}

}  // namespace switchyard::hw::flit
