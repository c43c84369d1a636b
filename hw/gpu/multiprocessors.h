// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/kernel_cost.h"
#include "switchyard/hw/gpu/kernel_launch.h"
#include "switchyard/hw/gpu/l2_cache.h"
#include "switchyard/hw/gpu/multiprocessor_config.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// Numbers of CTAs by class: each entry is the least number of its class.
inline constexpr std::array<std::uint32_t, 9> kCtaClasses{0, 1, 10, 25, 50, 100, 200, 500, 1000};
/// The index of a number's class.
std::size_t cta_class(std::uint64_t ctas);

/// All multiprocessors of a GPU with the L2 and the device memory that they share. `ctas` starts CTAs (CtaExtension),
/// of which `finished` tells when they are done. Who starts them keeps within the resources (occupancy.h).
///
/// Two implementations, by name (make_multiprocessors()): `cta` (CtaMultiprocessors) and `warp` (WarpMultiprocessors).
class Multiprocessors : public sc_core::sc_module {
public:
    struct Stats {
        std::uint64_t ctas = 0;
        double compute_ns = 0;    ///< of multiprocessors, summed: arithmetic and issue at the rates of the Config
        double l2_bytes = 0;      ///< between multiprocessors and L2
        double memory_bytes = 0;  ///< of device memory, kernels only
        double warp_ns = 0;       ///< resident warps * time, for occupancy
        double busy_ns = 0;       ///< of multiprocessors with a CTA or more, summed
        /// Time by the class of how many CTAs were resident on all multiprocessors, up to the last end of a CTA.
        std::array<double, kCtaClasses.size()> resident_ns{};
    };

    tlm_utils::simple_target_socket<Multiprocessors> ctas;
    tlm_utils::simple_initiator_socket<Multiprocessors> finished;

    const Stats& stats() const { return stats_; }

protected:
    Multiprocessors(const sc_core::sc_module_name& name, const MultiprocessorConfig& config,
                    const GpuMemoryConfig& memory, SimulationRegistry& registry);

    /// `count` CTAs start now on a multiprocessor.
    virtual void start(std::shared_ptr<const KernelLaunch> kernel, unsigned multiprocessor, std::uint32_t count) = 0;
    /// From a thread.
    void finish(const std::shared_ptr<const KernelLaunch>& kernel, unsigned multiprocessor, std::uint32_t count);
    /// The index of a kernel's slot, or of a free one (without launch), which is made if there is none.
    template <class Kernel>
    static std::size_t slot_of(std::vector<Kernel>& kernels, const std::shared_ptr<const KernelLaunch>& launch) {
        std::size_t free = kernels.size();
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            if (kernels[i].launch == launch) return i;
            if (kernels[i].launch == nullptr && free == kernels.size()) free = i;
        }
        if (free == kernels.size()) kernels.emplace_back();
        return free;
    }

    /// What a kernel that starts now moves: its segments through the L2; without segments all bytes of its work.
    MemoryTraffic traffic_of(const KernelLaunch& kernel);

    MultiprocessorConfig config_;
    GpuMemoryConfig memory_;
    Stats stats_;

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Counts the time up to now for the CTAs that were resident.
    void count_resident();

    L2Cache l2_;
    std::uint64_t resident_ctas_ = 0;
    double counted_ns_ = 0;
};

/// `impl`: "cta" or "warp". Throws InputError for another.
std::unique_ptr<Multiprocessors> make_multiprocessors(const std::string& impl, const char* name,
                                                      const MultiprocessorConfig& config, const GpuMemoryConfig& memory,
                                                      SimulationRegistry& registry);

}  // namespace switchyard::hw
