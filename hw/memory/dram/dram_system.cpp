// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/dram_system.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/bit_sets.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw::dram {

namespace {

constexpr std::uint32_t kNoRequest = ~0u;

}  // namespace

DramSystem::DramSystem(const Device& device, CommandSink* sink)
    : device_(device),
      mapping_(std::make_unique<AddressMapping>(device.policy.mapping, device.geometry)),
      free_(kNoRequest) {
    channels_.reserve(device.geometry.channels);
    for (unsigned i = 0; i < device.geometry.channels; ++i) channels_.emplace_back(device, *mapping_, i, sink);
}

void DramSystem::submit(std::uint64_t address, std::uint64_t bytes, bool write, Cycle arrival, std::uint64_t owner) {
    if (free_ == kNoRequest) {
        free_ = static_cast<std::uint32_t>(requests_.size());
        requests_.emplace_back().next_free = kNoRequest;
    }
    const std::uint32_t index = free_;
    Request& request = requests_[index];
    free_ = request.next_free;
    const std::uint64_t first = mapping_->burst_of(address), end = mapping_->burst_of(address + bytes - 1) + 1;
    request.owner = owner;
    request.bytes = bytes;
    request.order = submitted_++;
    request.arrival = arrival;
    request.last = 0;
    request.bursts = end - first;
    request.write = write;
    ++in_flight_;
    writes_in_flight_ += write ? 1 : 0;
    // Each channel gets the request with its first burst there.
    std::uint64_t seen = 0;
    const std::uint64_t all = low_bits(device_.geometry.channels);
    for (std::uint64_t burst = first; burst < end && seen != all; ++burst) {
        const unsigned channel = mapping_->channel_of(burst);
        if ((seen >> channel & 1) != 0) continue;
        seen |= bit(channel);
        channels_[channel].push(burst, end, write, arrival, index);
    }
}

void DramSystem::advance(Cycle until) {
    now_ = std::max(now_, until);
    for (ChannelController& channel : channels_) {
        channel.advance(until);
        for (const ChannelController::Done& done : channel.done()) {
            Request& request = requests_[done.tag];
            request.last = std::max(request.last, done.cycle);
            if (--request.bursts > 0) continue;
            ready_.push_back({request.last, request.order, done.tag});
            std::push_heap(ready_.begin(), ready_.end(), later);
        }
        channel.done().clear();
    }
}

bool DramSystem::pop(Cycle until, Completion& completion) {
    if (ready_.empty() || ready_.front().cycle >= until) return false;
    const std::uint32_t index = ready_.front().request;
    std::pop_heap(ready_.begin(), ready_.end(), later);
    ready_.pop_back();
    Request& request = requests_[index];
    completion = {request.last, request.arrival, request.owner, request.bytes, request.write};
    request.next_free = free_;
    free_ = index;
    --in_flight_;
    writes_in_flight_ -= request.write ? 1 : 0;
    return true;
}

Cycle DramSystem::lookahead(bool writes) const {
    const Timing& t = device_.timing;
    const Cycle read = t.tcl_cycles + t.burst_cycles;
    return writes ? std::min<Cycle>(read, t.write_data_cycles()) : read;
}

Cycle DramSystem::next_completion() const {
    const Cycle known = ready_.empty() ? kNever : ready_.front().cycle;
    std::uint64_t min = ~std::uint64_t{0};  // bursts of the waiting requests, the one with the fewest
    if (in_flight_ > ready_.size()) {
        min = 1;
        if (requests_.size() <= 64) {
            min = ~std::uint64_t{0};
            for (const Request& request : requests_)
                if (request.bursts > 0) min = std::min(min, request.bursts);
        }
    } else {
        return known;
    }
    const std::uint64_t buses = device_.geometry.pseudo_channels_in_all();
    const Cycle bound =
        now_ + (ceil_div(min, buses) - 1) * device_.timing.column_s_cycles() + lookahead(writes_in_flight_ > 0);
    return std::min(known, bound);
}

ChannelStats DramSystem::stats() const {
    ChannelStats sum;
    for (const ChannelController& channel : channels_) sum.add(channel.stats());
    return sum;
}

}  // namespace switchyard::hw::dram
