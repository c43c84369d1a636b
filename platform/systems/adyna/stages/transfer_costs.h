// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <boost/functional/hash.hpp>
#include <boost/unordered_map.hpp>

#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/network_interface/transfer_plan.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/network_meter.h"
#include "switchyard/platform/systems/adyna/stages/program_map.h"
#include "switchyard/platform/systems/adyna/stages/traffic.h"

namespace switchyard::platform {

/// How many samples of a micro-batch are at each end of an edge and on it, and what else both ends' kernels depend on.
struct EdgeCounts {
    std::uint32_t source = 0, edge = 0, destination = 0;
    hw::EdgeAllocations allocations;
    Positions ids{};  ///< SampleCounts::ids of the unit; of memory edges
};

/// What one unit of a producer has for one unit of a consumer that packs its samples. `first` and `last` sample that go
/// from one to the other, as numbers within each of the two units.
struct PartOfUnits {
    EdgeCounts counts;
    std::uint32_t source_first = 0, source_last = 0, destination_first = 0, destination_last = 0;
    bool granted = false;  ///< with the acknowledges of the consumer's unit, which come once for all of its parts
};

/// One micro-batch of an edge, all of its packets together. Times in cycles, on an idle network, means over tiles.
struct Transfer {
    /// On the chip: from the output being complete until the data's heads arrive (probe, acknowledge, head). From HBM:
    /// from a free slot until every tile knows the samples.
    std::uint64_t announce = 0;
    /// On the chip: from a slot that becomes free until the heads arrive (acknowledge, head). From HBM: from there to
    /// the requests' arrival at the memory interfaces. To HBM: set-up.
    std::uint64_t grant = 0;
    std::uint64_t head = 0;  ///< of the data
    std::uint64_t tail = 0;  ///< from or to HBM: of the longest packet
    std::uint64_t back = 0;  ///< to HBM: of the answer
    bool empty = true;       ///< no tensor data
    /// On the chip: the time that it takes, alone on the network, over that of its busiest link.
    double stretch = 1;
    std::vector<std::uint16_t> probe_links;  ///< on the chip: that the probe crosses
    Traffic traffic;
    hw::NetworkInterface::Stats interfaces;  ///< summed over the tiles
    struct TileUse {
        Endpoint tile = 0;
        std::uint64_t read_bytes = 0, write_bytes = 0;  ///< of its scratchpad
    };
    std::vector<TileUse> tiles;
    std::uint64_t uses = 0;  ///< since the counters were last brought up to date
    /// Of its data on links and memory interfaces, and of heads and latencies, if nothing else were on its way; < 0:
    /// not known yet.
    double alone_data = -1, alone_flight = 0;
};

/// Derives transfers from the plan that the tiles' network interfaces derive for themselves (hw::TransferPlan), and
/// remembers them. The samples that take part are taken to be evenly spread over the unit.
class TransferCosts {
public:
    TransferCosts(const PlatformConfig& platform, const ProgramMap& map, NetworkMeter& network);

    /// Of an on_chip or memory edge.
    Transfer& tensor(std::uint16_t edge, const EdgeCounts& counts);
    /// Of a memory edge: how far the pieces of a unit with these ids lie behind those for which tensor() has made its
    /// transfer. Bytes of each interface.
    std::uint64_t displacement(std::uint16_t edge, const Positions& ids) const;
    /// Of a memory edge: how many consecutive ids share a piece of the tensor.
    static std::uint32_t block_of(const EdgeEnds& ends);
    /// Of an on_chip edge of operators that pack their samples: the probe for a batch, and one part of its data.
    Transfer& packed_probe(std::uint16_t edge);
    Transfer& part(std::uint16_t edge, const PartOfUnits& part);
    /// One slice of a weights edge, for those of its tiles that read together.
    Transfer& weights(std::uint16_t edge, unsigned slice, unsigned reader);
    /// How many reads bring a slice to all of its tiles.
    unsigned weight_readers(std::uint16_t edge, unsigned slice) const;
    /// Routing masks of `samples` samples from a gate, in this allocation, to the tiles of the switch. `batch`: as
    /// EdgeAllocations.
    Transfer& masks(std::uint16_t edge, std::uint32_t samples, unsigned allocation, std::uint32_t batch);
    /// A gate's recorded masks, from HBM: of a unit, or of `samples` samples.
    Transfer& recorded_masks(const Stage& gate, std::uint32_t samples);
    /// What rank 0 of the consumer must know before it can load from a tensor in HBM: its sample-index lists, and the
    /// masks by which the segment is sorted. Empty: nothing.
    Transfer& index_lists(std::uint16_t edge);

    TrafficBuilder& traffic() { return traffic_; }
    /// In the order in which they were first asked for: sums of counters depend on it.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (Transfer* const transfer : in_order_) visit(*transfer);
    }

private:
    /// Tiles of a stage do not wait for each other, so what counts is the mean over their routes, not the longest one.
    class Mean {
    public:
        void add(std::uint64_t cycles) {
            sum_ += cycles;
            ++count_;
        }
        /// Rounded; 0 of nothing.
        std::uint64_t value() const { return count_ == 0 ? 0 : (sum_ + count_ / 2) / count_; }

    private:
        std::uint64_t sum_ = 0, count_ = 0;
    };
    struct Flights {
        Mean announce, acknowledge, request, head, back;
    };
    using Key = std::array<std::uint32_t, 8>;  ///< kind, edge or operator, phase, counts, what else kernels depend on

    /// Pieces of a tensor in HBM go round the interfaces.
    struct Round {
        std::uint32_t samples = 0;
        std::uint64_t bytes = 0;  ///< of each interface
    };
    static Round round_of(const EdgeEnds& ends);
    /// The operator whose results a memory edge stores or loads.
    static const OperatorPlacement& tensor_of(const EdgeEnds& ends);

    /// Its data packets.
    std::vector<NetworkMeter::Packet> on_chip(Transfer& transfer, const EdgeEnds& ends, const EdgeCounts& counts);
    /// Of one plan; `probed`: when each receiver knows what comes, from the begin.
    std::vector<NetworkMeter::Packet> data(Transfer& transfer, const EdgeEnds& ends, const hw::TransferPlan& plan,
                                           const std::vector<std::uint64_t>& probed, bool acknowledges);
    void probe(Transfer& transfer, const EdgeEnds& ends);
    /// Measured for the first of the units with about as many samples.
    double stretch(std::uint16_t edge, const EdgeCounts& counts, const Transfer& transfer,
                   std::vector<NetworkMeter::Packet> packets);
    /// `at`: where the unit lies in the tensor.
    void load(Transfer& transfer, const EdgeEnds& ends, const Positions& at, const EdgeCounts& counts);
    void store(Transfer& transfer, const EdgeEnds& ends, const Positions& at, const EdgeCounts& counts);
    /// Rank 0 of the consumer knows the samples of a unit and tells the others.
    bool tells_samples(const EdgeEnds& ends) const;
    /// Those of `tiles` with the ranks `readers`, the first of which is told that the others may read along.
    std::vector<Endpoint> read_along(Transfer& transfer, const std::vector<std::uint16_t>& tiles,
                                     const std::vector<std::uint16_t>& readers);
    /// Memory reads `bytes` at `address` for `reader`, who asks, and all in `receivers`.
    void read(Transfer& transfer, Endpoint reader, const std::vector<Endpoint>& receivers, std::uint64_t address,
              std::uint64_t bytes, bool in_scratchpad = true);
    void write(Transfer& transfer, Endpoint writer, std::uint64_t address, std::uint64_t bytes, bool from_scratchpad);
    void finish(Transfer& transfer);
    /// The transfer of a key, and whether it is new.
    std::pair<Transfer*, bool> entry(const Key& key);
    Endpoint memory_of(std::uint64_t address) const { return memory_[traffic_.interface_of(address)]; }

    const PlatformConfig& platform_;
    const ProgramMap& map_;
    NetworkMeter& network_;
    TrafficBuilder traffic_;
    std::vector<Endpoint> memory_;  ///< by interface
    std::uint64_t setup_cycles_;
    bool multicast_reads_;
    boost::unordered_map<Key, Transfer> known_;
    std::vector<Transfer*> in_order_;                           ///< of known_
    std::map<std::array<std::uint32_t, 4>, double> stretches_;  ///< by edge, magnitude of the samples, allocations
    // Of the transfer that is being put together.
    std::map<Endpoint, Transfer::TileUse> tiles_;
    Flights flights_;
    std::uint64_t tail_ = 0;
};

}  // namespace switchyard::platform
