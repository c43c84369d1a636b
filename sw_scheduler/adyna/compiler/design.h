// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <initializer_list>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::sched {

/// What a design may do beyond running one operator of a static network after another (sections: Adyna).
enum class Mechanism : std::size_t {
    frequency_weighting,  ///< loads from expected dyn_dims (V-A); otherwise from the largest
    multi_kernel,         ///< kernels for several dyn_dims (VI-B); otherwise one, for the largest
    resampling,           ///< may have kernels for the dyn_dims of a profile (VII)
    every_kernel,         ///< a kernel for each dyn_dim, however many a tile can hold (VIII, full-kernel)
    pipelining,           ///< operators of a segment work side by side (II-B); otherwise one after another, through HBM
    grouping,             ///< rare branches may share tiles (V-B)
    sharing,              ///< two branches may share tiles, as the sizes of each unit demand (V-B)
    compaction,           ///< samples may be sorted by routes that are known
    routing,              ///< the hardware switches and merges; otherwise every sample takes every branch
    batch_invocation,     ///< Invocation::batch
    packing,              ///< SampleRouting::on_chip
    count
};

/// What one invocation of a kernel takes, by whose samples the kernel is selected.
enum class Invocation {
    micro_batch,  ///< the micro-batch: known as soon as it has come
    batch         ///< the batch (Adyna sections V-B, VI-B), micro-batch by micro-batch (Level::unit)
};
inline const std::vector<std::string> kInvocations{"micro_batch", "batch"};  ///< by Invocation
/// Throws InputError that lists the known ones.
Invocation parse_invocation(const std::string& name);

/// Where samples that take different branches come together.
enum class SampleRouting {
    sorted_reload,  ///< mostly in HBM: a segment ends at a gate, and the next one reads the samples sorted
    on_chip         ///< on the tiles: each operator packs its samples as they arrive (Adyna section VI-C)
};
inline const std::vector<std::string> kSampleRoutings{"sorted_reload", "on_chip"};  ///< by SampleRouting
/// Throws InputError that lists the known ones.
SampleRouting parse_sample_routing(const std::string& name);

/// How a design uses the chip.
class Design {
public:
    Design(std::string name, std::initializer_list<Mechanism> mechanisms);

    const std::string& name() const { return name_; }
    bool has(Mechanism mechanism) const { return mechanisms_[static_cast<std::size_t>(mechanism)]; }
    Invocation invocation() const {
        return has(Mechanism::batch_invocation) ? Invocation::batch : Invocation::micro_batch;
    }
    /// The design without the mechanisms of these names, and without those that need one of them. Throws InputError: an
    /// unknown one, or one that cannot be left out (lists those that can); one that the design does not have.
    Design without(const std::vector<std::string>& names) const;
    /// The design with such invocations. Throws InputError if it has no mechanism routing: where every sample takes
    /// every branch, micro-batches are alike.
    Design invoking(Invocation invocation) const;
    /// The design with such routing, which takes the place of compaction and of shared tiles. Throws InputError unless
    /// kernels are invoked once a batch: the packet that brings a branch its first samples says how many will come.
    Design routing(SampleRouting routing) const;

private:
    std::string name_;
    std::bitset<static_cast<std::size_t>(Mechanism::count)> mechanisms_;
};

const std::vector<Design>& designs();
/// Throws InputError that lists the known ones.
const Design& find_design(const std::string& name);
/// The one that an image was compiled for. Throws InputError, as find_design() and without().
Design design_of(const ImageMeta& meta);
/// Names of the mechanisms that an ablation may leave out, in the order of the enumeration.
std::vector<std::string> mechanism_names();

}  // namespace switchyard::sched
