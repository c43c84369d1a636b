// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/tensor_map.h"

namespace switchyard::sched {

/// Makes the edges of a schedule and gives them their places in scratchpads and HBM.
class EdgeBuilder {
public:
    EdgeBuilder(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware);

    std::vector<Edge> edges;                      ///< index = id
    std::vector<ImageMeta::Tensor> host_tensors;  ///< what the host moves
    struct MaskStore {
        std::uint64_t address = 0, bank_stride = 0;
    };
    std::vector<MaskStore> masks;  ///< recorded masks, index = switch id
    const std::vector<StoredTensor>& tensors() const { return tensors_.tensors(); }
    const std::vector<ScratchpadRegions>& regions() const { return regions_; }

private:
    /// Bytes that lie together on one interface, and who uses them.
    struct Block {
        std::uint64_t bytes = 0;
        PieceTraffic traffic;
    };

    void add_stores();
    void add_operand(int op, unsigned source_index);
    void add_mask(int switch_id);
    /// From the gate before, if its labels count.
    void add_labels(const Switch& one);
    void add_weights(int op);
    Edge& new_edge();
    /// Returns the block's number.
    std::size_t add_block(std::uint16_t tile, std::uint64_t bytes, std::uint16_t segment);
    /// Chooses the interfaces of the blocks and fills in the addresses.
    void place_blocks();

    const Schedule& schedule_;
    const Workload& workload_;
    const HardwareDescription& hardware_;
    std::vector<ScratchpadRegions> regions_;
    TensorMap tensors_;
    std::vector<Block> blocks_;
    /// Weights: edge id, number of the host tensor, and the first of the k_factor blocks.
    struct WeightBlocks {
        std::size_t edge, host_tensor, first;
    };
    std::vector<WeightBlocks> weight_blocks_;
    std::vector<std::size_t> mask_blocks_;        ///< by switch id
    std::vector<std::size_t> index_list_blocks_;  ///< of the tensors that have index lists, in order
};

}  // namespace switchyard::sched
