// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/gpu/multiprocessors.h"

namespace switchyard::hw {

/// The detailed fidelity: warps that issue cycle by cycle.
///
/// A CTA goes through its kernel in as many steps as it has dependent loads. In a step each warp loads its share of the
/// CTA's bytes, through the port of its multiprocessor, the L2 and (as far as they miss it) device memory, each of
/// which serves one load after another, and waits for them; when the loads of all warps are there, the warps issue the
/// step's arithmetic and memory instructions, evenly mixed. A partition issues one instruction in a cycle, of the warp
/// that issued last if it can, else of the oldest that can. An instruction needs its pipe (arithmetic: one a partition;
/// memory: one a multiprocessor) and warp_latency_cycles since the one before of its warp.
///
/// Modelled: latency that other warps hide, contention for issue slots and pipes, loads that queue, barriers. Accuracy
/// against `cta`: docs/models/gpu.md. Not modelled: registers and operands of single instructions, branches,
/// divergence, addresses of single loads, L1 hits.
class WarpMultiprocessors : public Multiprocessors {
public:
    WarpMultiprocessors(const sc_core::sc_module_name& name, const MultiprocessorConfig& config,
                        const GpuMemoryConfig& memory, SimulationRegistry& registry);

private:
    using Cycle = double;  ///< of the multiprocessors' clock since the beginning
    struct Kernel {
        std::shared_ptr<const KernelLaunch> launch;
        double missed = 0;                                    ///< share of a load's bytes
        double load_bytes = 0;                                ///< of a warp in a step
        double arithmetic_cycles = 0;                         ///< of a partition's pipe, for one instruction
        std::uint64_t arithmetic = 0, memory = 0, steps = 1;  ///< instructions of a warp, steps of a CTA
        std::uint64_t unfinished_ctas = 0;
        double compute_ns_of_cta = 0, l2_bytes_of_cta = 0, memory_bytes_of_cta = 0;
    };
    struct Cta {
        std::size_t kernel = 0;
        std::uint32_t warps = 0, done = 0;
        std::uint32_t missing = 0;      ///< warps that have yet to load for the step that is being loaded
        std::uint64_t opened = 0;       ///< steps whose loads have all been made
        Cycle collected = 0;            ///< the latest of the loads so far
        std::array<Cycle, 2> loaded{};  ///< when the loads of a step are there, by step modulo 2
    };
    struct Warp {
        std::shared_ptr<Cta> cta;
        std::uint64_t step = 0;
        std::uint64_t arithmetic_left = 0, memory_left = 0;  ///< of the step
        std::uint64_t arithmetic_of_step = 0, memory_of_step = 0;
        Cycle next = 0;     ///< may issue then
        bool waits = true;  ///< for the loads of its CTA
    };
    struct Partition {
        std::vector<Warp> warps;  ///< oldest first
        std::size_t last = 0;     ///< that issued
        Cycle arithmetic_free = 0;
    };
    struct Multiprocessor {
        std::vector<Partition> partitions;
        std::vector<std::shared_ptr<Cta>> ctas;
        std::vector<std::shared_ptr<Cta>> finished;
        Cycle memory_free = 0, port_free = 0, next = 0;
        Cycle opens = 0;  ///< when the loads are there of a step that was opened in this cycle
        unsigned next_partition = 0;
        std::uint32_t warps = 0;
    };

    void start(std::shared_ptr<const KernelLaunch> kernel, unsigned multiprocessor, std::uint32_t count) override;
    void run();
    void count_time(Cycle now);
    /// One cycle of a multiprocessor; its `next` is when something may happen again.
    void step(Multiprocessor& m, Cycle now);
    /// The index of the warp that issues, or the number of warps. `next`: when one of them may.
    std::size_t choose(const Multiprocessor& m, const Partition& p, Cycle now, Cycle& next) const;
    void issue(Multiprocessor& m, Partition& p, Warp& warp, Cycle now);
    void begin_step(Multiprocessor& m, Warp& warp, Cycle now);
    void end_warp(Multiprocessor& m, Partition& p, std::size_t index);
    Cycle load(Multiprocessor& m, const Kernel& kernel, Cycle now);
    std::size_t kernel_of(const std::shared_ptr<const KernelLaunch>& launch);
    /// Throws ModelError for more than can be issued one by one.
    std::uint64_t instructions(double of_a_warp, const char* what, const GpuPacket& packet) const;
    Cycle now_in_cycles() const;

    std::vector<Kernel> kernels_;
    std::vector<Multiprocessor> multiprocessors_;
    Cycle l2_free_ = 0, memory_free_ = 0, counted_ = 0;
    sc_core::sc_event changed_;
};

}  // namespace switchyard::hw
