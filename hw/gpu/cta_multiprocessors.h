// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/gpu/fair_share.h"
#include "switchyard/hw/gpu/multiprocessors.h"

namespace switchyard::hw {

/// The fast fidelity: an event for each wave of CTAs.
///
/// CTAs of a kernel that start together on a multiprocessor are one batch, which goes from 0 to 1. All batches of a
/// kernel on a multiprocessor go forward at one rate. It is that of a CTA alone (CtaCost::alone_ns), unless a resource
/// is short: the multiprocessor's compute time and its port to the L2, both shared by its CTAs, and the L2's and the
/// memory's bandwidth, shared by the kernels, each max-min fair by CTAs. Rates are worked out anew when CTAs start or
/// finish.
///
/// Modelled: waves and their tails, occupancy, latency that too few warps do not hide, CTAs of several kernels side by
/// side, what the L2 holds from earlier kernels (L2Cache). Not modelled: single warps and instructions, differences
/// between the CTAs of a kernel, bank conflicts, divergence, L1 (but as the kernel's l2_bytes say), DVFS.
class CtaMultiprocessors : public Multiprocessors {
public:
    CtaMultiprocessors(const sc_core::sc_module_name& name, const MultiprocessorConfig& config,
                       const GpuMemoryConfig& memory, SimulationRegistry& registry);

private:
    struct Kernel {
        std::shared_ptr<const KernelLaunch> launch;
        CtaCost cost;
        std::uint64_t unfinished_ctas = 0;
        double warps_of_cta = 0;
        double l2_grant = 1, memory_grant = 1;  ///< of what it wants of them
    };
    struct Batch {
        double end = 0;  ///< the group's way at which it is done
        std::uint32_t ctas = 0;
    };
    /// The CTAs of a kernel on a multiprocessor.
    struct Group {
        std::size_t kernel = 0;  ///< of kernels_
        unsigned multiprocessor = 0;
        std::uint32_t ctas = 0;
        double way = 0;              ///< that a CTA has gone which was there from the group's begin on
        double own_rate = 0;         ///< 1/ns, with the L2 and the memory to itself
        double rate = 0;             ///< 1/ns
        std::vector<Batch> batches;  ///< oldest first: the first one ends first
    };
    /// All CTAs of a kernel together.
    struct Flow {
        double ctas = 0, ctas_per_ns = 0;
    };

    void start(std::shared_ptr<const KernelLaunch> kernel, unsigned multiprocessor, std::uint32_t count) override;
    /// Waits for the next end of a batch, or for new ones.
    void run();
    void move_on();  ///< all groups up to now
    void finish_batches();
    void allot_rates();
    void share_multiprocessors(bool again);
    void share_globally();
    std::size_t kernel_of(const std::shared_ptr<const KernelLaunch>& launch);
    Group& group_of(std::size_t kernel, unsigned multiprocessor);
    double rate_alone(const Group& group) const { return 1 / kernels_[group.kernel].cost.alone_ns; }

    std::vector<Kernel> kernels_;     ///< a slot each; free ones have no launch
    std::vector<Group> groups_;       ///< by multiprocessor, then in the order of their start
    std::vector<bool> new_mix_;       ///< by multiprocessor: its CTAs are not those of its groups' own_rate
    std::vector<ShareDemand> users_;  ///< scratch
    std::vector<Flow> flows_;         ///< by kernel: scratch
    sc_core::sc_event changed_;
    double now_ns_ = 0;   ///< up to when groups have gone forward
    bool stale_ = false;  ///< rates are not those of the groups
};

}  // namespace switchyard::hw
