// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace switchyard {

/// Ids of the samples that reach an operator in one micro-batch: sorted, unique. A static operator sees the whole
/// unit. Immutable once shared, so packets and tiles can point to the same set.
class SampleSet {
public:
    SampleSet() = default;
    /// Throws std::invalid_argument unless `ids` is strictly increasing.
    explicit SampleSet(std::vector<std::uint32_t> ids);
    /// first, first+1, ..., last-1.
    static SampleSet range(std::uint32_t first, std::uint32_t last);

    std::size_t size() const { return ids_.size(); }
    bool empty() const { return ids_.empty(); }
    std::uint32_t operator[](std::size_t index) const { return ids_[index]; }
    const std::vector<std::uint32_t>& ids() const { return ids_; }
    bool contains(std::uint32_t id) const;
    /// Number of members smaller than `id`: the row that `id` has, or would have, in a tensor of this set.
    std::size_t index_of(std::uint32_t id) const;
    SampleSet united(const SampleSet& other) const;
    bool operator==(const SampleSet& other) const { return ids_ == other.ids_; }

private:
    std::vector<std::uint32_t> ids_;
};

/// The samples at an operator together with the sets around it, one a switch between here and the model's input.
/// A merge pops index lists: what it puts together is indexed by an outer set.
struct SampleIndexList {
    SampleSet samples;
    std::shared_ptr<const SampleIndexList> outer;  ///< before the innermost switch; null outside every switch
    SampleSet partner{};  ///< on a branch that shares tiles with another one: the samples that take that one
    /// Where kernels are invoked once a batch: how many of the batch `samples` and `partner` are from, the dyn_dim that
    /// the first packet brings (Adyna section VI-B). 0: none, or kernels are invoked for each micro-batch.
    std::uint32_t batch_samples = 0, batch_partner = 0;
    /// Where operators pack their own samples (SegmentOrder::packs): this level for the whole batch, from which every
    /// operator's units follow; null elsewhere.
    std::shared_ptr<const SampleIndexList> whole = nullptr;

    /// By which the kernel is selected.
    std::uint32_t invocation_samples() const {
        return batch_samples > 0 ? batch_samples : static_cast<std::uint32_t>(samples.size());
    }
    std::uint32_t invocation_partner() const {
        return batch_partner > 0 ? batch_partner : static_cast<std::uint32_t>(partner.size());
    }
};
using SampleIndexListPtr = std::shared_ptr<const SampleIndexList>;

/// The samples of all sources of a merge in one ascending list, and which sources bring each.
struct MergedSamples {
    std::vector<std::uint32_t> ids;
    std::vector<std::vector<bool>> from;  ///< by source, for each of `ids`
};

/// The index list `levels` switches further out. Throws std::out_of_range if there are fewer.
const SampleIndexList& popped(const SampleIndexList& index_list, unsigned levels);

/// Index lists are stored beside tensors in HBM: little-endian u32 depth, then for each index list, innermost first,
/// u32 count and count u32 ids. If an index list has a partner, bit 31 of depth is set and each index list's partner
/// follows its samples.
std::vector<std::uint8_t> serialise(const SampleIndexList& index_list);
/// Throws InputError on a malformed record. Bytes behind the record are ignored: the room for it may be larger.
SampleIndexListPtr deserialise_index_list(const std::uint8_t* bytes, std::size_t size);

}  // namespace switchyard
