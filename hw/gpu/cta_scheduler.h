// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/kernel_launch.h"
#include "switchyard/hw/gpu/occupancy.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// When a kernel was where.
struct KernelRecord {
    std::uint64_t tag = 0;
    unsigned source = 0;
    std::uint64_t ctas = 0;
    sc_core::sc_time dispatched, started, completed;  ///< taken from its source, first CTA, completion sent
};

/// Hands CTAs of kernels to multiprocessors.
///
/// Kernels come from sources, the command processor and others, such as a scheduling window in hardware: a write of a
/// kernel packet (kGpuPacketBytes) to kernels[source]; the address is a handle of the source's choice. The write
/// returns when there is a place among max_kernels. When the kernel is complete, a write of its u64 tag to that handle
/// goes out of completions[source]. A kernel that no multiprocessor can hold, and a packet that is none, are answered
/// by TLM_GENERIC_ERROR_RESPONSE; the registry has the reason.
///
/// Modelled: the policy of Accel-Sim (select_kernel): a kernel keeps its turn until all its CTAs have been handed out,
/// also while none of them fits; then the next one in the order of arrival, round-robin. CTAs go to the multiprocessors
/// with the fewest warps first (breadth-first). Not modelled: preemption, priorities, clusters of CTAs, MPS and MIG.
class CtaScheduler : public sc_core::sc_module {
public:
    struct Config {
        unsigned max_kernels = 128;
        double kernel_end_ns = 0;
        bool keep_records = false;
    };
    struct Stats {
        std::uint64_t kernels = 0;
        std::uint64_t max_resident_kernels = 0;
        std::uint64_t waits = 0;  ///< kernels that found no place among max_kernels
    };
    using KernelHook = std::function<void(const KernelLaunch&)>;
    using KernelTest = std::function<bool(const KernelLaunch&)>;

    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<CtaScheduler>> kernels;         ///< by source
    sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<CtaScheduler>> completions;  ///< by source
    tlm_utils::simple_initiator_socket<CtaScheduler> memory;  ///< segments of kernels are read there
    tlm_utils::simple_initiator_socket<CtaScheduler> start;   ///< to the multiprocessors
    tlm_utils::simple_target_socket<CtaScheduler> finished;   ///< from them

    CtaScheduler(const sc_core::sc_module_name& name, const Config& config, const MultiprocessorConfig& multiprocessors,
                 unsigned sources, SimulationRegistry& registry);

    /// Called when a kernel's first CTA starts and when its last one has finished: for functional models, which read a
    /// kernel's inputs at the one and write its outputs at the other.
    void set_hooks(KernelHook started, KernelHook completed);

    /// Kernels for which `holds` is true wait for something outside the GPU, such as messages of other devices: when
    /// their CTAs have done their work they stay where they are, without using anything but their place, until
    /// release(). `resident` is called when the last CTA of such a kernel starts. The multiprocessors' own statistics
    /// count the CTAs until their work is done.
    void set_holds(KernelTest holds, KernelHook resident);
    /// The kernel with this tag waits no longer. Throws ModelError if none does.
    void release(std::uint64_t tag);

    const Stats& stats() const { return stats_; }
    const std::vector<KernelRecord>& records() const { return records_; }  ///< by completion, if keep_records
    std::size_t resident_kernels() const { return resident_; }

private:
    struct Kernel {
        std::shared_ptr<const KernelLaunch> launch;
        CtaResources one;                           ///< of a CTA
        std::uint64_t waiting = 0, unfinished = 0;  ///< CTAs
        KernelRecord record;
        bool held = false;                                          ///< its CTAs keep their places
        std::vector<std::pair<unsigned, std::uint32_t>> done_ctas;  ///< held: by multiprocessor, with their work done
    };
    struct Completion {
        std::shared_ptr<Kernel> kernel;
    };

    void take_kernel(int source, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void take_finished(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    std::shared_ptr<KernelLaunch> fetch(const GpuPacket& packet, unsigned source, std::uint64_t handle);
    bool refuse(::tlm::tlm_generic_payload& payload, const std::string& message);
    void schedule();
    /// CTAs of one kernel, as many as fit.
    void place(Kernel& kernel);
    void send(const Kernel& kernel, unsigned multiprocessor, std::uint32_t count);
    void complete();
    /// CTAs leave their multiprocessor; the last one ends its kernel.
    void leave(const std::shared_ptr<Kernel>& kernel, unsigned multiprocessor, std::uint32_t count);
    std::string waits() const;

    Config config_;
    MultiprocessorConfig multiprocessors_;
    SimulationRegistry& registry_;
    std::vector<std::shared_ptr<Kernel>> waiting_;  ///< kernels with CTAs to hand out, by arrival
    std::vector<std::shared_ptr<Kernel>> running_;  ///< all others that are not complete
    std::vector<CtaResources> used_;                ///< by multiprocessor
    std::vector<std::uint32_t> placed_;             ///< by multiprocessor: scratch
    TimedQueue<std::shared_ptr<Kernel>> ends_;
    sc_core::sc_event changed_, place_free_;
    KernelHook started_, completed_, all_resident_;
    KernelTest holds_;
    std::size_t resident_ = 0;
    std::uint64_t numbers_ = 0;
    Stats stats_;
    std::vector<KernelRecord> records_;
    ActivityLog* const log_ = ActivityLog::current();
    ActivityLanes lanes_{"GPU", "multiprocessors"};
};

template <class V>
void describe(V& v, CtaScheduler::Config& c) {
    v.field("max_kernels", c.max_kernels, 1, 1 << 20,
            "kernels on the multiprocessors or waiting for them at a time (maximum number of resident grids)");
    v.field("kernel_end_ns", c.kernel_end_ns, 0, 1e6,
            "from the last CTA to the kernel's completion: its writes become visible");
    v.field("keep_records", c.keep_records, "keep when each kernel was dispatched, started and completed");
}

}  // namespace switchyard::hw
