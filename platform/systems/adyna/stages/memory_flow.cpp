// SPDX-License-Identifier: Apache-2.0
// Timeline: transfers from and to memory: turns at the interfaces, packets on the links.

#include <algorithm>

#include "switchyard/platform/systems/adyna/stages/timeline.h"

namespace switchyard::platform {

void Timeline::move(Transfer& moved, double time, EventKind then, std::uint32_t index, std::uint32_t unit,
                    std::uint64_t displacement) {
    const Traffic& traffic = moved.traffic;
    const Traffic::MemoryUse& use = traffic.memory.front();
    const auto head = static_cast<double>(moved.head), tail = static_cast<double>(moved.tail);
    if (use.write) {
        ++moved.uses;
        const double arrival = time + head + tail;  // of the first packet
        const double carried = resources_.carry(traffic, time) + head;
        const Resources::Served written = resources_.serve(traffic, arrival, displacement);
        const double end = std::max(written.last, carried + (written.first - arrival));
        spend(moved, time, end, unit == 0);
        push(end + static_cast<double>(moved.back), then, index, unit);
        return;
    }
    const bool one_request = traffic.memory.size() == 1 && use.longest_bytes == use.bytes;
    if (one_request && use.moved_bytes > resources_.turn_bytes()) {
        give_turns(begin_flow(moved, time, then, index, unit), time);  // counted when all is there
        return;
    }
    ++moved.uses;
    const Resources::Served read = resources_.serve(traffic, time, displacement);
    const unsigned flow = begin_flow(moved, time, then, index, unit);
    flows_[flow].end = flows_[flow].sent = read.last;
    push(read.first, EventKind::data_ready, flow, 0);  // until then others have the links
}

void Timeline::spend(Transfer& moved, double begin, double end, bool first) {
    if (moved.alone_data < 0) {
        double data = 0, latency = 0;
        const double stretch = std::max(moved.stretch, moved.traffic.stretch);
        for (const Traffic::LinkUse& use : moved.traffic.links) data = std::max(data, use.cycles * stretch);
        for (const Traffic::MemoryUse& use : moved.traffic.memory) {
            const Resources::Served alone = resources_.alone(use);
            data = std::max(data, alone.last - alone.first);
            latency = std::max(latency, alone.first);
        }
        moved.alone_data = data;
        moved.alone_flight = latency + static_cast<double>(moved.head + moved.tail);
    }
    spent_.flights += moved.alone_flight;
    spent_.transfers += moved.alone_data;
    spent_.waits += std::max(0.0, end - begin - moved.alone_flight - moved.alone_data);
    if (first && moved.tiles.size() > 1) spent_.skew += moved.alone_data;
}

unsigned Timeline::begin_flow(Transfer& moved, double time, EventKind then, std::uint32_t index, std::uint32_t unit) {
    if (spare_flows_.empty()) {
        spare_flows_.push_back(static_cast<unsigned>(flows_.size()));
        flows_.emplace_back();
    }
    const unsigned flow = spare_flows_.back();
    spare_flows_.pop_back();
    flows_[flow] = {&moved, {0, 0, then, index, unit}, 0, 0, 0, time, time};
    return flow;
}

void Timeline::data_ready(unsigned flow, double time) {
    const Flow& moved = flows_[flow];
    const Transfer& transfer = *moved.transfer;
    const double last = moved.end + static_cast<double>(transfer.tail);
    end_flow(flow, std::max(resources_.carry(transfer.traffic, time), last));
}

void Timeline::give_turns(unsigned flow, double time) {
    Flow& moved = flows_[flow];
    const Traffic::MemoryUse& use = moved.transfer->traffic.memory.front();
    while (moved.given < use.moved_bytes && moved.given - moved.done < resources_.lookahead_bytes()) {
        const std::uint64_t turn = std::min(resources_.turn_bytes(), use.moved_bytes - moved.given);
        moved.given += turn;
        push(resources_.serve_turn(use.interface, turn, time), EventKind::turn_ready, flow, 0);
    }
}

void Timeline::turn_ready(unsigned flow, double time) {
    Flow& moved = flows_[flow];
    const Traffic& traffic = moved.transfer->traffic;
    const std::uint64_t all = traffic.memory.front().moved_bytes;
    const std::uint64_t turn = std::min(resources_.turn_bytes(), all - moved.done);
    moved.done += turn;
    moved.sent = time;
    const double share = static_cast<double>(turn) / static_cast<double>(all);
    moved.end = std::max(moved.end, resources_.carry_packet(traffic, time, share));
    if (moved.done < all) {
        give_turns(flow, time);
    } else {
        ++moved.transfer->uses;
        end_flow(flow, moved.end);
    }
}

void Timeline::end_flow(unsigned flow, double time) {
    const Flow& moved = flows_[flow];
    spend(*moved.transfer, moved.began, time + static_cast<double>(moved.transfer->head),
          moved.then.kind == EventKind::unit_ready && moved.then.unit == 0);
    if (moved.then.kind == EventKind::unit_ready) {
        edges_[moved.then.index].arrivals[moved.then.unit].sent = moved.sent;
    } else if (moved.then.kind == EventKind::weights_there) {
        slices_[moved.then.index].sent = std::max(slices_[moved.then.index].sent, moved.sent);
    }
    push(time + static_cast<double>(moved.transfer->head), moved.then.kind, moved.then.index, moved.then.unit);
    spare_flows_.push_back(flow);
}

}  // namespace switchyard::platform
