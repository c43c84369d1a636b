// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/kernel.h"
#include "switchyard/sw_scheduler/adyna/image/partition.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/sw_scheduler/adyna/image/segment_order.h"

namespace switchyard {

/// How a tensor lies in HBM. It is cut into pieces by sample ids and rows, whoever writes or reads it; one piece after
/// another lies on one memory interface after another, so that any few samples are spread over many of them.
struct TensorStore {
    std::uint64_t offset = 0;           ///< of the first pieces, in the region of each interface
    std::uint32_t piece_stride = 0;     ///< bytes from a piece to the next one of the same interface
    std::uint64_t bank_stride = 0;      ///< batch b adds (b % 2) * bank_stride: the host fills one bank while the chip
                                        ///< reads the other
    std::uint16_t first_interface = 0;  ///< piece i lies on interface (first_interface + i) % interfaces
    std::uint16_t interfaces = 1;
    /// What reached the tensor, as its producer says: serialised SampleIndexLists, one after another, one a micro-batch
    /// of index_list_samples ids. index_list_bytes 0: every sample is there.
    std::uint64_t index_list_address = 0;
    std::uint32_t index_list_bytes = 0, index_list_samples = 0;

    /// Of piece `rank`; region_bytes: HBM address / region_bytes = memory interface.
    std::uint64_t address(std::uint32_t rank, std::uint32_t batch, std::uint64_t region_bytes) const {
        return (std::uint64_t{first_interface} + rank) % interfaces * region_bytes + offset +
               std::uint64_t{rank} / interfaces * piece_stride + batch % 2 * bank_stride;
    }
};

/// What micro-batches of up to `dyn_dim` samples take, in cycles.
struct UnitCycles {
    std::uint16_t dyn_dim = 0;
    std::uint32_t cycles = 0;
};

/// One way to give an operator tiles that it shares with an operator on its partner, another branch of the same switch
/// (Adyna section V-B, tile sharing): its kernels, and what units take on both branches when their operators have this
/// allocation. The tiles are those of the ranks that the kernels use.
struct TileAllocation {
    std::uint16_t first_partition = 0;     ///< of its kernels; the next allocation's follow
    std::vector<UnitCycles> own, partner;  ///< the slowest operator of each branch, strictly increasing dyn_dim;
                                           ///< larger units have no kernel in this allocation
};

/// Where an operator runs and how its kernels spread over its tiles: what a neighbour must know to send to it
/// (section VI-A: "each tile is also made aware of the information of its succeeding operators").
/// A tensor in HBM has one too: its ranks are its pieces, the positions in its only partition are sample ids.
struct OperatorPlacement {
    std::uint16_t op_id = 0;
    std::uint16_t segment = 0;  ///< kNone: a tensor in HBM
    OperatorShape shape;
    std::uint16_t k_factor = 1;
    std::uint16_t units = 1;            ///< micro-batches a batch: ceil(batch / unit_samples)
    std::uint32_t unit_samples = 1;     ///< the samples at [u * unit_samples, (u+1) * unit_samples) make up unit u
    std::vector<std::uint16_t> tiles;   ///< of each rank; none for a tensor in HBM
    std::vector<Partition> partitions;  ///< one a kernel, sorted by dyn_dim; one allocation after another
    TensorStore store;                  ///< of a tensor in HBM
    std::vector<TileAllocation> allocations;  ///< empty: one, of all kernels

    bool in_memory() const { return segment == kNone; }
    /// The allocation in which both branches have finished soonest a unit of which `own` samples are here and `partner`
    /// on the other branch; of several the one with the least work, then the first. Operators on both branches find the
    /// same. 0 if there is only one.
    unsigned allocation_for(std::uint32_t own, std::uint32_t partner) const;
    /// The same of a unit with this index list.
    unsigned allocation_for(const SampleIndexList& index_list) const;
    /// First partition of an allocation, and one beyond its last.
    std::size_t first_partition(unsigned allocation) const {
        return allocations.empty() ? 0 : allocations[allocation].first_partition;
    }
    std::size_t last_partition(unsigned allocation) const {
        return allocation + 1 < allocations.size() ? allocations[allocation + 1].first_partition : partitions.size();
    }
    /// Index of the best-fit kernel of an allocation, or -1 (switchyard::best_fit).
    int best_fit(unsigned allocation, std::uint32_t dyn_dim) const;
    /// The same for the invocation to which a unit with this index list belongs.
    int best_fit(const SampleIndexList& index_list) const {
        return best_fit(allocation_for(index_list), index_list.invocation_samples());
    }
    /// How a kernel spreads one unit over the tiles: that of a kernel for several units is the same for each of them.
    Partition unit_partition(std::size_t kernel) const;
    /// Kernels are invoked once a batch and walk its units; otherwise once for each unit.
    bool invoked_by_batch() const { return units_of_invocation() > 1; }
    /// Units of a batch where kernels are invoked once a batch, else 1. There may be more units than a batch has: of
    /// several batches, one after another.
    unsigned units_of_invocation() const {
        if (in_memory() || partitions.empty()) return 1;
        return std::max(1U, partitions[last_partition(0) - 1].dyn_dim / unit_samples);
    }
};

/// The part of a tensor in HBM that lies in one of its pieces, and its bytes.
Box piece_box(const OperatorPlacement& tensor, std::uint32_t piece);
std::uint64_t piece_bytes(const OperatorPlacement& tensor, std::uint32_t piece);

enum class EdgePath : std::uint8_t {
    on_chip,  ///< producer tiles send to consumer tiles, both in one segment
    memory,   ///< between tiles and a tensor in HBM: one edge for its producer, one for each consumer
    mask,     ///< gate tiles send routing masks to the tiles into which the switch is fused
    weights,  ///< HBM to the scratchpads of one operator, once a segment activation
    labels    ///< gate tiles send labels to the tiles of the next gate of a chain with patience (GateRule::patience)
};

/// What gates send: no tensor, no slots at the consumer.
inline bool carries_decisions(EdgePath path) {
    return path == EdgePath::mask || path == EdgePath::labels;
}

/// One tensor on its way from one operator to one other, or to or from HBM.
struct Edge {
    std::uint16_t id = 0;
    std::uint16_t src_op = kNone;  ///< operator or tensor; kNone for weights
    std::uint16_t dst_op = kNone;
    EdgePath path = EdgePath::on_chip;
    EdgeReduce reduce = EdgeReduce::none;
    OperandRole role = OperandRole::input;
    std::uint16_t switch_id = kNone;  ///< samples pass a switch on this edge
    std::uint16_t branch = 0;         ///< ... and this is the mask bit that lets them through
    std::uint16_t partner = kNone;    ///< ... and this the branch with which `branch` shares tiles
    std::uint8_t pops = 0;            ///< switches closed at the consumer (merge): index lists to pop
    /// What is taken of one sample, before `reduce`: `channels` of the source's from `first_channel` on. Of a globally
    /// pooled tensor in HBM one row for each partial sum, one column.
    std::uint16_t first_channel = 0, channels = 1, rows = 1, columns = 1;
    std::uint8_t element_bytes = kElementBytes;  ///< of the source's elements
    /// Destination's input slots: `slots` micro-batches of `slot_bytes` each from `slot_offset` on.
    std::uint16_t slots = 2;
    std::uint32_t slot_offset = 0, slot_bytes = 0;
    std::vector<std::uint64_t> slice_addresses;  ///< weights: of each slice, one an ik (k_factor of them)
    std::uint32_t weight_bytes = 0;              ///< weights: bytes of one slice
    bool resident = false;  ///< weights: nothing else ever uses their region, on any tile: loaded once
};

/// What one tile does of one operator in one segment.
struct TileOperator {
    std::uint16_t op_id = 0;
    std::uint16_t segment = 0;
    std::uint16_t rank = 0;
    std::uint16_t kernel_first = 0, kernel_count = 0;  ///< in the tile's kernel store, sorted by dyn_dim
    std::uint16_t out_slots = 2;
    std::uint32_t out_offset = 0, out_slot_bytes = 0;  ///< output slots in the scratchpad
    std::uint16_t gate_switch = kNone;                 ///< this operator computes that switch's routing mask
    std::uint16_t gate_branches = 0;
    GateRule gate_rule = GateRule::threshold;
    std::uint32_t gate_threshold = 0;  ///< of a logit, bits of a binary32
    std::uint16_t gate_patience = 0;   ///< GateRule::patience
    std::uint16_t previous_switch =
        kNone;  ///< GateRule::patience: whose gate sends labels; kNone: the first of a chain
    /// In an output slot, of the values that a gate (its logits) or a step across channels keeps: binary32, in the
    /// layout of the output.
    std::uint32_t kept_offset = 0;
    std::uint64_t mask_address = 0;      ///< trace-driven: HBM address of the recorded masks, one u64 a sample id
    std::uint64_t mask_bank_stride = 0;  ///< as TensorStore::bank_stride
    std::vector<EpilogueStep> epilogue;
    std::uint16_t position_tokens = 0;  ///< EpilogueStep::position: tokens of an input, all rows of its samples
    PoolKind pool = PoolKind::maximum;
    std::vector<std::uint16_t> in_edges, out_edges;  ///< edge ids
};

/// All that one tile is told. Operators are sorted by segment.
struct TileProgram {
    std::uint16_t tile = 0;
    std::vector<TileOperator> operators;
    std::vector<SegmentOrder> orders;           ///< of its segments that are compacted, sorted by segment
    std::vector<OperatorPlacement> placements;  ///< its own operators and their neighbours, sorted by op_id
    std::vector<Edge> edges;                    ///< every edge that begins or ends here, sorted by id
    std::vector<Kernel> kernels;

    const OperatorPlacement& placement(std::uint16_t op_id) const;  ///< throws std::out_of_range
    const Edge& edge(std::uint16_t id) const;                       ///< throws std::out_of_range
    const SegmentOrder* order(std::uint16_t segment) const;         ///< null: by sample id
};

/// What the chip's sequencer needs: who takes part in each segment.
struct SegmentInfo {
    std::uint16_t units = 1;
    std::uint32_t unit_samples = 1;
    std::vector<std::uint16_t> tiles;
};

struct ChipProgram {
    std::uint32_t batch_samples = 1;
    std::vector<SegmentInfo> segments;
};

/// Little-endian, length-prefixed records; layout in docs/image_format.md.
std::vector<std::uint8_t> encode(const TileProgram& program);
std::vector<std::uint8_t> encode(const ChipProgram& program);
/// Throw InputError with the byte offset if the record is malformed or has bytes left over.
TileProgram decode_tile_program(const std::uint8_t* bytes, std::size_t size);
ChipProgram decode_chip_program(const std::uint8_t* bytes, std::size_t size);

}  // namespace switchyard
