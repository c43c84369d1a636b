// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/memory_map.h"
#include "switchyard/sw_scheduler/adyna/compiler/tensor_layout.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::sched {

/// A tensor that lies in HBM: a model input, a model output, or what tiles of a later segment will read.
struct StoredTensor {
    enum class Kind { input, output, between_segments };
    Kind kind = Kind::between_segments;
    std::string name;
    int producer = 0;  ///< as Source::producer
    int switch_id = kNoSwitch;
    unsigned branch = 0;
    EdgeReduce reduce = EdgeReduce::none;
    std::uint16_t first_channel = 0;  ///< of the producer's result
    OperatorPlacement placement;      ///< op_id: behind the graph's operators; store: where it lies

    /// An edge that takes the whole tensor: shape, without the ends. A global pool has a row for each partial sum.
    Edge edge() const;
};

/// Finds the tensors that lie in HBM, cuts them into pieces and gives them their places. What is left of the regions is
/// the caller's.
class TensorMap {
public:
    TensorMap(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware);

    /// In the order of their op_ids; inputs first.
    const std::vector<StoredTensor>& tensors() const { return tensors_; }
    /// Of an operand, or nullptr if it comes from tiles of its own segment.
    const StoredTensor* find(int op, unsigned source_index) const;
    /// Pieces of a tensor that the host moves.
    ImageMeta::Tensor host_tensor(const StoredTensor& tensor) const;
    /// Room for the index lists of a tensor: 0 if it has none.
    std::uint64_t index_list_room(const StoredTensor& tensor) const;
    void place_index_lists(const StoredTensor& tensor, std::uint64_t address);
    /// First free byte of every interface's region.
    std::uint64_t end() const { return end_; }

private:
    /// Consumers that take the same samples and channels of a result share the bytes; an input lies there as a whole.
    /// Producer, switch, branch, then first channel and number of channels.
    using Key = std::tuple<int, int, unsigned, EdgeReduce, unsigned, unsigned>;
    static Key key_of(const Source& source);

    void add(const Source& source, StoredTensor::Kind kind);
    void add_access(int op, const Source& source);
    void cut(StoredTensor& tensor, const std::vector<TensorAccess>& accesses);
    bool crosses(int op, const Source& source) const;

    const Schedule& schedule_;
    const Workload& workload_;
    const HardwareDescription& hardware_;
    std::map<Key, std::size_t> index_;
    std::vector<StoredTensor> tensors_;
    std::vector<std::vector<TensorAccess>> accesses_;  ///< by tensor
    std::uint64_t end_ = 0;
    unsigned next_interface_ = 0;
};

}  // namespace switchyard::sched
