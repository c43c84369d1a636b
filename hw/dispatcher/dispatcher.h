// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/sw_scheduler/adyna/image/kernel.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/extended_payload.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// The kernel dispatcher of a tile (Adyna section VI-B): selects the stored kernel with the smallest dyn_dim that is no
/// less than the real one, runs the template loop nest for this tile's part of the operator, skips blocks beyond the
/// real dyn_dim (kernel fitting), then hands the output to the network interface. This is what its implementations
/// share: sockets, configuration, counters; make_kernel_dispatcher() constructs the one that Config::impl names.
///
/// `configure`: a 32-bit WRITE of the number of kernels at address 0 makes it read that many from the beginning of the
/// scratchpad and rebuild its directory of dyn_dims. A READ returns the number. No other address.
/// Modelled: binary search in the directory, ceil(log2 n) + 1 cycles; the fetch of the selected kernel's 128 bytes,
/// which are checked and decoded as they come; one block issued a cycle, hidden behind the PE array. Implementations
/// with the same results: `analytic` issues one command for each distinct block shape (at most 16), `walk` is the state
/// machine that visits every block in the kernel's order and issues one command a block; `rtl` is rtl/dispatcher, and
/// `lockstep` that and `walk` side by side (Switchyard::rtl).
/// Accuracy: exact, given the PE array's cycles. Skipped blocks cost nothing: indices only grow, so a loop ends at the
/// first one beyond its bound.
/// One invocation may walk several units (Level::unit): the first dispatch of it selects the kernel by
/// DispatchExtension::invocation_samples; those of its later units name that kernel, a search of one cycle, and are not
/// counted as selected again. Every unit fetches the kernel, since other operators of the tile may run between them.
/// With DispatchExtension::values, commands carry the addresses of their operands (value_addresses.h). Operand bursts
/// carry the base offsets always.
/// Errors (TLM_GENERIC_ERROR_RESPONSE, cause in SimulationRegistry::errors()): no kernel is large enough, a kernel with
/// a bad checksum, one that the array refuses or that does not cover its operator, unsorted or missing kernels.
class KernelDispatcher : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "analytic";
        double clock_ghz = 1.0;  ///< the chip's, set by the composer
    };
    struct Stats {
        std::uint64_t dispatches = 0;
        std::vector<std::uint64_t> kernels_selected;  ///< times, index = position in the kernel store
        std::uint64_t blocks_issued = 0, blocks_skipped = 0;
        std::uint64_t search_cycles = 0;
        std::uint64_t none_found = 0;  ///< dispatches with a dyn_dim beyond every kernel
    };
    /// Those that reports have.
    static constexpr StatCounter<Stats> kCounters[] = {{"dispatches", "1", &Stats::dispatches},
                                                       {"blocks_issued", "1", &Stats::blocks_issued},
                                                       {"blocks_skipped", "1", &Stats::blocks_skipped},
                                                       {"search_cycles", "cycles", &Stats::search_cycles},
                                                       {"none_found", "1", &Stats::none_found}};

    tlm_utils::passthrough_target_socket<KernelDispatcher> dispatch;   ///< DispatchExtension
    tlm_utils::passthrough_target_socket<KernelDispatcher> configure;  ///< number of kernels
    tlm_utils::simple_initiator_socket<KernelDispatcher> scratchpad, pe_array, network_interface;

    KernelDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

    /// `repeats` equal blocks of a nest on their way to the PE array.
    struct Command {
        BlockShape shape;
        bool vector_op = false;
        std::uint32_t reduction = 1;
        std::uint64_t repeats = 1;
        bool first = true, last = true;             ///< of the kernel invocation
        OutputIndex position{};                     ///< of the first block in the tile's output box
        const BlockNest* nest = nullptr;            ///< of the invocation, if commands put blocks together
        const BlockAddresses* addresses = nullptr;  ///< of each block, with values
    };
    /// Calls `observer` with every command before the PE array gets it.
    void observe(std::function<void(const Command&)> observer) { observer_ = std::move(observer); }

protected:
    /// Reads `kernels` kernels and rebuilds the directory, stats_.kernels_selected included. Throws std::exception with
    /// the cause; nothing is configured then.
    virtual void rebuild(std::uint32_t kernels, sc_core::sc_time& delay) = 0;
    /// Kernels in the directory.
    virtual std::uint32_t kernels() const = 0;
    /// Search, fetch, template nest and send; fills in the request's results and stats_ but for `dispatches`. Throws
    /// std::exception with the cause, or ModelError, which nobody here catches.
    virtual void execute(DispatchExtension& request, sc_core::sc_time& delay) = 0;

    // Calls through the sockets. Each throws std::runtime_error if the other side refuses.
    void read_kernel(std::uint32_t index, KernelBytes& bytes, sc_core::sc_time& delay);
    void issue(const Command& command, DispatchExtension& request, sc_core::sc_time& delay);
    /// The output is complete: closes request.cycles.
    void send(bool multicast, DispatchExtension& request, sc_core::sc_time& delay);

    // Causes that more than one implementation meets.
    static std::string range_error(std::size_t begin, std::size_t end, std::size_t kernels);
    static std::string order_error(std::size_t begin, std::size_t end);
    static std::string fit_error(const DispatchExtension& request, std::uint32_t largest);
    static std::string changed_error(std::uint32_t index);

    const ClockPeriod& clock() const { return clock_; }

    Stats stats_;

private:
    void transport_dispatch(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void transport_configure(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_configure(::tlm::tlm_generic_payload& payload);
    void refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status, const std::string& why);

    SimulationRegistry& registry_;
    ClockPeriod clock_;
    sc_core::sc_time begin_;  ///< delay with which the present dispatch came
    ::tlm::tlm_generic_payload fetch_;
    ExtendedPayload<PeWorkExtension> work_;
    ExtendedPayload<SendExtension> send_;
    std::function<void(const Command&)> observer_;
};

/// The implementation that config.impl names. Throws InputError for one that this library does not have:
/// rtl::make_kernel_dispatcher() knows those in RTL as well.
std::unique_ptr<KernelDispatcher> make_kernel_dispatcher(const char* name, const KernelDispatcher::Config& config,
                                                         SimulationRegistry& registry);

inline const std::vector<std::string> kDispatcherImplementations{"analytic", "walk", "rtl", "lockstep"};

template <class V>
void describe(V& v, KernelDispatcher::Config& c) {
    v.choice("impl", c.impl, kDispatcherImplementations, "how the template loop nest is run; results are the same");
}

}  // namespace switchyard::hw
