#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "switchyard/sw_scheduler/backend/memory_map.h"
#include "switchyard/sw_scheduler/formats/image.h"

namespace switchyard::sched {

/// Makes the edges of a schedule and gives them their places in scratchpads and HBM.
class EdgeBuilder {
public:
    EdgeBuilder(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware);

    std::vector<Edge> edges;                ///< index = id
    std::vector<OperatorPlacement> inputs;  ///< the model's input tensors, as the host places them
    std::vector<ImageMeta::Tensor> tensors;
    struct MaskStore {
        std::uint64_t address = 0, bank_stride = 0;
    };
    std::vector<MaskStore> masks;  ///< recorded masks, index = switch id
    const std::vector<ScratchpadRegions>& regions() const { return regions_; }

private:
    /// Pieces in HBM, one a rank or a slice: numbers first .. first+count-1 of blocks_.
    struct Blocks {
        std::size_t first = 0, count = 0;
    };
    struct Block {
        std::uint64_t bytes = 0;
        PieceTraffic traffic;
    };
    /// Addresses in a tensor that the host knows: unit after unit of each block.
    struct TensorUnits {
        Blocks blocks;
        std::uint32_t units = 1, stride = 0, offset = 0;
    };
    /// What HBM holds of one operator's result: consumers that take the same samples of it share the bytes.
    struct Stored {
        Blocks blocks;
        std::uint32_t unit_stride = 0;
    };
    using StoredKey = std::tuple<int, int, unsigned, EdgeReduce>;  ///< producer, switch, branch

    struct InputTensor {
        TensorShape shape;
        std::uint32_t unit_samples;  ///< the smallest of its consumers'
    };

    void add_input(int producer, const InputTensor& input);
    void add_operand(int op, unsigned source_index);
    void add_mask(int switch_id);
    void add_weights(int op);
    void add_output(int op);
    Edge& new_edge();
    /// Bytes of a producer's piece of one hand-over unit, without its frame; the largest over ranks and kernels.
    std::uint32_t piece_bytes(int op, EdgeReduce reduce) const;
    std::uint32_t frame_bytes(int producer, bool through_switch) const;
    /// One block of `bytes` for each tile, without traffic yet.
    Blocks add_blocks(const std::vector<std::uint16_t>& tiles, std::uint64_t bytes);
    /// `bytes` a batch, shared evenly by the first `active` of the blocks.
    void add_traffic(const Blocks& blocks, std::size_t active, std::uint16_t segment, double bytes);
    std::size_t active_tiles(int op) const;
    /// Bytes of an operand that its tiles read from HBM in a batch.
    double read_bytes(int op, unsigned source_index) const;
    /// Chooses the interfaces and fills in the addresses.
    void place_blocks();

    const Schedule& schedule_;
    const Workload& workload_;
    const HardwareDescription& hardware_;
    std::vector<ScratchpadRegions> regions_;
    std::vector<Block> blocks_;
    std::vector<Blocks> edge_blocks_;         ///< by edge id: Edge::memory_base
    std::vector<TensorUnits> tensor_blocks_;  ///< by tensor: its addresses
    std::vector<Blocks> mask_blocks_;         ///< by switch id
    std::map<StoredKey, Stored> stored_;
};

/// Op id in the image of a Source::producer; inputs (negative) come after the graph's operators.
std::uint16_t image_op_id(const DynGraph& graph, int producer);

}  // namespace switchyard::sched
