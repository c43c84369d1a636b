// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/program_map.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/extended_payload.h"

namespace switchyard::platform {

/// What one invocation of a kernel does on one tile.
struct KernelUse {
    std::uint64_t cycles = 0;  ///< from the dispatch until the output is complete
    std::uint64_t blocks_issued = 0, blocks_skipped = 0, search_cycles = 0;
    hw::PeArray::Stats pe_array;
    hw::Scratchpad::Stats scratchpad;
};

/// The same on all tiles of a stage.
struct StageWork {
    int kernel = -1;                         ///< among the stage's kernels; -1: no sample, no kernel
    std::uint64_t cycles = 0;                ///< of the slowest tile
    std::vector<KernelUse> kinds;            ///< of work; tiles with boxes of one size do the same
    std::vector<std::uint8_t> kind_of_rank;  ///< index in `kinds`
};

/// Measures kernels on one tile that stands aside: the dispatcher, PE array and scratchpad that the platform names,
/// behind their own sockets. Each kernel and size is run once and remembered, so a stage costs what its slowest tile
/// costs, whichever implementation that is.
class KernelMeter : public sc_core::sc_module {
public:
    KernelMeter(const sc_core::sc_module_name& name, const PlatformConfig& platform);

    /// Forgets all kernels.
    void clear() {
        known_.clear();
        loaded_ = nullptr;
    }
    /// For which a dispatcher that is configured reads the kernels of its store, one after another.
    std::uint64_t configuration_cycles(const TileProgram& program);
    /// Throws ModelError if no kernel of the stage is large enough for `dyn_dim` samples, or one is refused.
    /// `allocation`: of a stage that shares tiles (OperatorPlacement::allocations).
    const StageWork& work(const Stage& stage, std::uint32_t dyn_dim, unsigned allocation = 0,
                          const UnitOfBatch& of_batch = {});

private:
    /// By what the kernel of a unit is found.
    struct Invocation {
        unsigned allocation = 0;
        UnitOfBatch of_batch;
        std::uint32_t samples(std::uint32_t dyn_dim) const { return of_batch.samples > 0 ? of_batch.samples : dyn_dim; }
    };
    StageWork measure(const Stage& stage, std::uint32_t dyn_dim, const Invocation& invocation);
    /// What a tile does for a unit of `dyn_dim` samples when the kernel's walk ends behind those of `walked`.
    KernelUse use(const Stage& stage, unsigned rank, std::uint32_t dyn_dim, std::uint32_t walked,
                  const Invocation& invocation, int& kernel);
    KernelUse run(const Stage& stage, unsigned rank, std::uint32_t dyn_dim, const Invocation& invocation, int& kernel);
    /// The allocation's kernels; the best-fit one alone if the store cannot hold all of the stage's
    /// (chip.ideal_kernel_store).
    void load_kernels(const Stage& stage, std::uint32_t dyn_dim, const Invocation& invocation);
    /// When it is done.
    sc_core::sc_time write(tlm_utils::simple_initiator_socket<KernelMeter>& socket, std::uint64_t address,
                           unsigned char* bytes, unsigned size);
    void take_output(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    ClockPeriod clock_;
    bool fitting_;                 ///< chip.kernel_fitting
    SimulationRegistry registry_;  ///< own: what happens here is not what the chip does
    std::unique_ptr<hw::KernelDispatcher> dispatcher_;
    std::unique_ptr<hw::PeArray> pe_array_;
    hw::Scratchpad scratchpad_;
    tlm_utils::simple_initiator_socket<KernelMeter> dispatch_, configure_, store_;
    tlm_utils::simple_initiator_socket<KernelMeter> idle_;  ///< where the network interface would be
    tlm_utils::simple_target_socket<KernelMeter> output_;
    ExtendedPayload<DispatchExtension> request_;
    sc_core::sc_time free_;  ///< when the tile has finished what it was given last
    const Stage* loaded_ = nullptr;
    std::uint64_t kernel_read_cycles_ = 0;  ///< 0: not measured yet
    std::uint32_t first_kernel_ = 0;        ///< of the stage's, in the store
    std::uint32_t kernels_loaded_ = 0;
    std::map<std::tuple<const Stage*, std::uint32_t, unsigned, std::uint32_t, bool>, StageWork> known_;
};

}  // namespace switchyard::platform
