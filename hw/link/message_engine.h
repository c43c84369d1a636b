// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::hw {

/// Messages that share the links of a topology, chunk by chunk. Plain C++; LinkNetwork puts it behind sockets.
///
/// A message is cut into chunks of chunk_bytes. A channel carries one chunk after another: those that ask for it are
/// served in the order in which they ask, and a message asks for its next chunk when the last one has begun, so that
/// messages share a channel chunk by chunk. A node on the way keeps a chunk in a buffer of its input, buffer_chunks for
/// each layer of routes (LinkTopology), and a chunk moves only to where there is room. Cut-through: a chunk goes on
/// when its head has come, store-and-forward: when all of it has.
///
/// Modelled: rates with packet overheads, latencies, arbitration, finite buffers, bytes on each channel. Accuracy: the
/// closed form in an idle network, flits otherwise (test_link_calibration.cpp states the bound). Not modelled: credits
/// on the wire, errors and replays, flows that are routed adaptively.
///
/// Time is in picoseconds and never goes back. A time that is too long for them (whole_time()) is an InputError.
class MessageEngine {
public:
    struct Config {
        std::string switching = "cut_through";  ///< or store_and_forward
        std::uint64_t chunk_bytes = 65536;
        unsigned buffer_chunks = 4;
        std::string rate = "copy";  ///< or kernel: LinkRate
    };
    struct Delivery {
        std::uint64_t time_ps, tag;
    };
    struct ChannelStats {
        std::uint64_t bytes = 0, busy_ps = 0, max_waiting = 0;
    };

    MessageEngine(std::shared_ptr<const sched::LinkTopology> topology, const Config& config);

    /// `bytes` > 0 from one device to another one, from `now` on, which is not before the last advance().
    void send(std::uint64_t now_ps, unsigned from, unsigned to, std::uint64_t bytes, std::uint64_t tag);
    bool idle() const { return events_.empty(); }
    std::uint64_t next_event() const { return events_.top().time; }
    /// All that happens until `time`, that included; deliveries() are those of this call.
    void advance(std::uint64_t time_ps);
    const std::vector<Delivery>& deliveries() const { return deliveries_; }

    const ChannelStats& channel(unsigned index) const { return channels_[index].stats; }
    /// Messages that have not arrived.
    std::uint64_t in_flight() const { return in_flight_; }
    /// Who waits for what, "" if nothing does: for messages about simulations that make no progress.
    std::string waiting() const;

private:
    enum class Kind : std::uint8_t { channel_free, room_free, chunk_ready, chunk_arrives };
    struct Event {
        std::uint64_t time, order;
        Kind kind;
        std::uint32_t index;  ///< of a channel, a channel and a layer, or a chunk
        bool operator<(const Event& o) const { return time != o.time ? time > o.time : order > o.order; }
    };
    struct Message {
        const sched::LinkTopology::Route* route;
        unsigned layer;
        std::uint64_t unsent, missing, tag;
    };
    struct Chunk {
        std::uint32_t message;
        std::uint64_t bytes = 0;  ///< 0: still in its source, cut when it gets the first channel
        unsigned hop = 0;         ///< of the route: the channel that it asks for or is on
        std::uint64_t tail_ps = 0;
    };
    struct Channel {
        double bytes_per_ps = 0;
        std::uint64_t latency_ps = 0, pass_ps = 0;  ///< pass: of the node behind it
        std::uint64_t free_ps = 0;
        std::deque<std::uint32_t> asking;  ///< chunks
        std::vector<unsigned> room;        ///< by layer, in the node behind it
        ChannelStats stats;
    };

    void schedule(std::uint64_t time, Kind kind, std::uint32_t index);
    std::uint32_t new_chunk(std::uint32_t message);
    void ask(std::uint64_t now, std::uint32_t chunk);
    void serve(std::uint64_t now, unsigned channel);
    void start(std::uint64_t now, unsigned channel, std::uint32_t chunk);
    void arrive(std::uint64_t now, std::uint32_t chunk);

    std::shared_ptr<const sched::LinkTopology> topology_;
    Config config_;
    bool cut_through_;
    std::vector<Channel> channels_;
    std::vector<Message> messages_;
    std::vector<Chunk> chunks_;
    std::vector<std::uint32_t> free_messages_, free_chunks_;
    std::priority_queue<Event> events_;
    std::vector<Delivery> deliveries_;
    std::uint64_t order_ = 0, in_flight_ = 0;
};

template <class V>
void describe(V& v, MessageEngine::Config& c) {
    v.choice("switching", c.switching, {"cut_through", "store_and_forward"}, "when a node passes on a chunk");
    v.field("chunk_bytes", c.chunk_bytes, 64, 1ull << 40, "by which messages share links");
    v.field("buffer_chunks", c.buffer_chunks, 1, 1024, "of an input of a switch, for each layer of routes");
    v.choice("rate", c.rate, {"copy", "kernel"}, "who moves the bytes: copy engines or kernels");
}

/// ns of one message in an idle network: the closed form, for store-and-forward with equal chunks or cut-through.
double idle_message_ns(const sched::LinkTopology& topology, const MessageEngine::Config& config, unsigned from,
                       unsigned to, std::uint64_t bytes);

}  // namespace switchyard::hw
