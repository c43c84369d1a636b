// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/link/message_engine.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/whole_time.h"

namespace switchyard::hw {
namespace {

sched::LinkRate rate_of(const MessageEngine::Config& config) {
    return config.rate == "kernel" ? sched::LinkRate::kernel : sched::LinkRate::copy;
}

}  // namespace

MessageEngine::MessageEngine(std::shared_ptr<const sched::LinkTopology> topology, const Config& config)
    : topology_(std::move(topology)),
      config_(config),
      cut_through_(config.switching == "cut_through"),
      channels_(topology_->channels()) {
    if (const std::string message = choice_error(config_, "links"); !message.empty())
        throw std::invalid_argument(message);
    if (config_.chunk_bytes == 0 || config_.buffer_chunks == 0)
        throw std::invalid_argument(fmt::format("expected chunk_bytes and buffer_chunks of at least 1, found {} and {}",
                                                config_.chunk_bytes, config_.buffer_chunks));
    for (unsigned i = 0; i < channels_.size(); ++i) {
        channels_[i].bytes_per_ps = topology_->payload_gb_per_s(i, rate_of(config_)) / 1000;
        const std::string latency = topology_->channel_name(i) + ": latency_ns";
        channels_[i].latency_ps = whole_time(1000 * topology_->links()[i / 2].kind.latency_ns, "ps", latency);
        channels_[i].pass_ps = whole_time(1000 * topology_->nodes()[topology_->end_of(i)].latency_ns, "ps", latency);
        channels_[i].room.assign(topology_->layers(), config_.buffer_chunks);
    }
}

void MessageEngine::schedule(std::uint64_t time, Kind kind, std::uint32_t index) {
    // Each of its parts was checked: the sum has not wrapped.
    events_.push({later_time(time, 0, "ps", topology_->name()), order_++, kind, index});
}

std::uint32_t MessageEngine::new_chunk(std::uint32_t message) {
    Chunk chunk;
    chunk.message = message;
    if (free_chunks_.empty()) {
        chunks_.push_back(chunk);
        return static_cast<std::uint32_t>(chunks_.size() - 1);
    }
    const std::uint32_t index = free_chunks_.back();
    free_chunks_.pop_back();
    chunks_[index] = chunk;
    return index;
}

void MessageEngine::send(std::uint64_t now_ps, unsigned from, unsigned to, std::uint64_t bytes, std::uint64_t tag) {
    if (from >= topology_->devices() || to >= topology_->devices() || from == to || bytes == 0)
        throw std::invalid_argument("expected two devices and bytes for a message, found none");
    const Message message{&topology_->route(from, to), topology_->layer(from, to), bytes, bytes, tag};
    std::uint32_t index;
    if (free_messages_.empty()) {
        index = static_cast<std::uint32_t>(messages_.size());
        messages_.push_back(message);
    } else {
        index = free_messages_.back();
        free_messages_.pop_back();
        messages_[index] = message;
    }
    ++in_flight_;
    schedule(now_ps, Kind::chunk_ready, new_chunk(index));
}

void MessageEngine::advance(std::uint64_t time_ps) {
    deliveries_.clear();
    while (!events_.empty() && events_.top().time <= time_ps) {
        const Event event = events_.top();
        events_.pop();
        switch (event.kind) {
            case Kind::channel_free:
                serve(event.time, event.index);
                break;
            case Kind::room_free:
                ++channels_[event.index / topology_->layers()].room[event.index % topology_->layers()];
                serve(event.time, event.index / topology_->layers());
                break;
            case Kind::chunk_ready:
                ask(event.time, event.index);
                break;
            case Kind::chunk_arrives:
                arrive(event.time, event.index);
                break;
        }
    }
}

void MessageEngine::ask(std::uint64_t now, std::uint32_t chunk) {
    const Message& message = messages_[chunks_[chunk].message];
    const unsigned index = (*message.route)[chunks_[chunk].hop];
    Channel& channel = channels_[index];
    channel.asking.push_back(chunk);
    channel.stats.max_waiting = std::max<std::uint64_t>(channel.stats.max_waiting, channel.asking.size());
    serve(now, index);
}

void MessageEngine::serve(std::uint64_t now, unsigned index) {
    Channel& channel = channels_[index];
    if (channel.free_ps > now) return;
    for (auto it = channel.asking.begin(); it != channel.asking.end(); ++it) {
        const Chunk& chunk = chunks_[*it];
        const Message& message = messages_[chunk.message];
        const bool last = chunk.hop + 1 == message.route->size();
        if (!last && channel.room[message.layer] == 0) continue;
        const std::uint32_t chosen = *it;
        channel.asking.erase(it);
        start(now, index, chosen);
        return;
    }
}

void MessageEngine::start(std::uint64_t now, unsigned index, std::uint32_t chosen) {
    Channel& channel = channels_[index];
    Chunk& chunk = chunks_[chosen];
    Message& message = messages_[chunk.message];
    const bool last = chunk.hop + 1 == message.route->size();
    if (chunk.hop == 0) {
        chunk.bytes = std::min(config_.chunk_bytes, message.unsent);
        message.unsent -= chunk.bytes;
        chunk.tail_ps = now;
    }
    const double alone = static_cast<double>(chunk.bytes) / channel.bytes_per_ps;
    if (alone > kLongestTime)
        refuse_time(alone, "ps",
                    fmt::format("link {}: {} bytes at {:.3g} GB/s", topology_->channel_name(index), chunk.bytes,
                                1000 * channel.bytes_per_ps));
    // The tail leaves behind the head at the rate at which it comes.
    const std::uint64_t end = std::max({now + 1, now + static_cast<std::uint64_t>(std::ceil(alone)), chunk.tail_ps});
    channel.free_ps = end;
    channel.stats.bytes += chunk.bytes;
    channel.stats.busy_ps += end - now;
    schedule(end, Kind::channel_free, index);
    if (!last) --channel.room[message.layer];
    if (chunk.hop > 0) {
        // The buffer in front of this channel is free when the tail has left it.
        const unsigned before = (*message.route)[chunk.hop - 1];
        schedule(end, Kind::room_free, before * topology_->layers() + message.layer);
    }
    const std::uint64_t begin = now, tail = end + channel.latency_ps;
    const std::uint32_t owner = chunk.message;
    const bool more = chunk.hop == 0 && message.unsent > 0;
    chunk.tail_ps = tail + channel.pass_ps;
    if (last) {
        schedule(tail, Kind::chunk_arrives, chosen);
    } else {
        ++chunk.hop;
        schedule((cut_through_ ? begin : end) + channel.latency_ps + channel.pass_ps, Kind::chunk_ready, chosen);
    }
    if (more) schedule(now, Kind::chunk_ready, new_chunk(owner));
}

void MessageEngine::arrive(std::uint64_t now, std::uint32_t index) {
    const std::uint32_t owner = chunks_[index].message;
    Message& message = messages_[owner];
    message.missing -= chunks_[index].bytes;
    free_chunks_.push_back(index);
    if (message.missing > 0) return;
    deliveries_.push_back({now, message.tag});
    free_messages_.push_back(owner);
    --in_flight_;
}

std::string MessageEngine::waiting() const {
    std::string text;
    for (unsigned i = 0; i < channels_.size(); ++i)
        if (!channels_[i].asking.empty())
            text += fmt::format("{}{} has {} chunks that wait for it", text.empty() ? "" : "; ",
                                topology_->channel_name(i), channels_[i].asking.size());
    return text;
}

double idle_message_ns(const sched::LinkTopology& topology, const MessageEngine::Config& config, unsigned from,
                       unsigned to, std::uint64_t bytes) {
    const auto chunk = static_cast<double>(std::min(bytes, config.chunk_bytes));
    const double latency = topology.route_latency_ns(from, to);
    const double narrowest = topology.route_gb_per_s(from, to, rate_of(config));
    if (config.switching == "cut_through") return latency + static_cast<double>(bytes) / narrowest;
    double first = 0;  // the first chunk passes all channels, the others follow it through the narrowest one
    for (const unsigned channel : topology.route(from, to))
        first += chunk / topology.payload_gb_per_s(channel, rate_of(config));
    return latency + first + (static_cast<double>(bytes) - chunk) / narrowest;
}

}  // namespace switchyard::hw
