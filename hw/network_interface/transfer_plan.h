// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"

namespace switchyard::hw {

/// The sample sets that an edge's index list implies at its two ends.
struct EdgeSets {
    const SampleSet* source;       ///< at the producer: before the switch, if the edge passes one
    const SampleSet* edge;         ///< what takes the edge
    const SampleSet* destination;  ///< at the consumer: outside the switches that it closes
};
EdgeSets sets_of(const Edge& edge, const SampleIndexList& index_list);

/// What both ends' kernels depend on beside the sizes of the sets: the allocations of operators that share tiles
/// (OperatorPlacement::allocations), and the batch's samples where kernels are invoked once a batch, otherwise 0.
struct EdgeAllocations {
    unsigned source = 0, destination = 0;
    std::uint32_t source_batch = 0, destination_batch = 0;
};
/// Follows from the index list, so every tile finds the same.
EdgeAllocations allocations_of(const Edge& edge, const SampleIndexList& index_list, const OperatorPlacement& source,
                               const OperatorPlacement& destination);

/// Who sends what to whom for one micro-batch of one edge (Adyna section VI-C): both ends' best-fit kernels follow
/// from the sizes of the sample sets, their partitions say which box each tile produces or needs, and what goes from
/// one tile to another is the boxes' intersection, restricted to the samples that take the edge.
/// Every tile derives the same plan from the same index list, so nobody has to be told. A tensor in HBM at one end is
/// cut by sample ids, whatever set is in it.
class TransferPlan {
public:
    /// The set of an end in HBM is not looked at. Throws std::domain_error if no kernel of either end is large enough.
    TransferPlan(const Edge& edge, const OperatorPlacement& source, const OperatorPlacement& destination,
                 const SampleSet& source_set, const SampleSet& edge_set, const SampleSet& destination_set,
                 const EdgeAllocations& allocations = {});
    /// From what the edge's index list implies; the index list must outlive the plan.
    TransferPlan(const Edge& edge, const OperatorPlacement& source, const OperatorPlacement& destination,
                 const SampleIndexList& index_list);

    /// FP16 bytes that source rank sends to destination rank.
    std::uint64_t bytes(unsigned source_rank, unsigned destination_rank) const;
    /// Sum of the above over all source ranks.
    std::uint64_t expected_bytes(unsigned destination_rank) const;

    struct Group {
        std::vector<std::uint16_t> ranks;  ///< destinations that need the same bytes: one multicast packet
        std::uint64_t bytes = 0;
        std::uint32_t samples = 0;
    };
    /// What a source rank sends: groups with bytes > 0.
    std::vector<Group> groups_from(unsigned source_rank) const;
    /// What a rank makes or needs of the tensor. Samples: `count` positions from `first_position` on, in the order of
    /// the end's own set; of a tensor in HBM ids.
    struct Extent {
        std::uint32_t first_position = 0;
        std::uint32_t first_channel = 0, channels = 0;
        std::uint32_t first_row = 0, rows = 0;
        bool empty() const { return channels == 0 || rows == 0; }
    };
    Extent made(unsigned source_rank) const;
    Extent needed(unsigned destination_rank) const;
    /// What goes from one rank to the other. A partial sum is a row, numbered by the producer's parts over rows.
    TensorPart part(unsigned source_rank, unsigned destination_rank) const;
    /// A global pool straight from the producer's tiles.
    bool partial_sums() const { return partial_sums_; }
    /// Partial sums that a consumer gets for each channel.
    std::uint32_t parts() const;

    /// Source ranks from which a destination rank gets bytes, lowest first.
    std::vector<std::uint16_t> senders(unsigned destination_rank) const;
    /// Part of one piece of a tensor in HBM, in which sample, channel, row and column follow one another, columns
    /// closest: its bytes, as if they lay together from the first one on.
    struct Access {
        unsigned piece = 0;
        std::uint64_t offset = 0, bytes = 0;
    };
    /// Of a source in HBM: what a destination rank reads. Of a destination in HBM: what a source rank writes.
    std::vector<Access> reads(unsigned destination_rank) const;
    std::vector<Access> writes(unsigned source_rank) const;
    /// Samples of which a source rank holds the first channels and rows: summed over ranks, each sample counts once.
    std::uint32_t samples_sent(unsigned source_rank) const;
    /// The same, counted where they arrive.
    std::uint32_t samples_received(unsigned destination_rank) const;
    /// Ranks that need the same input as `destination_rank`, itself included, lowest first.
    std::vector<std::uint16_t> sharers(unsigned destination_rank) const;

private:
    TransferPlan(const Edge& edge, const OperatorPlacement& source, const OperatorPlacement& destination,
                 const EdgeSets& sets, const EdgeAllocations& allocations)
        : TransferPlan(edge, source, destination, *sets.source, *sets.edge, *sets.destination, allocations) {}

    struct Range {
        std::uint32_t first = 0, last = 0;
        std::uint32_t size() const { return last > first ? last - first : 0; }
    };
    struct Needs {
        std::uint32_t n = 0;  ///< block of samples
        Range channels, rows;
        bool none = true;
    };
    Needs needs_of(unsigned destination_rank) const;
    Needs makes_of(unsigned source_rank) const;
    std::uint64_t bytes(const Needs& made, const Needs& needed) const;
    Access access(unsigned piece, const Needs& lies, const Needs& wanted, std::uint32_t first_id) const;
    std::uint32_t samples_for(std::uint32_t destination_block) const;
    /// The blocks of an end are ranges of ids. By block: the index in the edge's set of its first sample; then the
    /// number of all samples.
    using Begins = boost::container::small_vector<std::ptrdiff_t, 16>;
    /// `set`: of the end; null where the ids themselves are the positions.
    Begins begins_of(const Partition& cut, const SampleSet* set) const;
    /// Indices in the edge's set, `last` not included, of the samples in a block of each end.
    struct Places {
        std::ptrdiff_t first, last;
    };
    Places places(std::uint32_t source_block, std::uint32_t destination_block) const;
    std::uint32_t samples(std::uint32_t source_block, std::uint32_t destination_block) const {
        const Places taken = places(source_block, destination_block);
        return static_cast<std::uint32_t>(taken.last - taken.first);
    }
    /// The smallest id of a sample in both blocks, which must have one.
    std::uint32_t first_sample(std::uint32_t source_block, std::uint32_t destination_block) const {
        return edge_set_[static_cast<std::size_t>(places(source_block, destination_block).first)];
    }

    const Edge& edge_;
    const SampleSet& edge_set_;
    const OperatorPlacement& src_;
    const OperatorPlacement& dst_;
    Partition source_{}, destination_{};
    std::uint32_t source_size_, destination_size_;
    bool partial_sums_ = false;  ///< of a global pool, straight from the producer's tiles
    bool whole_ = false;         ///< consumer needs every channel and row (flattened)
    Begins source_begins_, destination_begins_;
};

}  // namespace switchyard::hw
