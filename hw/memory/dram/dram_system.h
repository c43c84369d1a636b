// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/hw/memory/dram/channel_controller.h"
#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

/// A whole memory without SystemC: the channels of a device behind an address mapping. Requests of any size are cut
/// into bursts; one is complete when the data of its last burst have been moved.
///
/// The owner moves time on: advance(until) issues every command before `until`. As a burst's data follow its command
/// after the column latency, completions are known by lookahead() cycles ahead of time.
class DramSystem {
public:
    struct Completion {
        Cycle cycle = 0;
        Cycle arrival = 0;
        std::uint64_t owner = 0;  ///< as given to submit()
        std::uint64_t bytes = 0;
        bool write = false;
    };

    /// The sink, if any, sees every command.
    explicit DramSystem(const Device& device, CommandSink* sink = nullptr);

    /// A request that comes at `arrival`: not before what has been submitted or advanced to. Addresses beyond the
    /// device wrap around. `bytes` > 0.
    void submit(std::uint64_t address, std::uint64_t bytes, bool write, Cycle arrival, std::uint64_t owner);
    void advance(Cycle until);
    /// Moves the earliest known completion into `completion` if it lies before `until`; in order of time, then of
    /// submission.
    bool pop(Cycle until, Completion& completion);
    /// The earliest cycle at which something may complete that has been submitted: exact if it is known already,
    /// otherwise a bound. kNever if nothing is in flight.
    Cycle next_completion() const;
    /// No request that is not yet known to be complete is complete within N cycles of the time that was advanced to;
    /// with `writes` false, if none of them writes.
    Cycle lookahead(bool writes) const;

    std::uint64_t in_flight() const { return in_flight_; }
    Cycle now() const { return now_; }
    const Device& device() const { return device_; }
    const AddressMapping& mapping() const { return *mapping_; }
    ChannelStats stats() const;
    const ChannelController& channel(unsigned index) const { return channels_[index]; }

private:
    struct Request {
        std::uint64_t owner = 0, bytes = 0, order = 0;
        Cycle arrival = 0, last = 0;
        std::uint64_t bursts = 0;  ///< not yet issued
        bool write = false;
        std::uint32_t next_free = 0;
    };
    struct Ready {
        Cycle cycle;
        std::uint64_t order;
        std::uint32_t request;
    };
    static bool later(const Ready& a, const Ready& b) {
        return a.cycle != b.cycle ? a.cycle > b.cycle : a.order > b.order;
    }

    Device device_;
    std::unique_ptr<const AddressMapping> mapping_;  ///< the channels look at it
    std::vector<ChannelController> channels_;
    std::vector<Request> requests_;
    std::uint32_t free_;
    std::vector<Ready> ready_;  ///< a heap
    Cycle now_ = 0;
    std::uint64_t submitted_ = 0, in_flight_ = 0, writes_in_flight_ = 0;
};

}  // namespace switchyard::hw::dram
