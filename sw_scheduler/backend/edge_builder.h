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
    /// What HBM holds of one operator's result: consumers that take the same samples of it share the bytes.
    struct Stored {
        std::vector<std::uint64_t> base;
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

    const Schedule& schedule_;
    const Workload& workload_;
    const HardwareDescription& hardware_;
    HbmAllocator memory_;
    std::vector<ScratchpadRegions> regions_;
    std::map<StoredKey, Stored> stored_;
};

/// Op id in the image of a Source::producer; inputs (negative) come after the graph's operators.
std::uint16_t image_op_id(const DynGraph& graph, int producer);

}  // namespace switchyard::sched
